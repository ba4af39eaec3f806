// tenon/device/simd_tables.hpp: formats and polynomials that functions of packs are computed with.
// Coefficients have the least greatest error on the reduced range; one table for each format, so that code is shared.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

/// Constants of functions of T, float or double. Numbers that are multiplied by whole ones are split: a part of few
/// bits, whose products are exact, and the rest.
/// source    Lawson 1961, iterated least squares: the fits; Cody and Waite 1980: the split reductions
template <class T>
struct math_table {
  static_assert(!is_complex<T>,
                "tenon: complex numbers have no such function; exp, log, sqrt, pow, sin, cos, tan and hyperbolic "
                "functions take them");
};

template <>
struct math_table<float> {
  using bits = std::int32_t;
  static constexpr int mantissa_bits = 23, exponent_bias = 127;
  static constexpr float rounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds to a whole number in the low bits
  static constexpr float least_normal = 1.17549435e-38f;
  static constexpr float negligible = 2.98023224e-8f;  // 2^-25: where f(x) = x + c x^2 + ... rounds to x for c <= 1/2

  static constexpr float ln2_high = 0.693359375f, ln2_low = -2.12194440055e-4f;
  static constexpr float exp_least = -104.0f, exp_greatest = 89.0f, expm1_least = -20.0f;
  static constexpr float exp2_least = -151.0f, exp2_greatest = 129.0f;
  /// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2, and (2^r - 1 - r ln 2) / r^2 for |r| <= 1/2.
  static constexpr array<float, 6> exp_terms{
      {0.500000008f, 0.1666666682f, 0.04166626517f, 0.008333272717f, 0.001394635465f, 0.0001991408885f}};
  static constexpr array<float, 6> exp2_terms{
      {0.2402265108f, 0.05550410918f, 0.009618036797f, 0.001333346155f, 0.0001546713559f, 1.530860021e-5f}};
  static constexpr float tanh_limit = 10.0f;  // beyond, tanh rounds to 1
  /// log(1 + f) = f - f^2/2 + f^3 p(f) for sqrt(1/2) <= 1 + f <= sqrt(2).
  static constexpr array<float, 9> log_terms{{0.333333105f, -0.2499998681f, 0.2000222144f, -0.1666923031f,
                                              0.1421875681f, -0.1238483504f, 0.1187272841f, -0.1178652551f,
                                              0.06911757121f}};

  static constexpr float two_over_pi = 0.636619772f;
  static constexpr array<float, 4> half_pi{{0x1.921p+0f, 0x1.f6ap-13f, 0x1.11p-26f, 0x1.68c234p-39f}};
  static constexpr float trigonometric_limit = 3216.0f;  // beyond, products with the parts of pi/2 are not exact
  /// (sin(r) - r) / r^3 and (cos(r) - 1 + r^2/2) / r^4 by r^2 for |r| <= pi/4.
  static constexpr array<float, 4> sin_terms{{-0.1666666664f, 0.0083333294f, -0.0001983933909f, 2.718349618e-6f}};
  static constexpr array<float, 3> cos_terms{{0.04166664703f, -0.001388737484f, 2.4439225e-5f}};

  /// erf(x) / x - 1 by x^2 for |x| <= 1; -log(erfc(x)) for 1 <= x <= erf_limit, beyond which erf rounds to 1.
  static constexpr array<float, 7> erf_near{{0.1283791657f, -0.3761262584f, 0.1128358529f, -0.02685381808f,
                                             0.005188339948f, -0.0008010305542f, 7.854242369e-5f}};
  static constexpr array<float, 7> erf_far{{0.0003419741535f, 1.127087346f, 0.6381480172f, 0.1031037907f,
                                            -0.0218365084f, 0.002947226017f, -0.0001863299209f}};
  static constexpr float erf_limit = 4.0f;
};

template <>
struct math_table<double> {
  using bits = std::int64_t;
  static constexpr int mantissa_bits = 52, exponent_bias = 1023;
  static constexpr double rounder = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double least_normal = 2.2250738585072014e-308;
  static constexpr double negligible = 5.5511151231257827e-17;  // 2^-54

  static constexpr double ln2_high = 0.693145751953125, ln2_low = 1.428606820309417232121e-6;
  static constexpr double exp_least = -746.0, exp_greatest = 710.0, expm1_least = -40.0;
  static constexpr double exp2_least = -1076.0, exp2_greatest = 1025.0;
  static constexpr array<double, 11> exp_terms{
      {0.5, 0.16666666666666684, 0.0416666666666667249, 0.00833333333331661287, 0.0013888888888858339,
       0.000198412698973743623, 0.0000248015873738490608, 2.75572339195961488e-6, 2.75572333150326846e-7,
       2.51123509620028489e-8, 2.09269478559011508e-9}};
  static constexpr array<double, 11> exp2_terms{
      {0.240226506959100712, 0.0555041086648216371, 0.00961812910762849047, 0.00133335581464019034,
       0.000154035303933479984, 0.0000152527338469314857, 1.32154868284185248e-6, 1.01780546285186814e-7,
       7.05488971518697873e-9, 4.45620704500125296e-10, 2.57400473987372735e-11}};
  static constexpr double tanh_limit = 20.0;
  /// log((1 + s) / (1 - s)) = 2 s + s^3 p(s^2) for |s| <= 3 - sqrt(8): fewer terms than a power series of f.
  static constexpr array<double, 8> log_terms{{0.66666666666666661, 0.400000000000062414, 0.285714285690876753,
                                               0.222222226465289419, 0.181817756867638727, 0.153870898333766095,
                                               0.132501389016985958, 0.132511405651610765}};

  static constexpr double two_over_pi = 0.6366197723675813430755;
  static constexpr array<double, 4> half_pi{
      {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104}};
  static constexpr double trigonometric_limit = 1647099.0;
  static constexpr array<double, 7> sin_terms{{-0.166666666666666666, 0.00833333333333332282, -0.000198412698412551239,
                                               2.75573192142201013e-6, -2.50521049194329864e-8, 1.60583676418392937e-10,
                                               -7.5787489115168655e-13}};
  static constexpr array<double, 6> cos_terms{{0.0416666666666665995, -0.00138888888888741401, 0.0000248015872894944236,
                                               -2.75573143560399955e-7, 2.08757237716452588e-9,
                                               -1.13596726905238828e-11}};

  static constexpr array<double, 13> erf_near{{0.128379167095512574, -0.376126389031837476, 0.112837916709548578,
                                               -0.0268661706450729463, 0.00522397762478137978, -0.000854832697877227797,
                                               0.000120553310380123146, -0.0000149255935338994826,
                                               1.64609732531976206e-6, -1.63500298648332424e-7, 1.46579111169440801e-8,
                                               -1.13657868152054742e-9, 5.94546579904580174e-11}};
  static constexpr array<double, 18> erf_far{
      {5.03694399023417198e-7, 1.12837408132259311, 0.636643664654322345, 0.102703338363261548, -0.0189899855760675235,
       -0.000410898547551785669, 0.001916230894919841, -0.00077087994437667332, 0.000135203206424170076,
       0.0000201888690985199979, -0.0000227912982052969459, 8.6573579093333203e-6, -2.1332929394640409e-6,
       3.72863673655418517e-7, -4.63637177361707516e-8, 3.92876762845440045e-9, -2.04182743813764763e-10,
       4.92033484686659789e-12}};
  static constexpr double erf_limit = 5.95;
};

/// Constants of the lanes of V, and whole numbers as wide as they.
template <class V>
using table_of = math_table<lane_of<V>>;
template <class V>
using whole_lanes = pack<typename table_of<V>::bits, width_of<V>>;

/// c[0] + x (c[1] + x (c[2] + ...))
template <class V, int Count>
TENON_HOST_DEVICE TENON_INLINE V polynomial(V x, const array<lane_of<V>, Count>& c) {
  V result = constant_like<V>(c[Count - 1]);
  for (int k = Count - 2; k >= 0; --k) result = result * x + c[k];
  return result;
}

/// A whole number near x, as a number and as bits; |x| must lie well below 2^mantissa_bits.
template <class V>
struct whole_near {
  V number;
  whole_lanes<V> whole;

  TENON_INLINE explicit whole_near(V x) {
    const V rounder = constant_like<V>(table_of<V>::rounder), shifted = x + rounder;
    number = shifted - rounder;
    using wrapping = pack<std::make_unsigned_t<typename table_of<V>::bits>, width_of<V>>;  // x may be anything
    whole = as_bits<whole_lanes<V>>(static_cast<wrapping>(as_bits<wrapping>(shifted) - as_bits<wrapping>(rounder)));
  }
};

/// A small whole number as a number; faster than a conversion where the machine has none of 64 bits.
template <class V>
TENON_INLINE V number_of(whole_lanes<V> whole) {
  const V rounder = constant_like<V>(table_of<V>::rounder);
  return as_bits<V>(whole + as_bits<whole_lanes<V>>(rounder)) - rounder;
}

/// 2^exponent, of exponents of normal numbers.
template <class V>
TENON_INLINE V power_of_two(whole_lanes<V> exponent) {
  using table = table_of<V>;
  return as_bits<V>((exponent + table::exponent_bias) << table::mantissa_bits);
}

/// `magnitude` with the sign of x; its own sign must be positive, or that of x.
template <class V>
TENON_INLINE V with_sign_of(V x, V magnitude) {
  if constexpr (is_number<V>) {
    return std::copysign(magnitude, x);
  } else {
    using bits = whole_lanes<V>;
    return as_bits<V>(as_bits<bits>(magnitude) | (as_bits<bits>(x) & as_bits<bits>(-V{})));
  }
}

}  // namespace tenon::simd
