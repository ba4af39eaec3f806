// tests/contraction/attention_operands.cpp: operands of attention's gradients, rows and columns in both orders.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_operands.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

TEST_CASE("operands are matrices of a batch in both orders of their axes", "[attention]") {
  using tenon::rank;
  const tenon::tensor<float, rank<4>> query = tenon::uniform<float>(rank<4>(2, 3, 5, 4), 1, -1.0f, 1.0f);
  const tenon::tensor<float, rank<3>> key = tenon::uniform<float>(rank<3>(3, 7, 4), 2, -1.0f, 1.0f);
  const tenon::tensor<float, rank<2>> value = tenon::uniform<float>(rank<2>(7, 6), 3, -1.0f, 1.0f);
  const auto node = tenon::scaled_dot_product_attention(query, key, value);
  const auto gradient = tenon::as_node(query * 2);
  const tenon::attention_operands<std::remove_const_t<decltype(node)>, std::remove_const_t<decltype(gradient)>> all(
      node, gradient, tenon::extents_of_product(node));
  const auto own = all.at_batch({{1, 2, 0, 0}});
  CHECK(own.query.own.value(4, 3) == query(1, 2, 4, 3));
  CHECK(own.query.exchanged.value(3, 4) == query(1, 2, 4, 3));
  CHECK(own.key.own.value(6, 1) == key(2, 6, 1));
  CHECK(own.key.exchanged.value(1, 6) == key(2, 6, 1));
  CHECK(own.value.own.value(6, 5) == value(6, 5));
  CHECK(own.value.exchanged.value(5, 6) == value(6, 5));
  CHECK(own.gradient.exchanged.value(3, 4) == 2 * query(1, 2, 4, 3));
}

TEST_CASE("a rule caps scores, and its slope is its derivative", "[attention]") {
  for (const double cap : {0.0, 1.5}) {
    const tenon::score_rule<double> rule{0.5, cap};
    for (const double score : {-4.0, 0.0, 0.25, 3.0}) {
      const double expected = cap == 0 ? 0.5 * score : cap * std::tanh(0.5 * score / cap);
      CHECK(std::fabs(rule(score) - expected) < 1e-12);
      CHECK(std::fabs(rule.slope(rule(score)) - (rule(score + 1e-6) - rule(score - 1e-6)) / 2e-6) < 1e-8);
    }
  }
}
