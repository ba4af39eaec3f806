// tests/device/simd_batch.cpp: functions that xsimd may serve, of packs of every width and of numbers.
// Every lane is compared with the C library, and with the same number by itself.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/device/simd_batch.hpp>

#include "support/catch.hpp"

namespace simd = tenon::simd;

namespace {

struct arc_tangent {
  template <class T>
  static T number(T x) {
    using std::atan;
    return atan(x);
  }
};

template <class T, int Width>
void check_width() {
  const auto x = simd::generate<T, Width>([](tenon::index lane) { return static_cast<T>(lane) - T(2.5); });
  const auto y = simd::in_batches<arc_tangent>(x);
  for (int lane = 0; lane < Width; ++lane) {
    CHECK(static_cast<double>(y[lane]) ==
          Approx(std::atan(lane - 2.5)).epsilon(4 * static_cast<double>(std::numeric_limits<T>::epsilon())));
    CHECK(y[lane] == simd::in_batches<arc_tangent>(static_cast<T>(x[lane])));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a function of batches takes packs of every width", "[simd_batch]", float, double) {
  check_width<TestType, 2>();
  check_width<TestType, 4>();
  check_width<TestType, 8>();
  check_width<TestType, 16>();
}
