// tenon/train/optimizer.hpp: optimizers.
// The state of a parameter lies beside it in one block, allocated with the first step and never again.
// Floor 8: may include base, core, device, expr, plan, evaluate, io, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::train {

/// Options of sgd, with PyTorch's meaning.
struct sgd_options {
  float rate = 0.01f;
  float momentum = 0.0f;
  float weight_decay = 0.0f;
};

/// Stochastic gradient descent with momentum: g += decay * p; v = momentum * v + g; p -= rate * v.
/// cost      one kernel for each parameter, which writes velocity and parameter together
/// source    torch.optim.SGD
template <memory_space Space = host, dtype T = float>
class sgd {
 public:
  explicit sgd(const sgd_options& options) : options_(options) {}

  sgd_options& options() { return options_; }

  /// Moves every parameter of `net` along the gradient that the last backward pass left.
  template <class Network>
  void step(Network& net) {
    if (velocity_.size() == 0) start(net);
    index offset = 0;
    net.visit_parameters([&](const auto&, auto& parameter) {
      const rank<1> extent(parameter.value.size());
      const view<T, rank<1>, Space> velocity(velocity_.data() + offset, extent);
      update(velocity, view<T, rank<1>, Space>(parameter.value.data(), extent),
             view<T, rank<1>, Space>(parameter.gradient.data(), extent));
      offset += parameter.value.size();
    });
  }

 private:
  using flat = view<T, rank<1>, Space>;

  template <class Network>
  void start(Network& net) {
    index count = 0;
    net.visit_parameters([&](const auto&, auto& parameter) { count += parameter.value.size(); });
    velocity_ = zeros<T, Space>(rank<1>(count));
  }
  void update(const flat& velocity, const flat& value, const flat& gradient) const {
    const auto moved = velocity * options_.momentum + (gradient + value * options_.weight_decay);
    evaluate(assign(velocity, moved), assign(value, value - moved * options_.rate));
  }

  sgd_options options_;
  tensor<T, rank<1>, Space> velocity_;
};

}  // namespace tenon::train
