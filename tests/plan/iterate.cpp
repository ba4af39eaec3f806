// tests/plan/iterate.cpp: the order in which reductions walk their operand.
// Kept axes come first, reduced ones last, or the last kept one last where results are folded side by side.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/iterate.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;

TEST_CASE("kept axes stand before reduced ones", "[iterate]") {
  constexpr auto order = tenon::order_axes<4>({{true, false, true, false}}, false);
  STATIC_REQUIRE(order.kept == 2);
  STATIC_REQUIRE(order.axis_of == tenon::array<int, 4>{{1, 3, 0, 2}});
  constexpr auto beside = tenon::order_axes<4>({{true, false, true, false}}, true);
  STATIC_REQUIRE(beside.kept == 1);
  STATIC_REQUIRE(beside.axis_of == tenon::array<int, 4>{{1, 0, 2, 3}});
}

TEST_CASE("one axis is moved to the end", "[iterate]") {
  STATIC_REQUIRE(tenon::with_axis_last<3>(0) == tenon::array<int, 3>{{1, 2, 0}});
  STATIC_REQUIRE(tenon::with_axis_last<3>(2) == tenon::array<int, 3>{{0, 1, 2}});
  STATIC_REQUIRE(tenon::last_moving_axis<4>({{3, 5, 1, 1}}, 4) == 1);
  STATIC_REQUIRE(tenon::last_moving_axis<3>({{1, 1, 7}}, 2) == 0);
}

TEST_CASE("a lowered reduction knows its values, merged where memory allows", "[iterate]") {
  const auto x = tenon_test::counting<float>(rank<3>(2, 3, 4));
  const auto rows = tenon::sum(x, axis<1, 2>);
  const auto along = tenon::lower_reduction<0>(rows, rows.shape().to_array(), false);
  CHECK(along.count == 12);
  CHECK(along.kept == 1);
  CHECK(along.run_length() == 12);
  CHECK(along.run_count() == 1);
  const auto middle = tenon::sum(x, axis<1>);
  const auto beside = tenon::lower_reduction<0>(middle, middle.shape().to_array(), true);
  CHECK(beside.count == 3);
  CHECK(beside.along_kept);
  CHECK(beside.run_length() == 4);
  CHECK(beside.run_count() == 3);
  CHECK(beside.start_of<3>({{10, 11, 12}}) == tenon::array<tenon::index, 3>{{10, 0, 12}});
  const auto without = tenon::sum(x, tenon::drop<1>);
  const auto dropped = tenon::lower_reduction<0>(without, without.shape().to_array(), false);
  CHECK(dropped.count == 3);
  CHECK(dropped.start_of<2>({{10, 12}}) == tenon::array<tenon::index, 3>{{10, 12, 0}});
}

namespace {
struct numbered_slots {
  template <int Slot>
  float value(tenon::index) const {
    return Slot;
  }
};
}  // namespace

TEST_CASE("reductions are lowered in the order of their slots", "[iterate]") {
  const auto x = tenon_test::counting<float>(rank<2>(3, 4));
  const auto node = tenon::max(x, axis<1>) - tenon::sum(x * tenon::min(x, axis<1>), axis<1>);
  const auto& folded = tenon::get<1>(node.operands);
  const auto& within = tenon::get<1>(folded.operand().operands);
  const auto reductions = tenon::reductions_of(node);
  CHECK(tenon::get<0>(reductions) == &tenon::get<0>(node.operands));
  CHECK(tenon::get<1>(reductions) == &within);
  CHECK(tenon::get<2>(reductions) == &folded);
  const auto lowered = tenon::lower_reductions(node, node.shape().to_array());
  using first = std::remove_cvref_t<decltype(tenon::get<0>(lowered))>;
  using last = std::remove_cvref_t<decltype(tenon::get<2>(lowered))>;
  STATIC_REQUIRE(std::remove_const_t<decltype(lowered)>::count == 3);
  STATIC_REQUIRE(!first::reads_slots);
  STATIC_REQUIRE(last::reads_slots);
  const auto values = tenon::get<2>(lowered).program.at(tenon::array<tenon::index, 2>{{1, 2}});
  CHECK(values.value(0, numbered_slots{}) == x(1, 2) * 1);  // slot 1, which holds the number 1
}
