// tests/device/simd_trigonometric.cpp: sine, cosine and tangent of packs against the C library in long double.
// Numbers next to multiples of pi/2, where reduction must not lose what is left, and beyond the limit of reduction.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_trigonometric.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

const auto sin_of = [](auto x) { return simd::sin(x); };
const auto cos_of = [](auto x) { return simd::cos(x); };
const auto tan_of = [](auto x) { return simd::tan(x); };
const auto sin_exact = [](long double x) { return std::sin(x); };
const auto cos_exact = [](long double x) { return std::cos(x); };
const auto tan_exact = [](long double x) { return std::tan(x); };

/// The neighbours of multiples of pi/2 up to `most` of them.
template <class T>
auto near_multiples(std::int64_t most) {
  return [random = tenon_test::random_source(3), most]() mutable {
    const long double multiple = static_cast<long double>(random.below(2 * most) - most) * 1.57079632679489661923L;
    const T direction = random.below(2) == 0 ? T(-1e30f) : T(1e30f);
    T x = static_cast<T>(multiple);
    for (std::int64_t steps = random.below(3); steps > 0; --steps) x = std::nextafter(x, direction);
    return x;
  };
}

}  // namespace

TEMPLATE_TEST_CASE("sine, cosine and tangent are within two units", "[simd_trigonometric]", float, double) {
  const double limit = static_cast<double>(simd::math_table<TestType>::trigonometric_limit);
  const std::vector<std::pair<double, double>> ranges = {
      {-1, 1}, {-10, 10}, {-1.1 * limit, 1.1 * limit}, {-1e-7, 1e-7}};
  tenon_test::check_function<TestType>(sin_of, sin_exact, ranges);
  tenon_test::check_function<TestType>(cos_of, cos_exact, ranges);
  tenon_test::check_function<TestType>(tan_of, tan_exact, ranges);
}

TEMPLATE_TEST_CASE("what is left next to multiples of pi/2", "[simd_trigonometric]", float, double) {
  for (const std::int64_t most : {4, 2000, 1000000}) {
    CHECK(tenon_test::measure<TestType>(sin_of, sin_exact, near_multiples<TestType>(most)).worst <= 2);
    CHECK(tenon_test::measure<TestType>(cos_of, cos_exact, near_multiples<TestType>(most)).worst <= 2);
    CHECK(tenon_test::measure<TestType>(tan_of, tan_exact, near_multiples<TestType>(most)).worst <= 2);
  }
}

TEMPLATE_TEST_CASE("sine, cosine and tangent of special numbers", "[simd_trigonometric]", float, double) {
  const TestType infinity = std::numeric_limits<TestType>::infinity();
  for (const TestType each : {infinity, -infinity, std::numeric_limits<TestType>::quiet_NaN()}) {
    CHECK(std::isnan(simd::sin(each)));
    CHECK(std::isnan(simd::cos(each)));
    CHECK(std::isnan(simd::tan(each)));
  }
  CHECK(std::signbit(simd::sin(-TestType(0))));
  CHECK(!std::signbit(simd::sin(TestType(0))));
  CHECK(std::signbit(simd::tan(-TestType(0))));
  CHECK(simd::cos(TestType(0)) == 1);
}
