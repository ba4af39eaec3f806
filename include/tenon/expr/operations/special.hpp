// tenon/expr/operations/special.hpp: the error, gamma, digamma and polygamma functions.
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
template <int Order>
struct polygamma_op;

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
TENON_FUNCTION_OBJECT pointwise_function<erf_op> erf;

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
TENON_FUNCTION_OBJECT pointwise_function<erfc_op> erfc;

/// The number whose error function is x: infinite at -1 and 1, NaN beyond. `sqrt(2) * erfinv(2 * p - 1)` is the normal
/// quantile of p.
struct erfinv_op : floating_result {
  static constexpr const char* name = "erfinv";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::erfinv(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto& y, const auto&) {
    return g * (0.88622692545275801365 * apply_op<exp_op>(apply_op<square_op>(y)));
  }
};
TENON_FUNCTION_OBJECT pointwise_function<erfinv_op> erfinv;

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
TENON_FUNCTION_OBJECT pointwise_function<gamma_op> gamma;

/// log(|gamma(x)|); infinite at 0 and negative whole numbers.
struct lgamma_op : floating_result {
  static constexpr const char* name = "lgamma";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::lgamma(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) { return g * apply_op<digamma_op>(x); }
};
TENON_FUNCTION_OBJECT pointwise_function<lgamma_op> lgamma;

namespace detail {

/// cot(pi x), to the last digits near its poles and zeros, from the distance to the nearest whole number.
TENON_HOST_DEVICE inline double cotangent_of_pi(double from_whole) {
  constexpr double pi = 3.14159265358979323846;
  const double distance = std::fabs(from_whole);
  const double magnitude = distance > 0.25 ? std::tan(pi * (0.5 - distance)) : 1 / std::tan(pi * distance);
  return std::copysign(magnitude, from_whole);
}

}  // namespace detail

/// Derivative of lgamma; NaN at negative whole numbers, infinite at 0 with the sign of -x.
/// Small x are moved up by psi(x) = psi(x + 1) - 1 / x, negative ones reflected by psi(x) = psi(1 - x) - pi / tan(pi
/// x); then the asymptotic series (Abramowitz and Stegun 6.3.5, 6.3.7, 6.3.18), all in double.
struct digamma_op : floating_result, lanewise<digamma_op> {
  static constexpr const char* name = "digamma";
  template <class T>
  TENON_HOST_DEVICE static T number(T x) {
    if (x == 0) return std::copysign(static_cast<T>(__builtin_huge_val()), -x);
    if (!(x < 0)) return static_cast<T>(of_positive(static_cast<double>(x)));
    constexpr double pi = 3.14159265358979323846;
    const double given = static_cast<double>(x), from_pole = given - std::rint(given);  // exact, unlike 1 + tiny x
    if (!(from_pole != 0)) return static_cast<T>(__builtin_nan(""));
    return static_cast<T>(of_positive(1 - given) - pi * detail::cotangent_of_pi(from_pole));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<polygamma_op<1>>(x);
  }

 private:
  TENON_HOST_DEVICE static double of_positive(double x) {
    if (x < 1e-20) return -1 / x;
    double moved = 0, lost = 0;  // terms fall, so what a sum loses is exact
    for (; x < 10; ++x) {
      const double term = -1 / x, next = moved + term;
      lost += (moved - next) + term, moved = next;
    }
    const double s = 1 / (x * x);
    const double series =
        s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132 - s * (691.0 / 32760))))));
    return moved + std::log(x) + (lost - 0.5 / x - series);
  }
};
TENON_FUNCTION_OBJECT pointwise_function<digamma_op> digamma;

/// Derivative of digamma, `Order` times; at 0 and negative whole numbers infinite, below 0 where the order is even.
/// It is +-Order! times Hurwitz's zeta function of Order + 1 and x: its first terms one by one until x is large, the
/// others by Euler and Maclaurin's sum; negative x are reflected by derivatives of the cotangent. All in double.
/// source    Abramowitz and Stegun 6.4.6, 6.4.7, 6.4.10, 6.4.11
template <int Order>
struct polygamma_op : floating_result, lanewise<polygamma_op<Order>> {
  static_assert((Order >= 1 && Order <= 30) || must_hold<std::integral_constant<int, Order>>,
                "tenon: polygamma is known for orders from 0 to 30");
  static constexpr const char* name = "polygamma";
  template <class T>
  TENON_HOST_DEVICE static T number(T x) {
    constexpr double leading = Order % 2 == 0 ? -1 : 1;
    const double given = static_cast<double>(x), from_pole = given - std::rint(given);
    if (!(x <= 0)) return static_cast<T>(leading * of_positive(given));
    if (from_pole == 0) return static_cast<T>(leading * __builtin_huge_val());
    return static_cast<T>(leading * slope_of_cotangent(detail::cotangent_of_pi(from_pole)) - of_positive(1 - given));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * apply_op<polygamma_op<Order + 1>>(x);
  }

 private:
  /// Of infinite powers the quotient may be a number still.
  TENON_HOST_DEVICE static double over_power(double number, double x, int exponent) {
    double power = 1;
    for (int i = 0; i < exponent; ++i) power *= x;
    if (!(power > 1.79769313486231570815e308)) return number / power;
    for (int i = 0; i < exponent; ++i) number /= x;
    return number;
  }
  /// The magnitude of the derivative of pi cot(pi x), from that cotangent: of each power, one lower and one higher.
  TENON_HOST_DEVICE static double slope_of_cotangent(double cotangent) {
    constexpr array<double, Order + 2> factors = [] {
      constexpr double pi = 3.14159265358979323846;
      array<double, Order + 2> before{{0, pi}};
      for (int order = 0; order < Order; ++order) {
        array<double, Order + 2> after{};
        for (int power = 1; power <= order + 1; ++power) {
          after[power - 1] += pi * power * before[power];
          after[power + 1] += pi * power * before[power];
        }
        before = after;
      }
      return before;
    }();
    double result = factors[Order + 1];  // not 0, so that an infinite cotangent is infinite
    for (int power = Order; power >= 0; --power) result = result * cotangent + factors[power];
    return result;
  }
  TENON_HOST_DEVICE static double of_positive(double x) {
    constexpr array<double, 7> bernoulli{{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
                                          -691.0 / 1307674368000, 1.0 / 74724249600}};  // over factorials
    double first_terms = 0, factorial = 1, rising = Order + 1, series = 0;
    for (; x < 10 + 2 * Order; ++x) first_terms += over_power(1, x, Order + 1);
    double inverse_square = 1 / (x * x);
    for (int j = 0; j < 7; ++j) {
      series += bernoulli[j] * rising * inverse_square;
      rising *= (Order + 2 + 2 * j) * (Order + 3 + 2 * j), inverse_square /= x * x;
    }
    for (int i = 2; i <= Order; ++i) factorial *= i;
    return factorial * first_terms + over_power(factorial, x, Order) * (1.0 / Order + 0.5 / x + series);
  }
};
/// example   polygamma<2>(x)
template <int Order>
TENON_FUNCTION_OBJECT pointwise_function<std::conditional_t<Order == 0, digamma_op, polygamma_op<Order>>> polygamma;

/// Derivative of digamma: polygamma<1>.
using trigamma_op = polygamma_op<1>;
TENON_FUNCTION_OBJECT pointwise_function<trigamma_op> trigamma;

}  // namespace tenon
