// tests/kernels/fold.cpp: reductions folded by teams, in packets and value by value.
// Lengths around packets and teams, operands askew, broadcast and across; against the host.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/fold.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::drop;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

namespace {

/// The kernel's form of the only reduction of an expression.
template <class E>
auto only_fold(const E& node) {
  const auto extents = node.shape().to_array();
  return tenon::get<0>(tenon::kernel_folds_of(tenon::lower_reductions(node, extents), extents));
}

}  // namespace

TEST_CASE("few values take one thread, more some lanes of a warp, then warps, then a block", "[fold]") {
  const auto threads = [](tenon::index units, tenon::index values) { return tenon::fold_team(units, values).size(); };
  CHECK(threads(0, 0) == 1);
  CHECK(threads(4, 16) == 1);
  CHECK(threads(16, 16) == 1);
  CHECK(threads(3, 17) == 1);  // the last packet is short
  CHECK(threads(4, 32) == 1);
  CHECK(threads(5, 40) == 2);
  CHECK(threads(16, 64) == 4);
  CHECK(threads(32, 128) == 8);
  CHECK(threads(33, 132) == 16);
  CHECK(threads(65, 260) == 32);
  CHECK(threads(256, 1024) == 32);
  CHECK(threads(1024, 1024) == 32);  // value by value
  CHECK(threads(257, 2056) == 64);
  CHECK(threads(1024, 4096) == 128);
  CHECK(threads(1025, 1025) == 256);
  CHECK(threads(1 << 20, 1 << 22) == 256);
}

TEST_CASE("a team's threads are numbered from the block's", "[fold]") {
  const tenon::row_team lanes{3}, warps{6}, block = tenon::row_team::block();
  CHECK(lanes.of_block() == 32);
  CHECK(lanes.number(19) == 2);
  CHECK(lanes.lane(19) == 3);
  CHECK(lanes.is_in_warp());
  CHECK_FALSE(warps.is_in_warp());
  CHECK(warps.of_block() == 4);
  CHECK(block.is_block());
  CHECK(block.of_block() == 1);
  CHECK(block.lane(255) == 255);
}

TEST_CASE("values that lie side by side are folded in packets", "[fold]") {
  const tenon::tensor<float, rank<2>> x({6, 40});
  const auto rows = only_fold(tenon::as_node(tenon::sum(x, drop<1>)));
  CHECK(rows.in_packets);
  CHECK(rows.units.count() == 10);
  CHECK(rows.count == 40);
  CHECK_FALSE(only_fold(tenon::as_node(tenon::sum(x, drop<0>))).in_packets);
  CHECK_FALSE(only_fold(tenon::as_node(tenon::sum(tenon::slice(x, range(), range(1, 37)), drop<1>))).in_packets);
  CHECK_FALSE(only_fold(tenon::as_node(tenon::sum(tenon::slice(x, range(), range(0, 39)), drop<1>))).in_packets);
  const auto all = only_fold(tenon::as_node(tenon::sum(x)));
  CHECK(all.in_packets);
  CHECK(all.units.count() == 60);
}

TEMPLATE_LIST_TEST_CASE("packets and single values give what the host gives", "[fold]", tenon_test::kernel_spaces) {
  for (const tenon::index columns : {1, 4, 7, 64, 68, 1024, 1028, 1030}) {
    const auto host = counting<float>(rank<2>(5, columns));
    const auto x = host.template to<TestType>();
    const auto column = counting<float>(rank<2>(5, 1), 3), row = counting<float>(rank<2>(1, columns), 2);
    CAPTURE(columns);
    const auto check = [](const auto& found, const auto& expected) {
      CHECK(numbers_of(found) == numbers_of(expected));
    };
    check(tenon::max(x, drop<1>), tenon::max(host, drop<1>));
    check(tenon::sum(tenon::cast<double>(x), drop<1>), tenon::sum(tenon::cast<double>(host), drop<1>));  // exact
    check(tenon::sum(tenon::cast<std::int32_t>(x), drop<1>), tenon::sum(tenon::cast<std::int32_t>(host), drop<1>));
    check(tenon::argmin(x, drop<1>), tenon::argmin(host, drop<1>));
    check(tenon::max(x * 2 - column.template to<TestType>() + row.template to<TestType>(), drop<1>),
          tenon::max(host * 2 - column + row, drop<1>));
    check(tenon::min(tenon::transpose(x) + 1, drop<0>), tenon::min(tenon::transpose(host) + 1, drop<0>));
    check(tenon::argmax(x), tenon::argmax(host));
  }
}

TEMPLATE_LIST_TEST_CASE("results of several axes start where they should", "[fold]", tenon_test::kernel_spaces) {
  const auto host = counting<float>(rank<4>(3, 4, 5, 8));
  const auto x = host.template to<TestType>();
  CHECK(numbers_of(tenon::max(x, drop<3, 1>)) == numbers_of(tenon::max(host, drop<3, 1>)));
  CHECK(numbers_of(tenon::max(x, drop<0, 2>)) == numbers_of(tenon::max(host, drop<0, 2>)));
  CHECK(numbers_of(tenon::max(x, tenon::axis<2>) - x) == numbers_of(tenon::max(host, tenon::axis<2>) - host));
}
