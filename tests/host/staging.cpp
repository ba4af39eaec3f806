// tests/host/staging.cpp: copies of elements that do not lie along a loop.
// What is taken does not overlap; rows of any stride give the same values, staged or not.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/staging.hpp>

#include "support/catch.hpp"

using tenon::detail::staged_memory;

TEST_CASE("staged memory is taken in whole cache lines", "[staging]") {
  for (const tenon::index count : {1, 64, 700, 100000}) {
    staged_memory memory(2 * staged_memory::bytes_for(count, 3));
    std::byte* const first = memory.take(count, 3);
    std::byte* const second = memory.take(count, 3);
    CAPTURE(count);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    CHECK(second - first == (3 * count + 63) / 64 * 64);
    std::memset(first, 1, static_cast<std::size_t>(3 * count));
    std::memset(second, 2, static_cast<std::size_t>(3 * count));
    CHECK(first[3 * count - 1] == std::byte{1});
  }
}

TEST_CASE("rows with steps are copied side by side", "[staging]") {
  std::vector<float> memory(300);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  for (const tenon::index step : {2, 3, -1, -2, 0}) {
    const float* data = memory.data() + (step < 0 ? 299 : 0);
    const float* const origin = data;
    tenon::index stride = step;
    tenon::detail::staged_row row(5, 90);
    row(data, stride);
    CHECK(stride == 1);
    bool right = true;
    for (tenon::index i = 5; i < 95; ++i) right = right && data[i] == origin[i * step];
    CAPTURE(step);
    CHECK(right);
  }
}

TEST_CASE("rows that need no copy, or find no room, stay", "[staging]") {
  std::vector<float> memory(300);
  tenon::detail::staged_row row(0, 10);
  const float* beside = memory.data();
  tenon::index one = 1;
  row(beside, one);
  CHECK(beside == memory.data());
  CHECK(one == 1);
  for (int source = 0; source < 6; ++source) {
    const float* data = memory.data();
    tenon::index stride = 2;
    row(data, stride);
    CHECK(stride == (source < tenon::detail::staged_row::most_sources ? 1 : 2));
  }
}
