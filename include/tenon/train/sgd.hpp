// tenon/train/sgd.hpp: stochastic gradient descent.
// With momentum, dampening, Nesterov's momentum and weight decay.
// Floor 8: may include train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct sgd_rule;

/// Options of sgd, with PyTorch's names.
struct sgd_options {
  static constexpr const char* name = "sgd";
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;  // of gradients on their way into the momentum, from the second step on
  double weight_decay = 0;
  bool nesterov = false;

  template <class T>
  using rule = sgd_rule<T>;
};

/// Gradient descent with momentum for one element: its state is the velocity.
template <dtype T>
struct sgd_rule : sweep_rule {
  static constexpr int states = 1;
  T lr, momentum, undamped, weight_decay;
  bool nesterov;

  sgd_rule() = default;
  explicit sgd_rule(const sgd_options& options)
      : lr(static_cast<T>(options.lr)),
        momentum(static_cast<T>(options.momentum)),
        undamped(static_cast<T>(1 - options.dampening)),
        weight_decay(static_cast<T>(options.weight_decay)),
        nesterov(options.nesterov) {
    check_option("sgd", "lr", options.lr, 0);
    check_option("sgd", "momentum", options.momentum, 0);
    check_finite("sgd", "dampening", options.dampening);
    check_option("sgd", "weight_decay", options.weight_decay, 0);
    if (nesterov && (options.momentum == 0 || options.dampening != 0)) {
      throw error("sgd: nesterov takes a momentum, and no dampening");
    }
  }
  static const char* state_name(int) { return "momentum_buffer"; }

  TENON_HOST_DEVICE bool uses(int) const { return momentum != 0; }
  TENON_HOST_DEVICE void begin(T step) {
    if (step == 1) undamped = 1;
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    if (momentum != 0) {
      *state = *state * momentum + gradient * undamped;
      gradient = nesterov ? gradient + *state * momentum : *state;
    }
    value = value - gradient * lr;
  }
};

/// Stochastic gradient descent: g += weight_decay * p; v = momentum * v + (1 - dampening) * g, at first g;
/// p -= lr * v, with nesterov lr * (g + momentum * v).
/// source    torch.optim.SGD; Sutskever and others 2013 (On the importance of initialization and momentum)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using sgd = optimizer<sgd_options, Space, T, Weight>;

}  // namespace tenon::train
