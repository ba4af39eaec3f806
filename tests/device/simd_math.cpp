// tests/device/simd_math.cpp: functions of packs against the C library in long double.
// Errors are counted in units in the last place; packs and numbers must agree bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_math.hpp>

#include <limits>

#include "support/random.hpp"

namespace simd = tenon::simd;

namespace {

/// Difference in units in the last place of T at the expected value.
template <class T>
double ulps(T actual, long double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : 1e9;
  const T rounded = static_cast<T>(expected);
  if (std::isinf(rounded) || std::isinf(actual)) return actual == rounded ? 0 : 1e9;
  const T next = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity());
  return static_cast<double>(std::fabs(static_cast<long double>(actual) - expected) /
                             (static_cast<long double>(next) - static_cast<long double>(std::fabs(rounded))));
}

template <class T>
struct outcome {
  double worst = 0;
  bool lanes_agree = true;
};

/// The worst error of `function` over `count` numbers in [low, high), in packs and one by one.
template <class T, class Function, class Reference>
outcome<T> measure(const Function& function, const Reference& reference, double low, double high, int count = 200000) {
  constexpr int width = simd::native_width<T>;
  tenon_test::random_source random(11);
  outcome<T> result;
  for (int i = 0; i < count; i += width) {
    T values[width];
    for (T& each : values) each = static_cast<T>(random.uniform(low, high));
    const auto lanes = function(simd::load<T, width>(values));
    for (int lane = 0; lane < width; ++lane) {
      const T value = lanes[lane];
      result.worst = std::fmax(result.worst, ulps<T>(value, reference(static_cast<long double>(values[lane]))));
      if (std::is_same_v<T, float> && value != function(values[lane])) result.lanes_agree = false;
    }
  }
  return result;
}

const auto exp_of = [](auto x) { return simd::exp(x); };
const auto log_of = [](auto x) { return simd::log(x); };
const auto tanh_of = [](auto x) { return simd::tanh(x); };
const auto exp_exact = [](long double x) { return std::exp(x); };
const auto log_exact = [](long double x) { return std::log(x); };
const auto tanh_exact = [](long double x) { return std::tanh(x); };

}  // namespace

TEMPLATE_TEST_CASE("exp, log and tanh are within two units in the last place", "[simd_math]", float, double) {
  const double least = std::is_same_v<TestType, float> ? -87 : -700, greatest = -least;
  const outcome<TestType> outcomes[] = {
      measure<TestType>(exp_of, exp_exact, least, greatest), measure<TestType>(exp_of, exp_exact, -1, 1),
      measure<TestType>(log_of, log_exact, 1e-30, 1e30),     measure<TestType>(log_of, log_exact, 0.5, 2),
      measure<TestType>(tanh_of, tanh_exact, -1, 1),         measure<TestType>(tanh_of, tanh_exact, -20, 20)};
  for (const auto& each : outcomes) {
    CHECK(each.worst <= 2.0);
    CHECK(each.lanes_agree);
  }
}

TEST_CASE("subnormal results and operands lose nothing but their bits", "[simd_math]") {
  CHECK(measure<float>(exp_of, exp_exact, -103.5, -87).worst <= 2.0);
  CHECK(measure<float>(log_of, log_exact, 1e-44, 1e-38).worst <= 2.0);
}

TEMPLATE_TEST_CASE("special numbers", "[simd_math]", float, double) {
  using limits = std::numeric_limits<TestType>;
  const TestType infinity = limits::infinity(), nan = limits::quiet_NaN();
  const TestType specials[] = {0,
                               -TestType(0),
                               1,
                               infinity,
                               -infinity,
                               nan,
                               limits::max(),
                               limits::lowest(),
                               limits::min(),
                               limits::denorm_min(),
                               -1,
                               1000,
                               -1000,
                               2,
                               0.5f,
                               3};
  constexpr int width = simd::native_width<TestType>;
  for (int start = 0; start < 16; start += width) {
    const auto x = simd::load<TestType, width>(specials + start);
    const auto exps = simd::exp(x), logs = simd::log(x), tanhs = simd::tanh(x);
    for (int lane = 0; lane < width; ++lane) {
      const auto here = static_cast<long double>(specials[start + lane]);
      CAPTURE(static_cast<double>(here));
      CHECK(ulps<TestType>(exps[lane], std::exp(here)) <= 2.0);
      CHECK(ulps<TestType>(logs[lane], std::log(here)) <= 2.0);
      CHECK(ulps<TestType>(tanhs[lane], std::tanh(here)) <= 2.0);
    }
  }
  CHECK(std::signbit(static_cast<double>(simd::tanh(-TestType(0)))));
}
