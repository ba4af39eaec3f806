// tests/device/hopper.cpp: where Hopper's tiles, operands and sums lie.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/hopper.hpp>

#include <set>
#include <utility>

#include "spaces.hpp"
#include "support/catch.hpp"

using namespace tenon_test;

TEST_CASE("the swizzle moves parts of 16 bytes within their row, by the row's number", "[device]") {
  for (int offset = 0; offset < 4096; ++offset) {
    const int row = offset / 128 % 8, part = offset % 128 / 16;
    CHECK(tenon::swizzled(offset) == offset / 128 * 128 + (part ^ row) * 16 + offset % 16);
  }
}

TEST_CASE("a descriptor gives back what it was made of", "[device]") {
  const auto descriptor = tenon::operand_descriptor::of(200 * 1024, 8192, 1024);
  CHECK(descriptor.address() == 200 * 1024);
  CHECK(descriptor.leading_bytes() == 8192);
  CHECK(descriptor.stride_bytes() == 1024);
  CHECK(descriptor.swizzle() == 1);
  CHECK(descriptor.advanced(32).address() == 200 * 1024 + 32);
  CHECK(descriptor.bits == ((std::uint64_t{1} << 62) | (std::uint64_t{64} << 32) | (512u << 16) | 12800u));
}

TEST_CASE("one product sums 32 bytes of depth", "[device]") {
  STATIC_REQUIRE(tenon::product_depth<tenon::half> == 16);
  STATIC_REQUIRE(tenon::product_depth<tenon::float8_e5m2> == 32);
}

TEST_CASE("the sums of a warpgroup are each result once", "[device]") {
  constexpr int columns = 128, pairs = tenon::product_rows * columns / tenon::warpgroup_size / 2;
  std::set<std::pair<int, int>> seen;
  for (int thread = 0; thread < tenon::warpgroup_size; ++thread) {
    for (int pair = 0; pair < pairs; ++pair) {
      const int column = tenon::column_of_sum(thread, pair);
      CHECK(column % 2 == 0);
      seen.insert({tenon::row_of_sum(thread, pair), column});
    }
  }
  CHECK(seen.size() == static_cast<std::size_t>(pairs * tenon::warpgroup_size));
  CHECK(seen.begin()->first == 0);
  CHECK(*seen.rbegin() == std::pair(63, columns - 2));
  // as the instruction set describes them
  CHECK(tenon::row_of_sum(37, 0) == 17);
  CHECK(tenon::row_of_sum(37, 1) == 25);
  CHECK(tenon::column_of_sum(37, 0) == 2);
  CHECK(tenon::column_of_sum(37, 3) == 10);
}

TEST_CASE("strides are nested where each steps over the axis before", "[device]") {
  const auto nested = [](tenon::index along, tenon::index across, tenon::index pitch, tenon::index batch_step) {
    return tenon::has_nested_strides(tenon::tiled_tensor{nullptr, {{along, across, 3}}, {{pitch, batch_step}}, {}}, 2);
  };
  CHECK(nested(64, 10, 128, 1280));
  CHECK(nested(64, 10, 160, 1760));
  CHECK_FALSE(nested(64, 10, 112, 1120));
  CHECK_FALSE(nested(64, 10, 128, 1152));
  CHECK_FALSE(nested(64, 10, 128, 1296));
  CHECK_FALSE(nested(64, 10, 384, 128));  // as of m, b, k that is permuted
}

TEST_CASE("tensors of which no device copies tiles are refused", "[device]") {
  alignas(16) static unsigned char memory[32];
  const tenon::tiled_tensor good{memory, {{8, 2, 1}}, {{16, 16}}, {{64, 64}}};
  const auto text = [](const tenon::tiled_tensor& tensor) {
    return text_thrown<tenon::shape_error>([&] { tenon::check_tiled_tensor(tensor, 2); });
  };
  CHECK(text(good) == "");
  auto askew = good;
  askew.data = memory + 2;
  CHECK(contains(text(askew), "tiled_tensor: data: a misaligned address, expected a multiple of 16 bytes"));
  auto empty = good;
  empty.extents[1] = 0;
  CHECK(contains(text(empty), "extents"));
  for (const tenon::index stride : {tenon::index{0}, tenon::index{8}, tenon::index{-16}, tenon::index{1} << 40}) {
    auto odd = good;
    odd.stride_bytes[0] = stride;
    CHECK(contains(text(odd), "strides"));
  }
  for (const auto& tile : {tenon::array<int, 2>{{32, 64}}, {{64, 257}}, {{64, 0}}}) {
    auto other = good;
    other.tile = tile;
    CHECK(contains(text(other), "tile"));
  }
}
