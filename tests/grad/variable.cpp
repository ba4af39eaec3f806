// tests/grad/variable.cpp: variables are tensors whose names types know.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/variable.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

TEST_CASE("a variable is used like its tensor and follows it", "[variable]") {
  tenon::tensor<float, tenon::rank<1>> x({3});
  x = tenon::iota<float>(x.shape());
  const auto v = tenon::variable<2>(x);
  CHECK(tenon_test::numbers_of(v + 1) == std::vector<double>{1, 2, 3});
  x = 5.0f * x;
  CHECK(tenon_test::numbers_of(v + 1) == std::vector<double>{1, 6, 11});
}

TEST_CASE("types know which variables an expression depends on", "[variable]") {
  const tenon::tensor<float, tenon::rank<1>> x = {1, -2, 3};
  const auto v = tenon::variable<0>(x);
  const auto w = tenon::variable<1>(x);
  const auto both = tenon::exp(v) + x * w;
  STATIC_REQUIRE(tenon::depends_on<0, std::remove_const_t<decltype(both)>>);
  STATIC_REQUIRE(tenon::depends_on<1, std::remove_const_t<decltype(both)>>);
  STATIC_REQUIRE(!tenon::depends_on<2, std::remove_const_t<decltype(both)>>);
  const auto stopped = tenon::stop_gradient(v) + tenon::floor(v) + tenon::cast<float>(v > 0);
  STATIC_REQUIRE(!tenon::depends_on<0, std::remove_const_t<decltype(stopped)>>);
  CHECK(tenon_test::numbers_of(tenon::stop_gradient(x)) == tenon_test::numbers_of(x));
}
