// tests/device/simd_hyperbolic.cpp: hyperbolic functions of packs and their inverses, in long double.
// Ranges lie around the places where formulas meet, and at the ends of the format.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_hyperbolic.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

using tenon_test::check_function;

TEMPLATE_TEST_CASE("hyperbolic sines and cosines are within two units in the last place", "[simd_hyperbolic]", float,
                   double) {
  const double most = std::is_same_v<TestType, float> ? 90 : 711;
  const std::vector<std::pair<double, double>> ranges = {{-1e-3, 1e-3}, {-2, 2}, {-20, 20}, {most - 3, most}};
  check_function<TestType>([](auto x) { return simd::sinh(x); }, [](long double x) { return std::sinh(x); }, ranges);
  check_function<TestType>([](auto x) { return simd::cosh(x); }, [](long double x) { return std::cosh(x); }, ranges);
}

TEMPLATE_TEST_CASE("inverse hyperbolic functions are within two units in the last place", "[simd_hyperbolic]", float,
                   double) {
  const auto great = static_cast<double>(4 / std::numeric_limits<TestType>::epsilon());
  check_function<TestType>([](auto x) { return simd::asinh(x); }, [](long double x) { return std::asinh(x); },
                           {{-1e-3, 1e-3}, {-2, 2}, {2, 100}, {0, great}});
  check_function<TestType>([](auto x) { return simd::acosh(x); }, [](long double x) { return std::acosh(x); },
                           {{1, 1.001}, {0.99, 2}, {2, 100}, {0, great}});
  check_function<TestType>([](auto x) { return simd::atanh(x); }, [](long double x) { return std::atanh(x); },
                           {{-1e-3, 1e-3}, {-1.01, 1.01}, {0.999, 1}});
}

TEMPLATE_TEST_CASE("hyperbolic functions of special numbers", "[simd_hyperbolic]", float, double) {
  using limits = std::numeric_limits<TestType>;
  for (const TestType magnitude :
       {TestType(0), TestType(1), std::nextafter(TestType(1), TestType(0)), std::nextafter(TestType(1), TestType(2)),
        TestType(3), limits::min(), limits::denorm_min(), limits::max(), limits::infinity(), limits::quiet_NaN()}) {
    for (const TestType each : {magnitude, -magnitude}) {
      const auto here = static_cast<long double>(each);
      CAPTURE(static_cast<double>(each));
      CHECK(tenon_test::ulps<TestType>(simd::sinh(each), std::sinh(here)) <= 2);
      CHECK(tenon_test::ulps<TestType>(simd::cosh(each), std::cosh(here)) <= 2);
      CHECK(tenon_test::ulps<TestType>(simd::asinh(each), std::asinh(here)) <= 2);
      CHECK(tenon_test::ulps<TestType>(simd::acosh(each), std::acosh(here)) <= 2);
      CHECK(tenon_test::ulps<TestType>(simd::atanh(each), std::atanh(here)) <= 2);
    }
  }
}
