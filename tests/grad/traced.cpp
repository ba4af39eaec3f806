// tests/grad/traced.cpp: gradients of loops, branches and recursion, against the same steps written out.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/traced.hpp>

#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::traced;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

using double_line = tenon::tensor<double, rank<1>>;

/// x halved until its sum is below 1, then squared and added up.
template <class Value>
auto halved(Value x) {
  while (static_cast<double>(tenon::sum(tenon::abs(x))) > 1) x = x * 0.5;
  return traced(tenon::sum(tenon::square(x)));
}

/// x to the power of a whole number, by squares.
template <class Value>
Value power_of(const Value& x, int power) {
  if (power == 1) return x;
  const Value root = power_of(x, power / 2);
  const Value whole = root * root;
  return power % 2 == 0 ? whole : Value(whole * x);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a loop adds losses to a number", "[traced]", tenon_test::spaces) {
  using number = traced<double, tenon::shape<>, TestType>;
  const auto x = tenon_test::tensor_of<TestType, double>(rank<1>(3), {1, 2, 3});
  const auto v = tenon::variable(x);
  number total = 0.0;
  for (int i = 1; i <= 3; ++i) total = total + i * tenon::sum(tenon::square(v));
  CHECK(static_cast<double>(total) == 84);
  total.backward();
  CHECK(numbers_of(v.gradient()) == std::vector<double>{12, 24, 36});
  total = 2;
  CHECK(static_cast<double>(total) == 2);
  traced of_host = 0.5f;
  static_assert(std::is_same_v<decltype(of_host), traced<float, tenon::shape<>>>);
  static_assert(!std::is_convertible_v<double, traced<double, rank<1>>>);
  CHECK(static_cast<float>(of_host) == 0.5f);
}

TEMPLATE_LIST_TEST_CASE("a loop of unknown length", "[traced]", tenon_test::spaces) {
  for (const int halvings : {0, 1, 5}) {
    const auto start = tenon_test::tensor_of<TestType, double>(rank<1>(2), {0.375, -0.5});
    const tenon::tensor<double, rank<1>, TestType> x(start * static_cast<double>(1 << halvings));
    const auto v = tenon::variable(x);
    const auto loss = halved(v);
    CHECK(static_cast<double>(loss) == 0.375 * 0.375 + 0.25);
    loss.backward();
    const double slope = 1 / static_cast<double>(1 << halvings);
    CHECK(numbers_of<TestType>(v.gradient()) == std::vector<double>{0.75 * slope, -slope});
  }
}

TEST_CASE("recursion", "[traced]") {
  const double_line x(tenon::arange<double>(3) + 1);
  const auto v = tenon::variable(x);
  power_of(v, 11).backward(x);
  CHECK(tenon_test::difference(numbers_of(v.gradient()), numbers_of(11 * tenon::pow(x, 11)), 1e-12) == "");
}

TEST_CASE("masks and indices that were computed before are constants", "[traced]") {
  const double_line x = {3, 1, 2};
  const auto v = tenon::variable(x);
  const traced above = v > 1.5;
  const traced places = tenon::cast<std::int64_t>(v - 1);
  tenon::traced loss = tenon::sum(tenon::where(above, tenon::square(v), v) * tenon::cast<double>(places));
  CHECK(static_cast<double>(loss) == 9.0 * 2 + 1.0 * 0 + 4.0 * 1);
  loss.backward();
  CHECK(numbers_of(v.gradient()) == std::vector<double>{12, 0, 4});
}

TEST_CASE("gradients add up, where a value is used and over backward passes", "[traced]") {
  const auto x = drawn(rank<1>(4), 1), y = drawn(rank<1>(4), 2);
  double_line kept, counted(tenon::constants(rank<1>(4), 1.0));
  bool is_kept = false, is_counted = true;
  const auto v = tenon::variable(x, kept, is_kept);
  const auto w = tenon::variable(y, counted, is_counted);
  const traced product = v * w + v * x;
  const traced loss = tenon::sum(product * v);
  loss.backward();
  const auto expected = numbers_of(2 * x * y + 2 * x * x);
  CHECK(tenon_test::difference(numbers_of(kept), expected, 1e-14) == "");
  CHECK(tenon_test::difference(numbers_of(counted), numbers_of(x * x + 1), 1e-14) == "");
  loss.backward();
  CHECK(tenon_test::difference(numbers_of(v.gradient() * 0.5), expected, 1e-14) == "");
  CHECK(tenon_test::difference(numbers_of(counted), numbers_of(2 * x * x + 1), 1e-14) == "");
}

TEST_CASE("algorithms on traced values have gradients, and constants none", "[traced]") {
  const auto x = drawn(rank<1>(4), 1);
  const auto v = tenon::variable(x), unused = tenon::variable(x);
  tenon::backward(tenon::sum(traced(tenon::cumsum(v, tenon::axis<0>) + tenon::stop_gradient(v))));
  CHECK(numbers_of(v.gradient()) == std::vector<double>{4, 3, 2, 1});
  CHECK(numbers_of(unused.gradient()) == std::vector<double>(4, 0.0));
}

TEST_CASE("gradients of what is no variable, and of other extents", "[traced]") {
  const auto x = drawn(rank<1>(4), 1);
  const auto v = tenon::variable(x);
  const traced y = v * 2;
  CHECK(tenon_test::text_of<tenon::error>([&] { y.gradient(); }) ==
        "traced: gradients are kept of variables only; make one of this value?");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { y.backward(tenon::arange<double>(3)); }) != "");
}

TEST_CASE("a backward pass that fails leaves nothing behind for the next", "[traced]") {
  const auto x = drawn(rank<1>(4), 1), one = drawn(rank<1>(1), 2);
  const auto u = tenon::variable(one), v = tenon::variable(x);
  const traced repeated = u * v;
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { repeated.backward(x); }).find("gradient: axis 0") == 0);
  traced(v * 2).backward(x);
  CHECK(numbers_of(v.gradient()) == numbers_of(2 * x));
}

TEST_CASE("values that are not traced have no gradients", "[traced]") {
  const auto x = drawn(rank<1>(4), 1);
  const auto v = tenon::variable(x);
  const traced square = v * v;
  const traced through = square.detached() * v;
  const auto apart = [&] {
    const tenon::no_grad testing;
    return traced(v * 3);
  }();
  CHECK(numbers_of(apart) == numbers_of(3 * x));
  tenon::backward(tenon::sum(through + apart));
  CHECK(tenon_test::difference(numbers_of(v.gradient()), numbers_of(x * x), 1e-15) == "");
}

TEST_CASE("values outlive their names, and can be kept", "[traced]") {
  const auto x = drawn(rank<1>(4), 1);
  const auto v = tenon::variable(x);
  std::vector<traced<double, rank<1>>> powers{v};
  for (int i = 0; i < 3; ++i) powers.push_back(powers.back() * v);
  auto total = powers[0];
  for (std::size_t i = 1; i < powers.size(); ++i) total = total + powers[i];
  powers.clear();
  total.backward(tenon::constants(rank<1>(4), 1.0));
  const auto expected = numbers_of(1 + 2 * x + 3 * x * x + 4 * x * x * x);
  CHECK(tenon_test::difference(numbers_of(v.gradient()), expected, 1e-13) == "");
}

TEST_CASE("chains of any length are taken apart", "[traced]") {
  const double_line x(tenon::constants(rank<1>(1), 1.0));
  const auto v = tenon::variable(x);
  {
    auto far = traced(v * 1.0);
    for (int i = 0; i < 200000; ++i) far = far * 1.0;
    tenon::backward(tenon::sum(far));
  }
  CHECK(numbers_of(v.gradient()) == std::vector<double>{1});
}

TEST_CASE("a value under another shape", "[traced]") {
  const auto x = drawn(rank<2>(2, 3), 1);
  const auto v = tenon::variable(x);
  const traced square = v * v;
  const traced line = square.reshape(rank<1>(6));
  CHECK(line.data() == square.data());
  CHECK(square.reshape({3, -1}).shape() == rank<2>(3, 2));
  tenon::backward(tenon::sum(line * tenon::arange<double>(6)) + tenon::sum(square));
  const tenon::tensor<double, rank<1>> factors(tenon::arange<double>(6) + 1);
  const auto expected = numbers_of(2 * x * tenon::reshape(factors, rank<2>(2, 3)));
  CHECK(tenon_test::difference(numbers_of(v.gradient()), expected, 1e-13) == "");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { square.reshape(rank<1>(5)); }) ==
        "reshape: extents [5] hold 5 elements, expected 6 (operand [2, 3])");
}

TEST_CASE("a backward pass that leads nowhere is refused", "[traced]") {
  const double_line x({2}, {1, 2});
  const auto v = tenon::variable(x);
  const std::string expected =
      "backward: this value was made of no variable and of no parameter (no_grad, detached() and gradient() leave "
      "constants); make it of v = variable(x), or of what a network makes";
  const auto refused = [](const auto& loss) { return tenon_test::text_of<tenon::error>([&] { loss.backward(); }); };
  CHECK(refused(traced(tenon::sum(x))) == expected);
  CHECK(refused(traced(tenon::sum(v)).detached()) == expected);
  {
    const tenon::no_grad apart;
    CHECK(refused(traced(tenon::sum(v * v))) == expected);
  }
  tenon::backward(tenon::sum(v * v));
  CHECK(refused(traced(tenon::mean(tenon::square(v.gradient() - 1)))) == expected);
  CHECK(numbers_of(v.gradient()) == std::vector<double>{2, 4});
}

TEST_CASE("an element is a number that gradients flow through", "[traced]") {
  const tenon::tensor<float, tenon::rank<2>> given = {{1, 2, 3}, {4, 5, 6}};
  const auto x = tenon::variable(given);
  const tenon::traced h = x * 2;
  const float element = h(1, -1);
  CHECK(element == 12);
  const tenon::traced product = h(0, 1) * h(1, 2);  // 4 x01 x12
  CHECK(static_cast<float>(product) == 48);
  product.backward();
  CHECK(tenon_test::numbers_of(x.gradient()) == std::vector<double>{0, 24, 0, 0, 0, 8});
  CHECK_THROWS_AS(h(1, 3), tenon::index_error);
}
