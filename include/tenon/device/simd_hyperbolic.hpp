// tenon/device/simd_hyperbolic.hpp: hyperbolic functions of packs and their inverses.
// A polynomial where the result is small beside the terms of its formula, exponentials and logarithms elsewhere.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>

namespace tenon::simd {

namespace detail {

/// (sinh(x) / x - 1) / x^2 by x^2 for |x| <= 1, (atanh(x) / x - 1) / x^2 by x^2 for |x| <= 1/2, and
/// (acosh(1 + t) / sqrt(2 t) - 1) / t by t for 0 <= t <= 1/2.
template <class T>
struct hyperbolic_table;
template <>
struct hyperbolic_table<float> {
  static constexpr array<float, 4> sinh_terms{{0.1666666665f, 0.008333339707f, 0.0001983809253f, 2.806351657e-6f}};
  static constexpr array<float, 6> atanh_terms{
      {0.3333333145f, 0.200005218f, 0.1426239157f, 0.1148800941f, 0.06409205748f, 0.1588863441f}};
  static constexpr array<float, 5> acosh_terms{
      {-0.08333332379f, 0.0187490093f, -0.00556382669f, 0.001800578114f, -0.0004480846028f}};
};
template <>
struct hyperbolic_table<double> {
  static constexpr array<double, 7> sinh_terms{{0.166666666666666667, 0.00833333333333329911, 0.000198412698413245136,
                                                2.75573191912326217e-6, 2.50521177274723233e-8, 1.60576765702218762e-10,
                                                7.74628863217348975e-13}};
  static constexpr array<double, 13> atanh_terms{
      {0.333333333333333429, 0.199999999999873294, 0.142857142884965482, 0.111111108713787989, 0.090909198015201515,
       0.0769202376041610009, 0.0667147722623727547, 0.0582808039266391642, 0.0567832821554801628,
       0.0261366389256816256, 0.116628485460750043, -0.112717294135377753, 0.199607544784422914}};
  static constexpr array<double, 12> acosh_terms{
      {-0.0833333333333333279, 0.0187499999999968373, -0.0055803571425503143, 0.00189887151610818056,
       -0.00069912974182508011, 0.000271134265686195579, -0.000109080438678500656, 0.0000450259933270473719,
       -0.0000187373985002194885, 7.44965954764335305e-6, -2.44281726746796669e-6, 4.62081929957727018e-7}};
};

/// exp(x) / 2 of x >= 0, which overflows only where sinh and cosh do.
template <class V>
TENON_INLINE V half_exp(V x) {
  using lane = lane_of<V>;
  const reduced_exponential<V> reduced(
      at_most(x, constant_like<V>(table_of<V>::exp_greatest + static_cast<lane>(0.75))));
  const V quarter = power_of_two<V>(reduced.exponent.whole - 2);
  return (reduced.power_less_one * quarter + quarter) * 2;
}

template <class V>
TENON_INLINE V sinh_of(V x) {
  const V magnitude = abs(x), square = x * x, half = half_exp(magnitude);
  const V series = polynomial(square, hyperbolic_table<lane_of<V>>::sinh_terms);
  const V nearby = multiply_add(series * square, magnitude, magnitude);
  return with_sign_of(x, select(magnitude < 1, nearby, half - static_cast<lane_of<V>>(0.25) / half));
}

template <class V>
TENON_INLINE V cosh_of(V x) {
  const V half = half_exp(abs(x));
  return half + static_cast<lane_of<V>>(0.25) / half;
}

/// log1p(y), but log(2 x) where x is so great that y would be 2 x.
template <class V>
TENON_INLINE V log1p_or_log_of_double(V y, V x) {
  const auto is_great = x > 1 / table_of<V>::negligible;
  return log1p_of(select(is_great, x, y)) + select(is_great, constant_like<V>(0.6931471805599453094172), V{});
}

/// log1p(x + x^2 / (1 + sqrt(1 + x^2)))
template <class V>
TENON_INLINE V asinh_of(V x) {
  const V magnitude = abs(x), square = x * x;
  return with_sign_of(x, log1p_or_log_of_double(V(magnitude + square / (sqrt(square + 1) + 1)), magnitude));
}

/// log1p(t + sqrt(t (t + 2))) with t = x - 1
template <class V>
TENON_INLINE V acosh_of(V x) {
  const V t = x - 1, root = sqrt(t + t);
  const V nearby = multiply_add(polynomial(t, hyperbolic_table<lane_of<V>>::acosh_terms) * t, root, root);
  const V distant = log1p_or_log_of_double(V(t + sqrt(t * (t + 2))), x);
  const V result = select(t < static_cast<lane_of<V>>(0.5), nearby, distant);
  return select(x < 1, constant_like<V>(__builtin_nan("")), result);
}

/// log1p(2 x / (1 - x)) / 2
template <class V>
TENON_INLINE V atanh_of(V x) {
  const V magnitude = abs(x), square = x * x;
  const V series = polynomial(square, hyperbolic_table<lane_of<V>>::atanh_terms);
  const V nearby = multiply_add(series * square, magnitude, magnitude);
  const V distant = log1p_of((magnitude + magnitude) / (1 - magnitude)) * static_cast<lane_of<V>>(0.5);
  return with_sign_of(x, select(magnitude < static_cast<lane_of<V>>(0.5), nearby, distant));
}

}  // namespace detail

/// Hyperbolic sine.
/// accuracy  within 2 units in the last place, as all functions of this page
template <class V>
TENON_HOST_DEVICE TENON_INLINE V sinh(V x) {
  if constexpr (is_complex<V>) {
    using std::sinh;
    return sinh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::sinh(x);
#else
    return detail::sinh_of(x);
#endif
  }
}

/// Hyperbolic cosine.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V cosh(V x) {
  if constexpr (is_complex<V>) {
    using std::cosh;
    return cosh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::cosh(x);
#else
    return detail::cosh_of(x);
#endif
  }
}

/// Inverse of sinh.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V asinh(V x) {
  if constexpr (is_complex<V>) {
    using std::asinh;
    return asinh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::asinh(x);
#else
    return detail::asinh_of(x);
#endif
  }
}

/// The inverse of cosh that is not negative; NaN where x < 1.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V acosh(V x) {
  if constexpr (is_complex<V>) {
    using std::acosh;
    return acosh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::acosh(x);
#else
    return detail::acosh_of(x);
#endif
  }
}

/// Inverse of tanh; NaN where |x| > 1.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V atanh(V x) {
  if constexpr (is_complex<V>) {
    using std::atanh;
    return atanh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::atanh(x);
#else
    return detail::atanh_of(x);
#endif
  }
}

}  // namespace tenon::simd
