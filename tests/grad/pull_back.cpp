// tests/grad/pull_back.cpp: the sweep through nodes of every kind.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/pull_back.hpp>

#include <cmath>
#include <tenon/expressions.hpp>
#include <tenon/grad/gradient.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"

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

TEST_CASE("of what is read many times, each operand's change is written once", "[pull_back]") {
  const auto spot = drawn(rank<1>(11), 1, 80, 120), strike = drawn(rank<1>(11), 2, 70, 130),
             time = drawn(rank<1>(11), 3, 0.1f, 2);
  auto volatility = drawn(rank<1>(11), 4, 0.1f, 0.6f);
  const auto v = tenon::variable<0>(volatility);
  const auto cdf = [](const auto& d) { return 0.5 * tenon::erfc(-d / std::sqrt(2.0)); };
  const auto d1 = (tenon::log(spot / strike) + tenon::square(v) / 2 * time) / (v * tenon::sqrt(time));
  const auto d2 = d1 - v * tenon::sqrt(time);
  const auto [vega] = tenon::gradient(tenon::sum(spot * cdf(d1) - strike * cdf(d2)), tenon::wrt(v));
  const auto [volga] = tenon::gradient(tenon::sum(vega), tenon::wrt(v));
  std::vector<double> expected_vega, expected_volga;
  for (tenon::index i = 0; i < 11; ++i) {
    const double root = std::sqrt(time(i)), sigma = volatility(i);
    const double first = (std::log(spot(i) / strike(i)) + sigma * sigma / 2 * time(i)) / (sigma * root);
    const double density = std::exp(-first * first / 2) / std::sqrt(2 * 3.14159265358979323846);
    expected_vega.push_back(spot(i) * density * root);
    expected_volga.push_back(expected_vega.back() * first * (first - sigma * root) / sigma);
  }
  CHECK(tenon_test::difference(tenon_test::numbers_of(vega), expected_vega, 1e-11) == "");
  CHECK(tenon_test::difference(tenon_test::numbers_of(volga), expected_volga, 1e-10) == "");
  CHECK(tenon_test::nodes_in<std::remove_cvref_t<decltype(vega)>>() <= 180);
  CHECK(tenon_test::nodes_in<std::remove_cvref_t<decltype(volga)>>() <= 700);
}

TEST_CASE("what is read many times keeps its extents, its type and its checks", "[pull_back]") {
  auto x = drawn(rank<2>(3, 5), 1);
  tenon::tensor<double, tenon::shape<tenon::dyn, 1>> column = drawn(tenon::shape<tenon::dyn, 1>(3), 2);
  auto narrow = drawn(rank<2>(3, 1), 3);
  const auto mixed = [&](const auto& c) { return tenon::sin(c * c) * c + x * c; };
  CHECK(tenon_test::gradient_difference(mixed, column) == "");
  CHECK(tenon_test::gradient_difference([](const auto& c) { return tenon::sin(c * c) * c; }, column) == "");
  const auto n = tenon::variable<0>(narrow);
  CHECK(
      tenon_test::text_of<tenon::shape_error>([&] { tenon::gradient(tenon::sum((x + n) * (x * n)), tenon::wrt(n)); }) ==
      "gradient: axis 1: extent 1 was repeated to 5; make it static, as in shape<dyn, 1>, that its gradient can be "
      "summed (operand [3, 1])");
  const tenon::tensor<float, rank<2>> single = tenon::cast<float>(x);
  const auto s = tenon::variable<0>(single);
  const auto [ds] = tenon::gradient(tenon::sum(s * x * s), tenon::wrt(s));
  STATIC_REQUIRE(std::is_same_v<decltype(ds)::element, float>);
  CHECK(tenon_test::difference(tenon_test::numbers_of(ds), tenon_test::numbers_of(2 * x * x), 1e-6) == "");
  const tenon::tensor<double, rank<1>> none({0});
  const auto e = tenon::variable<0>(none);
  const auto [de] = tenon::gradient(tenon::sum(e * e / e), tenon::wrt(e));
  CHECK(tenon_test::numbers_of(de).empty());
}

TEST_CASE("what a condition leaves out gives no NaN where its operands are read twice", "[pull_back]") {
  const tenon::tensor<double, rank<1>> x = {0, 1, 2, std::nan("")};
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::where(v > 0, v * tenon::log(v), 0)), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{0, 1, std::log(2.0) + 1, 0});
}
