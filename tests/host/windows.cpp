// tests/host/windows.cpp: statements that reduce small windows.
// Windows of every kind that have a line in common, and some that have none, are compared with loops in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/windows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;
using tenon::rank;
using tenon::windows;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

/// For each window the value of `fold` over its elements, which begins with the first of them.
template <class T, class Fold>
std::vector<double> by_definition(const tenon::tensor<T, rank<3>>& x, const tenon::array<tenon::index, 2>& kernel,
                                  tenon::index step, Fold fold) {
  std::vector<double> result;
  for (tenon::index c = 0; c < x.extent(0); ++c) {
    for (tenon::index p = 0; p + kernel[0] <= x.extent(1); p += step) {
      for (tenon::index q = 0; q + kernel[1] <= x.extent(2); q += step) {
        auto total = static_cast<double>(x(c, p, q));
        for (tenon::index tap = 1; tap < kernel[0] * kernel[1]; ++tap) {
          total = fold(total, static_cast<double>(x(c, p + tap / kernel[1], q + tap % kernel[1])));
        }
        result.push_back(total);
      }
    }
  }
  return result;
}

constexpr auto greater = [](double left, double right) { return left > right || left != left ? left : right; };
constexpr auto lesser = [](double left, double right) { return left < right || left != left ? left : right; };
constexpr auto added = [](double left, double right) { return left + right; };

template <class T>
tenon::tensor<T, rank<3>> image(tenon::index channels, tenon::index height, tenon::index width) {
  return tenon::evaluated_tensor(
      tenon::cast<T>(tenon::uniform<float>(rank<3>(channels, height, width), 5, 1.0f, 100.0f)));
}

template <int Height, int Width, class T>
void check_windows(const tenon::tensor<T, rank<3>>& x, tenon::index step) {
  const auto slid = windows<Height, Width>(x, step);
  CAPTURE(Height, Width, step, x.extent(2));
  CHECK(difference(numbers_of(tenon::max(slid, axis<-2, -1>)), by_definition(x, {{Height, Width}}, step, greater), 0) ==
        "");
  CHECK(difference(numbers_of(tenon::min(slid, axis<-2, -1>)), by_definition(x, {{Height, Width}}, step, lesser), 0) ==
        "");
  auto sums = by_definition(x, {{Height, Width}}, step, added);
  CHECK(difference(numbers_of(tenon::sum(slid, axis<-2, -1>)), sums, 1e-5) == "");
  for (double& each : sums) each /= Height * Width;
  CHECK(difference(numbers_of(tenon::mean(slid, axis<-2, -1>)), sums, 1e-5) == "");
}

}  // namespace

TEST_CASE("windows of every size, step and row", "[windows]") {
  for (const tenon::index width : {4, 5, 16, 33, 56, 112, 700}) {
    const auto x = image<float>(3, 11, width);
    for (const tenon::index step : {1, 2, 3, 4, 5}) {
      check_windows<2, 2>(x, step);
      check_windows<4, 4>(x, step);
    }
    check_windows<5, 1>(x, 1);
    check_windows<8, 3>(x, 3);
  }
}

TEMPLATE_TEST_CASE("windows of other types", "[windows]", double, std::int64_t) {
  for (const tenon::index width : {5, 33, 300}) {
    for (const tenon::index step : {1, 2, 3}) check_windows<3, 3>(image<TestType>(2, 8, width), step);
  }
}

TEST_CASE("windows of halves and of integers that widen", "[windows]") {
  const auto x = image<tenon::half>(2, 9, 40);
  CHECK(difference(numbers_of(tenon::max(windows<2, 2>(x, 2), axis<-2, -1>)), by_definition(x, {{2, 2}}, 2, greater),
                   0) == "");
  const auto n = image<std::int32_t>(2, 9, 40);
  CHECK(difference(numbers_of(tenon::sum(windows<3, 3>(n, 2), axis<-2, -1>)), by_definition(n, {{3, 3}}, 2, added),
                   0) == "");
}

TEST_CASE("a NaN is the greatest and the least of its windows alone", "[windows]") {
  auto x = image<float>(2, 8, 40);
  x(1, 3, 17) = NAN;
  const auto slid = windows<3, 3>(x, 1);
  const auto greatest = tenon::evaluated_tensor(tenon::max(slid, axis<-2, -1>));
  const auto least = tenon::evaluated_tensor(tenon::min(slid, axis<-2, -1>));
  tenon::index wrong = 0;
  for (tenon::index c = 0; c < 2; ++c) {
    for (tenon::index p = 0; p < 6; ++p) {
      for (tenon::index q = 0; q < 38; ++q) {
        const bool holds = c == 1 && p >= 1 && p <= 3 && q >= 15 && q <= 17;
        const float top = greatest(c, p, q, 0, 0), bottom = least(c, p, q, 0, 0);
        wrong += (top != top) != holds || (bottom != bottom) != holds ? 1 : 0;
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("what is pointwise before and behind windows is part of the loop", "[windows]") {
  const auto x = image<float>(3, 12, 50);
  const auto bias = tenon::evaluated_tensor(tenon::uniform<float>(rank<5>(3, 1, 1, 1, 1), 9));
  const auto squares = tenon::evaluated_tensor(x * x);
  tenon::tensor<float, rank<5>> y({3, 6, 25, 1, 1});
  const tenon::launch_counter counter;
  y = tenon::max(windows<2, 2>(x * x, 2), axis<-2, -1>) - tenon::min(windows<2, 2>(x, 2), axis<-2, -1>) * bias +
      tenon::max(windows<2, 2>(x * x, 2), axis<-2, -1>);
  CHECK(counter.count() == 1);
  auto expected = by_definition(squares, {{2, 2}}, 2, greater);
  const auto least = by_definition(x, {{2, 2}}, 2, lesser);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = 2 * expected[i] - least[i] * static_cast<double>(bias.data()[i / 150]);
  }
  CHECK(difference(numbers_of(y), expected, 1e-5) == "");
}

TEST_CASE("padded windows", "[windows]") {
  const auto x = image<float>(2, 13, 37);
  for (const tenon::index front : {0, 1, 2, 20}) {
    const tenon::padding around(front, 1);
    const auto padded = tenon::pad(x, {{0, around, around}}, -INFINITY);
    const auto copied = tenon::evaluated_tensor(padded);
    CAPTURE(front);
    CHECK(difference(numbers_of(tenon::max(windows<3, 3>(padded, 2), axis<-2, -1>)),
                     by_definition(copied, {{3, 3}}, 2, greater), 0) == "");
    const auto mirrored = tenon::pad(x, {{0, 1, {2, 3}}}, tenon::reflect);
    CHECK(difference(numbers_of(tenon::mean(windows<2, 2>(mirrored, 1), axis<-2, -1>) * 4),
                     by_definition(tenon::evaluated_tensor(mirrored), {{2, 2}}, 1, added), 1e-5) == "");
  }
}

TEST_CASE("rows of windows side by side are joined where their results are, and alone elsewhere", "[windows]") {
  for (const tenon::index height : {4, 7, 12}) {
    for (const tenon::index width : {2, 3, 6, 14, 29}) {
      const auto x = image<float>(5, height, width);
      const auto greatest = by_definition(x, {{2, 2}}, 2, greater);
      const rank<3> extents(5, height / 2, width / 2);
      const auto bias = tenon::evaluated_tensor(tenon::uniform<float>(extents, 4));
      const auto biases = numbers_of(bias);
      CAPTURE(height, width);
      tenon::tensor<float, rank<3>> y(extents), wider({5, height / 2 + 1, width / 2 + 3});
      wider = 0.0f;
      y = tenon::max(windows<2, 2>(x, 2), tenon::drop<-2, -1>) + bias;
      auto expected = greatest;
      for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += biases[i];
      CHECK(difference(numbers_of(y), expected, 1e-6) == "");
      auto part =
          tenon::slice(wider, tenon::range(0, 5), tenon::range(1, height / 2 + 1), tenon::range(2, width / 2 + 2));
      part = tenon::max(windows<2, 2>(x, 2), tenon::drop<-2, -1>);
      CHECK(difference(numbers_of(part), greatest, 0) == "");
      double all = 0, inside = 0;
      for (const double each : numbers_of(wider)) all += each;
      for (const double each : greatest) inside += each;
      CHECK(all == inside);  // nothing is written beside
    }
  }
}

TEST_CASE("results go anywhere, and windows may lie anywhere", "[windows]") {
  const auto x = image<float>(3, 10, 41);
  const auto expected = by_definition(x, {{3, 3}}, 2, greater);
  tenon::tensor<float, rank<3>> turned({20, 4, 3}), spread({3, 4, 40});
  tenon::permute(turned, axis<2, 1, 0>) = tenon::max(windows<3, 3>(x, 2), tenon::drop<-2, -1>);
  CHECK(difference(numbers_of(tenon::permute(turned, axis<2, 1, 0>)), expected, 0) == "");
  auto every_other = tenon::slice(spread, tenon::range(0, 3), tenon::range(0, 4), tenon::range(0, 40, 2));
  every_other = tenon::max(windows<3, 3>(x, 2), tenon::drop<-2, -1>);
  CHECK(difference(numbers_of(every_other), expected, 0) == "");

  tenon::tensor<float, rank<3>> channels_last({10, 41, 3});
  channels_last = tenon::permute(x, axis<1, 2, 0>);
  CHECK(difference(numbers_of(tenon::max(windows<3, 3>(tenon::permute(channels_last, axis<2, 0, 1>), 2), axis<-2, -1>)),
                   expected, 0) == "");
  const auto weight = tenon::evaluated_tensor(tenon::cast<float>(tenon::iota<int>(tenon::shape<3, 3>{})) * 0 + 1.0f);
  CHECK(difference(numbers_of(tenon::max(windows<3, 3>(x, 2) * weight, axis<-2, -1>)), expected, 0) == "");
  CHECK(numbers_of(tenon::sum(windows<2, 2>(tenon::iota<int>(rank<2>(3, 9)), 1), axis<-2, -1>)).back() == 84);
  const tenon::tensor<float, rank<3>> none({0, 10, 41});
  CHECK(numbers_of(tenon::max(windows<3, 3>(none, 2), axis<-2, -1>)).empty());
}

TEST_CASE("several outputs of windows, on any number of threads", "[windows]") {
  const auto x = image<float>(40, 60, 300);
  CHECK(tenon_test::is_same_on_any_threads([&] {
    tenon::tensor<float, rank<5>> most({40, 29, 149, 1, 1}), means(most.shape());
    tenon::evaluate(tenon::assign(most, tenon::max(windows<3, 3>(x, 2), axis<-2, -1>)),
                    tenon::assign(means, tenon::mean(windows<3, 3>(x, 2), axis<-2, -1>)));
    auto result = numbers_of(most);
    for (const double each : numbers_of(means)) result.push_back(each);
    return result;
  }));
}

namespace {

/// Windows of 3 x 3 that reach beside the image, against those of the image with its border in memory.
template <class T, class E>
void check_placed_windows(const E& x, tenon::index stride, tenon::index padding, T outside) {
  const tenon::index height = x.shape().extent(1), width = x.shape().extent(2);
  const tenon::index rows = tenon::window_count(height, 3, stride, padding);
  const tenon::index columns = tenon::window_count(width, 3, stride, padding);
  const tenon::even_windows<2> places{{{height, width}},    {{3, 3}}, {{rows, columns}}, {{stride, stride}},
                                      {{padding, padding}}, {{1, 1}}};
  const auto placed = tenon::placed_windows(x, places, tenon::shape<3, 3>{}, outside);
  const auto framed = tenon::evaluated_tensor(tenon::pad(x, {{0, padding, padding}}, outside));
  const auto slid = windows<3, 3>(framed, stride);
  CAPTURE(height, width, stride, padding);
  CHECK(numbers_of(tenon::max(placed, axis<-2, -1>)) == numbers_of(tenon::max(slid, axis<-2, -1>)));
  CHECK(difference(numbers_of(tenon::sum(placed, tenon::drop<-2, -1>)), numbers_of(tenon::sum(slid, axis<-2, -1>)),
                   1e-5) == "");
}

}  // namespace

TEST_CASE("windows that reach beside the image", "[windows]") {
  for (const tenon::index stride : {1, 2, 3}) {
    for (const tenon::index width : {4, 7, 16, 33, 300}) {
      check_placed_windows<float>(image<float>(2, 6, width), stride, 1, -5.0f);
      check_placed_windows<double>(image<double>(1, 5, width), stride, 2, 500.0);
    }
  }
  const auto x = image<float>(2, 7, 40);
  check_placed_windows<float>(x * 2 + 1, 2, 1, 0.0f);
  check_placed_windows<float>(tenon::permute(x, axis<0, 2, 1>), 1, 1, 0.0f);
  check_placed_windows<tenon::half>(image<tenon::half>(1, 8, 50), 2, 1, tenon::half(-1.0f));
}

TEST_CASE("windows that lie beside the image altogether", "[windows]") {
  const auto x = image<float>(3, 4, 3);
  for (const tenon::index padding : {3, 20, 5000}) {
    const tenon::even_windows<2> places{{{4, 3}}, {{2, 2}}, {{3, 12}}, {{1, 1}}, {{0, padding}}, {{1, 1}}};
    const auto node = tenon::max(tenon::placed_windows(x, places, tenon::shape<2, 2>{}, -7.0f), axis<-2, -1>);
    const auto copied = tenon::evaluated_tensor(node);
    tenon::index wrong = 0;
    for (tenon::index i = 0; i < copied.size(); ++i) {
      const tenon::index row = i / 12 % 3, right = i % 12 + 1 - padding;
      float expected = -7;
      for (tenon::index column = right - 1; column <= right; ++column) {
        if (column < 0 || column >= 3) continue;
        expected = std::max({expected, x(i / 36, row, column), x(i / 36, row + 1, column)});
      }
      wrong += copied.data()[i] == expected ? 0 : 1;
    }
    CAPTURE(padding);
    CHECK(wrong == 0);
  }
}

TEST_CASE("windows along three axes that reach beside the image", "[windows]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(2, 4, 5, 9), 3, -1.0f, 1.0f));
  const tenon::even_windows<3> places{{{4, 5, 9}}, {{3, 2, 3}}, {{3, 6, 6}}, {{2, 1, 2}}, {{1, 1, 2}}, {{1, 1, 1}}};
  const auto placed = tenon::placed_windows(x, places, tenon::shape<3, 2, 3>{}, 0.25f);
  const auto padded = tenon::evaluated_tensor(tenon::pad(x, {{0, {1, 2}, {1, 1}, {2, 2}}}, 0.25f));
  std::vector<double> expected;
  for (tenon::index i = 0; i < 2 * 3 * 6 * 6; ++i) {
    double sum = 0;
    for (tenon::index tap = 0; tap < 18; ++tap) {
      sum += padded(i / 108, i / 36 % 3 * 2 + tap / 6, i / 6 % 6 + tap / 3 % 2, i % 6 * 2 + tap % 3);
    }
    expected.push_back(sum);
  }
  CHECK(difference(numbers_of(tenon::sum(placed, tenon::drop<-3, -2, -1>)), expected, 1e-5) == "");
}

TEST_CASE("a NaN beside windows that reach beside the image", "[windows]") {
  auto x = image<float>(2, 6, 40);
  x(1, 2, 9) = NAN;
  const tenon::even_windows<2> places{{{6, 40}}, {{3, 3}}, {{3, 20}}, {{2, 2}}, {{1, 1}}, {{1, 1}}};
  const auto greatest = tenon::evaluated_tensor(
      tenon::max(tenon::placed_windows(x, places, tenon::shape<3, 3>{}, -INFINITY), axis<-2, -1>));
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < greatest.size(); ++i) {
    const tenon::index row = i / 20 % 3, column = i % 20;
    const bool sees = i >= 60 && row == 1 && (column == 4 || column == 5);
    wrong += std::isnan(greatest.data()[i]) == sees ? 0 : 1;
  }
  CHECK(wrong == 0);
}
