// tests/device/simd_integer.cpp: integers at the edges where C++ leaves results undefined.
// The reference computes in 128 bits; packs and numbers must agree.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_integer.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace simd = tenon::simd;

namespace {

__extension__ using wide = __int128;
__extension__ using wide_bits = unsigned __int128;

template <class T>
std::vector<T> edges() {
  using limits = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          100,
          limits::max(),
          limits::min(),
          static_cast<T>(limits::max() / 2),
          static_cast<T>(-1),
          static_cast<T>(-7)};
}

template <class T>
wide quotient_of(wide x, wide y) {
  return y == 0 ? 0 : x / y;
}
template <class T>
wide rest_of(wide x, wide y) {
  return y == 0 ? 0 : x % y;
}
template <class T>
wide left_of(wide x, wide y) {
  return y < 0 || y >= 8 * static_cast<wide>(sizeof(T)) ? 0 : x * (wide{1} << y);
}
template <class T>
wide right_of(wide x, wide y) {
  return x >> (y < 0 || y >= 8 * static_cast<wide>(sizeof(T)) ? 127 : static_cast<int>(y));
}

/// Whether `function` of numbers and of packs equals `reference`, wrapped around, at all pairs of edges.
template <class T, class Function, class Reference>
bool agrees(const Function& function, const Reference& reference) {
  constexpr int width = simd::native_width<T>;
  for (const T x : edges<T>()) {
    for (const T y : edges<T>()) {
      const T expected = static_cast<T>(reference(static_cast<wide>(x), static_cast<wide>(y)));
      const auto lanes = function(simd::broadcast<T, width>(x), simd::broadcast<T, width>(y));
      if (function(x, y) != expected || lanes[0] != expected || lanes[width - 1] != expected) return false;
    }
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("integers at their edges", "[simd_integer]", std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                   std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t) {
  using T = TestType;
  CHECK(agrees<T>([](auto x, auto y) { return simd::quotient(x, y); }, quotient_of<T>));
  CHECK(agrees<T>([](auto x, auto y) { return simd::rest(x, y); }, rest_of<T>));
  CHECK(agrees<T>([](auto x, auto y) { return simd::shift_left(x, y); }, left_of<T>));
  CHECK(agrees<T>([](auto x, auto y) { return simd::shift_right(x, y); }, right_of<T>));
  CHECK(agrees<T>([](auto x, auto) { return simd::negated(x); }, [](wide x, wide) { return -x; }));
  const auto fused = [](auto x, auto y) {
    return simd::unwrapped<decltype(x)>(simd::wrapping(x) * simd::wrapping(y) - simd::wrapping(x));
  };
  CHECK(agrees<T>(fused, [](wide x, wide y) {
    return static_cast<wide>(static_cast<wide_bits>(x) * static_cast<wide_bits>(y)) - x;
  }));
}

TEST_CASE("floats divide as ever", "[simd_integer]") {
  CHECK(simd::quotient(7.0f, 2.0f) == 3.5f);
  CHECK(simd::quotient(1.0, 0.0) == std::numeric_limits<double>::infinity());
  CHECK(simd::negated(0.0) == 0.0);
  CHECK(std::signbit(simd::negated(0.0)));
}
