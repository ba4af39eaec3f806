// tenon/train/adam.hpp: Adam, AMSGrad and AdamW.
// One rule: they differ in the second moment that they divide by, and in where weights decay.
// Floor 8: may include base, device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct adam_rule;

/// Options of adam, with PyTorch's names; `amsgrad` is Reddi's variant.
struct adam_options {
  static constexpr const char* name = "adam";
  static constexpr bool decouples_decay = false;
  double lr = 1e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-8;
  double weight_decay = 0;  // added to gradients
  bool amsgrad = false;

  template <class T>
  using rule = adam_rule<T>;
};

/// Options of adamw, with PyTorch's names.
struct adamw_options {
  static constexpr const char* name = "adamw";
  static constexpr bool decouples_decay = true;
  double lr = 1e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-8;
  double weight_decay = 1e-2;  // taken from parameters, times lr
  bool amsgrad = false;

  template <class T>
  using rule = adam_rule<T>;
};

/// Moving averages of gradients and their squares, and what makes up for their start at zero.
template <dtype T>
struct moments {
  T beta1, beta2, rest1, rest2;  // the averages' weights, and those of what is new
  T log_beta1, log_beta2;
  T correction1, correction2;  // 1 - beta^step

  moments() = default;
  moments(const char* optimizer, const array<double, 2>& betas)
      : beta1(static_cast<T>(betas[0])),
        beta2(static_cast<T>(betas[1])),
        rest1(static_cast<T>(1 - betas[0])),
        rest2(static_cast<T>(1 - betas[1])),
        log_beta1(static_cast<T>(std::log(betas[0]))),
        log_beta2(static_cast<T>(std::log(betas[1]))) {
    check_option(optimizer, "betas[0]", betas[0], 0, 1);
    check_option(optimizer, "betas[1]", betas[1], 0, 1);
  }
  TENON_HOST_DEVICE void begin(T step) {
    correction1 = -simd::expm1(step * log_beta1);  // exact where beta is close to 1
    correction2 = -simd::expm1(step * log_beta2);
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void advance(V gradient, V* state) const {
    state[0] = state[0] * beta1 + gradient * rest1;
    state[1] = state[1] * beta2 + gradient * gradient * rest2;
  }
};

/// Adam, AdamW and AMSGrad for one element: its states are two averages and, for AMSGrad, the greatest of the second.
template <dtype T>
struct adam_rule : sweep_rule {
  static constexpr int states = 3;
  moments<T> averages;
  T lr, eps, weight_decay, kept;  // what decay leaves of parameters
  T step_size, root_correction;
  bool amsgrad;

  adam_rule() = default;
  template <class Options>
  explicit adam_rule(const Options& options)
      : averages(Options::name, options.betas),
        lr(static_cast<T>(options.lr)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(Options::decouples_decay ? 0 : options.weight_decay)),
        kept(static_cast<T>(Options::decouples_decay ? 1 - options.lr * options.weight_decay : 1)),
        amsgrad(options.amsgrad) {
    check_option(Options::name, "lr", options.lr, 0);
    check_option(Options::name, "eps", options.eps, 0);
    check_option(Options::name, "weight_decay", options.weight_decay, 0);
  }
  static const char* state_name(int k) {
    constexpr const char* names[] = {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
    return names[k];
  }

  TENON_HOST_DEVICE bool uses(int k) const { return k < 2 || amsgrad; }
  TENON_HOST_DEVICE void begin(T step) {
    averages.begin(step);
    step_size = lr / averages.correction1;
    root_correction = simd::sqrt(averages.correction2);
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state) const {
    value = value * kept;
    if (weight_decay != 0) gradient = gradient + value * weight_decay;
    averages.advance(gradient, state);
    if (amsgrad) state[2] = simd::max(state[2], state[1]);
    const V spread = simd::sqrt(amsgrad ? state[2] : state[1]) / root_correction + eps;
    value = value - state[0] / spread * step_size;
  }
};

/// Adam: m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g^2; p -= lr * m' / (sqrt(v') + eps) of the averages
/// m' = m / (1 - b1^t) and v' = v / (1 - b2^t). With amsgrad, v' is made of the greatest v so far.
/// source    torch.optim.Adam; Kingma, Ba 2015 (Adam: A Method for Stochastic Optimization); Reddi and others 2018
///           (On the Convergence of Adam and Beyond)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using adam = optimizer<adam_options, Space, T, Weight>;

/// Adam whose weights decay by themselves: p *= 1 - lr * weight_decay, then Adam's step.
/// source    torch.optim.AdamW; Loshchilov, Hutter 2019 (Decoupled Weight Decay Regularization)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using adamw = optimizer<adamw_options, Space, T, Weight>;

}  // namespace tenon::train
