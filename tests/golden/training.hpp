// tests/golden/training.hpp: steps of an optimizer, as a golden case tells them.
// Networks have PyTorch's names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/loss.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/sgd.hpp>

#include "golden/layers.hpp"

namespace golden {

/// Number `step` of arrays that are stacked along the first axis.
inline array part_of(const array& stacked, index step) {
  const std::size_t bytes = stacked.bytes.size() / static_cast<std::size_t>(stacked.extents[0]);
  const auto begin = stacked.bytes.begin() + static_cast<std::ptrdiff_t>(bytes) * step;
  return {stacked.dtype,
          {stacked.extents.begin() + 1, stacked.extents.end()},
          {begin, begin + static_cast<std::ptrdiff_t>(bytes)}};
}

/// Puts one more array behind those that are stacked.
inline void stack(array& stacked, const array& part) {
  if (stacked.extents.empty()) {
    stacked = {part.dtype, part.extents, {}};
    stacked.extents.insert(stacked.extents.begin(), 0);
  }
  ++stacked.extents[0];
  stacked.bytes.insert(stacked.bytes.end(), part.bytes.begin(), part.bytes.end());
}

inline tn::train::sgd_options sgd_options_of(const golden_case& given) {
  const auto& told = given.attributes;
  return {.lr = told.number("lr", 0),
          .momentum = told.number("momentum", 0),
          .dampening = told.number("dampening", 0),
          .weight_decay = told.number("weight_decay", 0),
          .nesterov = told.flag("nesterov", false)};
}

/// Those of adam or adamw.
template <class Options>
Options adam_options_of(const golden_case& given) {
  const auto& told = given.attributes;
  const auto betas = told.numbers("betas");
  return {.lr = told.number("lr", 0),
          .betas = {{betas.at(0), betas.at(1)}},
          .eps = told.number("eps", 0),
          .weight_decay = told.number("weight_decay", 0),
          .amsgrad = told.flag("amsgrad", false)};
}

/// Sets the parameters of a network to what `read(name)` gives.
template <class Space, class Network, class Read>
void set_parameters(Network& net, const Read& read) {
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    using tensor = std::remove_cvref_t<decltype(parameter.value)>;
    parameter.value = tensor_of<float, Space, tensor::rank>(read(name));
  });
}

/// Trains a network, whose `net(x)` are logits, on the batches of a case, of `Rank` axes. Calls `after_step(step)`
/// before parameters move.
template <int Rank, class Space, class Network, class Optimizer, class AfterStep>
void train_network(const golden_case& given, Network& net, Optimizer& optimizer, result& found,
                   const AfterStep& after_step) {
  const array& inputs = given.inputs.at("input");
  array losses{"float32", {}, {}};
  const auto batch = [&](index step) { return tensor_of<float, Space, Rank>(part_of(inputs, step)); };
  for (index step = 0; step < inputs.extents[0]; ++step) {
    const auto x = batch(step);
    const auto labels = tensor_of<std::int64_t, Space, 1>(part_of(given.inputs.at("target"), step));
    tn::nn::clear_gradients(net);
    const tn::traced logits = net(x);
    if (step == 0) found.outputs["logits"] = copied(logits);
    const tn::traced loss = tn::mean(tn::nn::cross_entropy(logits, labels));
    stack(losses, array_of(tn::evaluated_tensor<Space>(loss), 0));
    loss.backward();
    after_step(step);
    optimizer.step(net);
  }
  found.outputs_after["losses"] = losses;
  found.outputs_after["logits"] = copied(tn::traced(net(batch(0))));
}

}  // namespace golden
