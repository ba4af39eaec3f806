// tests/grad/value_and_gradient.cpp: values with gradients, of variables, tensors and functions; launches are counted.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/value_and_gradient.hpp>

#include <tenon/device/emulated.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/expressions.hpp>
#include <tenon/grad/traced.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::variable;
using tenon::wrt;
using tenon_test::drawn;
using tenon_test::numbers_of;

TEST_CASE("a linear model with plain tensors", "[value_and_gradient]") {
  const auto x = drawn(rank<2>(5, 3), 1), t = drawn(rank<2>(5, 2), 2);
  auto w = drawn(rank<2>(3, 2), 3);
  auto bias = drawn(rank<1>(2), 4);
  const auto loss = [&] { return tenon::mean(tenon::square(tenon::matmul(x, w) + bias - t)); };
  auto [value, dw, db] = tenon::value_and_gradient(loss(), wrt(w, bias));
  CHECK(value == static_cast<double>(loss()));
  const auto evaluated = [&] { return static_cast<double>(loss()); };
  CHECK(tenon_test::difference_from_slopes(w, dw, evaluated, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(bias, db, evaluated, 1e-6, 1e-6) == "");
}

TEST_CASE("a tensor that stands in several places has the sum of their gradients", "[value_and_gradient]") {
  const auto x = drawn(rank<1>(4), 1), y = drawn(rank<1>(4), 2);
  const auto [value, dx, dy] = tenon::value_and_gradient(tenon::sum(x * y + x * x), wrt(x, y));
  CHECK(numbers_of(dx) == numbers_of(y + 2 * x));
  CHECK(numbers_of(dy) == numbers_of(x));
}

TEST_CASE("what an expression does not hold is refused, as a variable it has the gradient 0", "[value_and_gradient]") {
  const auto x = drawn(rank<1>(4), 1), y = drawn(rank<1>(4), 2);
  CHECK(tenon_test::text_of<tenon::error>([&] { tenon::value_and_gradient(tenon::sum(x), wrt(y)); }) ==
        "value_and_gradient: a tensor of wrt is no operand of the expression; of what a layer or a traced value reads, "
        "loss.backward() leaves the gradient: v.gradient() of v = variable(x), or that of a parameter");
  const tenon::traced made = x * 2;
  CHECK_THROWS_AS(tenon::value_and_gradient(tenon::sum(made), wrt(x)), tenon::error);
  const auto [flat, dx] = tenon::value_and_gradient(tenon::sum(tenon::stop_gradient(x) * y), wrt(x));
  CHECK(numbers_of(dx) == std::vector<double>(4, 0.0));
  const auto [dv] = tenon::gradient(tenon::sum(x), wrt(variable<0>(y)));
  CHECK(numbers_of(dv) == std::vector<double>(4, 0.0));
}

TEST_CASE("views of a tensor are refused, as no gradient would flow through them", "[value_and_gradient]") {
  const auto x = drawn(rank<2>(4, 4), 1), y = drawn(rank<2>(4, 4), 2);
  const std::string expected =
      "value_and_gradient: the expression reads a tensor of wrt by way of a view; gradients flow through views in a "
      "function: value_and_gradient([](const auto& x) { return ...; }, x)";
  const auto refused = [&](const auto& operand) {
    return tenon_test::text_of<tenon::error>([&] { tenon::value_and_gradient(tenon::sum(operand), wrt(x)); });
  };
  CHECK(refused(x[0] * y[0]) == expected);
  CHECK(refused(tenon::diagonal(x) + 1) == expected);
  CHECK(refused(tenon::slice(x, tenon::range(0, 2)) * y[0]) == expected);
  CHECK_NOTHROW(tenon::value_and_gradient(tenon::sum(y[0] * x), wrt(x)));
  CHECK_NOTHROW(tenon::value_and_gradient(tenon::sum(tenon::stop_gradient(x[0]) * x), wrt(x)));
  const auto [value, dx] = tenon::value_and_gradient([](const auto& v) { return tenon::sum(tenon::diagonal(v)); }, x);
  CHECK(numbers_of(dx) == numbers_of(tenon::eye<double>(4, 4)));
}

TEST_CASE("gradients of a pointwise chain are one kernel, and so is its value", "[value_and_gradient]") {
  const auto a = drawn(rank<1>(40), 1).to<tenon::emulated>(), b = drawn(rank<1>(40), 2).to<tenon::emulated>();
  const tenon::launch_counter launches;
  const auto [value, da, db] = tenon::value_and_gradient(
      [](const auto& x, const auto& y) { return tenon::sum(tenon::tanh(x * y) + tenon::square(x)); }, a, b);
  CHECK(launches.count() == 2);
  const auto slope = 1 - tenon::square(tenon::tanh(a * b));
  const auto found = numbers_of(da), expected = numbers_of(slope * b + 2 * a);
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-12);
  CHECK(numbers_of(db) == numbers_of(slope * a));
}

TEST_CASE("the power 0 is flat everywhere", "[value_and_gradient]") {
  const tenon::tensor<double, rank<1>> x({3}, {0, -1, 2}), y({3}, {0, 0, 2});
  const auto powers = [](const auto& v, const auto& u) { return tenon::sum(tenon::pow(v, u)); };
  const auto [value, dx, dy] = tenon::value_and_gradient(powers, x, y);
  CHECK(numbers_of(dx) == std::vector<double>{0, 0, 4});
}

TEST_CASE("long gradients are computed in steps", "[value_and_gradient]") {
  using points = tenon::tensor<double, tenon::shape<tenon::dyn, 3>>;
  const auto seen = drawn(tenon::shape<tenon::dyn, 2>(5), 4);
  const auto rows = [&](tenon::index count) { return tenon::slice(seen, tenon::range(0, count), tenon::all_of); };
  const auto loss = [&](const auto& turns, const auto& shifts, const auto& at) {
    const auto moved = at + tenon::cross(turns, at) + 0.5 * tenon::cross(turns, tenon::cross(turns, at)) + shifts;
    const auto depth = tenon::new_axis<1>(tenon::select(moved, tenon::axis<1>, 2));
    const auto on_image = tenon::slice(moved, tenon::all_of, tenon::range(0, 2)) / depth;
    return tenon::sum(tenon::square(on_image - rows(at.shape().extent(0))));
  };
  points turns = drawn(tenon::shape<tenon::dyn, 3>(5), 1, -0.5f, 0.5f), shifts = drawn(turns.shape(), 2, 0, 1),
         at = drawn(turns.shape(), 3, 2, 3);
  const auto found = [&] { return tenon::value_and_gradient(loss, turns, shifts, at); };
  const tenon::launch_counter launches;
  const auto [value, of_turns, of_shifts, of_points] = found();
  CHECK(launches.count() <= 12);
  const auto evaluated = [&] { return static_cast<double>(loss(turns, shifts, at)); };
  CHECK(value == evaluated());
  CHECK(tenon_test::difference_from_slopes(turns, of_turns, evaluated, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(shifts, of_shifts, evaluated, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(at, of_points, evaluated, 1e-6, 1e-6) == "");
  turns = points({0}), shifts = points({0}), at = points({0});
  const auto [none, of_no_turns, of_no_shifts, of_no_points] = found();
  CHECK(none == 0);
  CHECK(of_no_turns.size() + of_no_shifts.size() + of_no_points.size() == 0);
}
