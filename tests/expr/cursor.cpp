// tests/expr/cursor.cpp: what cursors and programs answer loops, and the safe answers of those that say nothing.
// Small cursors that record what they were asked stand for the real ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/cursor.hpp>
#include <tenon/expr/program.hpp>

#include "support/catch.hpp"

namespace {

struct silent_cursor {};

struct telling_cursor {
  using uniform = void;
  bool adjacent = true;
  int* prefetched = nullptr;
  int bound_slots = 0;

  bool is_adjacent() const { return adjacent; }
  TENON_HOST_DEVICE telling_cursor with_slots(int slots) const { return {adjacent, prefetched, slots}; }
  void prefetch(tenon::index count) const { *prefetched = static_cast<int>(count); }
  bool reads_disjoint_from(const float*, tenon::index count) const { return count == 3; }
  template <int Rank>
  bool is_flat(const tenon::array<tenon::index, Rank>& extents) const {
    return tenon::strides_are_flat<Rank>({{4, 1}}, extents);
  }
};

}  // namespace

TEST_CASE("strides are flat when each is the next one times its extent", "[cursor]") {
  using pair = tenon::array<tenon::index, 2>;
  CHECK(tenon::strides_are_flat<2>(pair{{4, 1}}, pair{{7, 4}}));
  CHECK_FALSE(tenon::strides_are_flat<2>(pair{{5, 1}}, pair{{7, 4}}));
  CHECK(tenon::strides_are_flat<2>(pair{{8, 2}}, pair{{7, 4}}));  // one stride, though not 1
  CHECK(tenon::strides_are_flat<1>(tenon::array<tenon::index, 1>{{3}}, tenon::array<tenon::index, 1>{{9}}));
}

TEST_CASE("a cursor gives part of a pack only where it says so", "[cursor]") {
  STATIC_REQUIRE(!tenon::takes_partial<telling_cursor>);
  STATIC_REQUIRE(tenon::takes_partial<tenon::strided_source<float, 1>::cursor>);
}

TEST_CASE("a cursor is asked what it can say", "[cursor]") {
  int prefetched = 0;
  const telling_cursor cursor{true, &prefetched};
  CHECK(tenon::bind_slots(cursor, 5).bound_slots == 5);
  tenon::prefetch(cursor, 64);
  CHECK(prefetched == 64);
  const float written = 0;
  CHECK(tenon::reads_disjoint_from(cursor, &written, 3));
  CHECK_FALSE(tenon::reads_disjoint_from(cursor, &written, 4));
  CHECK(tenon::is_flat(cursor, tenon::array<tenon::index, 2>{{7, 4}}));
  CHECK_FALSE(tenon::is_flat(cursor, tenon::array<tenon::index, 2>{{7, 5}}));
  CHECK(tenon::is_uniform<telling_cursor>);
}

TEST_CASE("of a cursor that says nothing the safe answer is taken", "[cursor]") {
  const silent_cursor cursor;
  const float written = 0;
  tenon::prefetch(cursor, 64);
  CHECK_FALSE(tenon::reads_disjoint_from(cursor, &written, 3));
  CHECK_FALSE(tenon::is_flat(cursor, tenon::array<tenon::index, 2>{{7, 4}}));
  CHECK_FALSE(tenon::is_uniform<silent_cursor>);
  CHECK(tenon::lies_in_runs(cursor));
  CHECK(tenon::run_end(cursor, 3, 9) == 9);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::run_from(cursor, 3)), silent_cursor>);
}
