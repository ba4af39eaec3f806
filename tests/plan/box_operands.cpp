// tests/plan/box_operands.cpp: values of boxes of elements, numbers and operations.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expressions.hpp>
#include <tenon/plan/box_operands.hpp>

#include "support/catch.hpp"

using tenon::dyn;
using tenon::shape;
using tenon::tensor;
using tenon::detail::box_places;
using tenon::detail::boxes_of;

namespace {

constexpr int lanes = tenon::compiled_by_nvcc ? 1 : 4;

/// Boxes `from`, `from` + 1, ... of a node with one axis before them, `count` of at most `lanes`.
template <class Node>
auto boxes_from(const Node& node, tenon::index from, tenon::index count) {
  STATIC_REQUIRE(boxes_of<Node, 1>::fits);
  return boxes_of<Node, 1>(node).template values<lanes>(box_places<1>{{{from}}, {{1}}, count});
}
template <class V>
double lane_of(const V& pack, [[maybe_unused]] int lane) {
  if constexpr (lanes == 1) return static_cast<double>(pack);
  else return static_cast<double>(pack[lane]);
}

}  // namespace

TEST_CASE("boxes of elements in memory", "[plan][box]") {
  tensor<float, shape<dyn, 2, 3>> x({9, 2, 3});
  x = tenon::iota<float>({9, 2, 3});
  const auto check = [&](const auto& node, tenon::index count, auto expected) {
    const auto values = boxes_from(node, 2, count);
    for (int place = 0; place < 6; ++place) {
      for (int lane = 0; lane < count && lane < lanes; ++lane) {
        CHECK(lane_of(values.at[place], lane) == expected(2 + lane, place));
      }
    }
  };
  const auto as_it_lies = [](int box, int place) { return box * 6.0 + place; };
  check(tenon::as_node(x), lanes, as_it_lies);
  check(tenon::as_node(x), 1, as_it_lies);
  const auto across = tenon::transpose(x);  // elements of a box do not lie side by side
  check(tenon::as_node(across), lanes, [](int box, int place) { return box * 6.0 + place % 2 * 3 + place / 2; });
  const auto column = tenon::select(tenon::select(x, tenon::axis<1>, 1), tenon::axis<1>, 2);  // boxes of one element
  for (const tenon::index count : {tenon::index{lanes}, tenon::index{3}}) {
    const auto values = boxes_from(tenon::as_node(column), 2, count);
    for (int lane = 0; lane < count && lane < lanes; ++lane) CHECK(lane_of(values.at[0], lane) == (2 + lane) * 6 + 5);
  }
  tensor<float, shape<dyn, 2, 3>> once({1, 2, 3});
  once = x.view()[tenon::range(0, 1)];
  check(tenon::as_node(once), lanes, [](int, int place) { return place + 0.0; });
}

TEST_CASE("boxes of numbers, of functions of positions and of operations", "[plan][box]") {
  tensor<float, shape<dyn, 3>> x({7, 3});
  x = tenon::iota<float>({7, 3});
  tensor<float, shape<dyn, 1>> factors({7, 1});
  factors = tenon::iota<float>({7, 1});
  const tensor<float, shape<3>> shift = {10, 20, 30};
  const auto values = boxes_from(x * factors + shift - 1.0f, 1, lanes);
  for (int place = 0; place < 3; ++place) {
    for (int lane = 0; lane < lanes; ++lane) {
      const int box = 1 + lane;
      CHECK(lane_of(values.at[place], lane) == (box * 3 + place) * box + 10 * (place + 1) - 1);
    }
  }
  const tenon::generated<tenon::affine_generator<float>, shape<dyn, 3>> positions{
      {0.5f, 2.0f}, shape<dyn, 3>(7), 0, {{3, 1}}};
  const auto counted = boxes_from(positions, 2, lanes);
  for (int place = 0; place < 3; ++place) CHECK(lane_of(counted.at[place], 0) == 0.5 + 2.0 * (6 + place));
  STATIC_REQUIRE_FALSE(boxes_of<tenon::node_of<tensor<float, tenon::rank<2>>>, 1>::fits);
}

TEST_CASE("numbers that are drawn in blocks do not fit in boxes", "[plan][box]") {
  const tenon::generated<tenon::uniform_generator<double>, shape<dyn, 1>> drawn{
      {4, 0, 1}, shape<dyn, 1>(5), 0, {{1, 1}}};
  STATIC_REQUIRE_FALSE(boxes_of<std::remove_const_t<decltype(drawn)>, 1>::fits);
  const tensor<double, shape<dyn, 1>> x = drawn;
  const tensor<double, tenon::rank<1>> y = tenon::uniform<double>({5}, 4);
  for (tenon::index i = 0; i < 5; ++i) CHECK(x(i, 0) == y(i));
}
