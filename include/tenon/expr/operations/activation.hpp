// tenon/expr/operations/activation.hpp: the activations of neural networks.
// Definitions and defaults are PyTorch's, also at -infinity: x times a factor that vanishes there is NaN.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_special.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// max(x, 0); NaN stays NaN.
struct relu_op : promoting {
  static constexpr const char* name = "relu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::max(x, simd::constant_like<V>(0));
  }
};
inline constexpr pointwise_function<relu_op> relu;

/// min(max(x, 0), 6)
struct relu6_op : promoting {
  static constexpr const char* name = "relu6";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::min(relu_op::value(x), simd::constant_like<V>(6));
  }
};
inline constexpr pointwise_function<relu6_op> relu6;

/// x above 0, slope * x below; a tensor of slopes makes it PReLU.
/// example   leaky_relu(x), leaky_relu(x, 0.2), leaky_relu(x, slopes)
struct leaky_relu_op : floating_result {
  static constexpr const char* name = "leaky_relu";
  static constexpr array<double, 1> defaults{0.01};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V slope) {
    return simd::select(x > V{}, x, slope * x);
  }
};
inline constexpr pointwise_function_with_defaults<leaky_relu_op> leaky_relu;

/// x above `limit`, `otherwise` elsewhere; NaN stays NaN.
struct threshold_op : promoting {
  static constexpr const char* name = "threshold";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V limit, V otherwise) {
    return simd::select(x <= limit, otherwise, x);
  }
};
inline constexpr pointwise_function<threshold_op> threshold;

/// x above 0, alpha * (exp(x) - 1) below.
struct elu_op : floating_result {
  static constexpr const char* name = "elu";
  static constexpr array<double, 1> defaults{1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V alpha) {
    return simd::select(x > V{}, x, alpha * simd::expm1(x));
  }
};
inline constexpr pointwise_function_with_defaults<elu_op> elu;

/// x above 0, alpha * (exp(x / alpha) - 1) below.
struct celu_op : floating_result {
  static constexpr const char* name = "celu";
  static constexpr array<double, 1> defaults{1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V alpha) {
    return simd::select(x > V{}, x, alpha * simd::expm1(x / alpha));
  }
};
inline constexpr pointwise_function_with_defaults<celu_op> celu;

/// scale * elu(x, alpha), of the scale and the alpha that keep mean 0 and variance 1.
/// source    Klambauer et al., Self-Normalizing Neural Networks, 2017
struct selu_op : floating_result {
  static constexpr const char* name = "selu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    const V scale = simd::constant_like<V>(1.0507009873554804934193),
            alpha = simd::constant_like<V>(1.6732632423543772848170);
    return scale * elu_op::value(x, alpha);
  }
};
inline constexpr pointwise_function<selu_op> selu;

/// 1 / (1 + exp(-x)).
struct sigmoid_op : floating_result {
  static constexpr const char* name = "sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::constant_like<V>(1) / (simd::constant_like<V>(1) + simd::exp(-x));
  }
};
inline constexpr pointwise_function<sigmoid_op> sigmoid;

/// log(sigmoid(x)), without underflow on the way.
struct log_sigmoid_op : floating_result {
  static constexpr const char* name = "log_sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::min(x, simd::constant_like<V>(0)) - simd::log1p(simd::exp(-simd::abs(x)));
  }
};
inline constexpr pointwise_function<log_sigmoid_op> log_sigmoid;

/// x * sigmoid(x), also called swish.
struct silu_op : floating_result {
  static constexpr const char* name = "silu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return x / (simd::constant_like<V>(1) + simd::exp(-x));
  }
};
inline constexpr pointwise_function<silu_op> silu;

/// x * (1 + erf(x / sqrt(2))) / 2
struct gelu_op : floating_result {
  static constexpr const char* name = "gelu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    const V doubled_share = simd::constant_like<V>(1) + simd::erf(x * simd::constant_like<V>(0.70710678118654752440));
    return simd::constant_like<V>(0.5) * x * doubled_share;
  }
};
inline constexpr pointwise_function<gelu_op> gelu;

/// gelu with its approximation x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3): here x * sigmoid(2 u).
struct gelu_tanh_op : floating_result {
  static constexpr const char* name = "gelu_tanh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    const V u = simd::constant_like<V>(0.79788456080286535588) * (x + simd::constant_like<V>(0.044715) * (x * x * x));
    return x * sigmoid_op::value(u + u);
  }
};
inline constexpr pointwise_function<gelu_tanh_op> gelu_tanh;

/// log(1 + exp(beta * x)) / beta without overflow on the way; x itself where beta * x is above `linear_from`.
/// example   softplus(x), softplus(x, beta), softplus(x, beta, 50)
struct softplus_op : floating_result {
  static constexpr const char* name = "softplus";
  static constexpr array<double, 2> defaults{1, 20};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V beta, V linear_from) {
    const V y = beta * x;
    const V curved = simd::max(y, simd::constant_like<V>(0)) + simd::log1p(simd::exp(-simd::abs(y)));
    return simd::select(y > linear_from, x, curved / beta);
  }
};
inline constexpr pointwise_function_with_defaults<softplus_op> softplus;

/// x * tanh(softplus(x)); the tangent is n / (n + 2) of n = exp(x) * (exp(x) + 2), and 1 from 20 on.
struct mish_op : floating_result {
  static constexpr const char* name = "mish";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    const V power = simd::exp(simd::at_most(x, simd::constant_like<V>(20)));
    const V n = power * (power + simd::constant_like<V>(2));
    return x * (n / (n + simd::constant_like<V>(2)));
  }
};
inline constexpr pointwise_function<mish_op> mish;

/// x / (1 + |x|)
struct softsign_op : floating_result {
  static constexpr const char* name = "softsign";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return x / (simd::constant_like<V>(1) + simd::abs(x));
  }
};
inline constexpr pointwise_function<softsign_op> softsign;

/// min(max(x + 3, 0), 6) / 6
struct hard_sigmoid_op : floating_result {
  static constexpr const char* name = "hard_sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return relu6_op::value(x + simd::constant_like<V>(3)) / simd::constant_like<V>(6);
  }
};
inline constexpr pointwise_function<hard_sigmoid_op> hard_sigmoid;

/// x * hard_sigmoid(x)
struct hard_swish_op : floating_result {
  static constexpr const char* name = "hard_swish";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return x * relu6_op::value(x + simd::constant_like<V>(3)) / simd::constant_like<V>(6);
  }
};
inline constexpr pointwise_function<hard_swish_op> hard_swish;

/// x, but at least `low` and at most `high`.
struct hard_tanh_op : floating_result {
  static constexpr const char* name = "hard_tanh";
  static constexpr array<double, 2> defaults{-1, 1};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V low, V high) {
    return simd::min(simd::max(x, low), high);
  }
};
inline constexpr pointwise_function_with_defaults<hard_tanh_op> hard_tanh;

/// x where |x| is above `limit`, 0 elsewhere; NaN stays NaN.
struct hard_shrink_op : floating_result {
  static constexpr const char* name = "hard_shrink";
  static constexpr array<double, 1> defaults{0.5};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V limit) {
    return simd::select(simd::abs(x) <= limit, V{}, x);
  }
};
inline constexpr pointwise_function_with_defaults<hard_shrink_op> hard_shrink;

/// x nearer to 0 by `distance`, 0 where it would change its sign; NaN stays NaN.
struct soft_shrink_op : floating_result {
  static constexpr const char* name = "soft_shrink";
  static constexpr array<double, 1> defaults{0.5};
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V distance) {
    return simd::select(simd::abs(x) <= distance, V{}, x - simd::select(x > V{}, distance, -distance));
  }
};
inline constexpr pointwise_function_with_defaults<soft_shrink_op> soft_shrink;

/// x - tanh(x)
struct tanh_shrink_op : floating_result {
  static constexpr const char* name = "tanh_shrink";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return x - simd::tanh(x);
  }
};
inline constexpr pointwise_function<tanh_shrink_op> tanh_shrink;

}  // namespace tenon
