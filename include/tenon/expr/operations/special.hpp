// tenon/expr/operations/special.hpp: the error, gamma, digamma and trigamma functions.
// Integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_gamma.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

struct digamma_op;
struct exp_op;
struct square_op;
struct trigamma_op;

/// Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
struct erf_op : floating_result {
  static constexpr const char* name = "erf";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::erf(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * (1.12837916709551257390 * apply_op<exp_op>(-apply_op<square_op>(x)));
  }
};
inline constexpr pointwise_function<erf_op> erf;

/// 1 - erf(x), exact where erf is near 1.
struct erfc_op : floating_result {
  static constexpr const char* name = "erfc";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::erfc(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return -(g * (1.12837916709551257390 * apply_op<exp_op>(-apply_op<square_op>(x))));
  }
};
inline constexpr pointwise_function<erfc_op> erfc;

/// Gamma function: (x - 1)! of whole numbers; NaN at negative ones.
struct gamma_op : floating_result {
  static constexpr const char* name = "gamma";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::tgamma(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto& x) {
    return g * (y * apply_op<digamma_op>(x));
  }
};
inline constexpr pointwise_function<gamma_op> gamma;

/// log(|gamma(x)|); infinite at 0 and negative whole numbers.
struct lgamma_op : floating_result {
  static constexpr const char* name = "lgamma";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::lgamma(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<digamma_op>(x); }
};
inline constexpr pointwise_function<lgamma_op> lgamma;

/// Derivative of lgamma; NaN at negative whole numbers, infinite at 0 with the sign of -x.
/// Small x are moved up by psi(x) = psi(x + 1) - 1 / x, negative ones reflected by psi(x) = psi(1 - x) - pi / tan(pi
/// x); then the asymptotic series (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18), all in double.
struct digamma_op : floating_result, lanewise<digamma_op> {
  static constexpr const char* name = "digamma";
  template <class T>
  TENON_HOST_DEVICE static T number(T x) {
    if (x == 0) return std::copysign(static_cast<T>(__builtin_huge_val()), -x);
    if (!(x < 0)) return static_cast<T>(of_positive(static_cast<double>(x)));
    if (x == std::floor(x)) return static_cast<T>(__builtin_nan(""));
    constexpr double pi = 3.14159265358979323846;
    const double reflected = static_cast<double>(x), fraction = reflected - std::floor(reflected);
    return static_cast<T>(of_positive(1 - reflected) - pi / std::tan(pi * fraction));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<trigamma_op>(x);
  }

 private:
  TENON_HOST_DEVICE static double of_positive(double x) {
    double moved = 0;
    for (; x < 10; ++x) moved -= 1 / x;
    const double s = 1 / (x * x);
    const double series =
        s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760))))));
    return moved + std::log(x) - 0.5 / x - series;
  }
};
inline constexpr pointwise_function<digamma_op> digamma;

/// Derivative of digamma; infinite at 0 and negative whole numbers.
/// Small x are moved up by psi'(x) = psi'(x + 1) + 1 / x^2, negative ones reflected by psi'(x) = (pi / sin(pi x))^2 -
/// psi'(1 - x); then the asymptotic series (Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.12), all in double.
struct trigamma_op : floating_result, lanewise<trigamma_op> {
  static constexpr const char* name = "trigamma";
  template <class T>
  TENON_HOST_DEVICE static T number(T x) {
    const double given = static_cast<double>(x), fraction = given - std::floor(given);
    if (!(x <= 0)) return static_cast<T>(of_positive(given));
    if (fraction == 0) return static_cast<T>(__builtin_huge_val());
    constexpr double pi = 3.14159265358979323846;
    const double reflection = pi / std::sin(pi * fraction);
    return static_cast<T>(reflection * reflection - of_positive(1 - given));
  }

 private:
  TENON_HOST_DEVICE static double of_positive(double x) {
    double moved = 0;
    for (; x < 10; ++x) moved += 1 / (x * x);
    const double s = 1 / (x * x);
    const double series =
        s * (1.0 / 6 -
             s * (1.0 / 30 - s * (1.0 / 42 - s * (1.0 / 30 - s * (5.0 / 66 - s * (691.0 / 2730 - s * (7.0 / 6)))))));
    return moved + (1 + 0.5 / x + series) / x;
  }
};
inline constexpr pointwise_function<trigamma_op> trigamma;

}  // namespace tenon
