// tests/golden/training.hpp: steps of an optimizer, as a golden case tells them.
// Networks name layers by position, PyTorch's by words; results carry PyTorch's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/loss.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/sgd.hpp>

#include "golden/layers.hpp"

namespace golden {

/// PyTorch's names of layers, by position.
using layer_names = std::map<std::string, std::string>;

/// "0.weight" as "fc1.weight".
inline std::string torch_name(const std::string& name, const layer_names& layers) {
  const auto end = name.find('.');
  return layers.at(name.substr(0, end)) + name.substr(end);
}

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

/// Sets the parameters of a network to what `read(name)` gives for PyTorch's names.
template <class Space, class Network, class Read>
void set_parameters(Network& net, const layer_names& layers, const Read& read) {
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    using tensor = std::remove_cvref_t<decltype(parameter.value)>;
    parameter.value = tensor_of<float, Space, tensor::rank>(read(torch_name(name, layers)));
  });
}

/// The passes of a sequential network for inputs of shape `Shape`, whose first extent is the batch.
template <class Network, class Shape, class Space>
class sequential_run {
 public:
  static constexpr int rank = Shape::rank;
  using input = tn::tensor<float, tn::rank<rank>, Space>;

  explicit sequential_run(Network& net) : pass_(net) {}
  auto forward(const input& x) { return pass_.forward(view_of(x)); }
  template <class Gradient>
  void backward(const input& x, const Gradient& gradient) {
    pass_.backward(view_of(x), gradient);
  }

 private:
  static tn::view<const float, Shape, Space> view_of(const input& x) { return {x.data(), Shape(x.shape().to_array())}; }

  tn::nn::pass<Network, Shape, Space> pass_;
};

/// Trains a network on the batches of a case, of `Rank` axes: `run.forward(x)` is the logits, after which
/// `run.backward(gradient)` leaves gradients. Calls `after_step(step)` before parameters move.
template <int Rank, class Space, class Run, class Network, class Optimizer, class AfterStep>
void train_network(const golden_case& given, Run& run, Network& net, Optimizer& optimizer, result& found,
                   const AfterStep& after_step) {
  const array& inputs = given.inputs.at("input");
  array losses{"float32", {}, {}};
  const auto batch = [&](index step) { return tensor_of<float, Space, Rank>(part_of(inputs, step)); };
  for (index step = 0; step < inputs.extents[0]; ++step) {
    const auto x = batch(step);
    const auto labels = tensor_of<std::int64_t, Space, 1>(part_of(given.inputs.at("target"), step));
    const auto logits = run.forward(x);
    if (step == 0) found.outputs["logits"] = copied(logits);
    const tn::tensor<float, tn::shape<>, Space> loss = tn::mean(tn::nn::cross_entropy(logits, labels));
    stack(losses, array_of(loss, 0));
    run.backward(x, tn::nn::cross_entropy_gradient(logits, labels));
    after_step(step);
    optimizer.step(net);
  }
  found.outputs_after["losses"] = losses;
  found.outputs_after["logits"] = copied(run.forward(batch(0)));
}

}  // namespace golden
