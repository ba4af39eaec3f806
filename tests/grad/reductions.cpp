// tests/grad/reductions.cpp: shares of what is folded; rows stay one kernel.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/reductions.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon::axis;
using tenon::drop;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::gradient_difference;

namespace {

/// Of a function of 3 x 5 numbers.
template <class Function>
std::string difference(const Function& function) {
  auto x = drawn(rank<2>(3, 5), 3);
  return gradient_difference(function, x);
}

}  // namespace

TEST_CASE("sums, means and products", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::sum(x * x, axis<1>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::mean(x * x, drop<0>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::mean(x * x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::prod(x, axis<0>); }) == "");
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

TEST_CASE("variances and norms", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::variance(x, axis<1>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::stddev(x, drop<0>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::norm_l2(x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::norm(x, 3) + tenon::norm_inf(x); }) == "");
  CHECK(difference([](const auto& x) { return tenon::nanmean(tenon::where(x > 1, std::nan(""), x * x)); }) == "");
  CHECK(difference([](const auto& x) { return tenon::logsumexp(x, axis<-1>); }) == "");
}

TEST_CASE("axes that only the run knows", "[reductions]") {
  for (const auto& axes : {tenon::axes{0}, tenon::axes{-1}, tenon::axes{1, 0}, tenon::axes{}}) {
    CHECK(difference([&](const auto& x) { return tenon::mean(x * x, axes); }) == "");
    CHECK(difference([&](const auto& x) { return tenon::max(x, axes); }) == "");
  }
}

TEST_CASE("gradients of rows are one kernel", "[reductions]") {
  CHECK(difference([](const auto& x) { return tenon::softmax(x, axis<-1>); }) == "");
  CHECK(difference([](const auto& x) { return tenon::log_softmax(x, axis<-1>); }) == "");
  const auto x = drawn(rank<2>(3, 5), 3), seed = drawn(rank<2>(3, 5), 4);
  const auto v = tenon::variable<0>(x);
  const auto [of_softmax] = tenon::vjp(tenon::softmax(v, axis<-1>), seed, tenon::wrt(v));
  const auto [of_norm] = tenon::vjp(tenon::standardise(v, axis<-1>), seed, tenon::wrt(v));
  STATIC_REQUIRE(tenon::kernel_count<std::remove_const_t<decltype(of_softmax)>> == 1);
  STATIC_REQUIRE(tenon::kernel_count<std::remove_const_t<decltype(of_norm)>> == 1);
}
