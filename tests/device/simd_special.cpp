// tests/device/simd_special.cpp: the error function of packs, its complement and its inverse, in long double.
// All polynomials, where they meet, and where results round to 1, to 2 and to 0.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_special.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

/// By Newton's steps on erf, and on the logarithm of erfc where erf is near 1.
long double inverse_of_erf(long double x) {
  const long double magnitude = std::fabs(x), slope = 2 / std::sqrt(std::acos(-1.0L));
  if (magnitude == 1) return x * std::numeric_limits<long double>::infinity();
  if (!(magnitude < 1)) return std::numeric_limits<long double>::quiet_NaN();
  long double y = magnitude < 0.5L ? magnitude : std::sqrt(-std::log(1 - magnitude));
  for (int step = 0; step < 8 && y > 0; ++step) {
    const long double here = std::erfc(y), density = slope * std::exp(-y * y);
    y -= magnitude < 0.5L ? (std::erf(y) - magnitude) / density : std::log((1 - magnitude) / here) * here / density;
  }
  return std::copysign(y, x);
}

}  // namespace

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

TEMPLATE_TEST_CASE("the inverse of the error function is within four units in the last place", "[simd_special]", float,
                   double) {
  const auto inverse = [](auto x) { return simd::erfinv(x); };
  const auto near_one = [draw = tenon_test::evenly<double>(-53, -1)]() mutable {
    return static_cast<TestType>(1 - std::exp2(draw()));
  };
  const auto check = [&](const auto& numbers) {
    const auto found = tenon_test::measure<TestType>(inverse, inverse_of_erf, numbers);
    CAPTURE(found.worst_at);
    CHECK(found.worst <= 4);
    CHECK(found.lanes_agree);
  };
  check(tenon_test::any_bits<TestType>());
  check(tenon_test::evenly<TestType>(-1, 1));
  check(tenon_test::evenly<TestType>(0.98, 1));  // where the polynomials meet
  check(tenon_test::evenly<TestType>(-1e-5, 1e-5));
  check(near_one);
}

TEMPLATE_TEST_CASE("the inverse of the error function at its ends and beyond", "[simd_special]", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  CHECK(simd::erfinv(TestType(1)) == infinity);
  CHECK(simd::erfinv(TestType(-1)) == -infinity);
  CHECK(std::signbit(simd::erfinv(-TestType(0))));
  for (const TestType beyond : {std::nextafter(TestType(1), infinity), TestType(-1.5), infinity, -infinity}) {
    CAPTURE(beyond);
    CHECK(std::isnan(simd::erfinv(beyond)));
  }
  CHECK(std::isnan(simd::erfinv(std::numeric_limits<TestType>::quiet_NaN())));
}
