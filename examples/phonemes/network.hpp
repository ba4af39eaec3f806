// examples/phonemes/network.hpp: words to phonemes: a GRU reads the letters, a cell says what they sound like.
// The network of the package g2p_en. The words of a call have the same length; lengths of sounds may differ.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
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

}  // namespace phonemes
