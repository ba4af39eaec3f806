// tests/device/simd_math.cpp: exponentials, logarithms and the hyperbolic tangent of packs, in long double.
// Bits drawn at random reach all magnitudes and special numbers; narrow ranges those where cancellation threatens.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_math.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

using tenon_test::check_function;
using tenon_test::ulps;

}  // namespace

TEMPLATE_TEST_CASE("exponentials are within two units in the last place", "[simd_math]", float, double) {
  const double most = std::is_same_v<TestType, float> ? 89 : 710, most_of_two = most * 1.4427;
  check_function<TestType>([](auto x) { return simd::exp(x); }, [](long double x) { return std::exp(x); },
                           {{-most * 1.2, most}, {-1, 1}});
  check_function<TestType>([](auto x) { return simd::exp2(x); }, [](long double x) { return std::exp2(x); },
                           {{-most_of_two * 1.2, most_of_two}, {-1, 1}});
  check_function<TestType>([](auto x) { return simd::expm1(x); }, [](long double x) { return std::expm1(x); },
                           {{-most, most}, {-1.5, 1.5}, {-1e-6, 1e-6}, {-1e-16, 1e-16}});
}

TEMPLATE_TEST_CASE("exponentials of bounded numbers are those of others", "[simd_math]", float, double) {
  const auto at_most_20 = [](auto x) { return x > 20 ? decltype(x)(20) : x; };
  const auto at_least_64 = [](auto x) { return x < -64 ? decltype(x)(-64) : x; };
  check_function<TestType>(
      [](auto x) { return simd::exp_of_bounded(simd::at_most(x, simd::constant_like<decltype(x)>(20))); },
      [&](long double x) { return std::exp(at_most_20(x)); }, {{-120, 20}, {-1, 1}});
  check_function<TestType>(
      [](auto x) { return simd::exp_of_negative(simd::at_least(x, simd::constant_like<decltype(x)>(-64))); },
      [&](long double x) { return std::exp(-at_least_64(x)); }, {{-64, 120}, {-1, 1}});
}

TEMPLATE_TEST_CASE("logarithms are within two units in the last place", "[simd_math]", float, double) {
  const std::vector<std::pair<double, double>> ranges = {{0, 1e30}, {0.4, 2.5}, {0.999, 1.001}, {0, 1e-37}};
  check_function<TestType>([](auto x) { return simd::log(x); }, [](long double x) { return std::log(x); }, ranges);
  check_function<TestType>([](auto x) { return simd::log2(x); }, [](long double x) { return std::log2(x); }, ranges);
  check_function<TestType>([](auto x) { return simd::log10(x); }, [](long double x) { return std::log10(x); }, ranges);
  check_function<TestType>([](auto x) { return simd::log1p(x); }, [](long double x) { return std::log1p(x); },
                           {{-1, 1}, {-1e-3, 1e-3}, {-1e-16, 1e-16}, {0, 1e30}, {3e38, 3.4e38}});
}

TEMPLATE_TEST_CASE("the hyperbolic tangent is within two units in the last place", "[simd_math]", float, double) {
  check_function<TestType>([](auto x) { return simd::tanh(x); }, [](long double x) { return std::tanh(x); },
                           {{-1, 1}, {-20, 20}});
}

TEMPLATE_TEST_CASE("quotients and reciprocals of roots that functions are made of", "[simd_math]", float, double) {
  check_function<TestType>([](auto x) { return simd::near_quotient(x * 0 + 1, x); },
                           [](long double x) { return 1 / x; }, {{-1, 1}, {-20, 20}});
  check_function<TestType>([](auto x) { return simd::reciprocal_sqrt(x); },
                           [](long double x) { return 1 / std::sqrt(x); }, {{0, 1}, {0, 1000}});
}

TEMPLATE_TEST_CASE("special numbers", "[simd_math]", float, double) {
  using limits = std::numeric_limits<TestType>;
  const TestType infinity = limits::infinity();
  for (const TestType each : {TestType(0), -TestType(0), TestType(1), TestType(-1), infinity, -infinity,
                              limits::quiet_NaN(), limits::max(), limits::lowest(), limits::min(), limits::denorm_min(),
                              -limits::denorm_min(), TestType(1000), TestType(-1000)}) {
    const auto here = static_cast<long double>(each);
    CAPTURE(static_cast<double>(each));
    CHECK(ulps<TestType>(simd::exp(each), std::exp(here)) <= 2);
    CHECK(ulps<TestType>(simd::exp2(each), std::exp2(here)) <= 2);
    CHECK(ulps<TestType>(simd::expm1(each), std::expm1(here)) <= 2);
    CHECK(ulps<TestType>(simd::log(each), std::log(here)) <= 2);
    CHECK(ulps<TestType>(simd::log2(each), std::log2(here)) <= 2);
    CHECK(ulps<TestType>(simd::log10(each), std::log10(here)) <= 2);
    CHECK(ulps<TestType>(simd::log1p(each), std::log1p(here)) <= 2);
    CHECK(ulps<TestType>(simd::tanh(each), std::tanh(here)) <= 2);
    const TestType root = std::sqrt(each);
    const auto roots = simd::sqrt(simd::generate<TestType, 4>([&](tenon::index) { return each; }));
    for (const TestType found : {simd::sqrt(each), TestType(roots[0]), TestType(roots[3])}) {
      CHECK((found == root || (found != found && root != root)));
      CHECK(std::signbit(found == found ? found : 0) == std::signbit(root == root ? root : 0));
    }
  }
}

TEST_CASE("powers of two and of ten are exact", "[simd_math]") {
  for (int n = -126; n < 128; ++n) {
    CHECK(simd::exp2(static_cast<float>(n)) == std::ldexp(1.0f, n));
    CHECK(simd::log2(std::ldexp(1.0f, n)) == static_cast<float>(n));
    CHECK(simd::log2(std::ldexp(1.0, n)) == n);
  }
}
