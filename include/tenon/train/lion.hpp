// tenon/train/lion.hpp: Lion, which moves every parameter by the sign of its momentum.
// It keeps one number for each element, half of what Adam does.
// Floor 8: may include base, expr, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct lion_rule;

/// Options of lion, with the names of its paper's program.
struct lion_options {
  static constexpr const char* name = "lion";
  double lr = 1e-4;
  array<double, 2> betas{{0.9, 0.99}};
  double weight_decay = 0;  // taken from parameters, times lr

  template <class T>
  using rule = lion_rule<T>;
};

/// Lion for one element: a step of fixed length against the sign of an average of gradients.
template <dtype T>
struct lion_rule : sweep_rule {
  static constexpr int states = 1;
  T lr, beta1, beta2, rest1, rest2, kept;

  lion_rule() = default;
  explicit lion_rule(const lion_options& options)
      : lr(static_cast<T>(options.lr)),
        beta1(static_cast<T>(options.betas[0])),
        beta2(static_cast<T>(options.betas[1])),
        rest1(static_cast<T>(1 - options.betas[0])),
        rest2(static_cast<T>(1 - options.betas[1])),
        kept(static_cast<T>(1 - options.lr * options.weight_decay)) {
    check_option("lion", "lr", options.lr, 0);
    check_option("lion", "betas[0]", options.betas[0], 0, 1);
    check_option("lion", "betas[1]", options.betas[1], 0, 1);
    check_option("lion", "weight_decay", options.weight_decay, 0);
  }
  static const char* state_name(int) { return "exp_avg"; }

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    value = value * kept - sign_op::value(*state * beta1 + gradient * rest1) * lr;
    *state = *state * beta2 + gradient * rest2;
  }
};

/// Lion: p *= 1 - lr * weight_decay; p -= lr * sign(b1 * m + (1 - b1) * g); m = b2 * m + (1 - b2) * g.
/// source    Chen and others 2023 (Symbolic Discovery of Optimization Algorithms)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using lion = optimizer<lion_options, Space, T, Weight>;

}  // namespace tenon::train
