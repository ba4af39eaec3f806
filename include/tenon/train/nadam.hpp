// tenon/train/nadam.hpp: NAdam, Adam with Nesterov's momentum.
// The weight of the past grows with the steps, so what makes up for a start at zero is a product of all of them.
// Floor 8: may include device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/adam.hpp>

namespace tenon::train {

template <dtype T>
struct nadam_rule;

/// Options of nadam, with PyTorch's names.
struct nadam_options {
  static constexpr const char* name = "nadam";
  double lr = 2e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-8;
  double weight_decay = 0;              // added to gradients
  double momentum_decay = 4e-3;         // how fast the weight of the past grows, from half of betas[0]
  bool decoupled_weight_decay = false;  // whether weight_decay is taken from parameters instead, times lr

  template <class T>
  using rule = nadam_rule<T>;
};

/// NAdam for one element: its states are Adam's two averages.
template <dtype T>
struct nadam_rule : sweep_rule {
  static constexpr int states = 2;
  moments<T> averages;
  T lr, eps, weight_decay, kept, log_decay;
  T of_gradient, of_average, root_correction;

  nadam_rule() = default;
  explicit nadam_rule(const nadam_options& options)
      : averages("nadam", options.betas),
        lr(static_cast<T>(options.lr)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.decoupled_weight_decay ? 0 : options.weight_decay)),
        kept(static_cast<T>(options.decoupled_weight_decay ? 1 - options.lr * options.weight_decay : 1)),
        log_decay(static_cast<T>(std::log(0.96) * options.momentum_decay)) {
    check_option("nadam", "lr", options.lr, 0);
    check_option("nadam", "eps", options.eps, 0);
    check_option("nadam", "weight_decay", options.weight_decay, 0);
    check_option("nadam", "momentum_decay", options.momentum_decay, 0);
  }
  static const char* state_name(int k) { return k == 0 ? "exp_avg" : "exp_avg_sq"; }

  TENON_HOST_DEVICE void begin(T step) {
    averages.begin(step);
    root_correction = simd::sqrt(averages.correction2);
    of_gradient = lr * (averages.rest1 + missing(step)) / -simd::expm1(log_product(step));
    of_average = lr * (averages.beta1 - missing(step + 1)) / -simd::expm1(log_product(step + 1));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    value = value * kept;
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    averages.advance(gradient, state);
    const V spread = simd::sqrt(state[1]) / root_correction + eps;
    value = value - (gradient * of_gradient + state[0] * of_average) / spread;
  }

 private:
  /// What the weight of the past still misses of beta1 at a step.
  TENON_HOST_DEVICE T missing(T step) const { return averages.beta1 / 2 * simd::exp(step * log_decay); }
  /// The logarithm of the product of all weights up to a step. log(1 - q / 2) is a series of powers of q, and those of
  /// all steps add up to a quotient.
  TENON_HOST_DEVICE T log_product(T step) const {
    T sum = step * averages.log_beta1, half = 1;
    if (sum < -40) return sum;  // nothing is left of the product
    for (int power = 1; power <= std::numeric_limits<T>::digits; ++power) {
      const T once = static_cast<T>(power) * log_decay;
      half /= 2;
      sum -= half / static_cast<T>(power) *
             (once == 0 ? step : simd::exp(once) * simd::expm1(step * once) / simd::expm1(once));
    }
    return sum;
  }
};

/// NAdam: m and v are Adam's averages, v' = v / (1 - b2^t); w_t = b1 * (1 - 0.96^(t * momentum_decay) / 2), and W_t is
/// the product of w_1 to w_t. p -= lr * ((1 - w_t) * g / (1 - W_t) + w_(t + 1) * m / (1 - W_(t + 1))) /
/// (sqrt(v') + eps).
/// source    torch.optim.NAdam; Dozat 2016 (Incorporating Nesterov Momentum into Adam)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using nadam = optimizer<nadam_options, Space, T, Weight>;

}  // namespace tenon::train
