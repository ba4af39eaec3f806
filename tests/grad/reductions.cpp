// tests/grad/reductions.cpp: shares of what is folded; rows stay one kernel.
// A row for each reduction is in tests/grad/every_array_function.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/reductions.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"

using tenon::axis;
using tenon::drop;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::gradient_difference;
using tenon_test::view_difference;

namespace {

/// Of a function of 3 x 5 numbers.
template <class Function>
std::string difference(const Function& function) {
  auto x = drawn(rank<2>(3, 5), 3);
  return gradient_difference(function, x);
}

/// The root of a sum, with its derivative.
struct root_of_sum_monoid : tenon::sum_monoid {
  static constexpr const char* name = "root_of_sum";
  template <class Result, class State>
  static Result finish(State state, tenon::index) {
    return static_cast<Result>(std::sqrt(state));
  }
  static auto gradient(tenon::of_operand<0>, const auto& g, const auto& y, const auto& x) {
    return tenon::where(x >= 0, g * (0.5 / y), 0);
  }
};

}  // namespace

TEST_CASE("means of everything, and products with zeros among others", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::mean(x * x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::prod(tenon::relu(x), drop<1>); }) == "");
}

TEST_CASE("a product with zeros", "[reductions]") {
  tenon::tensor<double, rank<2>> x({3, 3});
  const auto values = {2., 0., 3., 0., 0., 5., 1., 2., 4.};
  std::copy(values.begin(), values.end(), x.data());
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::prod(v, axis<1>)), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{0, 6, 0, 0, 0, 0, 8, 4, 2});
}

TEST_CASE("greatest and least values, and ties", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::max(x, axis<1>) * tenon::min(x, axis<1>); }) == "");
  tenon::tensor<double, rank<1>> x({4});
  const auto values = {1., 3., 3., 2.};
  std::copy(values.begin(), values.end(), x.data());
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::max(v), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{0, 0.5, 0.5, 0});
}

TEST_CASE("extremes among NaN: gradients of ties, of the least number of all, and of NaN alone", "[reductions]") {
  tenon::tensor<double, rank<2>> x({3, 4});
  const double none = std::nan("");
  const auto values = {3., none, 3., 2., none, -HUGE_VAL, none, none, none, none, none, none};
  std::copy(values.begin(), values.end(), x.data());
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::nanmax(v, axis<1>)), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{0.5, 0, 0.5, 0, 0, 1, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("norms of everything, and means without NaN", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::norm_l2(x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::norm(x, 3) + tenon::norm_inf(x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::nanmean(tenon::where(x > 1, std::nan(""), x * x)); }) == "");
}

TEST_CASE("norms and deviations of zeros have gradient 0, as in PyTorch", "[reductions]") {
  tenon::tensor<double, rank<2>> x({3, 2});
  const auto values = {0., 0., 3., -4., 0., 2.};
  std::copy(values.begin(), values.end(), x.data());
  const auto slopes = [&](const auto& function) {
    const auto v = tenon::variable<0>(x);
    return tenon_test::numbers_of(tenon::get<0>(tenon::gradient(tenon::sum(function(v)), tenon::wrt(v))));
  };
  const auto powered = [](double p) { return [p](const auto& v) { return tenon::norm(v, p, axis<1>); }; };
  const auto expect = [](const std::vector<double>& found, const std::vector<double>& expected) {
    CHECK(tenon_test::difference(found, expected, 1e-12) == "");
  };
  const double third = std::cbrt(91.0 * 91);
  expect(slopes([](const auto& v) { return tenon::norm_l1(v, axis<1>); }), {0, 0, 1, -1, 0, 1});
  expect(slopes([](const auto& v) { return tenon::norm_l2(v, axis<1>); }), {0, 0, 0.6, -0.8, 0, 1});
  expect(slopes([](const auto& v) { return tenon::norm_inf(v, axis<1>); }), {0, 0, 0, -1, 0, 1});
  expect(slopes(powered(1)), {0, 0, 1, -1, 0, 1});
  expect(slopes(powered(2)), {0, 0, 0.6, -0.8, 0, 1});
  expect(slopes(powered(3)), {0, 0, 9 / third, -16 / third, 0, 1});
  expect(slopes(powered(0.5)), {0, 0, 1 + 2 / std::sqrt(3.0), -1 - std::sqrt(3.0) / 2, 0, 1});
  expect(slopes([](const auto& v) { return tenon::stddev(v, axis<1>) + tenon::stddev(v - v, axis<1>, 1); }),
         {0, 0, 0.5, -0.5, -0.5, 0.5});
  std::fill_n(x.data(), x.size(), 0.0);
  expect(slopes([](const auto& v) { return tenon::norm_l2(v); }), {0, 0, 0, 0, 0, 0});
}

TEST_CASE("norms have second derivatives, finite ones of zeros", "[reductions]") {
  const auto slope_of = [](const auto& function) {
    return [function](const auto& v) {
      const auto inner = tenon::variable<0>(v.elements);
      return tenon::get<0>(tenon::gradient(function(inner), tenon::wrt(inner)));
    };
  };
  const auto euclidean = slope_of([](const auto& v) { return tenon::norm_l2(v); });
  const auto cubic = slope_of([](const auto& v) { return tenon::norm(v, 3); });
  const auto rooted = slope_of([](const auto& v) { return tenon::norm(v, 0.5); });
  const auto spread = slope_of([](const auto& v) { return tenon::stddev(v); });
  CHECK(difference(euclidean) == "");
  CHECK(difference(cubic) == "");
  CHECK(difference(spread) == "");
  const tenon::tensor<double, rank<1>> zeros(rank<1>(3), {0, 0, 0});
  const auto v = tenon::variable<0>(zeros);
  const auto second = [&](const auto& slope) {
    return tenon_test::numbers_of(tenon::get<0>(tenon::gradient(tenon::sum(slope(v)), tenon::wrt(v))));
  };
  const std::vector<double> none(3, 0.0);
  CHECK(second(euclidean) == none);
  CHECK(second(cubic) == none);
  CHECK(second(rooted) == none);
  CHECK(second(spread) == none);
}

TEST_CASE("axes that only the run knows", "[reductions]") {
  for (const auto& axes : {tenon::axes{0}, tenon::axes{-1}, tenon::axes{1, 0}, tenon::axes{}}) {
    CHECK(difference([&](const auto& x) { return tenon::mean(x * x, axes); }) == "");
    CHECK(difference([&](const auto& x) { return tenon::max(x, axes); }) == "");
  }
}

TEST_CASE("gradients of rows are one kernel", "[reductions]") {
  const auto x = drawn(rank<2>(3, 5), 3), seed = drawn(rank<2>(3, 5), 4);
  const auto v = tenon::variable<0>(x);
  const auto [of_softmax] = tenon::vjp(tenon::softmax(v, axis<-1>), seed, tenon::wrt(v));
  const auto [of_norm] = tenon::vjp(tenon::standardise(v, axis<-1>), seed, tenon::wrt(v));
  STATIC_REQUIRE(tenon::kernel_count<std::remove_const_t<decltype(of_softmax)>> == 1);
  STATIC_REQUIRE(tenon::kernel_count<std::remove_const_t<decltype(of_norm)>> == 1);
}

TEST_CASE("monoids of the user's say their derivatives", "[reductions]") {
  const auto length = [](const auto& x, const auto& axes) {
    return tenon::reduce<root_of_sum_monoid>(tenon::square(x), axes);
  };
  tenon_test::check_rows({
      {"reduce", view_difference([&](const auto& x) { return length(x, axis<1>); })},
      {"reduce", view_difference([&](const auto& x) { return length(x, drop<0>); })},
      {"reduce", view_difference([&](const auto& x) { return length(x, tenon::all_axes{}); })},
  });
}
