// tests/grad/fit.cpp: gradients of operands that repeated.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/fit.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::shape;
using tenon_test::drawn;
using tenon_test::gradient_difference;

TEST_CASE("operands of fewer axes and of extents 1", "[fit]") {
  auto x = drawn(rank<3>(2, 3, 4), 1);
  auto row = drawn(rank<1>(4), 2);
  auto column = drawn(shape<tenon::dyn, 1>(3, 1), 3);
  auto number = drawn(shape<>{}, 4);
  auto first = drawn(shape<1, tenon::dyn, 1>(1, 3, 1), 5);
  const auto product = [](const auto& v, const auto& w) { return v * w * w; };
  CHECK(gradient_difference(product, x, row) == "");
  CHECK(gradient_difference(product, x, column) == "");
  CHECK(gradient_difference(product, x, number) == "");
  CHECK(gradient_difference(product, x, first) == "");
}

TEST_CASE("operands of fewer axes, where those in front have an extent of 1", "[fit]") {
  auto number = drawn(shape<>{}, 1);
  auto row = drawn(shape<1, 4>(), 2);
  auto short_row = drawn(shape<4>(), 3);
  const auto product = [](const auto& v, const auto& w) { return v * w * w; };
  auto one = drawn(shape<1>(), 4);
  auto matrix = drawn(shape<1, 1>(), 5);
  CHECK(gradient_difference(product, one, number) == "");
  CHECK(gradient_difference(product, matrix, number) == "");
  CHECK(gradient_difference(product, matrix, one) == "");
  CHECK(gradient_difference(product, row, short_row) == "");
}

TEST_CASE("a gradient that repeats itself is counted", "[fit]") {
  auto row = drawn(rank<1>(4), 2);
  const auto x = drawn(rank<2>(3, 4), 1);
  CHECK(gradient_difference([&](const auto& v) { return tenon::sum(x + v) * tenon::mean(v); }, row) == "");
}

TEST_CASE("an extent of 1 that only the run knows cannot be summed", "[fit]") {
  const auto x = drawn(rank<2>(3, 4), 1), one = drawn(rank<2>(1, 4), 2);
  const auto v = tenon::variable<0>(one);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::gradient(tenon::sum(x * v), tenon::wrt(v)); }) ==
        "gradient: axis 0: extent 1 was repeated to 3; make it static, as in shape<1, dyn>, that its gradient can be "
        "summed (operand [1, 4])");
  const auto last = drawn(rank<3>(2, 3, 1), 3), y = drawn(rank<3>(2, 3, 4), 4);
  const auto w = tenon::variable<0>(last);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::gradient(tenon::sum(y * w), tenon::wrt(w)); }) ==
        "gradient: axis 2: extent 1 was repeated to 4; make it static, as in shape<dyn, dyn, 1>, that its gradient can "
        "be summed (operand [2, 3, 1])");
}
