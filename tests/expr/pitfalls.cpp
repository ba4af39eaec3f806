// tests/expr/pitfalls.cpp: statements that tensor libraries are known to get wrong.
// Each is compared with the same statement in steps, every step a tensor of its own; tests/evaluate.cpp holds the rest.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::all_of;
using tenon::axis;
using tenon::evaluated_tensor;
using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

template <class Space>
auto scattered_matrix(tenon::index rows, tenon::index columns) {
  return tenon_test::made_tensor<float, Space>(rank<2>(rows, columns), scattered);
}

/// (1 - exp(x)) / (1 + exp(x)) by way of a named part, which is gone when the result is evaluated.
template <class Tensor>
auto through_a_local_part(const Tensor& x) {
  const auto part = tenon::exp(x);
  const auto numerator = 1 - part;
  const auto denominator = 1 + part;
  return numerator / denominator;
}

/// `statement(x)` for x once as an expression and once as the tensor that it evaluates to.
template <class Inner, class Statement>
std::string nested_difference(const Inner& inner, const Statement& statement) {
  return difference(numbers_of(statement(inner)), numbers_of(statement(evaluated_tensor(inner))), 2e-5);
}

/// Calls `check` with every operation that takes and gives a matrix of 6 by 6.
template <class Check>
void for_each_operation(const Check& check) {
  check([](const auto& x) { return tenon::roll(tenon::transpose(x), 2, axis<1>); });
  check([](const auto& x) { return x - tenon::mean(x, axis<0>); });
  check([](const auto& x) { return tenon::softmax(x, axis<1>); });
  check([](const auto& x) { return tenon::matmul(x, x); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("any two operations nest", "[pitfalls]", tenon_test::spaces) {
  const auto x = scattered_matrix<TestType>(6, 6);
  for_each_operation([&](const auto& inner) {
    for_each_operation([&](const auto& outer) { CHECK(nested_difference(inner(x + 0), outer) == ""); });
  });
}

TEMPLATE_LIST_TEST_CASE("a reduction that is written twice, in one kernel", "[pitfalls]", tenon_test::spaces) {
  const auto x = scattered_matrix<TestType>(256, 256);
  const auto statement =
      tenon::exp(x - tenon::max(x, axis<1>)) / tenon::sum(tenon::exp(x - tenon::max(x, axis<1>)), axis<1>);
  STATIC_REQUIRE(tenon::kernel_count<decltype(statement)> == 1);
  const auto greatest = evaluated_tensor(tenon::max(x, axis<1>));
  const auto powers = evaluated_tensor(tenon::exp(x - greatest));
  const auto total = evaluated_tensor(tenon::sum(powers, axis<1>));
  CHECK(difference(numbers_of(statement), numbers_of(powers / total), 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("an expression outlives the parts it was made of", "[pitfalls]", tenon_test::spaces) {
  const auto x = scattered_matrix<TestType>(5, 7);
  const auto result = through_a_local_part(x);
  const auto part = evaluated_tensor(tenon::exp(x));
  CHECK(difference(numbers_of(result), numbers_of((1 - part) / (1 + part)), 1e-6) == "");
  const auto e = (x + 1) * 2;
  tenon::tensor<float, rank<2>, TestType> y = e;
  y = e - y;
  CHECK(numbers_of(y) == numbers(35, 0.0));
}

TEMPLATE_LIST_TEST_CASE("a view is written from another view of the same matrix", "[pitfalls]", tenon_test::spaces) {
  const auto original = scattered_matrix<TestType>(9, 70);
  const auto check = [&](const auto& to, const auto& from) {
    auto x = evaluated_tensor(original + 0), expected = evaluated_tensor(original + 0);
    const auto apart = evaluated_tensor(from(original) + 0);
    to(expected) = apart;
    to(x) = from(x);
    CHECK(numbers_of(x) == numbers_of(expected));
  };
  const auto behind = [](auto& x) { return tenon::slice(x, all_of, range(1, 70)); };
  const auto before = [](auto& x) { return tenon::slice(x, all_of, range(0, 69)); };
  const auto lower = [](auto& x) { return tenon::slice(x, range(1, 9)); };
  const auto upper = [](auto& x) { return tenon::slice(x, range(0, 8)); };
  check(behind, before), check(before, behind);
  check(lower, upper), check(upper, lower);
  const auto whole = [](auto& x) { return tenon::slice(x, all_of); };
  check(whole, [](auto& x) { return tenon::slice(x, range(open_end, open_end, -1)); });
  check(whole, [](auto& x) { return x + tenon::slice(x, tenon::only(3)); });
  check(whole, [](auto& x) { return x - tenon::max(x, axis<0>); });
}

TEMPLATE_LIST_TEST_CASE("a matrix takes its own transpose", "[pitfalls]", tenon_test::spaces) {
  for (const tenon::index size : {2, 3, 17, 64}) {
    CAPTURE(size);
    auto x = scattered_matrix<TestType>(size, size);
    const auto turned = evaluated_tensor(tenon::transpose(x));
    x = tenon::transpose(x);
    CHECK(numbers_of(x) == numbers_of(turned));
    x = tenon::transpose(x) + x;
    CHECK(numbers_of(x) == numbers_of(tenon::transpose(turned) + turned));
  }
}

TEMPLATE_LIST_TEST_CASE("extents of 1 broadcast, on either side and both", "[pitfalls]", tenon_test::spaces) {
  const auto table = counting<float, TestType>(rank<2>(3, 4));
  const auto column = counting<float, TestType>(rank<2>(3, 1), 0, 100);
  const auto row = counting<float, TestType>(rank<1>(4), 0, 1000);
  for (std::size_t i = 0; i < 12; ++i) {
    const auto at = static_cast<double>(i), of_column = 100.0 * static_cast<double>(i / 4),
               of_row = 1000.0 * static_cast<double>(i % 4);
    CHECK(numbers_of(table + column)[i] == at + of_column);
    CHECK(numbers_of(row + table)[i] == at + of_row);
    CHECK(numbers_of(column + row)[i] == of_column + of_row);
  }
}

TEMPLATE_LIST_TEST_CASE("an axis of run-time extent 1 broadcasts without a word", "[pitfalls]", tenon_test::spaces) {
  tenon::tensor<float, rank<2>, TestType> x({1, 4}), y({3, 1});
  x = counting<float, TestType>(rank<2>(1, 4)), y = counting<float, TestType>(rank<2>(3, 1), 0, 10);
  CHECK(numbers_of(tenon::sum(x + y, axis<1>)) == numbers{6, 46, 86});
  CHECK(numbers_of(tenon::sum(x, axis<0>) + y) == numbers{0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23});
}

TEMPLATE_LIST_TEST_CASE("integers divide as integers, their mean does not", "[pitfalls]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, int>(rank<1>(4), {1, 2, -7, 9});
  CHECK(numbers_of(x / 2) == numbers{0, 1, -3, 4});
  CHECK(numbers_of(tenon::mean(x)) == numbers{1.25});
  CHECK(numbers_of(tenon::sum(x) / 4) == numbers{1});
  CHECK(numbers_of(x / 2.0) == numbers{0.5, 1, -3.5, 4.5});
}

TEMPLATE_LIST_TEST_CASE("sums of narrow integers do not wrap, in rows, columns and all", "[pitfalls]",
                        tenon_test::spaces) {
  const auto bytes = tenon_test::made_tensor<std::int8_t, TestType>(rank<2>(300, 300), [](tenon::index) { return 1; });
  CHECK(numbers_of(tenon::sum(bytes, axis<0>)) == numbers(300, 300.0));
  CHECK(numbers_of(tenon::sum(bytes, axis<1>)) == numbers(300, 300.0));
  CHECK(numbers_of(tenon::sum(bytes)) == numbers{90000});
  const tenon::tensor<std::int32_t, rank<1>, TestType> totals = tenon::sum(bytes, axis<1>);
  CHECK(numbers_of(totals) == numbers(300, 300.0));
  CHECK(numbers_of(tenon::sum(bytes > 0, axis<1>)) == numbers(300, 300.0));
}

TEMPLATE_LIST_TEST_CASE("max and min start below and above everything", "[pitfalls]", tenon_test::spaces) {
  const auto check = [](auto element) {
    using T = decltype(element);
    const auto x = tenon_test::made_tensor<T, TestType>(rank<2>(4, 37), [](tenon::index i) { return -50 - i % 37; });
    CHECK(numbers_of(tenon::max(x, axis<1>)) == numbers(4, -50.0));
    CHECK(numbers_of(tenon::max(x)) == numbers{-50});
    CHECK(numbers_of(tenon::min(tenon::abs(x), axis<1>)) == numbers(4, 50.0));
  };
  check(tenon::half{}), check(std::int8_t{});
}

TEMPLATE_LIST_TEST_CASE("NaN in max, min and argmax is found at either end", "[pitfalls]", tenon_test::spaces) {
  const double nan = std::nan("");
  const auto x = tensor_of<TestType, float>(rank<2>(3, 4), {1, NAN, 5, 2, NAN, 1, 5, 2, 1, 5, 2, NAN});
  CHECK(difference(numbers_of(tenon::max(x, axis<1>)), {nan, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::min(x, axis<1>)), {nan, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::max(x, axis<0>)), {nan, nan, 5, nan}) == "");
  CHECK(difference(numbers_of(tenon::maximum(tenon::slice(x, tenon::only(0)), 3)), {3, nan, 5, 3}) == "");
  CHECK(numbers_of(tenon::argmax(x, axis<1>)) == numbers{1, 0, 3});
}

TEMPLATE_LIST_TEST_CASE("argmax of rows counts within its row, whatever the strides", "[pitfalls]",
                        tenon_test::spaces) {
  const auto x = scattered_matrix<TestType>(23, 41);
  const auto values = numbers_of(x);
  numbers rows(23, 0.0), columns(41, 0.0);
  for (std::size_t i = 0; i < 23; ++i) {
    for (std::size_t j = 0; j < 41; ++j) {
      if (values[i * 41 + j] > values[i * 41 + static_cast<std::size_t>(rows[i])]) rows[i] = static_cast<double>(j);
      if (values[i * 41 + j] > values[static_cast<std::size_t>(columns[j]) * 41 + j]) {
        columns[j] = static_cast<double>(i);
      }
    }
  }
  CHECK(numbers_of(tenon::argmax(x, axis<1>)) == rows);
  CHECK(numbers_of(tenon::argmax(x, axis<0>)) == columns);
  CHECK(numbers_of(tenon::argmax(tenon::transpose(x), axis<0>)) == rows);
}

TEMPLATE_LIST_TEST_CASE("rows of odd lengths lose nothing at their ends", "[pitfalls]", tenon_test::spaces) {
  for (const tenon::index length : {1, 15, 63, 1023, 1025}) {
    CAPTURE(length);
    const auto x = scattered_matrix<TestType>(3, length);
    const auto squares = evaluated_tensor(tenon::square(x));
    const auto each = numbers_of(squares);
    numbers totals(3, 0.0);
    for (std::size_t i = 0; i < each.size(); ++i) totals[i / static_cast<std::size_t>(length)] += each[i];
    CHECK(difference(numbers_of(tenon::sum(tenon::square(x), axis<1>)), totals, 1e-6) == "");
    CHECK(difference(numbers_of(tenon::sum(tenon::transpose(squares), axis<0>)), totals, 1e-6) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("nothing at all is no special case", "[pitfalls]", tenon_test::spaces) {
  const auto none = counting<float, TestType>(rank<2>(4, 0));
  CHECK(numbers_of(tenon::transpose(none) + 1).empty());
  CHECK(numbers_of(tenon::sum(none, axis<1>)) == numbers(4, 0.0));
  CHECK(numbers_of(tenon::matmul(none, tenon::transpose(none))) == numbers(16, 0.0));
  CHECK(difference(numbers_of(tenon::mean(none, axis<1>)), numbers(4, std::nan(""))) == "");
  CHECK(numbers_of(tenon::softmax(none, axis<0>)).empty());
  auto y = counting<float, TestType>(rank<1>(3));
  tenon::slice(y, range(3, 3)) = counting<float, TestType>(rank<1>(0));
  CHECK(numbers_of(y) == numbers{0, 1, 2});
}
