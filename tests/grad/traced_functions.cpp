// tests/grad/traced_functions.cpp: gradients that are looked at, known, or computed again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/traced_functions.hpp>

#include <cmath>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::traced;
using tenon_test::drawn;
using tenon_test::numbers_of;

TEST_CASE("a function that runs again keeps its result alone", "[traced_functions]") {
  auto w = drawn(rank<2>(3, 3), 1), x = drawn(rank<2>(2, 3), 2);
  int runs = 0;
  const auto step = [&](const auto& input, const auto& weight) {
    ++runs;
    const traced product = tenon::matmul(input, weight);
    return tenon::tanh(product + input);
  };
  const auto loss_of = [&] {
    const auto v = tenon::variable(x), u = tenon::variable(w);
    return traced(tenon::sum(tenon::square(tenon::checkpoint(step, v, u))));
  };
  const auto v = tenon::variable(x), u = tenon::variable(w);
  const traced loss = tenon::sum(tenon::square(tenon::checkpoint(step, v, u)));
  CHECK(runs == 1);
  loss.backward();
  CHECK(runs == 2);
  const auto value = [&] { return static_cast<double>(loss_of()); };
  CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(w, u.gradient(), value, 1e-6, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("a gradient is looked at and changed on its way", "[traced_functions]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<1>(3), {1, -2, 3});
  const auto v = tenon::variable(x);
  std::vector<double> seen;
  int calls = 0;
  traced h = v * 2;
  h = tenon::on_gradient(h, [&](const auto& gradient) {
    seen = numbers_of<TestType>(gradient);
    gradient = tenon::clamp(gradient, -1, 1);
  });
  h = tenon::on_gradient(h, [&] { ++calls; });
  CHECK(calls == 0);
  tenon::backward(tenon::sum(h * h));
  CHECK(calls == 1);
  CHECK(seen == std::vector<double>{4, -8, 12});
  CHECK(numbers_of<TestType>(v.gradient()) == std::vector<double>{2, -2, 2});
}

TEST_CASE("what nobody asks gradients of is not looked at", "[traced_functions]") {
  const auto x = drawn(rank<1>(3), 1);
  int calls = 0;
  const traced constant = x * 2;
  const traced h = tenon::on_gradient(constant, [&] { ++calls; });
  CHECK(numbers_of(h) == numbers_of(x * 2));
  const auto v = tenon::variable(x);
  tenon::backward(tenon::sum(h * v));
  CHECK(calls == 0);
}

TEST_CASE("a gradient that the caller knows", "[traced_functions]") {
  const auto x = drawn(rank<1>(4), 1);
  const auto v = tenon::variable(x);
  const traced h = v * 3;
  const traced rounded = tenon::with_gradient(tenon::round(h), h, [](const auto& seed) { return seed * 10; });
  CHECK(numbers_of(rounded) == numbers_of(tenon::round(3 * x)));
  tenon::backward(tenon::sum(rounded + h));
  CHECK(numbers_of(v.gradient()) == std::vector<double>(4, 33));
}

TEST_CASE("a function that runs again reads its inputs alone, and does the same", "[traced_functions]") {
  const auto x = drawn(rank<1>(3), 1);
  const auto v = tenon::variable(x), outside = tenon::variable(x);
  const traced other = outside * 2;
  const traced reading = tenon::checkpoint([&](const auto& in) { return in * other; }, v);
  CHECK(tenon_test::text_of<tenon::error>([&] { reading.backward(x); }) ==
        "checkpoint: the function reads a traced value from outside; make it one of the inputs");
  double factor = 1;
  const traced changing = tenon::checkpoint([&](const auto& in) { return in * ++factor; }, v);
  CHECK(tenon_test::text_of<tenon::error>([&] { changing.backward(x); }) ==
        "checkpoint: the function makes another value than before, expected the same whenever it runs");
  CHECK(numbers_of(v.gradient()) == std::vector<double>(3, 0.0));
  const traced unknown = tenon::checkpoint([](const auto& in) { return in * std::nan(""); }, v);
  unknown.backward(x);
}
