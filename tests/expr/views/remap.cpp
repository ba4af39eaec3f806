// tests/expr/views/remap.cpp: operands read at computed positions.
// Maps of the test's own, with and without parameters and elements outside, in every kind of statement.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/remap.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::array;
using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// Element (i, j) of a matrix read from position i * columns + j of a vector, 9 places later; -1 beyond its end.
struct shifted_map {
  tenon::index columns, count;
  float outside = -1;

  TENON_HOST_DEVICE array<tenon::index, 1> operator()(const array<tenon::index, 2>& position) const {
    return {{position[0] * columns + position[1] + 9}};
  }
  TENON_HOST_DEVICE bool contains(const array<tenon::index, 2>& position) const { return (*this)(position)[0] < count; }
};

/// Row i of the result starts `offset` later.
struct offset_map {
  TENON_HOST_DEVICE array<tenon::index, 2> operator()(const array<tenon::index, 2>& position,
                                                      tenon::index offset) const {
    return {{position[0], position[1] + offset}};
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a map computes positions and may leave the operand", "[remap]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<1>(40));
  const auto seen = tenon::make_remap(shifted_map{7, 40}, rank<2>(5, 7), tenon::as_node(x));
  numbers expected, turned, squares;
  for (int i = 0; i < 35; ++i) expected.push_back(i + 9 < 40 ? i + 9 : -1);
  for (std::size_t j = 0; j < 7; ++j) {
    for (std::size_t i = 0; i < 5; ++i) turned.push_back(expected[i * 7 + j]);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    double total = 0;
    for (std::size_t j = 0; j < 7; ++j) total += expected[i * 7 + j] * expected[i * 7 + j];
    squares.push_back(total);
  }
  CHECK(numbers_of(seen) == expected);
  CHECK(numbers_of(tenon::transpose(seen)) == turned);
  CHECK(numbers_of(tenon::sum(seen * seen, axis<1>)) == squares);
  CHECK(tenon_test::difference(numbers_of(tenon::sum(tenon::softmax(seen, axis<1>), axis<1>)), numbers(5, 1.0), 1e-6) ==
        "");
}

TEMPLATE_LIST_TEST_CASE("parameters are expressions of their own", "[remap]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 40));
  const auto offsets = tenon_test::tensor_of<TestType>(rank<2>(3, 1), std::vector<std::int32_t>{0, 2, 1});
  const auto seen = tenon::make_remap(offset_map{}, rank<2>(3, 33), tenon::as_node(x * 2), tenon::as_node(offsets + 1));
  numbers expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 33; ++j) expected.push_back(2 * (40 * i + j + 1 + (i == 0 ? 0 : i == 1 ? 2 : 1)));
  }
  CHECK(numbers_of(seen) == expected);
  STATIC_REQUIRE(tenon::kernel_count<decltype(seen)> == 1);
}

TEMPLATE_LIST_TEST_CASE("reductions below a map, in operand or parameter, are evaluated first", "[remap]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 4));
  const auto row_totals = tenon::make_remap(offset_map{}, rank<2>(3, 1), tenon::as_node(tenon::sum(x, axis<1>)),
                                            tenon::as_node(tenon::cast<std::int32_t>(x * 0)));
  CHECK(numbers_of(tenon::slice(row_totals, tenon::all_of, tenon::only(0))) == numbers{6, 22, 38});
  const auto last = tenon::make_remap(offset_map{}, rank<2>(3, 1), tenon::as_node(x), tenon::argmax(x, axis<1>));
  CHECK(numbers_of(last - tenon::max(x, axis<1>)) == numbers{0, 0, 0});
}

TEST_CASE("a position follows every axis of the iteration", "[remap]") {
  const tenon::axis_map<2, 3> map{{{5, 6}}, {{1, -1, 0}}, {{2, 0, -1}}};
  const tenon::affine_positions<2, 3> positions(map);
  CHECK(positions.at({{1, 7, 3}}) == array<tenon::index, 2>{{2, 8}});
  CHECK(positions.last_step() == array<tenon::index, 2>{{-1, 0}});
  STATIC_REQUIRE(std::is_trivially_copyable_v<tenon::affine_positions<2, 3>>);
}
