// tests/grad/views.cpp: gradients come back to where views read.
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

TEST_CASE("views that rename axes", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::transpose(x); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::new_axis<1>(x); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::squeeze(tenon::new_axis<0>(x), axis<0>); }) == "");
}

TEST_CASE("parts, steps and other directions", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::slice(x, tenon::range(1, 4, 2), tenon::range(4, 0, -3)); }) ==
        "");
  CHECK(view_difference([](const auto& x) { return tenon::flip(x, axis<1>); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::narrow(x, axis<0>, 1, 2); }) == "");
}

TEST_CASE("diagonals and triangles", "[views]") {
  for (const tenon::index offset : {0, 2, -3, 9}) {
    CHECK(view_difference([&](const auto& x) { return tenon::diagonal(x, offset); }) == "");
  }
  CHECK(view_difference([](const auto& x) { return tenon::diagonal(x, 1, axis<1, 0>); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::tril(x, 1) + tenon::triu(x); }) == "");
}

TEST_CASE("windows that overlap", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::windows<2, 3>(x, 1); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::windows<2, 2>(x, 2); }) == "");
}

TEST_CASE("repeated elements", "[views]") {
  auto x = drawn(tenon::shape<3, 1>{}, 3);
  const auto repeats = [](const auto& v) { return tenon::broadcast_to(v, rank<3>(2, 3, 4)); };
  CHECK(gradient_difference([&](const auto& v) { return repeats(v) * repeats(v); }, x) == "");
}

TEST_CASE("other extents, borders, shifts and neighbours", "[views]") {
  CHECK(view_difference([](const auto& x) { return tenon::reshape(x, rank<3>(2, 4, 3)); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::unflatten(x, axis<1>, 3); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::pad(x, {{1, {0, 2}}}, 0.5); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::roll(x, 2, axis<1>); }) == "");
  CHECK(view_difference([](const auto& x) { return tenon::concatenate(axis<1>, x, 2 * x, tenon::square(x)); }) == "");
}
