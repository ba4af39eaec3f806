// tests/plan/alive.cpp: the leaves of expressions are looked up among freed blocks.
// Here the block is given to the list by hand; in a checked build tensors do so, see tests/checked/.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/alive.hpp>
#include <tenon/tenon.hpp>

#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::text_of;

TEST_CASE("the operation that would read a freed block is named", "[alive]") {
  static float memory[6];
  const tenon::view<float, rank<2>> dead(memory, rank<2>(2, 3));
  const tenon::tensor<float, rank<2>> x({2, 3});
  const auto check = [](const auto& expression) {
    const auto& node = tenon::as_node(expression);
    tenon::check_operands_alive({&node, &tenon::statement_type_of<std::remove_cvref_t<decltype(node)>>});
  };
  const auto told = [&](const auto& expression) { return text_of<tenon::storage_error>([&] { check(expression); }); };
  CHECK_NOTHROW(check(x + dead));
  tenon::freed_blocks::of_process().keep(memory, sizeof(memory), [](void*, std::size_t) noexcept {});
  CHECK(told(dead) == "assign: operand [2, 3]: a view of storage that was freed; keep its tensor as long as the view");
  CHECK(told(x * tenon::exp(dead)).substr(0, 20) == "exp: operand [2, 3]:");
  CHECK(told(tenon::max(tenon::flip(x + 1 + dead, axis<0>), axis<1>)).substr(0, 5) == "add: ");
  CHECK(told(tenon::flip(tenon::as_node(dead), axis<0>)).substr(0, 8) == "assign: ");
  CHECK(told(tenon::mean(tenon::flip(tenon::as_node(dead), axis<0>), axis<1>)).substr(0, 6) == "mean: ");
  CHECK_NOTHROW(check(x + tenon::iota<float>(rank<1>(3)) + 2));
}
