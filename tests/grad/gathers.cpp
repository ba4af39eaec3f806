// tests/grad/gathers.cpp: what indices chose gets the sum of the gradients of those that chose it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cuda.hpp>
#include <tenon/grad/gathers.hpp>

#include <tenon/expressions.hpp>
#include <tenon/grad/traced.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::tensor_of;
using tenon_test::view_difference;

TEST_CASE("parts that are taken, some of them twice", "[gathers]") {
  const auto rows = tensor_of<tenon::host, int>(rank<1>(5), {2, -1, 0, 2, 2});
  const auto table = tensor_of<tenon::host, int>(rank<2>(2, 2), {5, 0, -1, 5});
  CHECK(view_difference([&](const auto& x) { return tenon::take(x, rows, axis<0>); }) == "");
  CHECK(view_difference([&](const auto& x) { return tenon::take(x * x, table, axis<1>); }) == "");
  const auto one = tensor_of<tenon::host, int>(tenon::shape<>{}, {3});
  CHECK(view_difference([&](const auto& x) { return tenon::take(x, one, axis<0>); }) == "");
}

TEST_CASE("elements that are taken one by one", "[gathers]") {
  const auto places =
      tensor_of<tenon::host, tenon::index>(rank<2>(3, 6), {0, 1, 2, 3, 0, 1, 0, 0, 0, 0, 0, -1, 2, 2, 2, 1, 1, 1});
  CHECK(view_difference([&](const auto& x) { return tenon::take_along_axis(x, places, axis<0>); }) == "");
  const auto column = tensor_of<tenon::host, int>(tenon::shape<tenon::dyn, 1>(4, 1), {5, 0, 0, 3});
  CHECK(view_difference([&](const auto& x) { return tenon::take_along_axis(x, column, axis<1>); }) == "");
}

TEST_CASE("what is sorted or selected gets the gradients of its places", "[gathers]") {
  const auto mask = tensor_of<tenon::host, double>(rank<2>(4, 6), tenon_test::random_values<double>(24, 4, -1, 1)) > 0;
  const auto columns = tenon::arange<int>(6) % 3 != 1;
  const auto least = [](const auto& x) { return tenon::topk(x, 3, axis<0>, {.largest = false}).values; };
  const auto in_line = [&](const auto& x) { return tenon::compress(x, tenon::arange<int>(24) % 5 == 0); };
  tenon_test::check_rows({
      {"sort", view_difference([](const auto& x) { return tenon::sort(tenon::sin(x), axis<1>); })},
      {"topk", view_difference([](const auto& x) { return tenon::topk(x, 2, axis<1>).values; })},
      {"topk", view_difference(least)},
      {"quantile", view_difference([](const auto& x) { return tenon::quantile(x, {0.2, 0.5, 1.0}, axis<1>); })},
      {"median", view_difference([](const auto& x) { return x * tenon::median(x); })},
      {"median", view_difference([](const auto& x) { return tenon::median(tenon::sin(x), axis<0>); })},
      {"median", view_difference([](const auto& x) { return tenon::median(tenon::sin(x), tenon::drop<0>); })},
      {"masked_select", view_difference([&](const auto& x) { return tenon::masked_select(x, mask); })},
      {"compress", view_difference([&](const auto& x) { return tenon::compress(x, columns, axis<1>); })},
      {"compress", view_difference(in_line)},
  });
}

TEST_CASE("expressions of lines in order follow their operands", "[gathers]") {
  auto x = tensor_of<tenon::host, double>(rank<1>(4), {3, 1, 2, 1});
  const auto v = tenon::variable<0>(x);
  const auto sorted = tenon::sort(v, axis<0>, {.descending = true});
  const auto [values, indices] = tenon::topk(v, 3, axis<0>, {.largest = false});
  CHECK(tenon_test::numbers_of(sorted) == std::vector<double>{3, 2, 1, 1});
  CHECK(tenon_test::numbers_of(values) == std::vector<double>{1, 1, 2});
  CHECK(tenon_test::numbers_of(indices) == std::vector<double>{1, 3, 2});
  x(1) = 5;
  const auto [dx] = tenon::vjp(sorted, tenon::arange<double>(4) + 1, tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{2, 1, 3, 4});
  CHECK(tenon_test::numbers_of(values) == std::vector<double>{1, 2, 3});
  CHECK_THROWS_AS(tenon::topk(v, 5, axis<0>), tenon::shape_error);
}

TEMPLATE_LIST_TEST_CASE("the sum follows its operands, and is read like any expression", "[gathers]",
                        tenon_test::spaces) {
  auto x = tensor_of<TestType, float>(rank<2>(3, 2), {1, 2, 3, 4, 5, 6});
  const auto rows = tensor_of<TestType, int>(rank<1>(4), {1, 1, 0, 1});
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::square(tenon::take(v, rows, axis<0>))), tenon::wrt(v));
  CHECK(tenon_test::numbers_of<TestType>(dx) == std::vector<double>{2, 4, 18, 24, 0, 0});
  x = 2 * x;
  CHECK(tenon_test::numbers_of<TestType>(dx + 1) == std::vector<double>{5, 9, 37, 49, 1, 1});
  x = dx;  // reads what it writes
  CHECK(tenon_test::numbers_of<TestType>(x) == std::vector<double>{4, 8, 36, 48, 0, 0});
}

TEST_CASE("sums of short floats are made in float", "[gathers]") {
  const tenon::tensor<tenon::half, rank<1>> x(rank<1>(2), {tenon::half(1.0f), tenon::half(2.0f)});
  const tenon::tensor<int, rank<1>> places(tenon::constants(rank<1>(4096), 0));
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::cast<float>(tenon::take(v, places, axis<0>))), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx) == std::vector<double>{4096, 0});
}

TEST_CASE("nothing is taken, and of nothing", "[gathers]") {
  const tenon::tensor<double, rank<2>> x({3, 0});
  const tenon::tensor<int, rank<1>> none(rank<1>(0));
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(tenon::take(v, none, axis<0>)), tenon::wrt(v));
  CHECK(tenon_test::numbers_of(dx).empty());
  const auto y = drawn(rank<1>(3), 1);
  const auto w = tenon::variable<0>(y);
  const auto [dy] = tenon::gradient(tenon::sum(tenon::take(w, none, axis<0>)), tenon::wrt(w));
  CHECK(tenon_test::numbers_of(dy) == std::vector<double>(3, 0.0));
}

TEST_CASE("slices that are added at indices get the gradients of their places", "[gathers]") {
  const auto rows = tensor_of<tenon::host, int>(rank<1>(4), {2, -1, 0, 2});
  const auto other = drawn(rank<2>(3, 6), 7), more = drawn(rank<2>(5, 6), 8);
  const auto six = tensor_of<tenon::host, int>(rank<1>(6), {1, 0, 1, 1, 0, 1});
  const auto two = tensor_of<tenon::host, int>(rank<1>(5), {3, 3, 0, -1, 0});
  tenon_test::check_rows({
      {"index_add", view_difference([&](const auto& x) { return tenon::index_add(axis<0>, 3, rows, tenon::sin(x)); })},
      {"index_add", view_difference([&](const auto& x) { return tenon::index_add(axis<1>, 2, six, x * x); })},
      {"index_add", view_difference([&](const auto& x) { return tenon::index_add(axis<0>, other, rows, x * x); })},
      {"index_add", view_difference([&](const auto& x) { return tenon::index_add(axis<0>, x * x, two, more); })},
  });
}

TEMPLATE_LIST_TEST_CASE("messages of a graph are added at its nodes and trained", "[gathers]", tenon_test::spaces) {
  const auto from = tensor_of<TestType, int>(rank<1>(4), {0, 1, 2, 0}),
             to = tensor_of<TestType, int>(rank<1>(4), {1, 2, 0, 2});
  const auto nodes = tensor_of<TestType, float>(rank<2>(3, 2), {1, 2, 3, 4, 5, 6});
  auto weight = tensor_of<TestType, float>(rank<1>(2), {0.5f, 0.25f});
  const auto wanted = tensor_of<TestType, float>(rank<2>(3, 2), {5, 3, 1, 1, 4, 3});  // for weights 1 and 0.5
  for (int step = 0; step < 200; ++step) {
    const auto w = tenon::variable(weight);
    const tenon::traced messages = tenon::take(tenon::traced(nodes * w), from, axis<0>);
    const tenon::traced sums = tenon::index_add(axis<0>, 3, to, messages);
    tenon::backward(tenon::mean(tenon::square(sums - wanted)));
    weight = weight - 0.02f * w.gradient();
  }
  const auto found = tenon_test::numbers_of<TestType>(weight);
  CHECK(std::fabs(found[0] - 1) < 1e-3);
  CHECK(std::fabs(found[1] - 0.5) < 1e-3);
}

TEST_CASE("softmax over segments", "[gathers]") {
  const auto segment = tensor_of<tenon::host, int>(rank<1>(6), {0, 1, 0, 2, 1, 0});
  const auto softmax_of_segments = [&](const auto& scores) {
    tenon::tensor<double, rank<1>> greatest = tenon::constants(rank<1>(3), tenon::lowest_value<double>());
    tenon::index_add(greatest, axis<0>, segment, tenon::stop_gradient(scores), tenon::maximum);
    const tenon::traced powers = tenon::exp(scores - tenon::take(greatest, segment, axis<0>));
    return tenon::traced(powers /
                         tenon::take(tenon::traced(tenon::index_add(axis<0>, 3, segment, powers)), segment, axis<0>));
  };
  const tenon::tensor<double, rank<1>> x(rank<1>(6), {1, 2, 3, 4, 5, 6}), seed(rank<1>(6), {1, 0, 2, 5, -1, 0.5});
  const auto v = tenon::variable(x);
  const auto shares = softmax_of_segments(v);
  CHECK(std::fabs(double(tenon::sum(shares)) - 3) < 1e-12);
  CHECK(std::fabs(shares.data()[1] - 1 / (1 + std::exp(3.0))) < 1e-12);
  shares.backward(seed);
  for (tenon::index i = 0; i < 6; ++i) {
    const auto moved = [&](double by) -> double {
      const tenon::tensor<double, rank<1>> beside = x + tenon::where(tenon::arange<int>(6) == i, by, 0.0);
      return tenon::sum(softmax_of_segments(beside) * seed);
    };
    CHECK(std::fabs((moved(1e-5) - moved(-1e-5)) / 2e-5 - v.gradient()(i)) < 1e-8);
  }
}
