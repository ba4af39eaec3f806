// tests/grad/scans.cpp: gradients of scans, from both ends, with and without their own element.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/scans.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::view_difference;

namespace {

constexpr tenon::scan_options all_scans[] = {
    {}, {.exclusive = true}, {.reverse = true}, {.exclusive = true, .reverse = true}};

/// The gradient of the weighted sum of a scan of one line.
template <class Scan>
std::vector<double> scan_gradient(const Scan& scan, const std::vector<double>& line, tenon::scan_options options) {
  const auto x = tenon_test::tensor_of<tenon::host, double>(rank<1>(static_cast<tenon::index>(line.size())), line);
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::vjp(scan(v, axis<0>, options), tenon::arange<double>(x.size()) + 1, tenon::wrt(v));
  return numbers_of(dx);
}

}  // namespace

TEST_CASE("cumulative sums and products", "[scans]") {
  for (const auto options : all_scans) {
    CHECK(view_difference([&](const auto& x) { return tenon::cumsum(x, axis<1>, options); }) == "");
    CHECK(view_difference([&](const auto& x) { return tenon::cumprod(x * x, axis<0>, options); }) == "");
  }
}

TEST_CASE("a cumulative product has a gradient at its first zero, and before it", "[scans]") {
  const std::vector<double> line = {2, 3, 0, 5, 0, 7};
  CHECK(scan_gradient(tenon::cumprod, line, {}) == std::vector<double>{1 + 2 * 3, 2 * 2, 3 * 6 + 4 * 30, 0, 0, 0});
  CHECK(scan_gradient(tenon::cumprod, line, {.exclusive = true}) ==
        std::vector<double>{2 + 3 * 3, 3 * 2, 4 * 6 + 5 * 30, 0, 0, 0});
  CHECK(scan_gradient(tenon::cumprod, line, {.reverse = true}) ==
        std::vector<double>{0, 0, 0, 4 * 0, 5 * 7 + 4 * 35, 6});
}

TEST_CASE("the last element that is the greatest or least so far has the gradient", "[scans]") {
  const std::vector<double> line = {1, 3, 3, 2, 4, 0};
  CHECK(scan_gradient(tenon::cummax, line, {}) == std::vector<double>{1, 2, 3 + 4, 0, 5 + 6, 0});
  CHECK(scan_gradient(tenon::cummax, line, {.exclusive = true}) == std::vector<double>{2, 3, 4 + 5, 0, 6, 0});
  CHECK(scan_gradient(tenon::cummin, line, {}) == std::vector<double>{1 + 2 + 3 + 4 + 5, 0, 0, 0, 0, 6});
  CHECK(scan_gradient(tenon::cummax, line, {.reverse = true}) == std::vector<double>{0, 0, 0, 0, 1 + 2 + 3 + 4 + 5, 6});
  CHECK(scan_gradient(tenon::cummax, line, {.exclusive = true, .reverse = true}) ==
        std::vector<double>{0, 0, 0, 0, 1 + 2 + 3 + 4, 5});
}

TEST_CASE("scans within expressions are scans", "[scans]") {
  const auto x = tenon_test::drawn(rank<2>(3, 5), 1);
  const auto v = tenon::variable<0>(x);
  for (const auto options : all_scans) {
    CHECK(numbers_of(tenon::cumsum(v, axis<1>, options)) == numbers_of(tenon::cumsum(x, axis<1>, options)));
    CHECK(numbers_of(tenon::cummin(v, axis<0>, options) * 2) == numbers_of(tenon::cummin(x, axis<0>, options) * 2));
  }
  const tenon::tensor<double, rank<2>> none({3, 0});
  const auto n = tenon::variable<0>(none);
  const auto [dn] = tenon::gradient(tenon::sum(tenon::cummax(n, axis<0>)), tenon::wrt(n));
  CHECK(numbers_of(dn).empty());
}
