// tests/plan/box_sums.cpp: reductions and products within boxes, beside loops over their definitions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/einsum.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expressions.hpp>
#include <tenon/plan/box_sums.hpp>

#include <vector>

#include "support/box_at.hpp"
#include "support/catch.hpp"

using tenon::axis;
using tenon::drop;
using tenon::dyn;
using tenon::shape;
using tenon::tensor;
using tenon::detail::boxes_of;
using tenon_test::box_at;

using list = std::vector<double>;

TEST_CASE("reductions within boxes", "[plan][box]") {
  tensor<double, shape<dyn, 2, 3>> x({5, 2, 3});
  x = tenon::iota<double>({5, 2, 3});  // box 3 holds 18 19 20 and 21 22 23
  CHECK(box_at(tenon::sum(x, axis<-1>), 3) == list{57, 66});
  CHECK(box_at(tenon::sum(x, axis<1>), 3) == list{39, 41, 43});
  CHECK(box_at(tenon::mean(x, drop<1, 2>), 3) == list{20.5});
  CHECK(box_at(tenon::max(x, drop<1>), 3) == list{21, 22, 23});
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::sum(x, axis<0>)), 1>::fits);
  STATIC_REQUIRE(boxes_of<decltype(tenon::argmax(x, axis<1>)), 1>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::argmax(x > 0, axis<1>)), 1>::fits);
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::argmax(x, axis<0>)), 1>::fits);
  const tensor<double, shape<dyn, 9>> longer({2, 9});
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::argmax(longer, axis<1>)), 1>::fits);
}

TEST_CASE("products within boxes", "[plan][box]") {
  tensor<int, shape<dyn, 2, 3>> x({5, 2, 3}), y({5, 2, 3});
  x = tenon::iota<int>({5, 2, 3}), y = 7 - x * x;
  const tensor<int, shape<3, 2>> m = {{1, 2}, {3, 4}, {5, 6}};
  const auto a = [&](int row, int k) { return x.data()[24 + row * 3 + k]; };
  const auto b = [&](int row, int k) { return y.data()[24 + row * 3 + k]; };
  list across, by_one, letters;
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 2; ++column) {
      int expected = 0, of_one = 0;
      for (int k = 0; k < 3; ++k) {
        expected += a(row, k) * b(column, k), of_one += a(row, k) * m.data()[k * 2 + column];
      }
      across.push_back(expected), by_one.push_back(of_one);
      if (row == column) letters.push_back(expected);
    }
  }
  CHECK(box_at(tenon::matmul(x, tenon::transpose(y)), 4) == across);
  CHECK(box_at(tenon::matmul(x, m), 4) == by_one);
  CHECK(box_at(tenon::einsum<"nij,nij->ni">(x, y), 4) == letters);
}
