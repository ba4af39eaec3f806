// tests/grad/pull_back.cpp: the sweep through nodes of every kind.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/pull_back.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::rank;
using tenon_test::drawn;

}  // namespace

TEST_CASE("stopped parts and positions have no gradient", "[pull_back]") {
  auto x = drawn(rank<1>(3), 1);
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::stop_gradient(v) * v), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == tenon_test::numbers_of(x));
  STATIC_REQUIRE(!tenon::depends_on<0, std::remove_cvref_t<decltype(tenon::stop_gradient(v))>>);
  STATIC_REQUIRE(!tenon::depends_on<0, std::remove_cvref_t<decltype(tenon::argmax(v))>>);
}

TEST_CASE("a gradient is of the extents and the type of its variable", "[pull_back]") {
  tenon::tensor<float, rank<1>> bias({3});
  tenon::tensor<double, rank<2>> x({2, 3});
  bias = tenon::constants(bias.shape(), 1.0f);
  x = tenon::constants(x.shape(), 2.0);
  const auto b = tenon::variable<0>(bias);
  const auto [db] = tenon::gradient(tenon::sum(x * b), tenon::wrt(b));
  STATIC_REQUIRE(std::is_same_v<decltype(db)::element, float>);
  CHECK(tenon_test::numbers_of(db) == std::vector<double>{4, 4, 4});
}
