// tests/contraction/attention_select.cpp: which kernel evaluates attention.
// By the element, the widths, and where queries, keys and values lie: results are the same.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_select.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

template <class Space>
using half_heads = tenon::tensor<tenon::half, tenon::rank<3>, Space>;

template <class Space>
half_heads<Space> drawn_heads(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  return half_heads<tenon::host>(tenon::normal<tenon::half>({2, rows, columns}, seed)).template to<Space>();
}

}  // namespace

TEST_CASE("products in registers are for 128 features and columns at most", "[attention_select]") {
  using tenon::detail::has_register_products;
  CHECK(has_register_products<tenon::emulated>(128, 128));
  CHECK(!has_register_products<tenon::emulated>(129, 8));
  CHECK(!has_register_products<tenon::emulated>(8, 129));
}

TEST_CASE("scores have a rule where they are more than scaled products", "[attention_select]") {
  const half_heads<tenon::host> x({1, 2, 4});
  const tenon::tensor<float, tenon::rank<3>> bias({1, 2, 2});
  const auto has_rule = [](const auto& node) { return tenon::detail::score_powers_of(node).has_rule; };
  CHECK(!has_rule(tenon::scaled_dot_product_attention(x, x, x)));
  CHECK(!has_rule(tenon::scaled_dot_product_attention(x, x, x, {.is_causal = true, .scale = 2})));
  CHECK(has_rule(tenon::scaled_dot_product_attention(x, x, x, {.scale = -2})));
  CHECK(has_rule(tenon::scaled_dot_product_attention(x, x, x, {.softcap = 1})));
  CHECK(has_rule(tenon::scaled_dot_product_attention(x, x, x, bias)));
}

TEMPLATE_LIST_TEST_CASE("attention is the same wherever its operands lie", "[attention_select]",
                        tenon_test::kernel_spaces) {
  const auto query = drawn_heads<TestType>(30, 16, 1), key = drawn_heads<TestType>(70, 16, 2),
             value = drawn_heads<TestType>(70, 24, 3);
  const half_heads<TestType> expected(tenon::scaled_dot_product_attention(query, key, value));
  const half_heads<TestType> key_across(tenon::transpose(key)), value_across(tenon::transpose(value));
  const half_heads<TestType> found(tenon::scaled_dot_product_attention(query, tenon::transpose(key_across), value)),
      also(tenon::scaled_dot_product_attention(query, key, tenon::transpose(value_across)));
  const auto wanted = tenon_test::numbers_of(expected);
  CHECK(tenon_test::difference(tenon_test::numbers_of(found), wanted, 2e-3) == "");
  CHECK(tenon_test::difference(tenon_test::numbers_of(also), wanted, 2e-3) == "");
}
