// tests/algorithms/interp.cpp: piecewise linear functions against a search from left to right.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/interp.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// The value at x, by the first node that is not below it.
double between(double x, const decimals& nodes, const decimals& values) {
  if (std::isnan(x)) return x;
  if (x <= nodes.front()) return values.front();
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i] < x) continue;
    return values[i - 1] + (x - nodes[i - 1]) / (nodes[i] - nodes[i - 1]) * (values[i] - values[i - 1]);
  }
  return values.back();
}
decimals all_between(const decimals& xs, const decimals& nodes, const decimals& values) {
  decimals result;
  for (const double x : xs) result.push_back(between(x, nodes, values));
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("values between nodes, at them and beyond", "[interp]", tenon_test::algorithm_spaces) {
  const decimals places = {-4, -1.5, 0, 0.25, 1, 1, 2.5, 7, 7.5}, heights = {3, 1, -2, 5, 4, 8, 0, 1, 6};
  const double infinity = tenon_test::infinity;
  for (const std::size_t count : {1U, 2U, 5U, 9U}) {
    CAPTURE(count);
    const decimals nodes(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
    const decimals values(heights.begin(), heights.begin() + static_cast<std::ptrdiff_t>(count));
    const rank<1> extents(static_cast<tenon::index>(count));
    const auto line = tenon_test::tensor_of<TestType, double>(extents, nodes);
    const auto at_nodes = tenon_test::tensor_of<TestType, double>(extents, values);
    const auto x = tenon_test::made_tensor<double, TestType>(rank<2>(7, 13), tenon_test::far_scattered);
    CHECK(difference(numbers_of(tenon::interp(x, line, at_nodes)), all_between(numbers_of(x), nodes, values), 1e-14) ==
          "");
    CHECK(difference(numbers_of(tenon::interp(x * 0.5, line, at_nodes)),
                     all_between(numbers_of(x * 0.5), nodes, values), 1e-14) == "");
    CHECK(numbers_of(tenon::interp(line, line, at_nodes)) == all_between(nodes, nodes, values));
    const auto odd = tenon_test::tensor_of<TestType, double>(rank<1>(3), {tenon_test::nan_value, -infinity, infinity});
    CHECK(difference(numbers_of(tenon::interp(odd, line, at_nodes)),
                     {tenon_test::nan_value, values.front(), values.back()}) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("interpolation of integers is of float, in whole statements", "[interp]",
                        tenon_test::algorithm_spaces) {
  const auto nodes = tenon_test::tensor_of<TestType, int>(rank<1>(3), {0, 4, 6});
  const auto values = tenon_test::tensor_of<TestType, int>(rank<1>(3), {0, 10, 20});
  const auto x = tenon_test::tensor_of<TestType, int>(rank<1>(4), {1, 2, 5, 9});
  static_assert(std::is_same_v<typename decltype(tenon::interp(x, nodes, values))::element, float>);
  CHECK(numbers_of(tenon::interp(x, nodes, values)) == decimals{2.5, 5, 15, 20});
  auto y = tenon_test::tensor_of<TestType, float>(rank<1>(4), {1, 2, 5, 9});
  y = 2 * tenon::interp(y, nodes, values) + 1;
  CHECK(numbers_of(y) == decimals{6, 11, 31, 41});
  const tenon::tensor<float, rank<1>, TestType> none({0});
  CHECK(numbers_of(tenon::interp(none, nodes, values)).empty());
}

TEST_CASE("interpolation has the gradients of places, nodes and values", "[interp]") {
  tenon::tensor<double, rank<1>> x = {-3, 0.2, 0.7, 1.4, 2.9, 5}, nodes = {-1, 0.5, 1, 3}, values = {2, -1, 4, 0};
  CHECK(tenon::gradcheck([](const auto& u, const auto& v, const auto& w) { return tenon::interp(u, v, w); }, x, nodes,
                         values) == "");
}

TEST_CASE("nodes that descend, and values of another length, are refused", "[interp]") {
  using tenon_test::text_of;
  const tenon::tensor<double, rank<1>> x = {1, 2}, nodes = {0, 2, 1}, none({0});
  const tenon::tensor<double, rank<1>> unordered = {0, tenon_test::nan_value, 3};
  CHECK(text_of<tenon::error>([&] { tenon::interp(x, nodes, nodes); }) ==
        "interp: nodes descend or are NaN, expected in ascending order");
  CHECK(text_of<tenon::error>([&] { tenon::interp(x, unordered, nodes); }) != "");
  CHECK(text_of<tenon::shape_error>([&] { tenon::interp(x, nodes, x); }) ==
        "interp: axis 0: extents 3 and 2 of nodes and values differ, expected equal");
  CHECK(text_of<tenon::shape_error>([&] { tenon::interp(x, none, none); }) ==
        "interp: axis 0: extent 0 of the nodes, expected at least 1");
}
