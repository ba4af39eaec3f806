// tests/device/simd_gamma.cpp: the gamma function of packs and its logarithm against the C library in long double.
// Ranges lie around the zeros and poles, where formulas meet, and at the ends of the format.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_gamma.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

using tenon_test::check_function;
using tenon_test::ulps;

/// As C's, but of negative infinity and whole numbers always NaN.
long double exact_gamma(long double x) {
  return x < 0 && x == std::floor(x) ? std::numeric_limits<long double>::quiet_NaN() : std::tgamma(x);
}

}  // namespace

TEMPLATE_TEST_CASE("the gamma function is within two units in the last place", "[simd_gamma]", float, double) {
  const double most = std::is_same_v<TestType, float> ? 35.5 : 172,
               least = std::is_same_v<TestType, float> ? -43 : -185;
  check_function<TestType>([](auto x) { return simd::tgamma(x); }, exact_gamma,
                           {{-1, 1}, {-4, 4}, {0, most}, {least, 0}, {-2.01, -1.99}, {2.49, 2.51}, {most - 1, most}});
}

TEMPLATE_TEST_CASE("the logarithm of gamma is within two units in the last place", "[simd_gamma]", float, double) {
  const auto of_magnitude = [](auto x) { return simd::lgamma(decltype(x)(simd::abs(x))); };
  check_function<TestType>(of_magnitude, [](long double x) { return std::lgamma(std::fabs(x)); },
                           {{0, 1}, {0, 3}, {0.999, 1.001}, {1.999, 2.001}, {2.49, 2.51}, {2, 40}, {1e3, 1e10}});
  for (const double least : {-1e-5, -1.99}) {
    tenon_test::check_outcome(tenon_test::measure<TestType>([](auto x) { return simd::lgamma(x); },
                                                            [](long double x) { return std::lgamma(x); },
                                                            tenon_test::evenly<TestType>(least, 0)));
  }
}

TEMPLATE_TEST_CASE("the logarithm of gamma near its negative zeros", "[simd_gamma]", float, double) {
  tenon_test::random_source random(81);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    const auto x = static_cast<TestType>(random.uniform(-40, -2));
    const auto expected = std::lgamma(static_cast<long double>(x));
    if (std::isinf(expected)) continue;
    const long double unit = std::fmax(1.0L, std::fabs(expected)) * std::numeric_limits<TestType>::epsilon();
    const auto error = std::fabs(static_cast<long double>(simd::lgamma(x)) - expected);
    worst = std::fmax(worst, static_cast<double>(error / unit));
  }
  CHECK(worst <= 2);
}

TEMPLATE_TEST_CASE("gamma and its logarithm of special numbers", "[simd_gamma]", float, double) {
  using limits = std::numeric_limits<TestType>;
  for (const TestType magnitude : {TestType(0), TestType(1), TestType(2), TestType(2.5), TestType(3), TestType(50),
                                   TestType(200.5), TestType(1e10), 1 / limits::epsilon(), limits::min(),
                                   limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()}) {
    for (const TestType each : {magnitude, -magnitude}) {
      const auto here = static_cast<long double>(each);
      CAPTURE(static_cast<double>(each));
      CHECK(ulps<TestType>(simd::tgamma(each), exact_gamma(here)) <= 2);
      CHECK(ulps<TestType>(simd::lgamma(each), std::lgamma(here)) <= 2);
    }
  }
  CHECK(simd::tgamma(TestType(5)) == 24);
  CHECK(simd::lgamma(TestType(1)) == 0);
  CHECK(simd::lgamma(TestType(2)) == 0);
}
