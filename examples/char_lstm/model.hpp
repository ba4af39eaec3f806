// examples/char_lstm/model.hpp: a language model of characters: an embedding, LSTM layers, a linear layer.
// Rows are the characters of a batch, all of the first time step first, as recurrent layers have them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/train.hpp>
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>  // what sums the gradients of an embedding
#endif

namespace char_lstm {

namespace tn = tenon;
namespace nn = tenon::nn;

/// How large a model is.
struct model_sizes {
  tn::index characters, features = 64, hidden = 256, layers = 2;
  double dropout = 0;
};

/// Predicts each next character.
template <tn::memory_space Space>
class language_model {
 public:
  using token_view = tn::view<const std::int64_t, tn::rank<2>, Space>;
  using row_view = tn::view<const float, tn::rank<2>, Space>;
  using state_tensor = tn::tensor<float, tn::rank<3>, Space>;
  /// What the layers remember between two calls: [layers, batch, hidden].
  struct memory {
    state_tensor hidden, cell;
  };

  language_model(const model_sizes& sizes, std::uint64_t seed)
      : embedding_(sizes.characters, sizes.features),
        recurrent_(sizes.features, sizes.hidden, {.layers = sizes.layers, .dropout = sizes.dropout}),
        head_(sizes.hidden, sizes.characters) {
    embedding_.initialise(3 * seed), recurrent_.initialise(3 * seed + 1), head_.initialise(3 * seed + 2);
    recurrent_.dropout_seed = seed;
  }

  /// The scores of every next character, a row for each of `tokens` [time, batch]; begins with `before`, or with zeros.
  template <class... States>
  row_view forward(const token_view& tokens, const States&... before) {
    const auto [sequence, hidden, cell] = recurrent_.forward(embedding_.forward(tokens), before...);
    rows_ = sequence.data(), row_count_ = tokens.size();
    hidden_ = hidden.data(), cell_ = cell.data(), states_ = hidden.shape();
    const auto scores = scores_.resize(head_.output_shape(rows().shape()));
    scores = head_.forward(rows());
    return scores;
  }
  /// Leaves the gradients of all parameters, given that of the scores.
  template <class Gradient>
  void backward(const token_view& tokens, const Gradient& gradient) {
    const auto of_scores = gradient_of_scores_.resize(scores_.current().shape());
    of_scores = gradient;
    const auto of_rows = gradient_of_rows_.resize(rows().shape());
    head_.backward(rows(), scores_.current(), of_scores, of_rows);
    const tn::rank<3> sequence(tokens.extent(0), tokens.extent(1), of_rows.extent(1));
    const auto gradients = recurrent_.backward(tn::view<const float, tn::rank<3>, Space>(of_rows.data(), sequence));
    embedding_.backward(tokens, scores_.current(), gradients.sequence, nn::not_wanted{});
  }
  /// What the last call leaves to the next one.
  memory remembered() const {
    const auto copied = [&](const float* data) {
      return state_tensor(tn::view<const float, tn::rank<3>, Space>(data, states_));
    };
    return {copied(hidden_), copied(cell_)};
  }

  void train(bool is_training) { recurrent_.is_training = is_training; }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visit_layer("embedding.", embedding_, visitor);
    visit_layer("lstm.", recurrent_, visitor);
    visit_layer("head.", head_, visitor);
  }

 private:
  template <class Layer, class Visitor>
  static void visit_layer(const std::string& prefix, Layer& layer, Visitor&& visitor) {
    layer.visit_parameters([&](const auto& name, auto& parameter) { visitor(prefix + name, parameter); });
  }
  row_view rows() const { return {rows_, tn::rank<2>(row_count_, head_.extents.extent(1))}; }

  nn::embedding<tn::dyn, tn::dyn, Space> embedding_;
  nn::lstm<tn::dyn, tn::dyn, Space> recurrent_;
  nn::linear<tn::dyn, tn::dyn, nn::linear_options{}, Space> head_;
  nn::buffer<float, tn::rank<2>, Space> scores_, gradient_of_scores_, gradient_of_rows_;
  const float *rows_ = nullptr, *hidden_ = nullptr, *cell_ = nullptr;
  tn::index row_count_ = 0;
  tn::rank<3> states_;
};

}  // namespace char_lstm
