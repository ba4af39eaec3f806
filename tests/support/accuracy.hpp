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

template <class T, class Function, class Reference, std::size_t... Operand, class... Draw>
outcome<T> measure_operands(const Function& function, const Reference& reference, std::index_sequence<Operand...>,
                            Draw... draw) {
  namespace simd = tenon::simd;
  constexpr int width = simd::native_width<T>, count = 200000;
  outcome<T> result;
  for (int i = 0; i < count; i += width) {
    T values[sizeof...(Draw)][width];
    for (int lane = 0; lane < width; ++lane) ((values[Operand][lane] = draw()), ...);
    const auto lanes = function(simd::load<T, width>(values[Operand])...);
    for (int lane = 0; lane < width; ++lane) {
      const T value = lanes[lane], alone = function(values[Operand][lane]...);
      const double error = ulps<T>(value, reference(static_cast<long double>(values[Operand][lane])...));
      if (error > result.worst) result.worst = error, result.worst_at = values[0][lane];
      if (value != alone && !(std::isnan(value) && std::isnan(alone))) result.lanes_agree = false;
    }
  }
  return result;
}

/// The worst error of `function` over many numbers that `draw()` gives for each operand, in packs and one by one.
template <class T, class Function, class Reference, class... Draw>
outcome<T> measure(const Function& function, const Reference& reference, Draw... draw) {
  return measure_operands<T>(function, reference, std::index_sequence_for<Draw...>{}, draw...);
}

/// Numbers spread evenly over [low, high).
template <class T>
auto evenly(double low, double high, std::uint64_t seed = 11) {
  return [random = random_source(seed), low, high]() mutable { return static_cast<T>(random.uniform(low, high)); };
}

/// Numbers of any bits: all magnitudes alike, subnormals, infinities and NaN among them.
template <class T>
auto any_bits(std::uint64_t seed = 12) {
  return [random = random_source(seed)]() mutable {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return __builtin_bit_cast(T, static_cast<bits>(random.bits()));
  };
}

template <class T>
void check_outcome(const outcome<T>& found) {
  CAPTURE(static_cast<double>(found.worst_at));
  CHECK(found.worst <= 2.0);
  CHECK(found.lanes_agree);
}

/// `function` within two units of `reference` for any bits and in the given ranges.
template <class T, class Function, class Reference>
void check_function(const Function& function, const Reference& reference,
                    const std::vector<std::pair<double, double>>& ranges) {
  check_outcome(measure<T>(function, reference, any_bits<T>()));
  for (const auto& [low, high] : ranges) check_outcome(measure<T>(function, reference, evenly<T>(low, high)));
}

}  // namespace tenon_test
