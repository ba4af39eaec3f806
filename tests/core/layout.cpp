// tests/core/layout.cpp: strides, contiguity and address ranges.
// Negative and zero strides count as much as the usual ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/layout.hpp>

#include "support/catch.hpp"

namespace {

template <int N>
using extents = tenon::array<tenon::index, N>;

}  // namespace

TEST_CASE("row-major strides", "[layout]") {
  STATIC_REQUIRE(tenon::row_major_strides(extents<3>{{2, 3, 4}}) == extents<3>{{12, 4, 1}});
  STATIC_REQUIRE(tenon::row_major_strides(extents<1>{{7}}) == extents<1>{{1}});
  STATIC_REQUIRE(tenon::row_major_strides(extents<0>{}) == extents<0>{});
}

TEST_CASE("column-major strides", "[layout]") {
  STATIC_REQUIRE(tenon::column_major_strides(extents<3>{{2, 3, 4}}) == extents<3>{{1, 2, 6}});
  STATIC_REQUIRE(tenon::column_major_strides(extents<0>{}) == extents<0>{});
}

TEST_CASE("contiguity ignores axes of extent 1", "[layout]") {
  STATIC_REQUIRE(tenon::is_contiguous(extents<2>{{2, 3}}, extents<2>{{3, 1}}));
  STATIC_REQUIRE(tenon::is_contiguous(extents<2>{{1, 3}}, extents<2>{{99, 1}}));
  STATIC_REQUIRE(tenon::is_contiguous(extents<0>{}, extents<0>{}));
  STATIC_REQUIRE(!tenon::is_contiguous(extents<2>{{2, 3}}, extents<2>{{1, 2}}));
  STATIC_REQUIRE(!tenon::is_contiguous(extents<2>{{2, 3}}, extents<2>{{4, 1}}));
  STATIC_REQUIRE(!tenon::is_contiguous(extents<1>{{3}}, extents<1>{{-1}}));
  STATIC_REQUIRE(!tenon::is_contiguous(extents<1>{{3}}, extents<1>{{0}}));
}

TEST_CASE("addresses cover what strides reach, in both directions", "[layout]") {
  float memory[20] = {};
  const auto at = [&](int i) { return reinterpret_cast<std::uintptr_t>(memory + i); };
  const auto forward = tenon::addresses(tenon::strided_block<2>{at(2), {{2, 3}}, {{5, 2}}, sizeof(float)});
  CHECK(forward.begin == at(2));
  CHECK(forward.end == at(2 + 5 + 4 + 1));
  const auto backward = tenon::addresses(tenon::strided_block<1>{at(10), {{4}}, {{-2}}, sizeof(float)});
  CHECK(backward.begin == at(4));
  CHECK(backward.end == at(11));
  const auto repeated = tenon::addresses(tenon::strided_block<1>{at(0), {{9}}, {{0}}, sizeof(float)});
  CHECK(repeated.end == at(1));
  const auto single = tenon::addresses(tenon::strided_block<0>{at(0), {}, {}, sizeof(float)});
  CHECK(single.end - single.begin == sizeof(float));
}

TEST_CASE("ranges overlap only where both have elements", "[layout]") {
  float memory[20] = {};
  const auto part = [&](int first, int count) {
    const auto start = reinterpret_cast<std::uintptr_t>(memory + first);
    return tenon::addresses(tenon::strided_block<1>{start, {{count}}, {{1}}, sizeof(float)});
  };
  CHECK(tenon::overlap(part(0, 5), part(4, 3)));
  CHECK_FALSE(tenon::overlap(part(0, 5), part(5, 3)));
  CHECK(tenon::overlap(part(3, 1), part(0, 9)));
  CHECK_FALSE(tenon::overlap(part(3, 0), part(0, 9)));
  CHECK_FALSE(tenon::overlap(part(0, 0), part(0, 0)));
}
