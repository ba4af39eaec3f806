// tenon/expr/operations/activation.hpp: the activations of neural networks, but those of self_gated.hpp.
// Definitions and defaults are PyTorch's, also at -infinity: x times a factor that vanishes there is NaN.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_special.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct abs_op;
struct exp_op;
struct expm1_op;
struct minimum_op;
struct sign_op;
struct square_op;
struct tanh_op;
struct where_op;

namespace detail {
/// x below 0, else 0: what counts of x, so that exponentials in derivatives are nowhere infinite.
template <class X>
auto below_zero(const X& x) {
  return apply_op<minimum_op>(x, 0);
}
}  // namespace detail

/// max(x, 0); NaN stays NaN.
struct relu_op : promoting {
  static constexpr const char* name = "relu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::positive_part(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return apply_op<where_op>(x > 0, g, 0);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<relu_op> relu;

/// min(max(x, 0), 6)
struct relu6_op : promoting {
  static constexpr const char* name = "relu6";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::min(relu_op::value(x), simd::constant_like<V>(6));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return apply_op<where_op>(x > 0 && x < 6, g, 0);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<relu6_op> relu6;

/// x above 0, slope * x below; a tensor of slopes makes it PReLU.
/// example   leaky_relu(x), leaky_relu(x, 0.2), leaky_relu(x, slopes)
struct leaky_relu_op : floating_result {
  static constexpr const char* name = "leaky_relu";
  static constexpr array<double, 1> defaults{0.01};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V slope) {
    return simd::select(x > V{}, x, slope * x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return apply_op<where_op>(x > 0, g, g * z);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&) {
    return apply_op<where_op>(x > 0, 0, g * x);
  }
};
inline constexpr pointwise_function_with_defaults<leaky_relu_op> leaky_relu;

/// x above `limit`, `otherwise` elsewhere; NaN stays NaN.
struct threshold_op : promoting {
  static constexpr const char* name = "threshold";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V limit, V otherwise) {
    return simd::select(x <= limit, otherwise, x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z, const auto&) {
    return apply_op<where_op>(x > z, g, 0);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&, const auto&) {
    return g * 0;
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto& z, const auto&) {
    return apply_op<where_op>(x > z, 0, g);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<threshold_op> threshold;

/// cap * tanh(x / cap), which stays below cap; x where cap is 0.
/// source    Gemma Team 2024 (Gemma 2), section 2
struct soft_cap_op : floating_result {
  static constexpr const char* name = "soft_cap";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V cap) {
    return simd::select(cap == V{}, x, V(simd::tanh(V(x / cap)) * cap));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&, const auto& cap) {
    const auto share = y / apply_op<where_op>(cap == 0, 1, cap);
    return g * apply_op<where_op>(cap == 0, 1, 1 - share * share);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<soft_cap_op> soft_cap;

/// x above 0, alpha * (exp(x) - 1) below.
struct elu_op : floating_result {
  static constexpr const char* name = "elu";
  static constexpr array<double, 1> defaults{1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V alpha) {
    return simd::select(x > V{}, x, alpha * simd::expm1(x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * apply_op<where_op>(x > 0, 1, z * apply_op<exp_op>(detail::below_zero(x)));
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&) {
    return g * apply_op<expm1_op>(detail::below_zero(x));
  }
};
inline constexpr pointwise_function_with_defaults<elu_op> elu;

/// x above 0, alpha * (exp(x / alpha) - 1) below.
struct celu_op : floating_result {
  static constexpr const char* name = "celu";
  static constexpr array<double, 1> defaults{1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V alpha) {
    return simd::select(x > V{}, x, alpha * simd::expm1(x / alpha));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * apply_op<where_op>(x > 0, 1, apply_op<exp_op>(detail::below_zero(x) / z));
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    const auto q = detail::below_zero(x) / z;
    return g * (apply_op<expm1_op>(q) - q * apply_op<exp_op>(q));
  }
};
inline constexpr pointwise_function_with_defaults<celu_op> celu;

/// scale * elu(x, alpha), of the scale and the alpha that keep mean 0 and variance 1.
/// source    Klambauer et al., Self-Normalizing Neural Networks, 2017
struct selu_op : floating_result {
  static constexpr const char* name = "selu";
  static constexpr double scale = 1.0507009873554804934193, alpha = 1.6732632423543772848170;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::constant_like<V>(scale) * elu_op::value(x, simd::constant_like<V>(alpha));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<where_op>(x > 0, scale, scale * alpha * apply_op<exp_op>(detail::below_zero(x)));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<selu_op> selu;

/// 1 / (1 + exp(-x)).
struct sigmoid_op : floating_result {
  static constexpr const char* name = "sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::near_quotient(simd::constant_like<V>(1), simd::constant_like<V>(1) + simd::exp(-x));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V slope(V x) {
    const V y = value(x);
    return y * (simd::constant_like<V>(1) - y);
  }
  static auto curve(const auto& x) { return apply_op<slope_op<sigmoid_op>>(x) * (1 - 2 * apply_op<sigmoid_op>(x)); }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<slope_op<sigmoid_op>>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<sigmoid_op> sigmoid;

/// log(sigmoid(x)), without underflow on the way.
struct log_sigmoid_op : floating_result {
  static constexpr const char* name = "log_sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::min(x, simd::constant_like<V>(0)) - simd::log1p(simd::exp(-simd::abs(x)));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<sigmoid_op>(-x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<log_sigmoid_op> log_sigmoid;

/// log(1 + exp(beta * x)) / beta without overflow on the way; x itself where beta * x is above `linear_from`.
/// example   softplus(x), softplus(x, beta), softplus(x, beta, 50)
struct softplus_op : floating_result {
  static constexpr const char* name = "softplus";
  static constexpr array<double, 2> defaults{1, 20};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V beta, V linear_from) {
    const V y = beta * x;
    const V curved = simd::max(y, simd::constant_like<V>(0)) + simd::log1p(simd::exp(-simd::abs(y)));
    return simd::select(y > linear_from, x, curved / beta);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z, const auto& w) {
    return apply_op<where_op>(z * x > w, g, g * apply_op<sigmoid_op>(z * x));
  }
};
inline constexpr pointwise_function_with_defaults<softplus_op> softplus;

/// x / (1 + |x|)
struct softsign_op : floating_result {
  static constexpr const char* name = "softsign";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::near_quotient(x, simd::constant_like<V>(1) + simd::abs(x));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g / apply_op<square_op>(1 + apply_op<abs_op>(x));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<softsign_op> softsign;

/// min(max(x + 3, 0), 6) / 6
struct hard_sigmoid_op : floating_result {
  static constexpr const char* name = "hard_sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return relu6_op::value(x + simd::constant_like<V>(3)) / simd::constant_like<V>(6);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return apply_op<where_op>(apply_op<abs_op>(x) < 3, g / 6, 0);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<hard_sigmoid_op> hard_sigmoid;

/// x * hard_sigmoid(x)
struct hard_swish_op : floating_result {
  static constexpr const char* name = "hard_swish";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return x * hard_sigmoid_op::value(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return apply_op<where_op>(x < -3, 0, apply_op<where_op>(x <= 3, g * (x / 3 + 0.5), g));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<hard_swish_op> hard_swish;

/// x, but at least `low` and at most `high`.
struct hard_tanh_op : floating_result {
  static constexpr const char* name = "hard_tanh";
  static constexpr array<double, 2> defaults{-1, 1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V low, V high) {
    return simd::min(simd::max(x, low), high);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z, const auto& w) {
    return apply_op<where_op>(x > z && x < w, g, 0);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z, const auto&) {
    return apply_op<where_op>(x <= z, g, 0);
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto&, const auto& w) {
    return apply_op<where_op>(x >= w, g, 0);
  }
};
inline constexpr pointwise_function_with_defaults<hard_tanh_op> hard_tanh;

/// x where |x| is above `limit`, 0 elsewhere; NaN stays NaN.
struct hard_shrink_op : floating_result {
  static constexpr const char* name = "hard_shrink";
  static constexpr array<double, 1> defaults{0.5};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V limit) {
    return simd::select(simd::abs(x) <= limit, V{}, x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return apply_op<where_op>(apply_op<abs_op>(x) > z, g, 0);
  }
};
inline constexpr pointwise_function_with_defaults<hard_shrink_op> hard_shrink;

/// x nearer to 0 by `distance`, 0 where it would change its sign; NaN stays NaN.
struct soft_shrink_op : floating_result {
  static constexpr const char* name = "soft_shrink";
  static constexpr array<double, 1> defaults{0.5};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V distance) {
    return simd::select(simd::abs(x) <= distance, V{}, x - simd::select(x > V{}, distance, -distance));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return apply_op<where_op>(apply_op<abs_op>(x) > z, g, 0);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto&, const auto&) {
    return -(g * apply_op<sign_op>(y));
  }
};
inline constexpr pointwise_function_with_defaults<soft_shrink_op> soft_shrink;

/// x - tanh(x)
struct tanh_shrink_op : floating_result {
  static constexpr const char* name = "tanh_shrink";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return x - simd::tanh(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<square_op>(apply_op<tanh_op>(x));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<tanh_shrink_op> tanh_shrink;

}  // namespace tenon
