// tenon/device/simd_special.hpp: the error function of packs, its complement and its inverse.
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

/// By w = -log(1 - x^2): erfinv(x) / x - 1 by w - inner_centre up to twice that. Beyond, erfinv(x) / (x sqrt(w)) - 1/2
/// by 1 / sqrt(w) - outer_centre, down to outer_least, which no x below 1 comes to. Both are fitted at Chebyshev's
/// points.
/// source    Giles 2012, Approximating the erfinv function: the variable
template <class T>
struct erfinv_table;
template <>
struct erfinv_table<float> {
  static constexpr float inner_centre = 2, outer_centre = 0.375f, outer_least = 0.25f;
  static constexpr array<float, 11> inner{{0.3772152115f, 0.2497680716f, -0.001968143688f, -0.001692162059f,
                                           0.0002159385293f, 7.600876151e-6f, -4.87553274e-6f, 3.057131942e-7f,
                                           6.969949559e-8f, -9.986390329e-9f, -4.328345871e-10f}};
  static constexpr array<float, 12> outer{{0.4376891992f, -0.1441132542f, 0.4261049817f, 1.594503625f, 1.821090246f,
                                           -16.10822004f, -36.47998375f, 305.9642869f, 236.1559253f, -5124.300656f,
                                           1230.579257f, 47788.91703f}};
};
template <>
struct erfinv_table<double> {
  static constexpr double inner_centre = 4, outer_centre = 0.265625, outer_least = 0.166;
  static constexpr array<double, 28> inner{
      {0.85877911242697345,     0.22835468533769023,     -0.0072210599518375311,  -0.00020397201750279924,
       0.00011887778912665208,  -1.5515141179941127e-5,  4.8654244369881001e-7,   1.772437248147035e-7,
       -3.3436460589480038e-8,  1.850051955756969e-9,    2.9099580493051945e-10,  -7.1763597137165318e-11,
       5.2415279941413173e-12,  4.6595922972777541e-13,  -1.5374332977951896e-13, 1.3771880005957667e-14,
       6.5696994063537766e-16,  -3.2740418213649049e-16, 3.6110089123728241e-17,  5.5022050789640506e-19,
       -7.8227994625445711e-19, 9.7636273383282009e-20,  4.0791531200365302e-21,  -2.0789709475564058e-21,
       7.3978266116524626e-23,  1.9245672477675538e-23,  -1.0121002617601944e-24, -6.4750803272103932e-26}};
  static constexpr array<double, 26> outer{
      {0.4568710637143886,  -0.19526088589859462, 0.10662785466235209, 0.54781064963543086, -0.0022946121987908999,
       9.3136994071690969,  44.474252549739715,   -31.743809634944658, -1915.0373878220076, -3898.591827027098,
       65392.44493644887,   178370.18514876485,   -2436092.0817516843, -3800965.2229003153, 92684753.134327705,
       -72462919.934155758, -3087662230.3212109,  11900070614.040188,  75048270617.257075,  -655540613083.70542,
       -907782357295.76719, 22363749473284.069,   -7908096289793.5207, -466297741260220.81, 324693292509658.48,
       4601222084942188.5}};
};

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

/// The number whose error function is x: infinite at -1 and 1, NaN beyond.
/// accuracy  within 4 units in the last place
template <class V>
TENON_HOST_DEVICE TENON_INLINE V erfinv(V x) {
  using table = detail::erfinv_table<lane_of<V>>;
  constexpr auto inner_terms = table::inner;  // of the function, so that kernels may read them
  constexpr auto outer_terms = table::outer;
  const V w = -log(V((1 - x) * (1 + x))), root = sqrt(w), half = root * static_cast<lane_of<V>>(0.5);
  const V inverse = at_least(V(1 / root), constant_like<V>(table::outer_least));
  const V inner = polynomial(V(w - table::inner_centre), inner_terms) + 1;
  const V outer = multiply_add(root, polynomial(V(inverse - table::outer_centre), outer_terms), half);
  return x * select(w < 2 * table::inner_centre, inner, outer);
}

}  // namespace tenon::simd
