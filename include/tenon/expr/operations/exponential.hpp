// tenon/expr/operations/exponential.hpp: exponentials, logarithms, roots, powers.
// Integers are taken to float; their powers stay integers.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_integer.hpp>
#include <tenon/device/simd_powers.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct log_op;
struct pow_op;
struct square_op;
struct where_op;

/// e to the power x.
struct exp_op : floating_result {
  static constexpr const char* name = "exp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::exp(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) { return g * y; }
};
TENON_FUNCTION_OBJECT pointwise_function<exp_op> exp;

/// 2 to the power x.
struct exp2_op : floating_result {
  static constexpr const char* name = "exp2";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::exp2(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g * (y * 0.69314718055994530942);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<exp2_op> exp2;

/// exp(x) - 1, exact near 0 too.
struct expm1_op : floating_result {
  static constexpr const char* name = "expm1";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::expm1(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) { return g * (y + 1); }
};
TENON_FUNCTION_OBJECT pointwise_function<expm1_op> expm1;

/// Natural logarithm.
struct log_op : floating_result {
  static constexpr const char* name = "log";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::log(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g / x; }
};
TENON_FUNCTION_OBJECT pointwise_function<log_op> log;

/// Logarithm to base 2.
struct log2_op : floating_result {
  static constexpr const char* name = "log2";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::log2(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g / (x * 0.69314718055994530942);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<log2_op> log2;

/// Logarithm to base 10.
struct log10_op : floating_result {
  static constexpr const char* name = "log10";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::log10(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g / (x * 2.30258509299404568402);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<log10_op> log10;

/// log(1 + x), exact near 0 too.
struct log1p_op : floating_result {
  static constexpr const char* name = "log1p";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::log1p(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g / (x + 1); }
};
TENON_FUNCTION_OBJECT pointwise_function<log1p_op> log1p;

/// Square root.
struct sqrt_op : floating_result {
  static constexpr const char* name = "sqrt";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::sqrt(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) { return g / (2 * y); }
};
TENON_FUNCTION_OBJECT pointwise_function<sqrt_op> sqrt;

namespace detail {

/// The square root at the end of a norm. Its infinite slope at 0 counts as 0, since the norm has no slope there.
struct level_sqrt_op : sqrt_op {
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g / (2 * apply_op<where_op>(y == 0, __builtin_huge_val(), y));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<level_sqrt_op> level_sqrt;

}  // namespace detail

/// 1 / sqrt(x).
struct rsqrt_op : floating_result {
  static constexpr const char* name = "rsqrt";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::reciprocal_sqrt(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x) { return g * (-0.5 * (y / x)); }
};
TENON_FUNCTION_OBJECT pointwise_function<rsqrt_op> rsqrt;

/// Cube root.
struct cbrt_op : floating_result {
  static constexpr const char* name = "cbrt";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::cbrt(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g / (3 * apply_op<square_op>(y));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<cbrt_op> cbrt;

/// 1 / x
struct reciprocal_op : floating_result {
  static constexpr const char* name = "reciprocal";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::constant_like<V>(1) / x;
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return -(g * apply_op<square_op>(y));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<reciprocal_op> reciprocal;

/// sqrt(x * x + y * y), without overflow on the way.
struct hypot_op : floating_result {
  static constexpr const char* name = "hypot";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    return simd::hypot(x, y);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x, const auto&) {
    return g * share(x, y);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto&, const auto& z) {
    return g * share(z, y);
  }

 private:
  /// 0 where the length is, as of norms.
  static auto share(const auto& of, const auto& length) { return apply_op<where_op>(length == 0, 0, of / length); }
};
TENON_FUNCTION_OBJECT pointwise_function<hypot_op> hypot;

/// log(exp(x) + exp(y)), without overflow on the way.
struct logaddexp_op : floating_result {
  static constexpr const char* name = "logaddexp";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    const V apart = simd::select(x == y, V{}, V(x - y));  // infinities may be equal
    return simd::max(x, y) + simd::log1p(simd::exp(V(-simd::abs(apart))));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * share(x, z);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * share(z, x);
  }

 private:
  static auto share(const auto& of, const auto& beside) {
    return apply_op<where_op>(of == beside, 0.5, 1 / (1 + apply_op<exp_op>(beside - of)));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<logaddexp_op> logaddexp;

/// x to the power y. Powers of integers wrap around. With a negative y they are 0, except those of 1 and -1.
struct pow_op : promoting, lanewise<pow_op> {
  static constexpr const char* name = "pow";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V y) {
    if constexpr (std::is_floating_point_v<simd::lane_of<V>>) {
      return simd::pow(x, y);
    } else {
      return lanewise<pow_op>::value(x, y);
    }
  }
  template <class T>
  TENON_HOST_DEVICE static constexpr T number(T x, T y) {
    if constexpr (is_complex<T>) {
      using std::pow;
      return pow(x, y);  // the type's own, found by argument-dependent lookup
    } else {
      return whole_number(x, y);
    }
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * apply_op<where_op>(z == 0, 0, z * apply_op<pow_op>(x, z - 1));
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto& x, const auto& z) {
    return g * apply_op<where_op>(x == 0 && z >= 0, 0, y * apply_op<log_op>(x));
  }

 private:
  template <class T>
  TENON_HOST_DEVICE static constexpr T whole_number(T x, T y) {
    auto left = simd::wrapping(y);
    if constexpr (std::is_signed_v<T>) {
      if (y < 0 && x != 1 && x != -1) return 0;
      if (y < 0) left = simd::wrapping(simd::negated(y));
    }
    auto power = simd::wrapping(T{1}), factor = simd::wrapping(x);
    for (; left != 0; left >>= 1) {
      if ((left & 1) != 0) power *= factor;
      factor *= factor;
    }
    return simd::unwrapped<T>(power);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<pow_op> pow;

namespace detail {

/// The power within a norm: where its slope at 0 is infinite, it counts as 0.
struct level_pow_op : pow_op {
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    const auto base = apply_op<where_op>(x == 0 && z < 1, __builtin_huge_val(), x);
    return g * (z * apply_op<pow_op>(base, z - 1));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<level_pow_op> level_pow;

}  // namespace detail

}  // namespace tenon
