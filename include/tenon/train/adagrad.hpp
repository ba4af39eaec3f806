// tenon/train/adagrad.hpp: Adagrad and Adadelta.
// Gradients are divided by the root of the sum of all their squares, or of an average that forgets.
// Floor 8: may include device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct adagrad_rule;
template <dtype T>
struct adadelta_rule;

/// Options of adagrad, with PyTorch's names.
struct adagrad_options {
  static constexpr const char* name = "adagrad";
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;

  template <class T>
  using rule = adagrad_rule<T>;
};

/// Options of adadelta, with PyTorch's names.
struct adadelta_options {
  static constexpr const char* name = "adadelta";
  double lr = 1;
  double rho = 0.9;  // weight of the past in averages
  double eps = 1e-6;
  double weight_decay = 0;

  template <class T>
  using rule = adadelta_rule<T>;
};

/// Adagrad for one element: its sum of squared gradients is its state.
template <dtype T>
struct adagrad_rule : sweep_rule {
  static constexpr int states = 1;
  T lr, lr_decay, weight_decay, first_sum, eps;

  adagrad_rule() = default;
  explicit adagrad_rule(const adagrad_options& options)
      : lr(static_cast<T>(options.lr)),
        lr_decay(static_cast<T>(options.lr_decay)),
        weight_decay(static_cast<T>(options.weight_decay)),
        first_sum(static_cast<T>(options.initial_accumulator_value)),
        eps(static_cast<T>(options.eps)) {
    check_option("adagrad", "lr", options.lr, 0);
    check_option("adagrad", "lr_decay", options.lr_decay, 0);
    check_option("adagrad", "weight_decay", options.weight_decay, 0);
    check_option("adagrad", "initial_accumulator_value", options.initial_accumulator_value, 0);
    check_option("adagrad", "eps", options.eps, 0);
  }
  static const char* state_name(int) { return "sum"; }

  double initial(int) const { return first_sum; }
  TENON_HOST_DEVICE void begin(T step) { lr = lr / (1 + (step - 1) * lr_decay); }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    *state = *state + gradient * gradient;
    value = value - gradient / (simd::sqrt(*state) + eps) * lr;
  }
};

/// Adadelta for one element: its states are the averages of squared gradients and of squared steps.
template <dtype T>
struct adadelta_rule : sweep_rule {
  static constexpr int states = 2;
  T lr, rho, rest, eps, weight_decay;

  adadelta_rule() = default;
  explicit adadelta_rule(const adadelta_options& options)
      : lr(static_cast<T>(options.lr)),
        rho(static_cast<T>(options.rho)),
        rest(static_cast<T>(1 - options.rho)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.weight_decay)) {
    check_option("adadelta", "lr", options.lr, 0);
    check_option("adadelta", "rho", options.rho, 0);
    check_option("adadelta", "1 - rho", 1 - options.rho, 0);
    check_option("adadelta", "eps", options.eps, 0);
    check_option("adadelta", "weight_decay", options.weight_decay, 0);
  }
  static const char* state_name(int k) { return k == 0 ? "square_avg" : "acc_delta"; }

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    state[0] = state[0] * rho + gradient * gradient * rest;
    const V moved = simd::sqrt(state[1] + eps) / simd::sqrt(state[0] + eps) * gradient;
    state[1] = state[1] * rho + moved * moved * rest;
    value = value - moved * lr;
  }
};

/// Adagrad: s += g^2; p -= lr / (1 + (t - 1) * lr_decay) * g / (sqrt(s) + eps).
/// source    torch.optim.Adagrad; Duchi and others 2011 (Adaptive Subgradient Methods)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using adagrad = optimizer<adagrad_options, Space, T, Weight>;

/// Adadelta: s = rho * s + (1 - rho) * g^2; u = sqrt(d + eps) / sqrt(s + eps) * g; d = rho * d + (1 - rho) * u^2;
/// p -= lr * u.
/// source    torch.optim.Adadelta; Zeiler 2012 (ADADELTA: An Adaptive Learning Rate Method)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using adadelta = optimizer<adadelta_options, Space, T, Weight>;

}  // namespace tenon::train
