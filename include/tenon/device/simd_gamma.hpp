// tenon/device/simd_gamma.hpp: the gamma function of packs and the logarithm of its magnitude.
// 1 / gamma, which has no poles, as a polynomial near 0; Stirling's formula with its factor fitted elsewhere.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_powers.hpp>
#include <tenon/device/simd_special.hpp>

namespace tenon::simd {

namespace detail {

/// (1 / gamma(1 + g) - 1) / (g (g - 1)) by g - 1/2 for -1/2 <= g <= 3/2; gamma(y) exp(-T) and lgamma(y) - T by 1 / y
/// for y >= 5/2, where T = (y - 1/2) (log(y) - 1); (sin(pi f) / f - pi) / f^2 by f^2 for |f| <= 1/2. Beyond the limit
/// gamma rounds to infinity, or to 0.
template <class T>
struct gamma_table;
template <>
struct gamma_table<float> {
  static constexpr float limit = 45.5f, near_beyond = -2.41828e-10f;  // of near_first[0]
  static constexpr array<float, 2> near_first{{-0.51351666475f, 0.16469810796f}};
  static constexpr array<float, 8> near_rest{{0.052550885023f, -0.041615717825f, 0.0063383178187f, 0.0021581294129f,
                                              -0.0011084782777f, 0.00014854367381f, 3.0844289124e-5f,
                                              -1.3600213915e-5f}};
  static constexpr pair_of<float> factor{0x1.853574p+0f, 0x1.ecaacap-26f}, logarithm{0x1.acfe3ap-2f, -0x1.ca50e2p-27f};
  static constexpr array<float, 5> factor_terms{
      {0.12669510001f, 0.0052884016965f, -0.0041569431472f, -2.9809862005e-5f, 0.00068632017323f}};
  static constexpr array<float, 5> logarithm_terms{
      {0.083333184123f, 4.3195605783e-6f, -0.0028228275803f, 0.00020432035575f, 0.0004237471329f}};
  static constexpr pair_of<float> pi{0x1.921fb6p+1f, -0x1.777a5cp-24f}, ln2{0x1.62e430p-1f, -0x1.05c610p-29f},
      log_pi{0x1.250d04p+0f, 0x1.1cf438p-25f}, sine_first{-0x1.4abbcep+2f, -0x1.85bdaep-24f};
  static constexpr array<float, 4> sine_terms{{2.5501638675f, -0.59925900014f, 0.082083751696f, -0.0070845425666f}};
};
template <>
struct gamma_table<double> {
  static constexpr double limit = 190.5, near_beyond = 4.81667e-17;  // of near_first[0]
  static constexpr array<double, 2> near_first{{-0.513516668382050297, 0.164698105781132429}};
  static constexpr array<double, 16> near_rest{
      {0.0525510685739769839, -0.0416156810512098895, 0.00633683330507593039, 0.00215795326932850596,
       -0.00110425808689700254, 0.000148887306786767014, 0.0000258886701623088648, -0.0000138812546902745774,
       2.13386337506710011e-6, 6.22001492511080323e-8, -8.93653580704446372e-8, 1.70381049696137341e-8,
       -9.11167431088763367e-10, -2.71890508380047427e-10, 7.38367370730243084e-11, -7.0987418533447289e-12}};
  static constexpr pair_of<double> factor{0x1.8535745aa7956p+0, 0x1.2ea0f4b86e8abp-54},
      logarithm{0x1.acfe390c97d69p-2, 0x1.382aea1b7f7f4p-56};
  static constexpr array<double, 14> factor_terms{
      {0.126695575088877353, 0.00527898229303596494, -0.00407654731011238674, -0.000348881263753020782,
       0.00119209183963631721, 0.000104977908113260545, -0.000891440558439431884, -0.000128049396527665818,
       0.00143324549358134947, 0.000045192494472610969, -0.00474965132559586058, 0.00830198677596256268,
       -0.00660535347537102551, 0.0021680675636290867}};
  static constexpr array<double, 15> logarithm_terms{
      {0.0833333333333330514, 6.78089995506446173e-14, -0.00277777778423411862, 3.23603617106984874e-10,
       0.000793640951070030277, 1.97400952801445483e-7, -0.00059798808090354691, 0.000027493505040029816,
       0.000640875011900845047, 0.00107724542873378698, -0.0061003517475905898, 0.0112146862255151417,
       -0.0115290138420344629, 0.00669746964108720128, -0.0017333516829893275}};
  static constexpr pair_of<double> pi{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
      ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56}, log_pi{0x1.250d048e7a1bdp+0, 0x1.7abf2ad8d5088p-57},
      sine_first{-0x1.4abbce625be53p+2, 0x1.115a9ce813b89p-52};
  static constexpr array<double, 7> sine_terms{{2.5501640398773401, -0.599264529320342731, 0.0821458865967421756,
                                                -0.00737043071948591592, 0.000466300873050959764,
                                                -0.0000219061980021733443, 7.72569491247109482e-7}};
};

/// 1 / gamma(x) of |x| <= 5/2, by gamma(x + 1) = x gamma(x) from 1 / gamma(1 + g), -1/2 <= g <= 3/2.
template <class V>
TENON_INLINE pair_of<V> inverse_gamma(V x) {
  using lane = lane_of<V>;
  using table = gamma_table<lane>;
  const V one = constant_like<V>(1);
  const auto once = x < static_cast<lane>(0.5), twice = x < static_cast<lane>(-0.5),
             thrice = x < static_cast<lane>(-1.5);
  const V g = select(thrice, x + 2, select(twice, x + 1, select(once, x, x - 1)));
  const pair_of<V> two_factors = exact_product(select(once, x, one), select(twice, x + 1, one));
  const pair_of<V> factors = two_factors * pair_of<V>{select(thrice, x + 2, one), {}};
  pair_of<V> slow = polynomial(pair_of<V>{g - static_cast<lane>(0.5), {}}, table::near_first, table::near_rest);
  slow.low += table::near_beyond;
  const pair_of<V> square = exact_product(g, g);
  pair_of<V> zeros = exact_sum(V(-g), square.high);  // g (g - 1)
  zeros.low += square.low;
  return ordered_sum(pair_of<V>{one, {}}, zeros * slow) * factors;
}

template <class V>
TENON_INLINE pair_of<V> paired_log(V x) {
  return paired_log2(x) * constant_pair<V>(gamma_table<lane_of<V>>::ln2);
}

/// (y - 1/2) (log(y) - 1)
template <class V>
TENON_INLINE pair_of<V> stirling_exponent(V y, const pair_of<V>& logarithm) {
  pair_of<V> factor = exact_sum(logarithm.high, constant_like<V>(-1));
  factor.low += logarithm.low;
  return ordered_sum(y, constant_like<V>(-0.5)) * factor;
}

/// y sin(pi y)
template <class V>
TENON_INLINE pair_of<V> sine_factor(V y) {
  using table = gamma_table<lane_of<V>>;
  const V whole = rounded<rounding::nearest_even>(y), half = whole * static_cast<lane_of<V>>(0.5), f = y - whole;
  const pair_of<V> square = exact_product(f, f);
  const pair_of<V> third =
      add_product(constant_pair<V>(table::sine_first), square.high, polynomial(square.high, table::sine_terms));
  const pair_of<V> slope = ordered_sum(constant_pair<V>(table::pi), square * third);
  const V signed_f = select(rounded<rounding::down>(half) == half, f, -f);
  return exact_product(y, signed_f) * slope;
}

/// gamma(-y) = -pi / (y sin(pi y) gamma(y))
template <class V>
TENON_INLINE V tgamma_of(V x) {
  using table = gamma_table<lane_of<V>>;
  const V y = at_most(V(abs(x)), constant_like<V>(table::limit)), inverse = 1 / y;
  const pair_of<V> exponent = stirling_exponent(y, paired_log(y));
  const pair_of<V> factor =
      add_product(constant_pair<V>(table::factor), inverse, polynomial(inverse, table::factor_terms));
  const pair_of<V> reflected = constant_pair<V>(table::pi) * inverse_of(sine_factor(V(abs(x))) * factor);
  const auto is_negative = x < V{};
  const pair_of<V> scale{select(is_negative, -reflected.high, factor.high),
                         select(is_negative, -reflected.low, factor.low)};
  const pair_of<V> power{select(is_negative, -exponent.high, exponent.high),
                         select(is_negative, -exponent.low, exponent.low)};
  const pair_of<V> inverted = inverse_of(inverse_gamma(x));
  const V nearby =
      select(abs(inverted.high) < constant_like<V>(__builtin_huge_val()), inverted.high + inverted.low, inverted.high);
  const V result = select(y <= static_cast<lane_of<V>>(2.5), nearby, scaled_exponential(scale, power));
  const auto is_pole = logical_and(is_negative, x == rounded<rounding::down>(x));
  return select(is_pole, constant_like<V>(__builtin_nan("")), select(x == x, result, x));
}

/// lgamma(-y) = log(pi) - log(|y sin(pi y)|) - lgamma(y), where `positive` is lgamma(y)
template <class V>
TENON_INLINE V reflected_lgamma(V y, const pair_of<V>& positive) {
  using table = gamma_table<lane_of<V>>;
  const pair_of<V> sine = sine_factor(y), logarithm = paired_log(V(abs(sine.high)));
  const pair_of<V> difference = exact_sum(constant_like<V>(table::log_pi.high), V(-logarithm.high));
  const pair_of<V> result = exact_sum(difference.high, V(-positive.high));
  const V low = difference.low - (logarithm.low + sine.low / sine.high) + table::log_pi.low;
  const V infinity = constant_like<V>(__builtin_huge_val());
  return select(sine.high == V{}, infinity, result.high + (result.low + (low - positive.low)));
}

template <class V>
TENON_INLINE V lgamma_of(V x) {
  using table = gamma_table<lane_of<V>>;
  const V infinity = constant_like<V>(__builtin_huge_val()), y = abs(x), inverse = 1 / y;
  const auto is_near = y <= static_cast<lane_of<V>>(2.5);
  const pair_of<V> inverted = inverse_gamma(x), logarithm = paired_log(select(is_near, V(abs(inverted.high)), y));
  const V nearby = V{} - (logarithm.high + (logarithm.low + inverted.low / inverted.high));
  const pair_of<V> exponent = stirling_exponent(y, logarithm);
  const pair_of<V> rest =
      add_product(constant_pair<V>(table::logarithm), inverse, polynomial(inverse, table::logarithm_terms));
  pair_of<V> positive = exact_sum(exponent.high, rest.high);
  positive.low += exponent.low + rest.low;
  const V distant = select(x < V{}, reflected_lgamma(y, positive), positive.high + positive.low);
  const V far_or_infinite = select(exponent.high < infinity, distant, infinity);
  const V result = select(is_near, select(inverted.high == V{}, infinity, nearby), far_or_infinite);
  return select(x == x, result, x);
}

}  // namespace detail

/// Gamma function: (x - 1)! of whole numbers; NaN at negative ones.
/// accuracy  within 2 units in the last place
template <class V>
TENON_HOST_DEVICE TENON_INLINE V tgamma(V x) {
#if defined(__CUDA_ARCH__)
  return std::tgamma(x);
#else
  return detail::tgamma_of(x);
#endif
}

/// log(|gamma(x)|); infinite at 0 and negative whole numbers.
/// accuracy  within 2 units in the last place; of the greater of 1 and itself for x < -2, where it has zeros
template <class V>
TENON_HOST_DEVICE TENON_INLINE V lgamma(V x) {
#if defined(__CUDA_ARCH__)
  return std::lgamma(x);
#else
  return detail::lgamma_of(x);
#endif
}

}  // namespace tenon::simd
