// tenon/train/lamb.hpp: LAMB, Adam whose steps are as long as each parameter's norm allows.
// That norm has to be whole before the first element moves, so a step is two launches.
// Floor 8: may include base, device, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/adam.hpp>

namespace tenon::train {

template <dtype T>
struct lamb_rule;

/// Options of lamb, with the names of PyTorch's adamw.
struct lamb_options {
  static constexpr const char* name = "lamb";
  double lr = 1e-3;
  array<double, 2> betas{{0.9, 0.999}};
  double eps = 1e-6;
  double weight_decay = 1e-2;  // added to the direction

  template <class T>
  using rule = lamb_rule<T>;
};

/// The direction of a step: that of Adam, and decay.
template <dtype T>
struct lamb_direction : sweep_rule {
  static constexpr int states = 2;
  moments<T> averages;
  T lr, eps, weight_decay;

  lamb_direction() = default;
  explicit lamb_direction(const lamb_options& options)
      : averages("lamb", options.betas),
        lr(static_cast<T>(options.lr)),
        eps(static_cast<T>(options.eps)),
        weight_decay(static_cast<T>(options.weight_decay)) {
    check_option("lamb", "lr", options.lr, 0);
    check_option("lamb", "eps", options.eps, 0);
    check_option("lamb", "weight_decay", options.weight_decay, 0);
  }
  TENON_HOST_DEVICE void begin(T step) { averages.begin(step); }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE V direction(V value, const V* state) const {
    const V spread = simd::sqrt(state[1] / averages.correction2) + eps;
    return state[0] / averages.correction1 / spread + value * weight_decay;
  }
};

/// Moves parameters once the ratios of norms are known.
template <dtype T>
struct lamb_move : lamb_direction<T> {
  static constexpr const char* name = "lamb_move";
  static constexpr bool is_step = false, writes_state = false;
  T ratio;

  using lamb_direction<T>::lamb_direction;
  TENON_HOST_DEVICE void take(T total) { ratio = total; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V, V* state) const {
    value = value - this->direction(value, state) * (this->lr * ratio);
  }
};

/// Advances the averages, and finds the ratio of the norm of each parameter to that of its direction.
template <dtype T>
struct lamb_rule : lamb_direction<T> {
  static constexpr int sum_count = 2;
  static constexpr bool sums_each = true, writes_value = false;
  using second_rule = lamb_move<T>;

  using lamb_direction<T>::lamb_direction;
  static const char* state_name(int k) { return k == 0 ? "exp_avg" : "exp_avg_sq"; }

  TENON_HOST_DEVICE static T settle(const T* sums) {
    return sums[0] == 0 || sums[1] == 0 ? T{1} : simd::sqrt(sums[0]) / simd::sqrt(sums[1]);
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state, V* sums) const {
    this->averages.advance(gradient, state);
    const V moved = this->direction(value, state);
    sums[0] = sums[0] + value * value;
    sums[1] = sums[1] + moved * moved;
  }
};

/// LAMB: u = m' / (sqrt(v') + eps) + weight_decay * p of Adam's m' and v'; p -= lr * |p| / |u| * u, with norms of the
/// whole parameter, and lr * u where one of them is zero.
/// cost      two launches for all parameters together
/// source    You and others 2020 (Large Batch Optimization for Deep Learning)
template <memory_space Space = host, dtype T = float, dtype Weight = T>
using lamb = optimizer<lamb_options, Space, T, Weight>;

}  // namespace tenon::train
