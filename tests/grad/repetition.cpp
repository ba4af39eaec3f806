// tests/grad/repetition.cpp: elements that a view shows more than once gather all that comes back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/repetition.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::gradient_difference;

/// Of a view of 3 x 4 numbers, squared so that every element has a gradient of its own.
template <class View>
std::string difference(const View& view) {
  auto x = drawn(rank<2>(3, 4), 3);
  return gradient_difference([&](const auto& v) { return view(v) * view(v); }, x);
}

}  // namespace

TEST_CASE("borders of the operand's own elements", "[repetition]") {
  const tenon::array<tenon::padding, 2> widths{{{2, 1}, {0, 3}}};
  CHECK(difference([&](const auto& x) { return tenon::pad(x, widths, tenon::reflect); }) == "");
  CHECK(difference([&](const auto& x) { return tenon::pad(x, widths, tenon::symmetric); }) == "");
  CHECK(difference([&](const auto& x) { return tenon::pad(x, widths, tenon::replicate); }) == "");
  CHECK(difference([&](const auto& x) { return tenon::pad(x, widths, tenon::circular); }) == "");
}

TEST_CASE("copies of elements and of the whole", "[repetition]") {
  CHECK(difference([](const auto& x) { return tenon::repeat(x, 3, axis<0>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::tile(x, {{2, 3}}); }) == "");
}
