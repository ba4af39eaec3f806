// tests/device/simd_lanes.cpp: functions of numbers on packs.
// Lanes keep their places and types; masks are taken for bool and given back as masks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_lanes.hpp>

#include "support/catch.hpp"

namespace simd = tenon::simd;

TEST_CASE("a function of numbers goes over all lanes", "[simd_lanes]") {
  constexpr int width = simd::native_width<double>;
  const auto x = simd::generate<float, width>([](tenon::index lane) { return static_cast<float>(lane) - 2.5f; });
  const auto n = simd::generate<int, width>([](tenon::index lane) { return static_cast<int>(lane) * 3; });
  const double weight = 0.25;
  const auto mixed =
      simd::map_lanes<float, int>([weight](float a, int b) { return static_cast<double>(a) + weight * b; }, x, n);
  STATIC_REQUIRE(std::is_same_v<simd::lane_of<decltype(mixed)>, double>);
  STATIC_REQUIRE(simd::width_of<decltype(mixed)> == width);
  for (int lane = 0; lane < width; ++lane) CHECK(mixed[lane] == lane - 2.5 + 0.25 * (lane * 3));
}

TEST_CASE("lanes of bool", "[simd_lanes]") {
  constexpr int width = 4;
  const auto x = simd::generate<int, width>([](tenon::index lane) { return static_cast<int>(lane); });
  const auto is_odd = simd::map_lanes<int>([](int each) { return each % 2 == 1; }, x);
  for (int lane = 0; lane < width; ++lane) CHECK(is_odd[lane] == -(lane % 2));
  const auto counted = simd::map_lanes<bool, int>([](bool odd, int each) { return odd ? 10 + each : 0; }, is_odd, x);
  for (int lane = 0; lane < width; ++lane) CHECK(counted[lane] == (lane % 2 == 1 ? 10 + lane : 0));
}
