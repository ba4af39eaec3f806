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
  constexpr auto order = tenon::order_axes<4>({{true, false, true, false}}, -1);
  STATIC_REQUIRE(order.kept == 2);
  STATIC_REQUIRE(order.axis_of == tenon::array<int, 4>{{1, 3, 0, 2}});
  constexpr auto beside = tenon::order_axes<4>({{true, false, true, false}}, 3);
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

/// The extents of the sums over the last axis of x, once they have become lines; `target` takes them.
template <class E, class Target>
auto extents_of_lines(const E& node, const Target& target) {
  const auto extents = node.shape().to_array();
  const auto program = node.template lower<0>(tenon::identity_map<E::shape_type::rank>());
  return tenon::with_one_line(extents, tenon::detail::make_target(target), program,
                              tenon::lower_reductions(node, extents));
}

}  // namespace

TEST_CASE("axes of a result that go on from one another in memory are one line", "[iterate]") {
  using extents = tenon::array<tenon::index, 2>;
  const auto table = tenon_test::counting<float>(rank<2>(20, 4));
  const auto sums = tenon::sum(tenon::windows(table, axis<0>, {5}), tenon::drop<-1>);
  tenon::tensor<float, rank<2>> y({16, 4}), wide({16, 6}), column({16, 1});
  const auto whole = tenon::slice(y, tenon::all_of, tenon::all_of);
  CHECK(extents_of_lines(sums, whole) == extents{{1, 64}});
  CHECK(extents_of_lines(sums + tenon::max(tenon::windows(table, axis<0>, {5}), tenon::drop<-1>), whole) ==
        extents{{1, 64}});
  CHECK(extents_of_lines(sums * y, whole) == extents{{1, 64}});
  // Of what is no line: the destination, another operand, the operand of one reduction.
  CHECK(extents_of_lines(sums, tenon::slice(wide, tenon::all_of, tenon::range(0, 4))) == extents{{16, 4}});
  CHECK(extents_of_lines(sums * tenon::slice(y, tenon::range(0, 1), tenon::all_of), whole) == extents{{16, 4}});
  const auto apart = tenon::windows(tenon::slice(wide, tenon::all_of, tenon::range(0, 4)), axis<0>, {1});
  CHECK(extents_of_lines(sums + tenon::sum(apart, tenon::drop<-1>), whole) == extents{{16, 4}});
  const auto stepped = tenon::sum(tenon::windows(table, axis<0>, {5}, {2}), tenon::drop<-1>);
  CHECK(extents_of_lines(stepped, tenon::slice(y, tenon::range(0, 8), tenon::all_of)) == extents{{8, 4}});
  // An axis of one element is no end of a line.
  const auto narrow = tenon::slice(table, tenon::all_of, tenon::range(0, 1));
  const auto narrow_sums = tenon::sum(tenon::windows(narrow, axis<0>, {5}), tenon::drop<-1>);
  CHECK(extents_of_lines(narrow_sums, tenon::slice(column, tenon::all_of, tenon::all_of)) == extents{{16, 1}});
  const auto beside = tenon::lower_reduction<0>(narrow_sums, extents{{16, 1}}, true);
  CHECK(beside.run_length() == 16);
  CHECK(beside.in_result[2] == 0);
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
