// tenon/train/rmsprop.hpp: RMSprop.
// Gradients are divided by the root of their average square; with momentum, and centred, where wanted.
// Floor 8: may include device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct rmsprop_rule;

/// Options of rmsprop, with PyTorch's names.
struct rmsprop_options {
  static constexpr const char* name = "rmsprop";
  double lr = 1e-2;
  double alpha = 0.99;  // weight of the past in averages
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;  // whether the square of the average gradient is subtracted: a variance

  template <class T>
  using rule = rmsprop_rule<T>;
};

/// RMSprop for one element: its states are the averages of squares and, if asked for, of gradients, and the momentum.
template <dtype T>
struct rmsprop_rule : sweep_rule {
  static constexpr int states = 3;
  T lr, alpha, rest, eps, weight_decay, momentum;
  bool centered;

  rmsprop_rule() = default;
  explicit rmsprop_rule(const rmsprop_options& options)
      : lr(static_cast<T>(options.lr)),
        alpha(static_cast<T>(options.alpha)),
        rest(static_cast<T>(1 - options.alpha)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.weight_decay)),
        momentum(static_cast<T>(options.momentum)),
        centered(options.centered) {
    check_option("rmsprop", "lr", options.lr, 0);
    check_share("rmsprop", "alpha", options.alpha);
    check_option("rmsprop", "eps", options.eps, 0);
    check_option("rmsprop", "weight_decay", options.weight_decay, 0);
    check_option("rmsprop", "momentum", options.momentum, 0);
  }
  static const char* state_name(int k) {
    constexpr const char* names[] = {"square_avg", "momentum_buffer", "grad_avg"};
    return names[k];
  }

  TENON_HOST_DEVICE bool uses(int k) const { return k == 0 || (k == 1 ? momentum != 0 : centered); }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    state[0] = state[0] * alpha + gradient * gradient * rest;
    V square = state[0];
    if (centered) {
      state[2] = state[2] * alpha + gradient * rest;
      square = square - state[2] * state[2];
    }
    gradient = gradient / (simd::sqrt(square) + eps);
    if (momentum != 0) gradient = state[1] = state[1] * momentum + gradient;
    value = value - gradient * lr;
  }
};

/// RMSprop: s = alpha * s + (1 - alpha) * g^2; u = g / (sqrt(s) + eps), centred g / (sqrt(s - average(g)^2) + eps);
/// p -= lr * u, with momentum lr * b of b = momentum * b + u.
/// source    torch.optim.RMSprop; Hinton 2012 (Neural Networks for Machine Learning, lecture 6); centred: Graves 2013
///           (Generating Sequences With Recurrent Neural Networks)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using rmsprop = optimizer<rmsprop_options, Space, T, Weight>;

}  // namespace tenon::train
