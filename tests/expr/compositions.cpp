// tests/expr/compositions.cpp: softmax and its kin.
// Compared with their definitions in double, at values that overflow a careless formula.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/compositions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::far_scattered;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// `define(row)` of each row of `length` numbers.
template <class Define>
numbers by_rows(const numbers& values, std::size_t length, Define&& define) {
  numbers result;
  for (std::size_t row = 0; row < values.size(); row += length) {
    const numbers here(values.begin() + static_cast<std::ptrdiff_t>(row),
                       values.begin() + static_cast<std::ptrdiff_t>(row + length));
    for (const double each : define(here)) result.push_back(each);
  }
  return result;
}

double log_of_sum(const numbers& row) {
  double greatest = row[0], total = 0;
  for (const double each : row) greatest = std::fmax(greatest, each);
  for (const double each : row) total += std::exp(each - greatest);
  return std::log(total) + greatest;
}

numbers log_softmax_of(numbers row) {
  const double all = log_of_sum(row);
  for (double& each : row) each -= all;
  return row;
}

numbers softmax_of(numbers row) {
  row = log_softmax_of(row);
  for (double& each : row) each = std::exp(each);
  return row;
}

numbers standardised(numbers row) {
  double mean = 0, variance = 0;
  for (const double each : row) mean += each / static_cast<double>(row.size());
  for (const double each : row) variance += (each - mean) * (each - mean) / static_cast<double>(row.size());
  for (double& each : row) each = (each - mean) / std::sqrt(variance + 1e-5);
  return row;
}

numbers of_unit_square(numbers row) {
  double square = 0;
  for (const double each : row) square += each * each / static_cast<double>(row.size());
  for (double& each : row) each /= std::sqrt(square + 1e-5);
  return row;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("compositions along the last axis", "[compositions]", tenon_test::spaces) {
  for (const tenon::index length : {1, 3, 10, 33, 257, 1030}) {
    CAPTURE(length);
    const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(5, length), far_scattered);
    const auto values = numbers_of(x);
    const auto n = static_cast<std::size_t>(length);
    CHECK(difference(numbers_of(tenon::softmax(x, axis<-1>)), by_rows(values, n, softmax_of), 2e-6) == "");
    CHECK(difference(numbers_of(tenon::log_softmax(x, axis<-1>)), by_rows(values, n, log_softmax_of), 5e-6) == "");
    const auto logsums = by_rows(values, n, [](const numbers& row) { return numbers{log_of_sum(row)}; });
    CHECK(difference(numbers_of(tenon::logsumexp(x, axis<-1>)), logsums, 2e-6) == "");
    CHECK(difference(numbers_of(tenon::standardise(x, axis<-1>)), by_rows(values, n, standardised), 2e-5) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("norms of layers, also with a mean far from zero", "[compositions]", tenon_test::spaces) {
  for (const tenon::index length : {1, 7, 1000, 5000}) {
    for (const double offset : {0.0, 1e4}) {
      CAPTURE(length, offset);
      const auto x = tenon_test::made_tensor<float, TestType>(
          rank<2>(3, length), [&](tenon::index i) { return offset + far_scattered(i); });
      const auto weight = tenon_test::made_tensor<float, TestType>(rank<1>(length), far_scattered);
      const auto bias = tenon_test::made_tensor<float, TestType>(rank<1>(length),
                                                                 [](tenon::index i) { return far_scattered(i + 77); });
      const auto weights = numbers_of(weight), biases = numbers_of(bias);
      const auto n = static_cast<std::size_t>(length);
      auto layers = by_rows(numbers_of(x), n, standardised), roots = by_rows(numbers_of(x), n, of_unit_square);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        layers[i] = layers[i] * weights[i % n] + biases[i % n];
        roots[i] *= weights[i % n];
      }
      const double bound = offset == 0 ? 3e-5 : 5e-3;  // float holds 1e4 in steps of 1e-3; weights reach 10
      CHECK(difference(numbers_of(tenon::layer_norm(x, axis<-1>, weight, bias)), layers, bound) == "");
      CHECK(difference(numbers_of(tenon::rms_norm(x, axis<-1>, weight)), roots, 3e-5) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("groups of channels are standard, each for itself", "[compositions]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(rank<4>(2, 6, 5, 3), far_scattered);
  const auto expected = by_rows(numbers_of(x), 2 * 5 * 3, standardised);
  const auto grouped = tenon::standardise_groups(x, 3);
  CHECK(tenon_test::extents_of(grouped) == tenon_test::extents_of(x));
  CHECK(difference(numbers_of(grouped), expected, 2e-5) == "");
  tenon::tensor<float, rank<4>, TestType> y({2, 6, 5, 3});
  const auto statement = tenon::standardise(tenon::unflatten(x, axis<1>, 3), axis<2, 3, 4>);
  STATIC_REQUIRE(tenon::kernel_count<decltype(statement)> == 1);
  tenon::unflatten(y, axis<1>, 3) = statement;
  CHECK(difference(numbers_of(y), expected, 2e-5) == "");
  CHECK_THROWS_AS(tenon::standardise_groups(x, 4), tenon::shape_error);
}

TEST_CASE("norms of layers are one kernel", "[compositions]") {
  const auto x = tenon_test::counting<float>(rank<3>(2, 3, 4));
  const auto weight = tenon_test::counting<float>(rank<1>(4));
  CHECK(tenon::kernel_count<decltype(tenon::layer_norm(x, axis<-1>, weight, weight))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::layer_norm(x + 1, axis<1, 2>, weight, 0.5))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::rms_norm(x, axis<-1>, weight))> == 1);
}

TEMPLATE_LIST_TEST_CASE("softmax along other axes is that of the transpose", "[compositions]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(rank<2>(7, 9), far_scattered);
  const auto turned = tenon::evaluated_tensor(tenon::transpose(x));
  const auto rows = tenon::evaluated_tensor(tenon::softmax(turned, axis<1>));
  CHECK(difference(numbers_of(tenon::softmax(x, axis<0>)), numbers_of(tenon::transpose(rows)), 1e-6) == "");
  const auto both = by_rows(numbers_of(x), 63, softmax_of);
  CHECK(difference(numbers_of(tenon::softmax(x, axis<0, 1>)), both, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("large values neither overflow nor vanish", "[compositions]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<2>(2, 3), {1000, 1000, -1000, -3e38f, -3e38f, -3e38f});
  CHECK(difference(numbers_of(tenon::softmax(x, axis<1>)), {0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}, 1e-6) == "");
  CHECK(difference(numbers_of(tenon::logsumexp(x, axis<1>)), {1000 + std::log(2.0), -3e38}, 1e-6) == "");
  const double infinity = HUGE_VAL;
  const auto infinite =
      tenon_test::tensor_of<TestType, float>(rank<2>(3, 2), {-HUGE_VALF, -HUGE_VALF, HUGE_VALF, 1, -HUGE_VALF, 2});
  CHECK(numbers_of(tenon::logsumexp(infinite, axis<1>)) == std::vector<double>{-infinity, infinity, 2});
  const auto masked = tenon_test::tensor_of<TestType, float>(rank<2>(1, 3), {1, -HUGE_VALF, 1});
  CHECK(difference(numbers_of(tenon::softmax(masked, axis<1>)), {0.5, 0, 0.5}, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("logsumexp takes the axes of sums", "[compositions]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(rank<3>(3, 4, 5), far_scattered);
  const auto rows = numbers_of(tenon::logsumexp(x, axis<-1>)), outer = numbers_of(tenon::logsumexp(x, axis<0, 2>));
  const auto all = numbers_of(tenon::logsumexp(x, axis<0, 1, 2>));
  const tenon::tensor<float, rank<2>, TestType> dropped = tenon::logsumexp(x, tenon::drop<-1>);
  CHECK(difference(numbers_of(dropped), rows, 1e-6) == "");
  CHECK(difference(numbers_of(tenon::logsumexp(x, tenon::drop<0, 2>)), outer, 1e-6) == "");
  CHECK(tenon::logsumexp(x, tenon::drop<0, 2>).shape().to_array() == tenon::array<tenon::index, 1>{{4}});
  CHECK(difference(numbers_of(tenon::logsumexp(x, tenon::axes{-1})), rows, 1e-6) == "");
  CHECK(difference(numbers_of(tenon::logsumexp(x, tenon::axes{0, 2})), outer, 1e-6) == "");
  CHECK(std::fabs(static_cast<double>(static_cast<float>(tenon::logsumexp(x))) - all[0]) < 1e-5);
  const double infinity = HUGE_VAL;
  const tenon::tensor<float, rank<2>, TestType> wide({2, 0});
  CHECK(numbers_of(tenon::logsumexp(wide, tenon::drop<1>)) == numbers{-infinity, -infinity});
  CHECK(numbers_of(tenon::logsumexp(wide, tenon::axes{1})) == numbers{-infinity, -infinity});
  CHECK(static_cast<float>(tenon::logsumexp(wide)) == -HUGE_VALF);
  CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)tenon::logsumexp(x, tenon::axes{3}); }) ==
        "logsumexp: axes: axis 3, expected -3 to 2 (operand [3, 4, 5])");
}

TEMPLATE_LIST_TEST_CASE("16-bit rows are computed in float and rounded once", "[compositions]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<tenon::half, TestType>(rank<2>(3, 2000),
                                                                [](tenon::index i) { return far_scattered(i) / 10; });
  const auto result = tenon::evaluated_tensor(tenon::softmax(x, axis<1>));
  STATIC_REQUIRE(std::is_same_v<typename decltype(result)::element, tenon::half>);
  const auto expected = by_rows(numbers_of(x), 2000, softmax_of);
  CHECK(difference(numbers_of(result), expected, 1e-6) == "");  // half's spacing near 1/2000 is 5e-7
}

TEST_CASE("an operand without a name is owned", "[compositions]") {
  const auto make = [] { return tenon::tensor<float, rank<2>>({1, 2}, {1, 1}); };
  const auto e = tenon::softmax(make(), axis<1>);
  const auto f = tenon::standardise(make() * 2 + make(), axis<1>);
  CHECK(numbers_of(e) == numbers{0.5, 0.5});
  CHECK(numbers_of(f) == numbers{0, 0});
}

TEMPLATE_LIST_TEST_CASE("axes without elements", "[compositions]", tenon_test::spaces) {
  const double infinity = std::numeric_limits<double>::infinity();
  const tenon::tensor<float, rank<2>, TestType> wide({2, 0}), high({0, 3});
  CHECK(numbers_of(tenon::softmax(wide, axis<-1>)) == numbers{});
  CHECK(numbers_of(tenon::softmax(high, axis<0>)) == numbers{});
  CHECK(numbers_of(tenon::softmax(wide, axis<0>)) == numbers{});
  CHECK(numbers_of(tenon::log_softmax(wide, axis<-1>)) == numbers{});
  CHECK(numbers_of(tenon::logsumexp(wide, axis<-1>)) == numbers{-infinity, -infinity});
  CHECK(numbers_of(tenon::logsumexp(high, axis<0>)) == numbers(3, -infinity));
  CHECK(numbers_of(tenon::logsumexp(high, axis<-1>)) == numbers{});
  CHECK(numbers_of(tenon::standardise(wide, axis<-1>)) == numbers{});
  CHECK(numbers_of(tenon::sum(tenon::exp(wide), axis<-1>) + tenon::prod(wide, axis<-1>)) == numbers{1, 1});
  for (const double each : numbers_of(tenon::mean(high, axis<0>))) CHECK(std::isnan(each));
  CHECK_THROWS_AS(wide - tenon::max(wide, axis<-1>), tenon::shape_error);
  CHECK_THROWS_AS(tenon::argmax(high, axis<0>), tenon::shape_error);
}
