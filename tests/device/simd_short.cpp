// tests/device/simd_short.cpp: lanes of float as half and bfloat16, and back.
// All 65536 values of each type, and floats between them, as base/dtype.hpp has them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd.hpp>
#include <tenon/device/simd_short.hpp>

#include "support/catch.hpp"

namespace simd = tenon::simd;

TEMPLATE_TEST_CASE("every short float becomes the float that it is", "[simd]", tenon::half, tenon::bfloat16) {
  constexpr int width = simd::native_width<float>;
  int wrong = 0;
  for (int bits = 0; bits < 65536; bits += width) {
    TestType elements[width];
    for (int lane = 0; lane < width; ++lane)
      elements[lane] = TestType::from_bits(static_cast<std::uint16_t>(bits + lane));
    const auto lanes = simd::load<float, width>(elements);
    for (int lane = 0; lane < width; ++lane) {
      const float expected = elements[lane];
      wrong += expected == expected ? lanes[lane] != expected : lanes[lane] == lanes[lane];
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("floats are rounded to nearest even", "[simd]", tenon::half, tenon::bfloat16) {
  constexpr int width = simd::native_width<float>;
  int wrong = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 104729) {  // a prime step: all bits vary
    simd::pack<float, width> lanes{};
    for (int lane = 0; lane < width; ++lane) {
      lanes[lane] =
          __builtin_bit_cast(float, static_cast<std::uint32_t>(bits + static_cast<std::uint64_t>(lane) * 0x1000));
    }
    TestType elements[width];
    simd::store<width>(elements, lanes);
    for (int lane = 0; lane < width; ++lane) {
      const float number = lanes[lane], stored = elements[lane];
      wrong += number == number ? elements[lane].bits != TestType(number).bits : stored == stored;
    }
  }
  CHECK(wrong == 0);
}
