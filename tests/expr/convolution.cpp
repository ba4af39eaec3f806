// tests/expr/convolution.cpp: the nodes of convolutions, as the contraction core sees them.
// Each operand, lowered with its groups apart, must give the elements of the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/convolution.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;

namespace {

const tenon::window_geometry<2> geometry{.padding = {{1, 0}}, .groups = 2};
const auto image = counting<float>(rank<4>(2, 6, 5, 4)), weight = counting<float>(rank<4>(4, 3, 3, 2), 7),
           gradient = counting<float>(rank<4>(2, 4, 5, 3), 9);

template <class Program>
float at(const Program& program, const tenon::array<tenon::index, 5>& position) {
  return program.at(position).value(0, tenon::no_slots{});
}

}  // namespace

TEST_CASE("a convolution's operands have axes of groups", "[convolution]") {
  const auto node = tenon::convolve(image, weight, geometry);
  CHECK(node.left_extents() == tenon::array<tenon::index, 5>{{2, 2, 3, 3, 2}});
  CHECK(node.result_extents() == tenon::array<tenon::index, 5>{{2, 2, 2, 5, 3}});
  CHECK(node.depth() == 18);
  CHECK(at(node.lower_left(), {{1, 0, 2, 1, 1}}) == weight(2, 2, 1, 1));
  CHECK(at(node.lower_image(), {{1, 1, 2, 4, 3}}) == image(1, 5, 4, 3));
  CHECK(at(tenon::as_node(gradient).lower<0>(node.result_map()), {{1, 1, 0, 2, 1}}) == gradient(1, 2, 2, 1));
}

TEST_CASE("the gradient to an image turns the weight around", "[convolution]") {
  const auto node = tenon::convolve_image_gradient(gradient, weight, {{5, 4}}, geometry);
  CHECK(node.left_extents() == tenon::array<tenon::index, 5>{{2, 3, 2, 3, 2}});
  CHECK(node.result_extents() == tenon::array<tenon::index, 5>{{2, 2, 3, 5, 4}});
  CHECK(node.depth() == 12);
  CHECK(at(node.lower_left(), {{1, 2, 0, 0, 1}}) == weight(2, 2, 2, 0));
  CHECK(at(node.lower_image(), {{1, 1, 0, 4, 2}}) == gradient(1, 2, 4, 2));
}

TEST_CASE("the gradient to a weight sums over images and windows", "[convolution]") {
  const auto node = tenon::convolve_weight_gradient(gradient, image, {{3, 2}}, geometry);
  CHECK(node.left_extents() == tenon::array<tenon::index, 5>{{2, 2, 2, 5, 3}});
  CHECK(node.result_extents() == tenon::array<tenon::index, 5>{{2, 2, 3, 3, 2}});
  CHECK(node.depth() == 2 * 5 * 3);
  CHECK(at(node.lower_left(), {{1, 0, 1, 4, 2}}) == gradient(1, 2, 4, 2));
  CHECK(at(node.lower_image(), {{1, 0, 2, 3, 1}}) == image(0, 5, 3, 1));
}

TEST_CASE("convolutions of one type differ by their geometry", "[convolution]") {
  const auto node = tenon::convolve(image, weight, geometry);
  CHECK(tenon::equal_nodes(node, tenon::convolve(image, weight, geometry)));
  CHECK_FALSE(tenon::equal_nodes(
      node, tenon::convolve(image, weight, {.padding = {{0, 1}}, .dilation = {{1, 2}}, .groups = 2})));
}
