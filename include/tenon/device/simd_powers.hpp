// tenon/device/simd_powers.hpp: powers, cube roots and hypotenuses of packs.
// A power is 2^(y log2 x), with a logarithm of more bits than the format has.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>
#include <tenon/device/simd_pairs.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/device/simd_rounding.hpp>

namespace tenon::simd {

namespace detail {

/// (atanh(s) / s - 1 - s^2 / 3) / s^4 by s^2 for |s| <= 3 - sqrt(8), and constants in pairs; cbrt(1 + f) by f for
/// sqrt(1/2) <= 1 + f <= sqrt(2), to a third of the bits; and limits beyond which squares overflow or lose bits.
template <class T>
struct power_table;
template <>
struct power_table<float> {
  static constexpr array<float, 3> atanh_terms{{0.2000000762f, 0.1428109192f, 0.1152500796f}};
  static constexpr pair_of<float> third{0x1.555556p-2f, -0x1.555556p-27f}, two_log2e{0x1.715476p+1f, 0x1.4ae0cp-25f};
  static constexpr array<float, 4> cbrt_terms{{1.0000693f, 0.33362297f, -0.11571868f, 0.058216578f}};
  static constexpr int cbrt_shift = 24;  // makes subnormals normal, and is three times a whole number
  static constexpr float square_greatest = 0x1p62f, square_least = 0x1p-50f;
  static constexpr float square_shrink = 0x1p-68f, square_grow = 0x1p100f;
};
template <>
struct power_table<double> {
  static constexpr array<double, 8> atanh_terms{{0.199999999999999999, 0.142857142857146873, 0.111111111108256646,
                                                 0.0909090916816120473, 0.0769229743611211678, 0.0666740459764945985,
                                                 0.0585306253692952987, 0.0586212948823126055}};
  static constexpr pair_of<double> third{0x1.5555555555555p-2, 0x1.5555555555555p-56},
      two_log2e{0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};
  static constexpr array<double, 6> cbrt_terms{{0.999999012100685, 0.33332028820353184, -0.110963964926199,
                                                0.06228835243894876, -0.04478395257856931, 0.026952843941806854}};
  static constexpr int cbrt_shift = 54;
  static constexpr double square_greatest = 0x1p510, square_least = 0x1p-450;
  static constexpr double square_shrink = 0x1p-520, square_grow = 0x1p620;
};

/// log2(magnitude), of doubles to some 66 bits: n + 2 log2(e) s (1 + s^2/3 + s^4 p(s^2)), s = f / (f + 2).
template <class V>
TENON_INLINE pair_of<V> paired_log2(V magnitude) {
  using table = power_table<lane_of<V>>;
  const whole_split<V> parts(magnitude);
  const pair_of<V> divisor = ordered_sum(constant_like<V>(2), parts.fraction);
  const V inverse = 1 / divisor.high;
  pair_of<V> s{parts.fraction * inverse, {}};
  s.low = -multiply_add(s.high, divisor.low, product_error(s.high, divisor.high, parts.fraction)) * inverse;
  const pair_of<V> square = s * s, third = constant_pair<V>(table::third);
  const pair_of<V> beyond =
      add_product(square * third, square.high * square.high, polynomial(square.high, table::atanh_terms));
  return ordered_sum(pair_of<V>{parts.exponent, {}}, ordered_sum(s, s * beyond) * constant_pair<V>(table::two_log2e));
}

/// magnitude^y of finite numbers > 0.
template <class V>
TENON_INLINE V positive_power(V magnitude, V y) {
  using table = table_of<V>;
  const pair_of<V> logarithm = paired_log2(magnitude), exponent = exact_product(y, logarithm.high);
  const V within =
      at_most(at_least(exponent.high, constant_like<V>(table::exp2_least)), constant_like<V>(table::exp2_greatest));
  const whole_near<V> n(within);
  const V beyond = multiply_add(y, logarithm.low, exponent.low);
  return exp2_of_sum<V>(n, (within - n.number) + select(within == exponent.high, beyond, V{}));
}

/// x^y, where `power` is right for finite x > 0: C's table of zeros, infinities, negative x and NaN.
template <class V>
TENON_INLINE V with_edges_of_power(V x, V y, V power) {
  const V one = constant_like<V>(1), infinity = constant_like<V>(__builtin_huge_val()), magnitude = abs(x);
  const auto is_end = logical_or(magnitude == V{}, magnitude == infinity);
  const V unsigned_power = select(is_end, select((magnitude == V{}) == (y < V{}), infinity, V{}), power);
  const V half = y * static_cast<lane_of<V>>(0.5), whole = rounded<rounding::down>(y);
  const auto is_odd = logical_and(whole == y, rounded<rounding::down>(half) != half);
  V result = select(is_odd, with_sign_of(x, unsigned_power), unsigned_power);
  result = select((x < V{}) & (x != -infinity) & (whole != y), constant_like<V>(__builtin_nan("")), result);
  result = select((x != x) | (y != y), x + y, result);
  return select((x == one) | (y == V{}), one, result);
}

/// Whether all lanes of a mask are set; asks the first before the others.
template <class Mask>
TENON_INLINE bool all_lanes(const Mask& mask) {
  return first_lane(mask) != 0 && reduce(mask, [](auto left, auto right) { return left & right; }) != 0;
}

/// Exponents 2 and 3 give products; where all lanes have such, as with one number for all, nothing else is computed.
template <class V>
TENON_INLINE V pow_of(V x, V y) {
  const auto is_square = y == constant_like<V>(2), is_product = logical_or(is_square, y == constant_like<V>(3));
  const V product = x * x * select(is_square, constant_like<V>(1), x);
  if (all_lanes(is_product)) return product;
  const V bound = constant_like<V>(0x1p66);  // beyond it, powers of all numbers but 1 are 0 or infinite
  const V power = positive_power(abs(x), at_most(at_least(y, V(-bound)), bound));
  return select(is_product, product, with_edges_of_power(x, y, power));
}

/// x = 2^(3 k) m with 2^(-3/2) <= m <= 2^(3/2): 2^k times a polynomial near cbrt(m) and one step of Halley's.
template <class V>
TENON_INLINE V cbrt_of(V x) {
  using lane = lane_of<V>;
  using table = power_table<lane>;
  using whole = whole_lanes<V>;
  const V magnitude = abs(x);
  const auto is_small = magnitude < table_of<V>::least_normal;
  constexpr lane enlarged = static_cast<lane>(std::int64_t{1} << table::cbrt_shift);
  const split_number<V> parts(select(is_small, magnitude * enlarged, magnitude));
  const whole third = whole_near<V>(number_of<V>(parts.exponent) * static_cast<lane>(0.33333333)).whole;
  const whole rest = parts.exponent - third * 3;
  const V root_of_two =
      select(rest > whole{}, constant_like<V>(1.2599210498948732), constant_like<V>(0.79370052598409974));
  const V factor = select(rest == whole{}, constant_like<V>(1), root_of_two);
  const V m = (parts.fraction + 1) * power_of_two<V>(rest),
          nearby = polynomial(parts.fraction, table::cbrt_terms) * factor;
  const V cube = nearby * nearby * nearby, root = nearby + nearby * ((m - cube) / (cube + cube + m));
  const V scale = power_of_two<V>(third - select(is_small, constant_like<whole>(table::cbrt_shift / 3), whole{}));
  const auto is_own = logical_or(x == V{}, logical_not(magnitude < constant_like<V>(__builtin_huge_val())));
  return select(is_own, x, with_sign_of(x, V(root * scale)));
}

/// The square root of a sum of squares, each scaled by a power of two that keeps the greater within the format.
template <class V>
TENON_INLINE V hypot_of(V x, V y) {
  using table = power_table<lane_of<V>>;
  const V one = constant_like<V>(1), infinity = constant_like<V>(__builtin_huge_val());
  const V a = abs(x), b = abs(y), greater = max(a, b);
  const auto is_great = greater > table::square_greatest, is_small = greater < table::square_least;
  const V scale = select(is_great, constant_like<V>(table::square_shrink),
                         select(is_small, constant_like<V>(table::square_grow), one));
  const V inverse = select(is_great, constant_like<V>(1 / table::square_shrink),
                           select(is_small, constant_like<V>(1 / table::square_grow), one));
  const V p = greater * scale, q = min(a, b) * scale;
  return select((a == infinity) | (b == infinity), infinity, sqrt(multiply_add(p, p, V(q * q))) * inverse);
}

}  // namespace detail

/// x to the power y, with the special cases of C: anything to the power 0, and 1 to any power, are 1.
/// accuracy  within 2 units in the last place, as all functions of this page
template <class V>
TENON_HOST_DEVICE TENON_INLINE V pow(V x, V y) {
#if defined(__CUDA_ARCH__)
  return y == 2 ? x * x : std::pow(x, y);
#else
  return detail::pow_of(x, y);
#endif
}

/// Cube root.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V cbrt(V x) {
#if defined(__CUDA_ARCH__)
  return std::cbrt(x);
#else
  return detail::cbrt_of(x);
#endif
}

/// sqrt(x * x + y * y), without overflow on the way; infinite where x or y is, even beside NaN.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V hypot(V x, V y) {
#if defined(__CUDA_ARCH__)
  return std::hypot(x, y);
#else
  return detail::hypot_of(x, y);
#endif
}

}  // namespace tenon::simd
