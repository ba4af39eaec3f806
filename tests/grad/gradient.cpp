// tests/grad/gradient.cpp: gradients as expressions, of first and higher order.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/gradient.hpp>

#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::variable;
using tenon::wrt;
using tenon_test::drawn;
using tenon_test::gradient_difference;

TEST_CASE("gradients are expressions of their variables' extents", "[gradient]") {
  const auto x = drawn(tenon::shape<3, tenon::dyn>(3, 4), 1);
  const auto v = variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(v), wrt(v));
  STATIC_REQUIRE(std::is_same_v<decltype(dx)::shape_type, tenon::shape<3, tenon::dyn>>);
  CHECK(tenon_test::numbers_of(2 * dx) == std::vector<double>(12, 2.0));
}

TEST_CASE("gradients of gradients", "[gradient]") {
  auto x = drawn(rank<1>(5), 1);
  const auto second = [](const auto& function) {
    return [function](const auto& v) {
      const auto named = variable<0>(v.elements);
      const auto [dx] = tenon::gradient(tenon::sum(function(named)), wrt(named));
      return dx;
    };
  };
  CHECK(gradient_difference(second([](const auto& v) { return tenon::exp(v) * v * v; }), x) == "");
  CHECK(gradient_difference(second(tenon::silu), x) == "");
  CHECK(gradient_difference(second(tenon::gelu), x) == "");
}

TEST_CASE("vjp starts from a gradient of the expression's extents", "[gradient]") {
  const auto x = drawn(rank<1>(3), 1), two = drawn(rank<1>(2), 2), one = drawn(rank<1>(1), 3);
  const auto matrix = drawn(rank<2>(4, 3), 4);
  const auto v = variable<0>(x);
  const auto text_from = [&](const auto& value, const auto& seed) {
    return tenon_test::text_of<tenon::shape_error>([&] { tenon::vjp(value, seed, wrt(v)); });
  };
  CHECK(text_from(v * 2, two) == "vjp: axis 0: extent 2 of the gradient, expected 3 of the expression [3]");
  CHECK(text_from(v * 2, one) == "vjp: axis 0: extent 1 of the gradient, expected 3 of the expression [3]");
  CHECK(text_from(tenon::matmul(matrix, v), two) ==
        "vjp: axis 0: extent 2 of the gradient, expected 4 of the expression [4]");
  CHECK(text_from(matrix * v, drawn(rank<2>(4, 4), 5)) ==
        "vjp: axis 1: extent 4 of the gradient, expected 3 of the expression [4, 3]");
  CHECK(text_from(tenon::slice(v, tenon::range(0, 2)), one) ==
        "vjp: axis 0: extent 1 of the gradient, expected 2 of the expression [2]");
}
