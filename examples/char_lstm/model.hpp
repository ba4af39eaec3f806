// examples/char_lstm/model.hpp: a language model of characters: an embedding, LSTM layers, a linear layer.
// Rows are the characters of a batch, all of the first time step first, as recurrent layers have them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>  // what sums the gradients of an embedding
#endif

namespace char_lstm {

namespace tn = tenon;
namespace nn = tenon::nn;

/// Predicts each next character.
template <tn::memory_space Space>
struct language_model : nn::module<language_model<Space>> {
  nn::embedding<tn::dyn, tn::dyn, Space> embedding;
  nn::lstm<tn::dyn, tn::dyn, Space> lstm;
  nn::linear<tn::dyn, tn::dyn, nn::linear_options{}, Space> head;

  /// What the layers remember between two calls: [layers, batch, hidden].
  using state = tn::traced<float, tn::rank<3>, Space>;
  struct output {
    tn::traced<float, tn::rank<2>, Space> scores;  // of every next character, a row for each token
    state hidden, cell;
  };
  /// The scores for `tokens` [time, batch]; begins with the states `before`, or with zeros.
  output forward(const auto& tokens, const auto&... before) {
    const auto [sequence, hidden, cell] = lstm(embedding(tokens), before...);
    return {head(sequence.reshape(tn::rank<2>(tokens.size(), sequence.extent(2)))), hidden, cell};
  }
};

/// How large a model is.
struct model_sizes {
  tn::index characters, features = 64, hidden = 256, layers = 2;
  double dropout = 0;
};

template <tn::memory_space Space>
language_model<Space> make_model(const model_sizes& sizes, std::uint64_t seed) {
  language_model<Space> model{{},
                              {sizes.characters, sizes.features},
                              {sizes.features, sizes.hidden, {.layers = sizes.layers, .dropout = sizes.dropout}},
                              {sizes.hidden, sizes.characters}};
  model.initialise(seed);
  model.lstm.dropout_seed = seed;
  return model;
}

}  // namespace char_lstm
