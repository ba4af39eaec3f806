// tenon/train/radam.hpp: RAdam, whose first steps are those of a plain average.
// Adam divides by a root that few gradients tell little of; RAdam waits, and then trusts it by and by.
// Floor 8: may include device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/adam.hpp>

namespace tenon::train {

template <dtype T>
struct radam_rule;

/// Options of radam, with PyTorch's names.
struct radam_options {
  static constexpr const char* name = "radam";
  double lr = 1e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-8;
  double weight_decay = 0;              // added to gradients
  bool decoupled_weight_decay = false;  // whether it is taken from parameters instead, times lr

  template <class T>
  using rule = radam_rule<T>;
};

/// RAdam for one element: its states are Adam's two averages.
template <dtype T>
struct radam_rule : sweep_rule {
  static constexpr int states = 2;
  moments<T> averages;
  double log_beta2, most;  // how many gradients the second average tells of in the end
  T lr, eps, weight_decay, kept;
  T step_size;
  bool divides;  // by the root of the second average

  radam_rule() = default;
  explicit radam_rule(const radam_options& options)
      : averages("radam", options.betas),
        log_beta2(std::log(options.betas[1])),
        most(2 / (1 - options.betas[1]) - 1),
        lr(static_cast<T>(options.lr)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.decoupled_weight_decay ? 0 : options.weight_decay)),
        kept(static_cast<T>(options.decoupled_weight_decay ? 1 - options.lr * options.weight_decay : 1)) {
    check_option("radam", "lr", options.lr, 0);
    check_option("radam", "eps", options.eps, 0);
    check_option("radam", "weight_decay", options.weight_decay, 0);
  }
  static const char* state_name(int k) { return k == 0 ? "exp_avg" : "exp_avg_sq"; }

  TENON_HOST_DEVICE void begin(T step) {
    averages.begin(step);
    const double steps = static_cast<double>(step), rest = -simd::expm1(steps * log_beta2);
    const double told = most - 2 * steps * (1 - rest) / rest;  // of large numbers, so that float would lose its digits
    divides = told > 5;
    step_size = lr / averages.correction1;
    if (!divides) return;
    const double trust = (told - 4) * (told - 2) * most / ((most - 4) * (most - 2) * told);
    step_size *= static_cast<T>(simd::sqrt(trust * rest));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    value = value * kept;
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    averages.advance(gradient, state);
    const V moved = divides ? V(state[0] / (simd::sqrt(state[1]) + eps)) : state[0];
    value = value - moved * step_size;
  }
};

/// RAdam: m' and the root of v' are Adam's; s = s' - 2 t b2^t / (1 - b2^t) with s' = 2 / (1 - b2) - 1 is of how many
/// gradients v tells. Up to 5, p -= lr * m'; then p -= lr * r * m' / sqrt(v'), with
/// r^2 = (s - 4) (s - 2) s' / ((s' - 4) (s' - 2) s). As in PyTorch, eps is added to the root of v, not to that of v'.
/// source    torch.optim.RAdam; Liu and others 2020 (On the Variance of the Adaptive Learning Rate and Beyond)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using radam = optimizer<radam_options, Space, T, Weight>;

}  // namespace tenon::train
