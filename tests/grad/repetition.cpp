// tests/grad/repetition.cpp: elements that a view shows more than once gather all that comes back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/repetition.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon::axis;
using tenon_test::view_difference;

TEST_CASE("borders of the operand's own elements", "[repetition]") {
  const tenon::array<tenon::padding, 2> widths{{{2, 1}, {0, 3}}};
  CHECK(view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::reflect); }) == "");
  CHECK(view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::symmetric); }) == "");
  CHECK(view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::replicate); }) == "");
  CHECK(view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::circular); }) == "");
}

TEST_CASE("copies of elements and of the whole", "[repetition]") {
  CHECK(view_difference([](const auto& x) { return tenon::repeat(x, 3, axis<0>); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::tile(x, {{2, 3}}); }) == "");
}
