// examples/phonemes/words.hpp: many words to their phonemes, and the weights of the network from its package's file.
// Words of the same length are read together, so that nothing is padded; results stand in the order of the words.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <tenon/io/npz.hpp>

#include "network.hpp"

namespace phonemes {

/// The sounds of words, at most `batch` of the same length at once. Results stand in the order of the words.
inline std::vector<std::vector<int>> say_words(network& net, std::span<const std::string> words, std::size_t batch) {
  std::map<std::size_t, std::vector<std::size_t>> by_length;
  std::vector<std::vector<int>> letters, said(words.size());
  for (const std::string& word : words) {
    by_length[letters_of(word).size()].push_back(letters.size());
    letters.push_back(letters_of(word));
  }
  for (const auto& [length, places] : by_length) {
    for (std::size_t begin = 0; begin < places.size(); begin += batch) {
      const auto some = std::span(places).subspan(begin, std::min(batch, places.size() - begin));
      tn::tensor<std::int64_t, tn::rank<2>> numbers(
          {static_cast<tn::index>(length), static_cast<tn::index>(some.size())});
      for (std::size_t word = 0; word < some.size(); ++word) {
        for (std::size_t time = 0; time < length; ++time) numbers(time, word) = letters[some[word]][time];
      }
      const auto found = say(net, numbers);
      for (std::size_t word = 0; word < some.size(); ++word) said[some[word]] = found[word];
    }
  }
  return said;
}

/// What the package's file calls a parameter.
inline std::string name_in_file(const std::string& name) {
  static const std::map<std::string, std::string> names = {
      {"letters.weight", "enc_emb"},       {"sounds.weight", "dec_emb"},      {"reader.weight_ih_l0", "enc_w_ih"},
      {"reader.weight_hh_l0", "enc_w_hh"}, {"reader.bias_ih_l0", "enc_b_ih"}, {"reader.bias_hh_l0", "enc_b_hh"},
      {"speaker.weight_ih", "dec_w_ih"},   {"speaker.weight_hh", "dec_w_hh"}, {"speaker.bias_ih", "dec_b_ih"},
      {"speaker.bias_hh", "dec_b_hh"},     {"head.weight", "fc_w"},           {"head.bias", "fc_b"}};
  return names.at(name);
}

/// The network with the weights of an NPZ file.
/// throws    file_error where an array is missing, of another type or rank; shape_error where it has other extents
inline network load(const std::filesystem::path& path) {
  const tn::io::npz_file file(path);
  network net;
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    using shape = typename std::remove_cvref_t<decltype(parameter.value)>::shape_type;
    const std::string array = name_in_file(name);
    const auto found = file.read<float, shape::rank>(array);
    for (int axis = 0; axis < shape::rank; ++axis) {
      if (found.extent(axis) == parameter.value.extent(axis)) continue;
      throw tn::shape_error(tn::compose_text(path.string(), ": ", array, ": axis ", axis, ": extent ",
                                             found.extent(axis), ", expected ", parameter.value.extent(axis)));
    }
    parameter.value = found;
  });
  return net;
}

}  // namespace phonemes
