// tests/device/simd_lookup.cpp: tables in registers against arrays.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_lookup.hpp>

#include "support/catch.hpp"
#include "support/random.hpp"

#if !defined(__CUDACC__)
TEST_CASE("lanes choose from a table of sixteen", "[simd]") {
  tenon_test::random_source source(3);
  for (int round = 0; round < 50; ++round) {
    tenon::simd::pack<float, 16> table{};
    tenon::simd::pack<std::int32_t, 16> places{};
    for (int lane = 0; lane < 16; ++lane) {
      table[lane] = static_cast<float>(source.uniform(-1, 1));
      places[lane] = static_cast<std::int32_t>(source.below(256));
    }
    const auto found = tenon::simd::look_up(table, places);
    for (int lane = 0; lane < 16; ++lane) {
      const float number = found[lane], expected = table[places[lane] % 16];
      CHECK(number == expected);
    }
  }
}
#endif
