// tests/device/simd_powers.cpp: powers, cube roots and hypotenuses of packs against the C library in long double.
// Bits drawn at random reach all magnitudes; exponents are drawn so that powers reach both ends of the format.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_powers.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

using tenon_test::any_bits;
using tenon_test::check_outcome;
using tenon_test::evenly;
using tenon_test::measure;
using tenon_test::ulps;

long double exact_power(long double x, long double y) { return std::pow(x, y); }
long double exact_hypotenuse(long double x, long double y) { return std::hypot(x, y); }

const auto power = [](auto x, auto y) { return simd::pow(x, y); };
const auto hypotenuse = [](auto x, auto y) { return simd::hypot(x, y); };

/// Zeros, ones, infinities, NaN, the ends of the format, whole numbers of both parities, fractions.
template <class T>
std::vector<T> special_numbers() {
  using limits = std::numeric_limits<T>;
  std::vector<T> numbers = {limits::quiet_NaN(), std::nextafter(T(1), T(2)), std::nextafter(T(1), T(0))};
  for (const T each : {T(0), T(0.5), T(1), T(2), T(2.5), T(3), T(1e20), limits::infinity(), limits::max(),
                       limits::min(), limits::denorm_min(), 1 / limits::epsilon(), 1 / limits::epsilon() - 1}) {
    numbers.push_back(each), numbers.push_back(-each);
  }
  return numbers;
}

}  // namespace

TEMPLATE_TEST_CASE("powers are within two units in the last place", "[simd_powers]", float, double) {
  const auto check = [](auto draw_x, auto draw_y) {
    check_outcome(measure<TestType>(power, exact_power, draw_x, draw_y));
  };
  check(any_bits<TestType>(), any_bits<TestType>(13));
  check(any_bits<TestType>(), evenly<TestType>(-4, 4));
  check(evenly<TestType>(0, 20), evenly<TestType>(-40, 40, 12));
  check(evenly<TestType>(0.999, 1.001), evenly<TestType>(-1e5, 1e5, 12));
  check(evenly<TestType>(-3, 3),
        [random = tenon_test::random_source(14)]() mutable { return static_cast<TestType>(random.below(60) - 30); });
}

TEMPLATE_TEST_CASE("powers near the ends of the format", "[simd_powers]", float, double) {
  tenon_test::random_source random(15);
  const double most = std::is_same_v<TestType, float> ? 128 : 1024;
  TestType base = 0;
  const auto draw_base = [&] { return base = static_cast<TestType>(random.uniform(0.3, 40)); };
  const auto draw_exponent = [&] {
    const double logarithm = std::log2(static_cast<double>(base));
    return static_cast<TestType>(random.uniform(0.97, 1.2) * (random.below(2) == 0 ? most : -most) / logarithm);
  };
  check_outcome(measure<TestType>(power, exact_power, draw_base, draw_exponent));
}

TEMPLATE_TEST_CASE("powers and hypotenuses of special numbers are those of C", "[simd_powers]", float, double) {
  for (const TestType x : special_numbers<TestType>()) {
    for (const TestType y : special_numbers<TestType>()) {
      CAPTURE(static_cast<double>(x), static_cast<double>(y));
      const auto left = static_cast<long double>(x), right = static_cast<long double>(y);
      CHECK(ulps<TestType>(simd::pow(x, y), std::pow(left, right)) <= 2);
      CHECK(ulps<TestType>(simd::hypot(x, y), std::hypot(left, right)) <= 2);
    }
  }
}

TEMPLATE_TEST_CASE("squares and cubes are products, in packs of one exponent and of several", "[simd_powers]", float,
                   double) {
  using pack = simd::pack<TestType, 4>;
  const pack x = {TestType(1.1), TestType(-0.3), TestType(7.7), TestType(1e-30)};
  const pack squares = simd::pow(x, simd::constant_like<pack>(2)), cubes = simd::pow(x, simd::constant_like<pack>(3));
  const pack mixed = simd::pow(x, pack{2, 3, TestType(0.5), 3});
  for (int lane = 0; lane < 4; ++lane) {
    CHECK(squares[lane] == x[lane] * x[lane]);
    CHECK(cubes[lane] == x[lane] * x[lane] * x[lane]);
  }
  CHECK(mixed[0] == squares[0]);
  CHECK(mixed[1] == cubes[1]);
  CHECK(ulps<TestType>(mixed[2], std::sqrt(static_cast<long double>(x[2]))) <= 2);
  CHECK(mixed[3] == cubes[3]);
}

TEMPLATE_TEST_CASE("cube roots are within two units in the last place", "[simd_powers]", float, double) {
  const auto root = [](auto x) { return simd::cbrt(x); };
  const auto exact = [](long double x) { return std::cbrt(x); };
  tenon_test::check_function<TestType>(root, exact, {{0.1, 10}, {-1e30, 1e30}, {0, 1e-37}, {0, 1e-307}});
  for (const TestType each : special_numbers<TestType>()) {
    CHECK(ulps<TestType>(simd::cbrt(each), std::cbrt(static_cast<long double>(each))) <= 2);
  }
  for (TestType n = -30; n <= 30; ++n) CHECK(simd::cbrt(n * n * n) == n);
}

TEMPLATE_TEST_CASE("hypotenuses are within two units in the last place", "[simd_powers]", float, double) {
  const auto check = [](auto draw_x, auto draw_y) {
    check_outcome(measure<TestType>(hypotenuse, exact_hypotenuse, draw_x, draw_y));
  };
  check(any_bits<TestType>(), any_bits<TestType>(13));
  check(evenly<TestType>(-3, 3), evenly<TestType>(-4, 4, 12));
  using limits = std::numeric_limits<TestType>;
  for (const auto greatest : {limits::max(), limits::min(), TestType(0x1p63), TestType(0x1p-50)}) {
    const auto each = static_cast<double>(greatest);
    check(evenly<TestType>(0, each), evenly<TestType>(-each, each, 12));
  }
  CHECK(simd::hypot(TestType(3), TestType(-4)) == 5);
}
