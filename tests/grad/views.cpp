// tests/grad/views.cpp: gradients come back to where views read.
// A row for each view is in tests/grad/every_array_function.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/views.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::gradient_difference;
using tenon_test::view_difference;

TEST_CASE("parts, steps and the other direction", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::slice(x, tenon::range(1, 4, 2), tenon::range(4, 0, -3)); }) ==
        "");
}

TEST_CASE("diagonals", "[views]") {
  for (const tenon::index offset : {0, 2, -3, 9}) {
    CHECK(view_difference([&](const auto& x) { return tenon::diagonal(x, offset); }) == "");
  }
  CHECK(view_difference([](const auto& x) { return tenon::diagonal(x, 1, axis<1, 0>); }) == "");
}

TEST_CASE("windows that do not overlap", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::windows<2, 2>(x, 2); }) == "");
}

TEST_CASE("repeated elements", "[views]") {
  auto x = drawn(tenon::shape<3, 1>{}, 3);
  const auto repeats = [](const auto& v) { return tenon::broadcast_to(v, rank<3>(2, 3, 4)); };
  CHECK(gradient_difference([&](const auto& v) { return repeats(v) * repeats(v); }, x) == "");
}
