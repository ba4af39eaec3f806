// tenon/expr/operations/self_gated.hpp: activations that are x times a smooth share of it.
// Their slopes are values of one piece; derivatives of slopes are expressions, which have derivatives again.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/activation.hpp>

namespace tenon {

struct maximum_op;

namespace detail {

/// `result`, but `share` * exp(x) where x is below -64: a product that is normal for some x of which exp(x) is not.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V with_lowest(V x, V share, V result) {
  const V limit = simd::constant_like<V>(-64);
#if defined(__CUDA_ARCH__)
  if (!(x < limit)) return result;
#else
  using bits = simd::pack<std::make_unsigned_t<typename simd::table_of<V>::bits>, simd::width_of<V>>;
  if (!simd::any_at_least(simd::as_bits<bits>(x), simd::as_bits<bits>(limit))) [[likely]]
    return result;
#endif
  const V power = simd::exp(V(x + simd::constant_like<V>(16)));
  return simd::select(x < limit, V(share * power * simd::constant_like<V>(1.1253517471925911451e-7)), result);
}

}  // namespace detail

/// x * sigmoid(x), also called swish.
struct silu_op : floating_result {
  static constexpr const char* name = "silu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return detail::with_lowest(x, x, simd::near_quotient(x, simd::constant_like<V>(1) + simd::exp_of_negative(x)));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V slope(V x) {
    const V one = simd::constant_like<V>(1), share = sigmoid_op::value(x);
    return detail::with_lowest(x, V(one + x), V(share * (one + x * (one - share))));
  }
  static auto curve(const auto& x) {
    return apply_op<slope_op<sigmoid_op>>(x) * (2 + x * (1 - 2 * apply_op<sigmoid_op>(x)));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<slope_op<silu_op>>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<silu_op> silu;

/// x * (1 + erf(x / sqrt(2))) / 2
struct gelu_op : floating_result {
  static constexpr const char* name = "gelu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    const V doubled_share = simd::constant_like<V>(1) + simd::erf(x * simd::constant_like<V>(0.70710678118654752440));
    return simd::constant_like<V>(0.5) * x * doubled_share;
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V slope(V x) {
    const V half = simd::constant_like<V>(0.5), density = simd::constant_like<V>(0.39894228040143267794);
    const V share = half + half * simd::erf(x * simd::constant_like<V>(0.70710678118654752440));
    return share + x * (density * simd::exp(-half * x * x));
  }
  static auto curve(const auto& x) {
    const auto squared = apply_op<square_op>(x);
    return (2 - squared) * (0.39894228040143267794 * apply_op<exp_op>(-0.5 * squared));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<slope_op<gelu_op>>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<gelu_op> gelu;

/// gelu with its approximation x * (1 + tanh(u)) / 2, u = sqrt(2 / pi) * (x + 0.044715 x^3): here x * sigmoid(2 u).
struct gelu_tanh_op : floating_result {
  static constexpr const char* name = "gelu_tanh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    const V u = simd::constant_like<V>(0.79788456080286535588) * (x + simd::constant_like<V>(0.044715) * (x * x * x));
    return x * sigmoid_op::value(u + u);
  }
  /// Beyond 30, where it is 0 or 1, powers of x would be infinite.
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V slope(V given) {
    const V x = simd::at_least(simd::at_most(given, simd::constant_like<V>(30)), simd::constant_like<V>(-30));
    const V one = simd::constant_like<V>(1), factor = simd::constant_like<V>(0.79788456080286535588),
            cubic = simd::constant_like<V>(0.044715), squared = x * x;
    const V u = factor * x * (one + cubic * squared), share = sigmoid_op::value(u + u);
    const V steepness = factor * (one + simd::constant_like<V>(3) * cubic * squared);
    return share * (one + (x + x) * steepness * (one - share));
  }
  /// Beyond 30 it is 0.
  static auto curve(const auto& given) {
    const auto x = apply_op<maximum_op>(apply_op<minimum_op>(given, 30), -30);
    const auto squared = apply_op<square_op>(x);
    const auto doubled = 1.5957691216057307117 * x * (1 + 0.044715 * squared);
    const auto steepness = 1.5957691216057307117 * (1 + 0.134145 * squared);
    const auto bend = apply_op<square_op>(steepness) * (1 - 2 * apply_op<sigmoid_op>(doubled));
    return apply_op<slope_op<sigmoid_op>>(doubled) * (2 * steepness + x * (0.42812889763560147 * x + bend));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<slope_op<gelu_tanh_op>>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<gelu_tanh_op> gelu_tanh;

/// x * tanh(softplus(x)); the tangent is n / (n + 2) of n = exp(x) * (exp(x) + 2), and 1 from 20 on.
struct mish_op : floating_result {
  static constexpr const char* name = "mish";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    const V power = simd::exp_of_bounded(simd::at_most(x, simd::constant_like<V>(20)));
    const V n = power * (power + simd::constant_like<V>(2));
    return detail::with_lowest(x, x, V(x * (n / (n + simd::constant_like<V>(2)))));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V slope(V x) {
    const V one = simd::constant_like<V>(1), two = simd::constant_like<V>(2);
    const V power = simd::exp_of_bounded(simd::at_most(x, simd::constant_like<V>(20)));
    const V n = power * (power + two), tangent = n / (n + two);
    const V rest = x * (one - tangent * tangent) * (power / (one + power));
    return detail::with_lowest(x, V(one + x), V(tangent + rest));
  }
  /// As 1 - tangent^2 vanishes with n, it is 4 (n + 1) / (n + 2)^2 without cancelling.
  static auto curve(const auto& given) {
    const auto x = apply_op<minimum_op>(given, 20);
    const auto power = apply_op<exp_op>(x);
    const auto share = apply_op<sigmoid_op>(x);
    const auto n = power * (power + 2);
    return 4 * (n + 1) / apply_op<square_op>(n + 2) * share * (2 + x * (1 - share - 2 * (n / (n + 2)) * share));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<slope_op<mish_op>>(x);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<mish_op> mish;

}  // namespace tenon
