// benchmarks/torch_characters.hpp: the language model of W12 in libtorch, where the build found it (BENCHMARKS_TORCH).
// An embedding, LSTM layers and a linear layer, as examples/char_lstm has them; Adam on clipped gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(BENCHMARKS_TORCH)
#include "torch_networks.hpp"

struct torch_language_model : torch::nn::Module {
  torch_language_model(std::int64_t characters, std::int64_t features, std::int64_t hidden, std::int64_t layers,
                       double dropout)
      : embedding(characters, features),
        lstm(torch::nn::LSTMOptions(features, hidden).num_layers(layers).dropout(dropout)),
        head(hidden, characters) {
    register_module("embedding", embedding), register_module("lstm", lstm), register_module("head", head);
  }
  /// The scores of every next character, a row for each of `tokens` [time, batch].
  torch::Tensor forward(const torch::Tensor& tokens) {
    return head(std::get<0>(lstm(embedding(tokens)))).flatten(0, 1);
  }
  torch::nn::Embedding embedding;
  torch::nn::LSTM lstm;
  torch::nn::Linear head;
};

/// The model with its optimizer. Batches are char_lstm::step_input.
class torch_learner {
 public:
  template <class Options, class Model>
  torch_learner(const Options& options, std::int64_t characters, Model& parameters)
      : clip_(options.clip),
        model_(characters, 64, options.hidden, options.layers, options.dropout),
        optimizer_(model_.parameters(), torch::optim::AdamOptions(options.rate)) {
    take_parameters(model_, parameters);
  }

  template <class Batch>
  float step(const Batch& batch, double rate) {
    static_cast<torch::optim::AdamOptions&>(optimizer_.param_groups()[0].options()).lr(rate);
    optimizer_.zero_grad();
    model_.train();
    const torch::Tensor loss = loss_of(batch, torch::kMean);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model_.parameters(), clip_);
    optimizer_.step();
    return loss.item<float>();
  }
  /// Of all characters of a batch together.
  template <class Batch>
  double loss(const Batch& batch) {
    const torch::NoGradGuard no_gradients;
    model_.eval();
    return loss_of(batch, torch::kSum).template item<float>();
  }

 private:
  template <class Batch, class Reduction>
  torch::Tensor loss_of(const Batch& batch, Reduction reduction) {
    const auto seen = [](const auto& tensor, at::IntArrayRef sizes) {
      return torch::from_blob(const_cast<std::int64_t*>(tensor.data()), sizes, torch::kInt64);
    };
    const torch::Tensor scores = model_.forward(seen(batch.tokens, {batch.tokens.extent(0), batch.tokens.extent(1)}));
    return torch::nn::functional::cross_entropy(scores, seen(batch.targets, {batch.targets.size()}),
                                                torch::nn::functional::CrossEntropyFuncOptions().reduction(reduction));
  }

  double clip_;
  torch_language_model model_;
  torch::optim::Adam optimizer_;
};
#endif
