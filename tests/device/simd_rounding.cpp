// tests/device/simd_rounding.cpp: rounding of packs of all sizes against the C library.
// Ties, numbers too great to have a fraction, infinities, NaN, and the sign of zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_rounding.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace simd = tenon::simd;

namespace {

template <class T>
std::vector<T> numbers() {
  const T infinity = std::numeric_limits<T>::infinity();
  std::vector<T> values = {0, T(-0.0), T(0.5), T(-0.5), T(1.5), T(2.5), T(-2.5), T(0.49999997f), T(-0.25)};
  for (const T each : {T(0x1p23), T(0x1p52), T(1e30), T(1e-40), infinity})
    values.push_back(each), values.push_back(-each);
  values.push_back(std::numeric_limits<T>::quiet_NaN());
  for (const T each : tenon_test::random_values<T>(173, 61, -9, 9)) values.push_back(each);
  return values;
}

/// Whether two numbers have the same bits, or are both NaN.
template <class T>
bool is_same_number(T left, T right) {
  return std::isnan(left) ? std::isnan(right) : left == right && std::signbit(left) == std::signbit(right);
}

template <simd::rounding Direction, int Width, class T, class Reference>
void check_width(const Reference& reference) {
  const auto values = numbers<T>();
  for (std::size_t i = 0; i + Width <= values.size(); i += Width) {
    const auto x = simd::load<T, Width>(values.data() + i);
    const auto found = simd::rounded<Direction>(x);
    T lanes[Width];
    std::memcpy(lanes, &found, sizeof(lanes));
    for (std::size_t lane = 0; lane < Width; ++lane) {
      CAPTURE(values[i + lane], lanes[lane], Width);
      CHECK(is_same_number(lanes[lane], reference(values[i + lane])));
    }
  }
}

template <simd::rounding Direction, class T, class Reference>
void check_direction(const Reference& reference) {
  constexpr int width = simd::native_width<T>, quarter = (width + 3) / 4;
  check_width<Direction, 1, T>(reference);
  check_width<Direction, width, T>(reference);
  check_width<Direction, width / 2, T>(reference);
  check_width<Direction, quarter, T>(reference);
}

}  // namespace

TEMPLATE_TEST_CASE("rounding in all directions", "[simd_rounding]", float, double) {
  using simd::rounding;
  check_direction<rounding::down, TestType>([](TestType x) { return std::floor(x); });
  check_direction<rounding::up, TestType>([](TestType x) { return std::ceil(x); });
  check_direction<rounding::towards_zero, TestType>([](TestType x) { return std::trunc(x); });
  check_direction<rounding::nearest_even, TestType>([](TestType x) { return std::rint(x); });
}

TEST_CASE("integers are whole", "[simd_rounding]") {
  CHECK(simd::rounded<simd::rounding::down>(-7) == -7);
  CHECK(simd::rounded<simd::rounding::up>(simd::broadcast<std::int32_t, 4>(5))[3] == 5);
}
