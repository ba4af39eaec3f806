// tests/grad/tape.cpp: gradients of loops, branches and recursion, against the same steps written out.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/tape.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::tape;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

using taped_line = tenon::tensor<double, rank<1>>;

/// x halved until its sum is below 1, then squared and added up.
template <class Value>
auto record_halving(tape& steps, Value x) {
  while (static_cast<double>(tenon::sum(tenon::abs(x))) > 1) x = steps.record(x * 0.5);
  return steps.record(tenon::sum(tenon::square(x)));
}

/// x to the power of a whole number, by squares.
template <class Value>
Value record_power(tape& steps, const Value& x, int power) {
  if (power == 1) return x;
  const auto root = record_power(steps, x, power / 2);
  Value whole = steps.record(root * root);
  return power % 2 == 0 ? whole : steps.record(whole * x);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a loop of unknown length", "[tape]", tenon_test::spaces) {
  for (const int halvings : {0, 1, 5}) {
    const auto start = tenon_test::tensor_of<TestType, double>(rank<1>(2), {0.375, -0.5});
    const tenon::tensor<double, rank<1>, TestType> x(start * static_cast<double>(1 << halvings));
    tape steps;
    const auto v = steps.variable(x);
    const auto loss = record_halving(steps, v);
    CHECK(static_cast<double>(loss) == 0.375 * 0.375 + 0.25);
    CHECK(steps.size() == 2 + halvings);
    steps.backward(loss);
    const double slope = 1 / static_cast<double>(1 << halvings);
    CHECK(numbers_of<TestType>(steps.gradient(v)) == std::vector<double>{0.75 * slope, -slope});
  }
}

TEST_CASE("recursion", "[tape]") {
  const taped_line x(tenon::arange<double>(3) + 1);
  tape steps;
  const auto v = steps.variable(x);
  const auto power = record_power(steps, v, 11);
  steps.backward(power, x);
  CHECK(tenon_test::difference(numbers_of(steps.gradient(v)), numbers_of(11 * tenon::pow(x, 11)), 1e-12) == "");
}

TEST_CASE("gradients add up, where a value is used and over backward passes", "[tape]") {
  const auto x = drawn(rank<1>(4), 1), y = drawn(rank<1>(4), 2);
  taped_line kept, counted(tenon::constants(rank<1>(4), 1.0));
  tape steps;
  const auto v = steps.variable(x, kept);
  const auto w = steps.variable(y, counted);
  const auto product = steps.record(v * w + v * x);
  const auto loss = steps.record(tenon::sum(product * v));
  steps.backward(loss);
  const auto expected = numbers_of(2 * x * y + 2 * x * x);
  CHECK(tenon_test::difference(numbers_of(kept), expected, 1e-14) == "");
  CHECK(tenon_test::difference(numbers_of(counted), numbers_of(x * x + 1), 1e-14) == "");
  steps.backward(loss);
  CHECK(tenon_test::difference(numbers_of(steps.gradient(v) * 0.5), expected, 1e-14) == "");
  CHECK(tenon_test::difference(numbers_of(counted), numbers_of(2 * x * x + 1), 1e-14) == "");
}

TEST_CASE("a step that is made again keeps its result alone", "[tape]") {
  auto w = drawn(rank<2>(3, 3), 1), x = drawn(rank<2>(2, 3), 2);
  int runs = 0;
  const auto step = [&](tape& inner, const auto& input, const auto& weight) {
    ++runs;
    return inner.record(tenon::tanh(inner.record(tenon::matmul(input, weight)) + input));
  };
  const auto loss_of = [&] {
    tape steps;
    const auto v = steps.variable(x);
    const auto u = steps.variable(w);
    return static_cast<double>(steps.record(tenon::sum(tenon::square(steps.checkpoint(step, v, u)))));
  };
  tape steps;
  const auto v = steps.variable(x);
  const auto u = steps.variable(w);
  const auto loss = steps.record(tenon::sum(tenon::square(steps.checkpoint(step, v, u))));
  CHECK(steps.size() == 4);
  CHECK(runs == 1);
  steps.backward(loss);
  CHECK(runs == 2);
  CHECK(tenon_test::difference_from_slopes(x, steps.gradient(v), loss_of, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(w, steps.gradient(u), loss_of, 1e-6, 1e-6) == "");
}

TEST_CASE("algorithms on values of a tape have gradients, and constants none", "[tape]") {
  const auto x = drawn(rank<1>(4), 1);
  tape steps;
  const auto v = steps.variable(x);
  const auto unused = steps.variable(x);
  const auto sums = steps.record(tenon::cumsum(v, tenon::axis<0>) + tenon::stop_gradient(v));
  steps.backward(steps.record(tenon::sum(sums)));
  CHECK(numbers_of(steps.gradient(v)) == std::vector<double>{4, 3, 2, 1});
  CHECK(numbers_of(steps.gradient(unused)) == std::vector<double>(4, 0.0));
}

TEST_CASE("values of other tapes, and gradients of what is no variable", "[tape]") {
  const auto x = drawn(rank<1>(4), 1);
  tape one, other;
  const auto v = one.variable(x);
  const auto y = one.record(v * 2);
  CHECK(tenon_test::text_of<tenon::error>([&] { other.gradient(v); }) == "tape: this value is on another tape");
  CHECK(tenon_test::text_of<tenon::error>([&] { one.gradient(y); }) ==
        "tape: gradients are kept of variables only; make one of this value?");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { one.backward(y, tenon::arange<double>(3)); }) != "");
  const auto mixed = other.record(v + 1);
  CHECK(tenon_test::text_of<tenon::error>([&] { other.backward(mixed, x); }) == "tape: this value is on another tape");
}

TEST_CASE("a backward pass that fails leaves nothing behind for the next", "[tape]") {
  const auto x = drawn(rank<1>(4), 1), one = drawn(rank<1>(1), 2);
  tape steps;
  const auto u = steps.variable(one);
  const auto v = steps.variable(x);
  const auto repeated = steps.record(u * v);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { steps.backward(repeated, x); }).find("gradient: axis 0") == 0);
  steps.backward(steps.record(v * 2), x);
  CHECK(numbers_of(steps.gradient(v)) == numbers_of(2 * x));
}
