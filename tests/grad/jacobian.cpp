// tests/grad/jacobian.cpp: all derivatives of functions against those found by hand and by differences.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/jacobian.hpp>

#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

/// The derivatives of all elements by all, by central differences.
template <class Function, class Tensor>
std::vector<double> slopes_of(const Function& function, Tensor x) {
  const auto columns = static_cast<std::size_t>(x.size()), rows = numbers_of(function(x)).size();
  std::vector<double> result(rows * columns);
  for (std::size_t j = 0; j < columns; ++j) {
    const double middle = x.data()[j], step = 1e-6;
    x.data()[j] = middle + step;
    const auto above = numbers_of(function(x));
    x.data()[j] = middle - step;
    const auto below = numbers_of(function(x));
    x.data()[j] = middle;
    for (std::size_t i = 0; i < rows; ++i) result[i * columns + j] = (above[i] - below[i]) / (2 * step);
  }
  return result;
}

}  // namespace

TEST_CASE("a jacobian has the derivatives of every element by every element", "[jacobian]") {
  const auto w = tenon_test::drawn(rank<2>(3, 5), 2);
  const auto check = [](const auto& function, const auto& x, const std::vector<tenon::index>& extents) {
    const auto found = tenon::jacobian(function, x);
    CHECK(tenon_test::extents_of(found) == extents);
    CHECK(difference(numbers_of(found), slopes_of(function, x), 1e-7) == "");
  };
  const auto wide = [&](const auto& v) { return tenon::tanh(tenon::matmul(w, v)); };
  check(wide, tenon_test::drawn(rank<2>(5, 2), 1), {3, 2, 5, 2});
  const auto high = [&](const auto& v) { return tenon::sin(tenon::matmul(tenon::transpose(w), v)); };
  check(high, tenon_test::drawn(rank<1>(3), 1), {5, 3});
  const auto single = [](const auto& v) { return tenon::sum(tenon::exp(v) * v); };
  check(single, tenon_test::drawn(rank<1>(4), 1), {4});
  check([](const auto& v) { return tenon::diff(v * v, tenon::axis<0>); }, tenon_test::drawn(tenon::shape<7>{}, 1),
        {6, 7});
  const tenon::tensor<double, rank<1>> none({0});
  CHECK(tenon_test::extents_of(tenon::jacobian([](const auto& v) { return tenon::exp(v); }, none)) ==
        std::vector<tenon::index>{0, 0});
}

TEMPLATE_LIST_TEST_CASE("jacobians and hessians of every space", "[jacobian]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<1>(3), {1, 2, 3});
  CHECK(numbers_of<TestType>(tenon::jacobian([](const auto& v) { return v * v; }, x)) ==
        std::vector<double>{2, 0, 0, 0, 4, 0, 0, 0, 6});
  const auto tall = [](const auto& v) { return tenon::repeat(v, 2, tenon::axis<0>) * 3; };
  CHECK(numbers_of<TestType>(tenon::jacobian(tall, x)) ==
        std::vector<double>{3, 0, 0, 3, 0, 0, 0, 3, 0, 0, 3, 0, 0, 0, 3, 0, 0, 3});
  const auto product = [](const auto& v) { return tenon::sum(v) * tenon::sum(v * v); };
  // of s q, where s is the sum 6 and q that of squares 14: 2 x_i + 2 x_j, and 2 s more where i = j
  CHECK(numbers_of<TestType>(tenon::hessian(product, x)) == std::vector<double>{16, 6, 8, 6, 20, 10, 8, 10, 24});
}

TEST_CASE("a hessian is the jacobian of the gradient", "[jacobian]") {
  const auto x = tenon_test::drawn(rank<2>(2, 3), 1);
  const auto loss = [](const auto& v) { return tenon::sum(tenon::sin(v) * tenon::cumsum(v, tenon::axis<1>)); };
  const auto slope = [&](const auto& at) {
    const auto v = tenon::variable<0>(at);
    return tenon::evaluated_tensor(tenon::get<0>(tenon::gradient(loss(v), tenon::wrt(v))));
  };
  const auto found = tenon::hessian(loss, x);
  CHECK(tenon_test::extents_of(found) == std::vector<tenon::index>{2, 3, 2, 3});
  CHECK(difference(numbers_of(found), slopes_of(slope, x), 1e-7) == "");
}
