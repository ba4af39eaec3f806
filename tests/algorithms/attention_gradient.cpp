// tests/algorithms/attention_gradient.cpp: gradients of attention as expressions.
// Against the same by way of weights in memory: operands that repeat or are computed, results within statements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/attention_gradient.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class Space, class Shape>
auto attention_part(const Shape& extents, std::uint64_t seed) {
  return tenon::tensor<float, Shape, Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}

/// How far the gradients of all operands are from those by way of weights in memory.
template <class Node, class Gradient>
std::string error_of_gradients(const Node& node, const Gradient& gradient) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto error = [](const auto& actual, const auto& expected) {
      CHECK(actual.shape() == expected.shape());
      return difference(numbers_of(actual), numbers_of(expected), 1e-5);
    };
    return (error(tenon::evaluated_tensor(tenon::make_attention_gradient<I>(node, gradient)),
                  tenon::evaluated_tensor(tenon::detail::gradient_in_memory<I>(node, gradient))) +
            ...);
  }
  (std::make_integer_sequence<int, 3>{});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("gradients of attention need no weights in memory", "[attention]", tenon_test::spaces) {
  const auto query = attention_part<TestType>(rank<4>(2, 3, 5, 8), 1),
             of_result = attention_part<TestType>(rank<4>(2, 3, 5, 4), 4);
  const auto key = attention_part<TestType>(rank<3>(3, 7, 8), 2);
  const auto value = attention_part<TestType>(rank<4>(2, 1, 7, 4), 3),
             mask = attention_part<TestType>(rank<4>(2, 1, 1, 7), 5);
  const auto gradient = tenon::as_node(of_result);
  CHECK(error_of_gradients(tenon::scaled_dot_product_attention(query, key, value, {.is_causal = true}), gradient) ==
        "");
  CHECK(error_of_gradients(tenon::scaled_dot_product_attention(query * 2, tenon::tanh(key), value, mask > -0.5f),
                           tenon::as_node(gradient * 3)) == "");
  const auto square = attention_part<TestType>(rank<2>(8, 8), 6);
  CHECK(error_of_gradients(tenon::scaled_dot_product_attention(tenon::matmul(query, square), key, value,
                                                               tenon::softmax(mask, tenon::axis<-1>), {.softcap = 2},
                                                               tenon::attention_dropout{.p = 0.5, .seed = 2}),
                           tenon::as_node(tenon::softmax(gradient, tenon::axis<-1>))) == "");
}

TEST_CASE("a gradient of attention is an operand of statements", "[attention]") {
  const auto x = attention_part<tenon::host>(rank<2>(6, 4), 1),
             gradient = attention_part<tenon::host>(rank<2>(6, 4), 2);
  const auto node = tenon::scaled_dot_product_attention(x, x, x);
  const auto of_key = tenon::make_attention_gradient<1>(node, tenon::as_node(gradient));
  const tenon::tensor<float, rank<2>> alone = of_key, twice = of_key * 2 + x;
  CHECK(difference(numbers_of(twice), numbers_of(alone * 2 + x), 1e-6) == "");
}
