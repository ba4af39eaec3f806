// tests/grad/jvp.cpp: derivatives along directions, against differences; each rule is gone through twice.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/jvp.hpp>

#include <tenon/device/launch_count.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon::variable;
using tenon::wrt;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

/// Of a function of 4 x 6 numbers along a direction.
template <class Function>
std::string change_difference(const Function& function) {
  const auto x = drawn(rank<2>(4, 6), 3), direction = drawn(rank<2>(4, 6), 4);
  const auto v = variable<0>(x);
  const auto found = numbers_of(tenon::jvp(function(v), wrt(v), direction));
  const auto above = numbers_of(function(x + 1e-6 * direction)), below = numbers_of(function(x - 1e-6 * direction));
  std::vector<double> expected;
  for (std::size_t i = 0; i < above.size(); ++i) expected.push_back((above[i] - below[i]) / 2e-6);
  return tenon_test::difference(found, expected, 1e-7);
}

}  // namespace

TEST_CASE("changes of pointwise operations and reductions", "[jvp]") {
  CHECK(change_difference([](const auto& x) { return tenon::tanh(x) / (2 + x); }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::softmax(x, axis<-1>); }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::max(x, axis<0>) + tenon::mean(x, axis<1>); }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::matmul(tenon::exp(x), tenon::transpose(x)); }) == "");
}

TEST_CASE("changes of views", "[jvp]") {
  CHECK(change_difference([](const auto& x) {
          return tenon::flip(tenon::slice(x * x, tenon::range(1, 4, 2), tenon::range(4, 0, -3)), axis<0>);
        }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::windows<2, 3>(tenon::exp(x), 1); }) == "");
  CHECK(change_difference([](const auto& x) {
          return tenon::diagonal(x * x, 1) + tenon::diagonal(tenon::roll(x, 1, axis<0>), -1, axis<1, 0>);
        }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::concatenate(axis<1>, x * x, tenon::triu(x)); }) == "");
}

TEST_CASE("changes of what is shown more than once, or beside", "[jvp]") {
  CHECK(change_difference([](const auto& x) { return tenon::pad(x * x, {{{1, 2}, 2}}, tenon::reflect); }) == "");
  CHECK(change_difference([](const auto& x) { return tenon::repeat(tenon::tile(x * x, {{2, 3}}), 2, axis<0>); }) == "");
  const tenon::even_windows<2> even{{{4, 6}}, {{3, 2}}, {{3, 4}}, {{2, 2}}, {{1, 1}}, {{1, 2}}};
  CHECK(change_difference([&](const auto& x) { return tenon::placed_windows(x * x, even, rank<2>(3, 2), 0); }) == "");
}

TEST_CASE("changes of what indices choose, and of scans", "[jvp]") {
  const auto rows = tenon_test::tensor_of<tenon::host, int>(rank<1>(5), {2, -1, 0, 2, 2});
  CHECK(change_difference([&](const auto& x) { return tenon::take(x * x, rows, axis<1>); }) == "");
  CHECK(change_difference([](const auto& x) {
          return tenon::make_scan<tenon::prod_monoid, 0>(tenon::as_node(x), {.exclusive = true});
        }) == "");
  CHECK(change_difference([](const auto& x) {
          return tenon::make_scan<tenon::min_monoid, 1>(tenon::as_node(x * x), {.reverse = true});
        }) == "");
}

TEST_CASE("several variables, and those that do not occur", "[jvp]") {
  const auto x = drawn(rank<1>(5), 1), y = drawn(rank<1>(5), 2), along_x = drawn(rank<1>(5), 3),
             along_y = drawn(rank<1>(5), 4);
  const auto v = variable<0>(x);
  const auto w = variable<1>(y);
  const auto u = variable<2>(y);
  CHECK(tenon_test::difference(numbers_of(tenon::jvp(v * w * w, wrt(v, w, u), along_x, along_y, along_y)),
                               numbers_of(along_x * y * y + 2 * x * y * along_y), 1e-14) == "");
  CHECK(numbers_of(tenon::jvp(v * v, wrt(u), along_y)) == std::vector<double>(5, 0.0));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::jvp(v, wrt(v), tenon::arange<double>(4)); }) ==
        "jvp: axis 0: extent 4 of a tangent, expected 5 of its variable [5]");
}

TEMPLATE_LIST_TEST_CASE("a change of a pointwise chain is one kernel", "[jvp]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<1>(7), -3);
  const auto v = variable<0>(x);
  const auto change = tenon::jvp(tenon::exp(tenon::sin(v) * v), wrt(v), x);
  tenon::tensor<float, rank<1>, TestType> y(rank<1>(7));
  const tenon::launch_counter launches;
  y = change;
  CHECK(launches.count() == 1);
  const auto expected = numbers_of<TestType>(tenon::exp(tenon::sin(x) * x) * (tenon::cos(x) * x + tenon::sin(x)) * x);
  CHECK(tenon_test::difference(numbers_of<TestType>(y), expected, 1e-6) == "");
}

TEST_CASE("second derivatives times a direction", "[jvp]") {
  auto x = drawn(rank<2>(3, 4), 1);
  auto y = drawn(rank<1>(4), 2);
  const auto along_x = drawn(rank<2>(3, 4), 3);
  const auto along_y = drawn(rank<1>(4), 4);
  const auto loss = [](const auto& v, const auto& w) {
    return tenon::sum(tenon::square(tenon::sum(v * v * w, axis<-1>)));
  };
  const auto v = variable<0>(x);
  const auto w = variable<1>(y);
  const auto [hx, hy] = tenon::hessian_vector_product(loss(v, w), wrt(v, w), along_x, along_y);
  const auto along = [&] {  // how the loss changes along both directions
    const auto [gx, gy] = tenon::gradient(loss(v, w), wrt(v, w));
    return static_cast<double>(tenon::sum(gx * along_x)) + static_cast<double>(tenon::sum(gy * along_y));
  };
  CHECK(tenon_test::difference_from_slopes(x, hx, along, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(y, hy, along, 1e-6, 1e-6) == "");
}

TEST_CASE("what is masked leaves no NaN in higher derivatives", "[jvp]") {
  const auto x = tenon_test::tensor_of<tenon::host, float>(rank<1>(3), {1000, -1, 100});
  const tenon::tensor<float, rank<1>> ones(tenon::constants(rank<1>(3), 1.0f));
  const auto v = variable<0>(x);
  const auto loss = tenon::sum(tenon::elu(v) + tenon::celu(v) + tenon::soft_cap(v * v, 0));
  const auto [second] = tenon::hessian_vector_product(loss, wrt(v), ones);
  CHECK(tenon_test::difference(numbers_of(second), {2, 2 + 2 * std::exp(-1.0), 2}, 1e-6) == "");
}

TEST_CASE("changes of rotated points are short, and those of borders are none", "[jvp]") {
  const auto points = drawn(tenon::shape<tenon::dyn, 3>(5), 1, 2, 3), along = drawn(tenon::shape<tenon::dyn, 3>(5), 3),
             turns = drawn(tenon::shape<tenon::dyn, 3>(5), 2, -0.5f, 0.5f);
  const auto project = [&](const auto& w) {
    const auto moved = points + tenon::cross(w, points) + 0.5 * tenon::cross(w, tenon::cross(w, points));
    return moved / tenon::new_axis<1>(tenon::select(moved, axis<1>, 2));
  };
  const auto v = variable<0>(turns);
  const auto change = tenon::jvp(project(v), wrt(v), along);
  const auto above = numbers_of(project(turns + 1e-6 * along)), below = numbers_of(project(turns - 1e-6 * along));
  std::vector<double> expected;
  for (std::size_t i = 0; i < above.size(); ++i) expected.push_back((above[i] - below[i]) / 2e-6);
  CHECK(tenon_test::difference(numbers_of(change), expected, 1e-7) == "");
  CHECK(tenon_test::nodes_in<std::remove_cvref_t<decltype(change)>>() <= 500);
  CHECK(change_difference([](const auto& x) { return tenon::pad(x * x, {{{1, 2}, 2}}, 7); }) == "");
  const auto narrow = drawn(rank<2>(5, 1), 4);
  const auto n = variable<0>(narrow);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::jvp(points + n, wrt(n), narrow); }) ==
        "gradient: axis 1: extent 1 was repeated to 3; make it static, as in shape<dyn, 1>, that its gradient can be "
        "summed (operand [5, 1])");
}
