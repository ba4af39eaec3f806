// tenon/device/simd_trigonometric.hpp: sine, cosine and tangent of packs.
// x less a multiple of pi/2 in four parts, then two polynomials; the few greater numbers go to the C library.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_pairs.hpp>

namespace tenon::simd {

namespace detail {

/// x = quarters * pi/2 + high + low with |high| <= pi/4, for |x| below the limit of the table.
template <class V>
struct reduced_angle {
  whole_lanes<V> quarters;
  V high, low{};

  TENON_INLINE explicit reduced_angle(V x) {
    using table = table_of<V>;
    const whole_near<V> n(x * table::two_over_pi);
    quarters = n.whole;
    high = x - n.number * table::half_pi[0];  // exact: both lie close together
    for (int part = 1; part < 3; ++part) {
      const V product = n.number * table::half_pi[part], next = high - product;
      low += (high - next) - product;
      high = next;
    }
    low = low - n.number * table::half_pi[3];
  }
};

/// sin(x + quarters * pi/2) for |x| below the limit of the table.
template <class V>
TENON_INLINE V reduced_sine(V x, int quarters) {
  using table = table_of<V>;
  using whole = whole_lanes<V>;
  const reduced_angle<V> angle(x);
  const V r = angle.high + angle.low, square = r * r;
  const V sine = r + r * square * polynomial(square, table::sin_terms);
  const V cosine = (1 - square * static_cast<lane_of<V>>(0.5)) + square * square * polynomial(square, table::cos_terms);
  const whole quadrant = angle.quarters + static_cast<typename table::bits>(quarters);
  const V result = select((quadrant & 1) != whole{}, cosine, sine);
  return select((quadrant & 2) != whole{}, -result, result);
}

/// The quotient of sine and cosine, or of -cosine and sine, with what each lost in rounding.
template <class V>
TENON_INLINE V reduced_tangent(V x) {
  using table = table_of<V>;
  const reduced_angle<V> angle(x);
  const pair_of<V> r = exact_sum(angle.high, angle.low);
  const V square = r.high * r.high, half = square * static_cast<lane_of<V>>(0.5), most = 1 - half;
  const V beyond = multiply_add(square * square, polynomial(square, table::cos_terms), V(-r.high * r.low));
  const pair_of<V> cosine = ordered_sum(most, V(((1 - most) - half) + beyond));
  const pair_of<V> sine =
      ordered_sum(r.high, multiply_add(V(r.high * square), polynomial(square, table::sin_terms), r.low));
  const auto is_odd = (angle.quarters & 1) != whole_lanes<V>{};
  const pair_of<V> above{select(is_odd, -cosine.high, sine.high), select(is_odd, -cosine.low, sine.low)};
  const pair_of<V> below{select(is_odd, sine.high, cosine.high), select(is_odd, sine.low, cosine.low)};
  const pair_of<V> quotient = above * inverse_of(below);
  return quotient.high + quotient.low;
}

/// `function` of the lanes that lie beyond the limit, `result` of the others.
template <class V, class Function>
TENON_INLINE V with_great_lanes(V x, V result, Function function) {
  using lane = lane_of<V>;
  lane lanes[width_of<V>], results[width_of<V>];
  std::memcpy(lanes, &x, sizeof(x));
  const auto is_great = [](lane each) { return !(std::fabs(each) <= table_of<V>::trigonometric_limit); };
  bool any_great = false;
  for (const lane each : lanes) any_great |= is_great(each);
  if (!any_great) return result;
  std::memcpy(results, &result, sizeof(x));
  for (int i = 0; i < width_of<V>; ++i) {
    if (is_great(lanes[i])) results[i] = function(lanes[i]);
  }
  std::memcpy(&result, results, sizeof(x));
  return result;
}

}  // namespace detail

/// Sine.
/// accuracy  within 2 units in the last place
/// cost      a call of the C library for each lane beyond 3216 (float) or 1.6 million (double)
template <class V>
TENON_HOST_DEVICE TENON_INLINE V sin(V x) {
  if constexpr (is_complex<V>) {
    using std::sin;
    return sin(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::sin(x);
#else
    const V result = select(abs(x) < table_of<V>::negligible, x, detail::reduced_sine(x, 0));
    return detail::with_great_lanes(x, result, [](lane_of<V> each) { return std::sin(each); });
#endif
  }
}

/// Cosine; as sin.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V cos(V x) {
  if constexpr (is_complex<V>) {
    using std::cos;
    return cos(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::cos(x);
#else
    return detail::with_great_lanes(x, detail::reduced_sine(x, 1), [](lane_of<V> each) { return std::cos(each); });
#endif
  }
}

/// Tangent; as sin.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V tan(V x) {
  if constexpr (is_complex<V>) {
    using std::tan;
    return tan(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::tan(x);
#else
    const V result = select(abs(x) < table_of<V>::negligible, x, detail::reduced_tangent(x));
    return detail::with_great_lanes(x, result, [](lane_of<V> each) { return std::tan(each); });
#endif
  }
}

}  // namespace tenon::simd
