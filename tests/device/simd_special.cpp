// tests/device/simd_special.cpp: the error function of packs and its complement, in long double.
// All polynomials, where they meet, and where results round to 1, to 2 and to 0.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_special.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

TEMPLATE_TEST_CASE("the error function is within two units in the last place", "[simd_special]", float, double) {
  tenon_test::check_function<TestType>([](auto x) { return simd::erf(x); }, [](long double x) { return std::erf(x); },
                                       {{-1, 1}, {0.99, 1.01}, {-7, 7}, {-1e-300, 1e-300}});
}

TEMPLATE_TEST_CASE("the complementary error function is within two units in the last place", "[simd_special]", float,
                   double) {
  tenon_test::check_function<TestType>([](auto x) { return simd::erfc(x); }, [](long double x) { return std::erfc(x); },
                                       {{-1, 1}, {-7, 7}, {0.49, 0.51}, {1, 3}, {9, 10.3}, {10, 27.5}});
}

TEMPLATE_TEST_CASE("the error function of special numbers", "[simd_special]", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(simd::erf(infinity) == 1);
  CHECK(simd::erf(-infinity) == -1);
  CHECK(std::isnan(simd::erf(std::numeric_limits<TestType>::quiet_NaN())));
  CHECK(std::signbit(simd::erf(-TestType(0))));
  CHECK(simd::erfc(infinity) == 0);
  CHECK(simd::erfc(-infinity) == 2);
  CHECK(simd::erfc(std::numeric_limits<TestType>::max()) == 0);
  CHECK(simd::erfc(TestType(0)) == 1);
  CHECK(simd::erfc(std::numeric_limits<TestType>::denorm_min()) == 1);
  CHECK(std::isnan(simd::erfc(std::numeric_limits<TestType>::quiet_NaN())));
}
