// tests/algorithms/recurrence.cpp: linear recurrences along every axis, and their gradients.
// Lines are computed by definition, one element at a time, in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/recurrence.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// y[t] = a[t] y[t - 1] + x[t], without a at the first place.
template <int Rank>
decimals recurred(const decimals& a, const decimals& x, const tenon::array<tenon::index, Rank>& extents, int along,
                  bool reverse) {
  decimals result(x.size());
  for (auto line : tenon_test::lines_of(extents, along)) {
    if (reverse) line = tenon_test::line(line.rbegin(), line.rend());
    double state = 0;
    for (std::size_t place = 0; place < line.size(); ++place) {
      state = place == 0 ? x[line[0]] : a[line[place]] * state + x[line[place]];
      result[line[place]] = state;
    }
  }
  return result;
}

template <int Axis, class Operand>
void check_recurrences(const Operand& x) {
  const auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  constexpr int along = Axis < 0 ? Axis + 3 : Axis;
  const auto a = 0.1f * x - 0.4f;
  const auto values = numbers_of(x);
  for (const bool reverse : {false, true}) {
    const tenon::recurrence_options options{reverse};
    CHECK(difference(numbers_of(tenon::linear_recurrence(a, x, axis<Axis>, options)),
                     recurred(numbers_of(a), values, extents, along, reverse), 1e-6) == "");
    CHECK(difference(numbers_of(tenon::linear_recurrence(-0.5, x, axis<Axis>, options)),
                     recurred(decimals(values.size(), -0.5), values, extents, along, reverse), 1e-6) == "");
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("recurrences along every axis of operands of every kind", "[recurrence]",
                        tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) {
      check_recurrences<0>(x);
      check_recurrences<-2>(x);
      check_recurrences<2>(x);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("a decay repeats over lines, and lines over decays", "[recurrence]",
                        tenon_test::algorithm_spaces) {
  const auto x = tenon_test::few_values<double, TestType>({{3, 37, 5}}, 1);
  const auto a = tenon_test::tensor_of<TestType, double>(rank<1>(5), {0.1, 0.2, -0.3, 0.4, 1});
  const auto whole = numbers_of(tenon::broadcast_to(a, x.shape()));
  const auto extents = x.shape().to_array();
  CHECK(difference(numbers_of(tenon::linear_recurrence(a, x, axis<1>)),
                   recurred(whole, numbers_of(x), extents, 1, false), 1e-14) == "");
  CHECK(difference(numbers_of(tenon::linear_recurrence(a, x, axis<2>, {.reverse = true})),
                   recurred(whole, numbers_of(x), extents, 2, true), 1e-14) == "");
  const auto row = tenon::slice(x, tenon::only(2), tenon::only(30), tenon::all_of);
  CHECK(difference(numbers_of(tenon::linear_recurrence(row, x, axis<0>)),
                   recurred(numbers_of(tenon::broadcast_to(row, x.shape())), numbers_of(x), extents, 0, false)) == "");
  CHECK(difference(numbers_of(tenon::linear_recurrence(x * 0.1, a, axis<0>)),
                   recurred(numbers_of(x * 0.1), whole, extents, 0, false), 1e-14) == "");
}

TEMPLATE_LIST_TEST_CASE("a recurrence within a statement, into its own operand", "[recurrence]",
                        tenon_test::algorithm_spaces) {
  auto x = tenon_test::tensor_of<TestType, float>(rank<1>(4), {1, 2, 3, 4});
  x = 2 * tenon::linear_recurrence(0.5f, x, axis<0>);
  CHECK(numbers_of(x) == decimals{2, 5, 8.5, 12.25});
  x = tenon::linear_recurrence(1, x, axis<0>);
  CHECK(numbers_of(x) == decimals{2, 7, 15.5, 27.75});
}

TEMPLATE_LIST_TEST_CASE("the first decay is not read, and NaN stays from where it stands", "[recurrence]",
                        tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value;
  const auto a = tenon_test::tensor_of<TestType, double>(rank<1>(4), {nan, 2, 2, 2});
  const auto x = tenon_test::tensor_of<TestType, double>(rank<1>(4), {1, 1, nan, 1});
  CHECK(difference(numbers_of(tenon::linear_recurrence(a, x, axis<0>)), {1, 3, nan, nan}) == "");
}

TEMPLATE_LIST_TEST_CASE("recurrences of integers are of float, of short floats as exact as of double", "[recurrence]",
                        tenon_test::algorithm_spaces) {
  const auto ones = tenon_test::made_tensor<int, TestType>(rank<1>(3), [](tenon::index) { return 1; });
  const auto sums = tenon::linear_recurrence(0.5, ones, axis<0>);
  static_assert(std::is_same_v<typename decltype(sums)::element, float>);
  CHECK(numbers_of(sums) == decimals{1, 1.5, 1.75});
  const auto halves = tenon_test::made_tensor<tenon::half, TestType>(rank<1>(2000), [](tenon::index) { return 1; });
  CHECK(numbers_of(tenon::linear_recurrence(0.999, halves, axis<0>)).back() ==
        static_cast<double>(static_cast<float>(static_cast<tenon::half>(float((1 - std::pow(0.999, 2000)) / 0.001)))));
}

TEST_CASE("recurrences are the same on any number of threads", "[recurrence]") {
  const auto x = tenon_test::made_tensor<float>(rank<2>(300, 301), [](tenon::index i) { return std::sin(i); });
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return tenon_test::elements_of(tenon::linear_recurrence(0.9f, x, axis<0>)); }));
}

TEST_CASE("recurrences have the gradients of both operands", "[recurrence]") {
  auto x = tenon_test::drawn(rank<2>(4, 6), 1), a = tenon_test::drawn(rank<2>(4, 6), 2);
  auto weights = tenon_test::drawn(rank<1>(6), 3);
  tenon::tensor<double, tenon::shape<>> one;
  one = 0.7;
  const auto check = [](const auto& function, auto&... operands) {
    CHECK(tenon_test::gradient_difference([&](const auto&... each) { return tenon::square(function(each...)); },
                                          operands...) == "");
  };
  for (const bool reverse : {false, true}) {
    const tenon::recurrence_options options{reverse};
    const auto rows = [&](const auto& u, const auto& v) { return tenon::linear_recurrence(u, v, axis<1>, options); };
    const auto columns = [&](const auto& u, const auto& v) { return tenon::linear_recurrence(u, v, axis<0>, options); };
    check(rows, a, x), check(columns, a, x), check(rows, weights, x), check(columns, weights, x);
    check(rows, one, x), check(columns, x, weights);
    check([&](const auto& v) { return rows(0.5, v); }, x);
    CHECK(tenon_test::second_difference([&](const auto& v) { return tenon::square(rows(tenon::sin(v), v)); }, x,
                                        1e-5) == "");
  }
}

TEST_CASE("misuse of recurrences is refused", "[recurrence]") {
  using tenon_test::text_of;
  const auto x = tenon_test::drawn(rank<2>(4, 6), 1), a = tenon_test::drawn(rank<2>(4, 5), 2);
  CHECK(text_of<tenon::shape_error>([&] { tenon::linear_recurrence(a, x, axis<0>); }) ==
        "linear_recurrence: axis 1: extents 5 and 6 differ, expected equal or one of them 1 (operands [4, 5] and [4, "
        "6])");
}
