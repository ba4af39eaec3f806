// tests/plan/box_sums.cpp: reductions and products within boxes, beside loops over their definitions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/einsum.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expressions.hpp>
#include <tenon/plan/box_sums.hpp>

#include "support/catch.hpp"

using tenon::axis;
using tenon::drop;
using tenon::dyn;
using tenon::shape;
using tenon::tensor;
using tenon::detail::boxes_of;

namespace {

template <class Node>
auto box_at(const Node& node, tenon::index position) {
  STATIC_REQUIRE(boxes_of<Node, 1>::fits);
  return boxes_of<Node, 1>(node).template values<1>(tenon::detail::box_places<1>{{{position}}, {}, 1});
}

}  // namespace

TEST_CASE("reductions within boxes", "[plan][box]") {
  tensor<double, shape<dyn, 2, 3>> x({5, 2, 3});
  x = tenon::iota<double>({5, 2, 3});
  const auto at = [](int box, int row, int column) { return box * 6.0 + row * 3.0 + column; };
  const auto rows = box_at(tenon::sum(x, axis<-1>), 3);
  const auto columns = box_at(tenon::sum(x, axis<1>), 3);
  const auto mean = box_at(tenon::mean(x, drop<1, 2>), 3);
  const auto most = box_at(tenon::max(x, drop<1>), 3);
  for (int row = 0; row < 2; ++row) CHECK(rows.at[row] == at(3, row, 0) + at(3, row, 1) + at(3, row, 2));
  for (int column = 0; column < 3; ++column) {
    CHECK(columns.at[column] == at(3, 0, column) + at(3, 1, column));
    CHECK(most.at[column] == at(3, 1, column));
  }
  CHECK(mean.at[0] == 20.5);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::sum(x, axis<0>)), 1>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::argmax(x, axis<1>)), 1>::fits);
}

TEST_CASE("products within boxes", "[plan][box]") {
  tensor<int, shape<dyn, 2, 3>> x({5, 2, 3}), y({5, 2, 3});
  x = tenon::iota<int>({5, 2, 3}), y = 7 - x * x;
  const tensor<int, shape<3, 2>> m = {{1, 2}, {3, 4}, {5, 6}};
  const auto a = [&](int row, int k) { return x.data()[24 + row * 3 + k]; };
  const auto b = [&](int row, int k) { return y.data()[24 + row * 3 + k]; };
  const auto across = box_at(tenon::matmul(x, tenon::transpose(y)), 4), one = box_at(tenon::matmul(x, m), 4);
  const auto letters = box_at(tenon::einsum<"nij,nij->ni">(x, y), 4);
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      int expected = 0, by_one = 0;
      for (int k = 0; k < 3; ++k) {
        expected += a(row, k) * b(column, k), by_one += a(row, k) * m.data()[k * 2 + column];
      }
      CHECK(across.at[row * 2 + column] == expected);
      CHECK(one.at[row * 2 + column] == by_one);
    }
    CHECK(letters.at[row] == a(row, 0) * b(row, 0) + a(row, 1) * b(row, 1) + a(row, 2) * b(row, 2));
  }
}
