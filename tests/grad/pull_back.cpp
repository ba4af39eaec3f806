// tests/grad/pull_back.cpp: the sweep through nodes of every kind.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/pull_back.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

namespace {

using tenon::rank;
using tenon_test::drawn;

/// x to a power, with its derivative.
struct power_function {
  double exponent;

  double operator()(double x) const { return std::pow(x, exponent); }
  auto gradient(tenon::of_operand<0>, const auto& g, const auto&, const auto& x) const {
    return g * (exponent * tenon::map(power_function{exponent - 1}, x));
  }
};

/// A product that says it was a sum, so that it is seen whose derivative is taken.
struct claimed_sum {
  double operator()(double x, double y) const { return x * y; }
  static auto gradient(tenon::of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(tenon::of_operand<1>, const auto& g, const auto&, const auto&, const auto&) { return g; }
};

}  // namespace

TEST_CASE("own functions say their own derivatives, of any order", "[pull_back]") {
  auto x = drawn(rank<2>(2, 3), 1, 0.5f, 2);
  auto y = drawn(rank<1>(3), 2);
  CHECK(tenon_test::gradient_difference([](const auto& v) { return tenon::map(power_function{2.5}, v); }, x) == "");
  const auto v = tenon::variable<0>(x);
  const auto w = tenon::variable<1>(y);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::map(power_function{3}, v)), tenon::wrt(v));
  const auto [ddx] = tenon::gradient(tenon::sum(dx), tenon::wrt(v));
  CHECK(tenon_test::difference(tenon_test::numbers_of(ddx), tenon_test::numbers_of(6 * x), 1e-14) == "");
  const auto [of_x, of_y] = tenon::gradient(tenon::sum(tenon::map(claimed_sum{}, v, w)), tenon::wrt(v, w));
  CHECK(tenon_test::numbers_of(of_x) == std::vector<double>(6, 1.0));
  CHECK(tenon_test::numbers_of(of_y) == std::vector<double>(3, 2.0));
}

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
