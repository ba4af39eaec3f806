// tests/algorithms/window_pool.cpp: a convolution and its pool as one node of statements.
// What the node is: one launch, a part of longer statements, told by explain; and what it may overwrite.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/window_pool.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/plan/explain.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class Space>
auto drawn(const rank<4>& extents, std::uint64_t seed) {
  return tenon::tensor<float, rank<4>, Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}
template <class Node>
auto pooled(const Node& node) {
  const auto e = node.shape().to_array();
  return tenon::make_pooled_convolution(node, rank<4>(e[0], e[1], e[2] / 2, e[3] / 2));
}
/// By two statements.
template <class Space, class Node>
auto pooled_in_memory(const Node& node) {
  const tenon::tensor<float, rank<4>, Space> whole(node);
  const auto squares = tenon::windows(whole, tenon::axis<2, 3>, tenon::shape<2, 2>{}, {{2, 2}});
  return tenon::tensor<float, rank<4>, Space>(tenon::max(squares, tenon::drop<4, 5>));
}

}  // namespace

TEMPLATE_TEST_CASE("a pooled convolution is one launch with the bits of two", "[window_pool]", tenon::host) {
  const auto image = drawn<TestType>(rank<4>(2, 3, 9, 11), 1), weight = drawn<TestType>(rank<4>(6, 3, 3, 3), 2);
  const auto node = tenon::as_node(tenon::relu(tenon::convolve(image, weight, {.padding = {{1, 1}}})));
  const auto expected = numbers_of<TestType>(pooled_in_memory<TestType>(node));
  const auto one = pooled(node);
  CHECK(tenon::kernel_count<decltype(one)> == 1);
  CHECK(tenon::kernel_count<decltype(one + 1)> == 2);
  const tenon::launch_counter launches;
  const tenon::tensor<float, rank<4>, TestType> result(one);
  CHECK(launches.count() == 1);
  CHECK(numbers_of<TestType>(result) == expected);
  CHECK(numbers_of<TestType>(one * 1) == expected);
}

TEMPLATE_TEST_CASE("a pooled convolution may overwrite its image", "[window_pool]", tenon::host) {
  auto image = drawn<TestType>(rank<4>(1, 2, 6, 6), 1);
  const auto weight = drawn<TestType>(rank<4>(2, 2, 3, 3), 2);
  const auto node = tenon::as_node(tenon::convolve(image, weight, {.padding = {{1, 1}}}));
  const auto expected = numbers_of<TestType>(pooled_in_memory<TestType>(node));
  const tenon::view<float, rank<4>, TestType> inside(image.data() + 5, rank<4>(1, 2, 3, 3), {{72, 36, 6, 1}});
  inside = pooled(node);
  CHECK(difference(numbers_of<TestType>(inside), expected, 1e-6) == "");
}

TEST_CASE("explain names a pooled convolution", "[window_pool]") {
  const auto image = drawn<tenon::host>(rank<4>(1, 2, 6, 6), 1), weight = drawn<tenon::host>(rank<4>(2, 2, 3, 3), 2);
  const auto text = tenon::explain(pooled(tenon::as_node(tenon::relu(tenon::convolve(image, weight)))));
  CHECK(tenon_test::has(text, "1. own pass: "));
  CHECK(tenon_test::has(text, "pooled_convolution"));
  CHECK(!tenon_test::has(text, "2. "));
}
