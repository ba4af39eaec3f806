// tests/algorithms/attention_gradient.cpp: gradients of attention as expressions.
// Against the same by way of weights in memory: operands that repeat or are computed, results within statements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/attention_gradient.hpp>
#include <tenon/tenon.hpp>
#include <tuple>
#include <utility>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class Space, class Shape>
auto attention_part(const Shape& extents, std::uint64_t seed) {
  return tenon::tensor<float, Shape, Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}

/// How far the gradients of all operands in `Space` are from those by way of weights in the host's memory.
template <class Space, class Statement, class... Operands>
std::string error_of_gradients(const Statement& statement, const Operands&... operands) {
  const auto [node, gradient] = statement(operands...);
  const std::tuple there_too(operands.template to<Space>()...);
  const auto [there, of_result] = std::apply(statement, there_too);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    const auto error = [](const auto& actual, const auto& expected) {
      CHECK(actual.shape() == expected.shape());
      return difference(numbers_of(actual), numbers_of(expected), 1e-5);
    };
    return (error(tenon::evaluated_tensor(tenon::make_attention_gradient<I>(there, of_result)),
                  tenon::evaluated_tensor(tenon::detail::gradient_in_memory<I>(node, gradient))) +
            ...);
  }(std::make_integer_sequence<int, 3>{});
}

/// Attention, and the gradient of its result.
template <class Node, class Gradient>
std::pair<Node, Gradient> with_gradient(const Node& node, const Gradient& gradient) {
  return {node, gradient};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("gradients of attention need no weights in memory", "[attention]", tenon_test::spaces) {
  using tenon::host;
  const auto query = attention_part<host>(rank<4>(2, 3, 5, 8), 1),
             of_result = attention_part<host>(rank<4>(2, 3, 5, 4), 4);
  const auto key = attention_part<host>(rank<3>(3, 7, 8), 2);
  const auto value = attention_part<host>(rank<4>(2, 1, 7, 4), 3), mask = attention_part<host>(rank<4>(2, 1, 1, 7), 5);
  const auto square = attention_part<host>(rank<2>(8, 8), 6);
  CHECK(error_of_gradients<TestType>(
            [](const auto& q, const auto& k, const auto& v, const auto& g) {
              return with_gradient(tenon::scaled_dot_product_attention(q, k, v, {.is_causal = true}),
                                   tenon::as_node(g));
            },
            query, key, value, of_result) == "");
  CHECK(error_of_gradients<TestType>(
            [](const auto& q, const auto& k, const auto& v, const auto& m, const auto& g) {
              return with_gradient(tenon::scaled_dot_product_attention(q * 2, tenon::tanh(k), v, m > -0.5f),
                                   tenon::as_node(g * 3));
            },
            query, key, value, mask, of_result) == "");
  CHECK(error_of_gradients<TestType>(
            [](const auto& q, const auto& w, const auto& k, const auto& v, const auto& m, const auto& g) {
              return with_gradient(
                  tenon::scaled_dot_product_attention(tenon::matmul(q, w), k, v, tenon::softmax(m, tenon::axis<-1>),
                                                      {.softcap = 2}, tenon::attention_dropout{.p = 0.5, .seed = 2}),
                  tenon::as_node(tenon::softmax(g, tenon::axis<-1>)));
            },
            query, square, key, value, mask, of_result) == "");
}

TEST_CASE("a gradient of attention is an operand of statements", "[attention]") {
  const auto x = attention_part<tenon::host>(rank<2>(6, 4), 1),
             gradient = attention_part<tenon::host>(rank<2>(6, 4), 2);
  const auto node = tenon::scaled_dot_product_attention(x, x, x);
  const auto of_key = tenon::make_attention_gradient<1>(node, tenon::as_node(gradient));
  const tenon::tensor<float, rank<2>> alone = of_key, twice = of_key * 2 + x;
  CHECK(difference(numbers_of(twice), numbers_of(alone * 2 + x), 1e-6) == "");
}

TEST_CASE("gradients of attention are refused where extents differ, and none is written", "[attention]") {
  using shape = rank<2>;
  const auto query = attention_part<tenon::host>(shape(3, 2), 1), key = attention_part<tenon::host>(shape(5, 2), 2),
             values = attention_part<tenon::host>(shape(5, 4), 3);
  const auto node = tenon::scaled_dot_product_attention(query, key, values);
  const auto text_of = [&](const shape& result, const shape& to_query, const shape& to_key, const shape& to_values) {
    const tenon::tensor<float, shape> gradient = tenon::constants(result, 1.0f);
    tenon::tensor<float, shape> dq = tenon::constants(to_query, 7.0f), dk = tenon::constants(to_key, 7.0f),
                                dv = tenon::constants(to_values, 7.0f);
    const auto text = tenon_test::text_of<tenon::shape_error>([&] {
      tenon::write_attention_gradients(node, tenon::as_node(gradient), dq.write_view(), dk.write_view(),
                                       dv.write_view());
    });
    CHECK(bool(tenon::all(dq == 7.0f)));
    CHECK(bool(tenon::all(dk == 7.0f)));
    CHECK(bool(tenon::all(dv == 7.0f)));
    return text;
  };
  CHECK(text_of({2, 4}, {3, 2}, {5, 2}, {5, 4}) ==
        "write_attention_gradients: axis 0: extent 2 of the gradient, expected 3 of the result [3, 4]");
  CHECK(
      text_of({3, 4}, {3, 1}, {5, 2}, {5, 4}) ==
      "write_attention_gradients: axis 1: extent 1 of the destination of queries, expected 2 of their gradient [3, 2]");
  CHECK(text_of({3, 4}, {3, 2}, {4, 2}, {5, 4}) ==
        "write_attention_gradients: axis 0: extent 4 of the destination of keys, expected 5 of their gradient [5, 2]");
  CHECK(
      text_of({3, 4}, {3, 2}, {5, 2}, {5, 2}) ==
      "write_attention_gradients: axis 1: extent 2 of the destination of values, expected 4 of their gradient [5, 4]");
}
