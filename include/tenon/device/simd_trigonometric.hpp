// tenon/device/simd_trigonometric.hpp: sine and cosine of packs.
// x less a multiple of pi/2 in four parts, then two polynomials; the few greater numbers go to the C library.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_tables.hpp>

namespace tenon::simd {

namespace detail {

/// sin(x + quarters * pi/2) for |x| below the limit of the table.
template <class V>
TENON_INLINE V reduced_sine(V x, int quarters) {
  using table = table_of<V>;
  using whole = whole_lanes<V>;
  const whole_near<V> n(x * table::two_over_pi);
  V r = x - n.number * table::half_pi[0], lost{};  // exact: both lie close together
  for (int part = 1; part < 3; ++part) {
    const V product = n.number * table::half_pi[part], next = r - product;
    lost += (r - next) - product;
    r = next;
  }
  r = r + (lost - n.number * table::half_pi[3]);
  const V square = r * r;
  const V sine = r + r * square * polynomial(square, table::sin_terms);
  const V cosine = (1 - square * static_cast<lane_of<V>>(0.5)) + square * square * polynomial(square, table::cos_terms);
  const whole quadrant = n.whole + static_cast<typename table::bits>(quarters);
  const V result = select((quadrant & 1) != whole{}, cosine, sine);
  return select((quadrant & 2) != whole{}, -result, result);
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
#if defined(__CUDA_ARCH__)
  return std::sin(x);
#else
  const V result = select(abs(x) < table_of<V>::negligible, x, detail::reduced_sine(x, 0));
  return detail::with_great_lanes(x, result, [](lane_of<V> each) { return std::sin(each); });
#endif
}

/// Cosine; as sin.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V cos(V x) {
#if defined(__CUDA_ARCH__)
  return std::cos(x);
#else
  return detail::with_great_lanes(x, detail::reduced_sine(x, 1), [](lane_of<V> each) { return std::cos(each); });
#endif
}

}  // namespace tenon::simd
