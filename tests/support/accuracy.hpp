// tests/support/accuracy.hpp: errors of functions of packs, in units in the last place.
// The reference is the C library in long double; packs and numbers must agree bit for bit.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/device/simd.hpp>

#include "support/random.hpp"

namespace tenon_test {

/// Difference in units in the last place of T at the expected value.
template <class T>
double ulps(T actual, long double expected) {
  if (std::isnan(expected)) return std::isnan(actual) ? 0 : 1e9;
  const T rounded = static_cast<T>(expected);
  if (std::isinf(rounded) || std::isinf(actual)) return actual == rounded ? 0 : 1e9;
  if (rounded == 0 && std::signbit(rounded) != std::signbit(actual)) return 1e9;
  const T next = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity());
  return static_cast<double>(std::fabs(static_cast<long double>(actual) - expected) /
                             (static_cast<long double>(next) - static_cast<long double>(std::fabs(rounded))));
}

template <class T>
struct outcome {
  double worst = 0;
  T worst_at = 0;
  bool lanes_agree = true;
};

/// The worst error of `function` over `count` numbers that `draw()` gives, in packs and one by one.
template <class T, class Function, class Reference, class Draw>
outcome<T> measure(const Function& function, const Reference& reference, Draw draw, int count = 200000) {
  namespace simd = tenon::simd;
  constexpr int width = simd::native_width<T>;
  outcome<T> result;
  for (int i = 0; i < count; i += width) {
    T values[width];
    for (T& each : values) each = draw();
    const auto lanes = function(simd::load<T, width>(values));
    for (int lane = 0; lane < width; ++lane) {
      const T value = lanes[lane], alone = function(values[lane]);
      const double error = ulps<T>(value, reference(static_cast<long double>(values[lane])));
      if (error > result.worst) result.worst = error, result.worst_at = values[lane];
      if (value != alone && !(std::isnan(value) && std::isnan(alone))) result.lanes_agree = false;
    }
  }
  return result;
}

/// Numbers spread evenly over [low, high).
template <class T>
auto evenly(double low, double high) {
  return [random = random_source(11), low, high]() mutable { return static_cast<T>(random.uniform(low, high)); };
}

/// Numbers of any bits: all magnitudes alike, subnormals, infinities and NaN among them.
template <class T>
auto any_bits() {
  return [random = random_source(12)]() mutable {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return __builtin_bit_cast(T, static_cast<bits>(random.bits()));
  };
}

/// `function` within two units of `reference` for any bits and in the given ranges.
template <class T, class Function, class Reference>
void check_function(const Function& function, const Reference& reference,
                    const std::vector<std::pair<double, double>>& ranges) {
  auto outcomes = std::vector{measure<T>(function, reference, any_bits<T>())};
  for (const auto& [low, high] : ranges) outcomes.push_back(measure<T>(function, reference, evenly<T>(low, high)));
  for (const auto& each : outcomes) {
    CAPTURE(static_cast<double>(each.worst_at));
    CHECK(each.worst <= 2.0);
    CHECK(each.lanes_agree);
  }
}

}  // namespace tenon_test
