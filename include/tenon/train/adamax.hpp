// tenon/train/adamax.hpp: Adamax, which divides by the greatest gradient so far in place of Adam's second moment.
// That greatest one decays from step to step.
// Floor 8: may include base, device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct adamax_rule;

/// Options of adamax, with PyTorch's names.
struct adamax_options {
  static constexpr const char* name = "adamax";
  double lr = 2e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-8;
  double weight_decay = 0;  // added to gradients

  template <class T>
  using rule = adamax_rule<T>;
};

/// Adamax for one element: its states are the average of gradients and the greatest of their magnitudes.
template <dtype T>
struct adamax_rule : sweep_rule {
  static constexpr int states = 2;
  T lr, beta1, beta2, rest1, log_beta1, eps, weight_decay;
  T step_size;

  adamax_rule() = default;
  explicit adamax_rule(const adamax_options& options)
      : lr(static_cast<T>(options.lr)),
        beta1(static_cast<T>(options.betas[0])),
        beta2(static_cast<T>(options.betas[1])),
        rest1(static_cast<T>(1 - options.betas[0])),
        log_beta1(static_cast<T>(std::log(options.betas[0]))),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.weight_decay)) {
    check_option("adamax", "lr", options.lr, 0);
    check_option("adamax", "betas[0]", options.betas[0], 0, 1);
    check_option("adamax", "betas[1]", options.betas[1], 0, 1);
    check_option("adamax", "eps", options.eps, 0);
    check_option("adamax", "weight_decay", options.weight_decay, 0);
  }
  static const char* state_name(int k) { return k == 0 ? "exp_avg" : "exp_inf"; }

  TENON_HOST_DEVICE void begin(T step) { step_size = lr / -simd::expm1(step * log_beta1); }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    state[0] = state[0] * beta1 + gradient * rest1;
    state[1] = simd::max(V(state[1] * beta2), V(simd::abs(gradient) + eps));
    value = value - state[0] / state[1] * step_size;
  }
};

/// Adamax: m = b1 * m + (1 - b1) * g; u = max(b2 * u, |g| + eps); p -= lr / (1 - b1^t) * m / u.
/// source    torch.optim.Adamax; Kingma, Ba 2015 (Adam: A Method for Stochastic Optimization)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using adamax = optimizer<adamax_options, Space, T, Weight>;

}  // namespace tenon::train
