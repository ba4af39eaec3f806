// tests/host/rows.cpp: the loop of row-resident statements.
// Short rows lie side by side, long ones are folded along themselves; both against the definition in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/rows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

std::vector<double> softmax_by_definition(const std::vector<double>& x, std::size_t length) {
  std::vector<double> result;
  for (std::size_t row = 0; row < x.size(); row += length) {
    double greatest = x[row], total = 0;
    for (std::size_t i = 0; i < length; ++i) greatest = std::fmax(greatest, x[row + i]);
    for (std::size_t i = 0; i < length; ++i) total += std::exp(x[row + i] - greatest);
    for (std::size_t i = 0; i < length; ++i) result.push_back(std::exp(x[row + i] - greatest) / total);
  }
  return result;
}

}  // namespace

TEST_CASE("softmax over rows of every length", "[rows]") {
  for (const tenon::index rows : {1, 5, 100}) {
    for (const tenon::index length : {1, 2, 4, 7, 8, 14, 15, 16, 17, 63, 1025}) {
      const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, length), 3, -8.0f, 8.0f));
      const auto expected = softmax_by_definition(numbers_of(x), static_cast<std::size_t>(length));
      CAPTURE(rows, length);
      CHECK(difference(numbers_of(tenon::softmax(x, axis<-1>)), expected, 1e-6) == "");
    }
  }
}

TEST_CASE("rows of two axes, read through strides", "[rows]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(6, 5, 7), 3, -8.0f, 8.0f));
  const auto moved = tenon::permute(x, axis<2, 0, 1>);
  const auto expected = softmax_by_definition(numbers_of(moved), 30);
  CHECK(difference(numbers_of(tenon::softmax(moved, axis<1, 2>)), expected, 1e-6) == "");
}

TEST_CASE("short rows behind an axis of extent 1, known by type or not", "[rows]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(tenon::shape<100, 1, 4>{}, 3, -8.0f, 8.0f));
  const auto expected = softmax_by_definition(numbers_of(x), 4);
  CHECK(difference(numbers_of(tenon::softmax(x, axis<-1>)), expected, 1e-6) == "");
  const tenon::tensor<float, rank<3>> dynamic = x + 0;
  CHECK(difference(numbers_of(tenon::softmax(dynamic, axis<-1>)), expected, 1e-6) == "");
}

TEST_CASE("rows of every length that end as one value", "[rows]") {
  for (const tenon::index rows : {1, 5, 100}) {
    for (const tenon::index length : {1, 2, 15, 17, 63, 1025, 5000}) {
      const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, length), 3, -8.0f, 8.0f));
      const auto result = numbers_of(tenon::sum(tenon::square(x - tenon::mean(x, axis<1>)), axis<1>));
      const auto xs = numbers_of(x);
      const auto n = static_cast<std::size_t>(length);
      CAPTURE(rows, length);
      for (std::size_t row = 0; row < result.size(); ++row) {
        double average = 0, total = 0;
        for (std::size_t i = row * n; i < row * n + n; ++i) average += xs[i] / static_cast<double>(n);
        for (std::size_t i = row * n; i < row * n + n; ++i) total += (xs[i] - average) * (xs[i] - average);
        CHECK(tenon_test::is_close(result[row], total, 1e-5));
      }
    }
  }
}

TEST_CASE("operands of fewer axes broadcast into rows", "[rows]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(20, 33), 3, -1.0f, 1.0f));
  const auto scale = tenon_test::counting<float>(rank<1>(33), 1);
  const auto result = numbers_of((x - tenon::mean(x, axis<1>)) * scale);
  const auto xs = numbers_of(x);
  for (std::size_t row = 0; row < 20; ++row) {
    double average = 0;
    for (std::size_t i = 0; i < 33; ++i) average += xs[row * 33 + i] / 33;
    for (std::size_t i = 0; i < 33; ++i) {
      CHECK(std::fabs(result[row * 33 + i] - (xs[row * 33 + i] - average) * static_cast<double>(i + 1)) < 2e-5);
    }
  }
}

TEST_CASE("threads do not change rows", "[rows]") {
  const auto longer = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(300, 301), 3));
  const auto shorter = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(30000, 9), 3));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::softmax(longer, axis<-1>)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::standardise(shorter, axis<-1>)); }));
}
