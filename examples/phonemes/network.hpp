// examples/phonemes/network.hpp: words to phonemes: a GRU reads the letters of a word, a cell says what they sound like.
// The network of the package g2p_en, with its weights; words of the same length are read together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <tenon/io/npz.hpp>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/recurrent_call.hpp>
#include <tenon/products.hpp>

#include "letters.hpp"

namespace phonemes {

namespace tn = tenon;
namespace nn = tenon::nn;

inline constexpr tn::index width = 256, letter_kinds = letter_count, sound_kinds = sound_names.size();
inline constexpr int longest = 20;  // sounds of a word; the package stops there

using state = tn::traced<float, tn::rank<2>>;  // [words, width]

struct network : nn::module<network> {
  nn::embedding<letter_kinds, width> letters;
  nn::gru<width, width> reader;
  nn::embedding<sound_kinds, width> sounds;
  nn::gru_cell<width, width> speaker;
  nn::linear<width, sound_kinds> head;

  /// What is known of words after their letters [time, words].
  state read(const auto& words) {
    const auto hidden = reader(letters(words)).hidden;  // [1, words, width]
    return hidden.reshape(tn::rank<2>(words.extent(1), width));
  }
  struct output {
    tn::traced<float, tn::rank<2>> scores;  // of every sound [words, sounds]
    state known;
  };
  /// One step: what may follow `sound` [words], and what is known of the words after it.
  output forward(const auto& sound, const state& before) {
    const state known = speaker(sounds(sound), before).hidden;
    return {head(known), known};
  }
};

/// The likeliest sounds of words whose letters [time, words] are given, one sound of each word a step, until all ended.
inline std::vector<std::vector<int>> say(network& net, const tn::tensor<std::int64_t, tn::rank<2>>& words) {
  const tn::no_grad speaking;
  std::vector<std::vector<int>> said(static_cast<std::size_t>(words.extent(1)));
  std::vector<bool> has_ended(said.size());
  tn::tensor<std::int64_t, tn::rank<1>> sound({words.extent(1)});
  sound = begin_of_sounds;
  state known = net.read(words);
  for (int step = 0; step < longest && std::count(has_ended.begin(), has_ended.end(), false) != 0; ++step) {
    const auto [scores, after] = net(sound, known);
    sound = tn::argmax(scores, tn::drop<1>), known = after;
    for (std::size_t word = 0; word < said.size(); ++word) {
      const auto last = static_cast<int>(sound(word));
      has_ended[word] = has_ended[word] || last == end_of_sounds;
      if (!has_ended[word]) said[word].push_back(last);
    }
  }
  return said;
}

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
