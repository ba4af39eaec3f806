// tests/device/simd_partial.cpp: packs of which only the first lanes lie in memory.
// The rest of the memory cannot be touched, so a lane too many ends the test.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_partial.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/guarded.hpp"

namespace simd = tenon::simd;

TEMPLATE_TEST_CASE("the first lanes of packs, loaded and stored", "[simd]", float, double, std::int32_t, std::int64_t,
                   std::int8_t, std::uint16_t, tenon::half, tenon::bfloat16) {
  using value = tenon::compute_type<TestType>;
  constexpr int width = simd::native_width<value>;
  for (int count = 1; count <= width; ++count) {
    const tenon_test::guarded<TestType> from(static_cast<std::size_t>(count)), to(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) from.data()[i] = static_cast<TestType>(static_cast<value>(i + 1));
    const auto lanes = simd::load_part<value, width>(from.data(), count);
    simd::store_part<width>(to.data(), lanes, count);
    CAPTURE(count);
    for (int i = 0; i < count; ++i) {
      CHECK(lanes[i] == static_cast<value>(i + 1));
      CHECK(static_cast<value>(to.data()[i]) == static_cast<value>(i + 1));
    }
  }
}

TEMPLATE_TEST_CASE("lanes past the first are not written", "[simd]", float, double, std::int8_t, tenon::half) {
  using value = tenon::compute_type<TestType>;
  constexpr int width = simd::native_width<value>;
  std::vector<TestType> memory(static_cast<std::size_t>(width), static_cast<TestType>(value(-1)));
  simd::store_part<width>(memory.data(), simd::broadcast<value, width>(value(2)), 1);
  CHECK(static_cast<value>(memory[0]) == value(2));
  for (std::size_t i = 1; i < memory.size(); ++i) CHECK(static_cast<value>(memory[i]) == value(-1));
}

TEMPLATE_TEST_CASE("the first lanes of one pack, and the others of another", "[simd]", float, double, std::int8_t,
                   std::int64_t) {
  constexpr int width = tenon::simd::native_width<TestType>;
  const auto lanes = tenon::simd::broadcast<TestType, width>(TestType{3});
  const auto rest = tenon::simd::broadcast<TestType, width>(TestType{5});
  for (tenon::index count = 0; count <= width; ++count) {
    TestType found[width];
    tenon::simd::store<width>(found, tenon::simd::first_lanes(lanes, rest, count));
    for (int lane = 0; lane < width; ++lane) CHECK(found[lane] == (lane < count ? TestType{3} : TestType{5}));
  }
}

TEST_CASE("truth is loaded in part", "[simd]") {
  constexpr int width = simd::native_width<bool>;
  const tenon_test::guarded<bool> from(3);
  from.data()[0] = from.data()[2] = true;
  const auto lanes = simd::load_part<bool, width>(from.data(), 3);
  CHECK(lanes[0] == -1);
  CHECK(lanes[1] == 0);
  CHECK(lanes[2] == -1);
}

TEMPLATE_TEST_CASE("elements are gathered at any stride", "[simd]", float, double, std::int32_t, tenon::half,
                   tenon::bfloat16, std::int8_t) {
  using value = tenon::compute_type<TestType>;
  constexpr int width = simd::native_width<value>;
  std::vector<TestType> memory;
  for (int i = 0; i < 128; ++i) memory.push_back(static_cast<TestType>(static_cast<value>(i)));
  for (const tenon::index stride : {1, 2, 3, 4, 5, -1, -2}) {
    const auto spread = simd::gather<value, width>(memory.data() + 40, stride);
    for (int lane = 0; lane < width; ++lane) CHECK(spread[lane] == static_cast<value>(40 + lane * stride));
    const auto part = simd::gather<value, width>(memory.data() + 40, stride, 3);
    for (int lane = 0; lane < 3 && lane < width; ++lane) CHECK(part[lane] == static_cast<value>(40 + lane * stride));
  }
}

TEMPLATE_TEST_CASE("nothing beyond the last gathered element is read", "[simd]", float, double, std::int8_t) {
  constexpr int width = simd::native_width<TestType>;
  for (const tenon::index stride : {2, 3, 4}) {
    std::vector<TestType> memory(static_cast<std::size_t>((width - 1) * stride + 1));
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<TestType>(i);
    const auto spread = simd::gather<TestType, width>(memory.data(), stride);
    for (int lane = 0; lane < width; ++lane) CHECK(spread[lane] == static_cast<TestType>(lane * stride));
  }
}

TEMPLATE_TEST_CASE("lanes outside of a row are zero and not read", "[simd]", float, double, std::int8_t) {
  constexpr int width = simd::native_width<TestType>;
  for (const tenon::index extent : {1, 3, width, width + 5}) {
    constexpr tenon::index before = width + 1;
    const tenon_test::guarded<TestType> memory(static_cast<std::size_t>(before + extent));
    for (tenon::index i = 0; i < before + extent; ++i)
      memory.data()[i] = static_cast<TestType>(i < before ? 99 : i - before + 1);
    const TestType* const row = memory.data() + before;
    for (tenon::index first = -width - 1; first <= extent + 1; ++first) {
      const auto lanes = simd::inside_lanes<TestType, width>(first, extent).load(row);
      bool all_right = true;
      for (int lane = 0; lane < width; ++lane) {
        const tenon::index place = first + lane;
        const bool is_inside = place >= 0 && place < extent;
        all_right = all_right && lanes[lane] == static_cast<TestType>(is_inside ? place + 1 : 0);
      }
      CAPTURE(extent, first);
      CHECK(all_right);
    }
  }
}
