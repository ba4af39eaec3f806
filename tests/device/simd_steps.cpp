// tests/device/simd_steps.cpp: packs of elements a few steps apart.
// Every lane of every step and position is compared with the element that it should be.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_steps.hpp>

#include <vector>

#include "support/catch.hpp"

#if !defined(__CUDACC__)
namespace {

template <class T, int Step, int Position>
bool lanes_are_right() {
  constexpr int width = tenon::simd::native_width<T>;
  std::vector<T> from(static_cast<std::size_t>(Position / Step * Step + Step * width));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i);
  const auto lanes = tenon::simd::load_steps<T, width, Step, Position>(from.data());
  bool right = true;
  for (int lane = 0; lane < width; ++lane) {
    const auto expected = static_cast<T>(Position + lane * Step);
    right = right && lanes[lane] == expected;
  }
  return right;
}

template <class T, int Step>
bool positions_are_right() {
  return lanes_are_right<T, Step, 0>() && lanes_are_right<T, Step, 1>() && lanes_are_right<T, Step, 2>() &&
         lanes_are_right<T, Step, 3>() && lanes_are_right<T, Step, 4>() && lanes_are_right<T, Step, 7>();
}

template <class T, int Step>
bool lanes_take_turns() {
  constexpr int width = tenon::simd::native_width<T>;
  tenon::array<tenon::simd::pack<T, width>, Step> packs;
  for (int lane = 0; lane < width * Step; ++lane) packs[lane % Step][lane / Step] = static_cast<T>(lane);
  std::vector<T> to(static_cast<std::size_t>(width * Step + 1), T(-1));
  tenon::simd::store_steps(to.data(), packs);
  bool right = to.back() == T(-1);
  for (int i = 0; i < width * Step; ++i) right = right && to[static_cast<std::size_t>(i)] == static_cast<T>(i);
  return right;
}

}  // namespace

TEMPLATE_TEST_CASE("lanes of every step and position, and nothing past the elements", "[simd_steps]", float, double,
                   std::int32_t) {
  CHECK(positions_are_right<TestType, 1>());
  CHECK(positions_are_right<TestType, 2>());
  CHECK(positions_are_right<TestType, 3>());
  CHECK(positions_are_right<TestType, 4>());
}

TEMPLATE_TEST_CASE("packs are stored a lane of each in turn", "[simd_steps]", float, double, std::int32_t) {
  CHECK(lanes_take_turns<TestType, 1>());
  CHECK(lanes_take_turns<TestType, 2>());
  CHECK(lanes_take_turns<TestType, 3>());
  CHECK(lanes_take_turns<TestType, 4>());
}
#endif
