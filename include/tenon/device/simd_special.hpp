// tenon/device/simd_special.hpp: the error function of packs and its complement.
// An odd polynomial near 0; elsewhere 1 - erfc, whose logarithm is smooth, and exp(-x^2) times a slow function.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>
#include <tenon/device/simd_pairs.hpp>

namespace tenon::simd {

namespace detail {

template <class V>
TENON_INLINE V erf_of(V x) {
  using table = table_of<V>;
  const V magnitude = abs(x);
  const V nearby = multiply_add(x, polynomial(V(x * x), table::erf_near), x);
  const V within = min(magnitude, constant_like<V>(table::erf_limit));
  const V distant = 1 - exp_of(V(-polynomial(within, table::erf_far)));
  return select(magnitude < 1, nearby, select(x < V{}, -distant, distant));
}

/// (x + centre) exp(x^2) erfc(x) by t = (x - centre) / (x + centre) for 1/2 <= x <= limit, beyond which erfc rounds to
/// 0: the first terms, and those that may be rounded, from t^3.
/// source    Shepherd and Laframboise 1981, Chebyshev approximation of (1 + 2x) exp(x^2) erfc(x): the variable
template <class T>
struct erfc_table;
template <>
struct erfc_table<float> {
  static constexpr float centre = 2, limit = 10.2f;
  static constexpr array<float, 3> first{{1.0215827076f, -0.68716064867f, 0.27947178777f}};
  static constexpr array<float, 7> rest{{-0.036443514593f, -0.021504443855f, 0.0064917097801f, 0.0030462743108f,
                                         -0.00088436445152f, -0.00053219331213f, 0.00010393937074f}};
};
template <>
struct erfc_table<double> {
  static constexpr double centre = 4, limit = 27.3;
  static constexpr array<double, 3> first{{1.0959956610004911, -0.97654872908088199, 0.7732087022652361}};
  static constexpr array<double, 18> rest{{-0.54085383131323522, 0.33085158787807689, -0.17401093723994034,
                                           0.076381514907663697, -0.026370053340029296, 0.0061120556771631877,
                                           -0.00028095887011239118, -0.00045505284814434948, 0.00017681285464242971,
                                           -3.6343872919626527e-6, -1.8861047103144531e-5, 4.6920182454000335e-6,
                                           1.4246094170573714e-6, -8.4154345805498158e-7, -7.6142536716576266e-8,
                                           1.1862880376247433e-7, 1.3330267092542231e-9, -1.1844885851537023e-8}};
};

/// exp(x^2) erfc(x) of 1/2 <= x <= limit.
template <class V>
TENON_INLINE pair_of<V> scaled_erfc(V x) {
  using lane = lane_of<V>;
  using table = erfc_table<lane>;
  const pair_of<V> inverse = inverse_of(exact_sum(x, constant_like<V>(table::centre)));
  constexpr lane slope = -2 * table::centre;  // t is 1 - 2 centre / (x + centre)
  pair_of<V> t = ordered_sum(constant_like<V>(1), V(inverse.high * slope));
  t.low += inverse.low * slope;
  return polynomial(t, table::first, table::rest) * inverse;
}

/// factor * exp(x) = factor * 2^n (1 + r + r^2 q(r)), rounded once but for the last term.
template <class V>
TENON_INLINE V scaled_exponential(const pair_of<V>& factor, const pair_of<V>& x) {
  using table = table_of<V>;
  const whole_near<V> n(x.high * static_cast<lane_of<V>>(1.44269504088896340736));
  const V tail = multiply_add(n.number, constant_like<V>(-table::ln2_low), x.low);
  const pair_of<V> r = ordered_sum(multiply_add(n.number, constant_like<V>(-table::ln2_high), x.high), tail);
  const pair_of<V> sum = ordered_sum(factor, factor * r);
  const V beyond = r.high * r.high * polynomial(r.high, table::exp_terms);
  return scaled<V>(sum.high + multiply_add(factor.high, beyond, sum.low), n);
}

template <class V>
TENON_INLINE V erfc_of(V x) {
  const V magnitude = abs(x), within = at_most(magnitude, constant_like<V>(erfc_table<lane_of<V>>::limit));
  const pair_of<V> slow = scaled_erfc(within), square = exact_product(within, within);
  const V beyond = scaled_exponential(slow, pair_of<V>{-square.high, -square.low});
  const V nearby = 1 - multiply_add(x, polynomial(V(x * x), table_of<V>::erf_near), x);
  return select(magnitude < static_cast<lane_of<V>>(0.5), nearby, select(x < V{}, 2 - beyond, beyond));
}

}  // namespace detail

/// Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
/// accuracy  within 2 units in the last place
template <class V>
TENON_HOST_DEVICE TENON_INLINE V erf(V x) {
#if defined(__CUDA_ARCH__)
  return std::erf(x);
#else
  return detail::erf_of(x);
#endif
}

/// 1 - erf(x), exact where erf is near 1.
/// accuracy  within 2 units in the last place
template <class V>
TENON_HOST_DEVICE TENON_INLINE V erfc(V x) {
#if defined(__CUDA_ARCH__)
  return std::erfc(x);
#else
  return detail::erfc_of(x);
#endif
}

}  // namespace tenon::simd
