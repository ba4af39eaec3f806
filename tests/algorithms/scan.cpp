// tests/algorithms/scan.cpp: cumulative sums, products, maxima and minima along every axis.
// Lines are folded one element at a time, in double or 64 bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/scan.hpp>
#include <tenon/expr/views/permute.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/complex.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// A scan by definition: `fold(state, value)` from `first` on.
template <int Rank, class Fold>
numbers scanned(const numbers& values, const tenon::array<tenon::index, Rank>& extents, int along, double first,
                tenon::scan_options options, const Fold& fold) {
  numbers result(values.size());
  for (auto line : tenon_test::lines_of(extents, along)) {
    if (options.reverse) line = tenon_test::line(line.rbegin(), line.rend());
    double state = first;
    for (const std::size_t at : line) {
      const double before = state;
      state = fold(state, values[at]);
      result[at] = options.exclusive ? before : state;
    }
  }
  return result;
}

const auto added = [](double left, double right) { return left + right; };
const auto multiplied = [](double left, double right) { return left * right; };
const auto greater = [](double left, double right) { return std::isnan(left) || left > right ? left : right; };
const auto less = [](double left, double right) { return std::isnan(left) || left < right ? left : right; };

template <class Operand>
void check_sums(const Operand& x) {
  const auto values = numbers_of(x);
  const auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2]);
  for (const auto options : {tenon::scan_options{}, tenon::scan_options{.exclusive = true},
                             tenon::scan_options{.reverse = true}, tenon::scan_options{true, true}}) {
    CHECK(difference(numbers_of(tenon::cumsum(x, axis<0>, options)), scanned(values, extents, 0, 0, options, added)) ==
          "");
    CHECK(difference(numbers_of(tenon::cumsum(x, axis<-2>, options)), scanned(values, extents, 1, 0, options, added)) ==
          "");
    CHECK(difference(numbers_of(tenon::cumsum(x, axis<2>, options)), scanned(values, extents, 2, 0, options, added)) ==
          "");
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sums along every axis of operands of every kind", "[scan]", tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) { check_sums(x); });
    tenon_test::for_each_operand<int, TestType>(extents, [](const auto& x) { check_sums(x); });
  }
}

TEMPLATE_LIST_TEST_CASE("products, maxima and minima", "[scan]", tenon_test::algorithm_spaces) {
  const auto x = tenon_test::made_tensor<double, TestType>(
      rank<2>(11, 37), [](tenon::index i) { return static_cast<double>(i * 7919 % 2003) / 1001.0 - 1.0; });
  const auto values = numbers_of(x);
  const auto extents = x.shape().to_array();
  for (const auto options : {tenon::scan_options{}, tenon::scan_options{true, true}}) {
    CHECK(difference(numbers_of(tenon::cumprod(x, axis<1>, options)),
                     scanned(values, extents, 1, 1, options, multiplied), 1e-15) == "");
    CHECK(difference(numbers_of(tenon::cummax(x, axis<0>, options)),
                     scanned(values, extents, 0, -tenon_test::infinity, options, greater)) == "");
    CHECK(difference(numbers_of(tenon::cummin(x, axis<1>, options)),
                     scanned(values, extents, 1, tenon_test::infinity, options, less)) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("scans keep NaN from where it stands", "[scan]", tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value;
  const auto x = tensor_of<TestType, float>(rank<1>(4), {1, 3, static_cast<float>(nan), 5});
  CHECK(difference(numbers_of(tenon::cumsum(x, axis<0>)), {1, 4, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::cummax(x, axis<0>)), {1, 3, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::cummin(x, axis<0>, {.reverse = true})), {nan, nan, nan, 5}) == "");
}

TEMPLATE_LIST_TEST_CASE("scans accumulate integers in 64 bits, halves and floats in double", "[scan]",
                        tenon_test::algorithm_spaces) {
  const auto bytes = tenon_test::made_tensor<std::int8_t, TestType>(rank<1>(1000), [](tenon::index) { return 100; });
  const auto sums = tenon::cumsum(bytes, axis<0>);
  static_assert(std::is_same_v<typename decltype(sums)::element, std::int64_t>);
  CHECK(numbers_of(sums).back() == 100000);
  static_assert(std::is_same_v<typename decltype(tenon::cummax(bytes, axis<0>))::element, std::int8_t>);
  const auto flags = tensor_of<TestType, bool>(rank<1>(3), {true, false, true});
  CHECK(tenon_test::elements_of(tenon::cumsum(flags, axis<0>)) == std::vector<std::int64_t>{1, 1, 2});
  const auto halves = tenon_test::made_tensor<tenon::half, TestType>(rank<1>(4096), [](tenon::index) { return 1; });
  CHECK(numbers_of(tenon::cumsum(halves, axis<0>)).back() == 4096);
  const auto tenths = tenon_test::made_tensor<float, TestType>(rank<1>(1000000), [](tenon::index) { return 0.1; });
  const double tenth = static_cast<double>(0.1f);
  CHECK(std::fabs(numbers_of(tenon::cumsum(tenths, axis<0>)).back() - 1000000 * tenth) < 0.005);
}

TEMPLATE_LIST_TEST_CASE("scans of static extents and of generators", "[scan]", tenon_test::algorithm_spaces) {
  const tenon::tensor<float, tenon::shape<2, 3>, TestType> x({}, {1, 2, 3, 4, 5, 6});
  const auto sums = tenon::cumsum(x, axis<1>);
  static_assert(std::is_same_v<typename decltype(sums)::shape_type, tenon::shape<2, 3>>);
  CHECK(numbers_of(sums) == numbers{1, 3, 6, 4, 9, 15});
  CHECK(numbers_of(tenon::cumsum(tenon::arange<int>(5), axis<0>)) == numbers{0, 1, 3, 6, 10});
}

TEST_CASE("scans of a few lines side by side", "[scan]") {
  for (const tenon::index lines : {1, 2, 3, 4, 5, 8, 31, 32, 33, 36}) {
    CAPTURE(lines);
    auto x = tenon_test::made_tensor<double>(rank<2>(9, lines),
                                             [](tenon::index i) { return static_cast<double>(i * 7919 % 83) - 40; });
    x(5, lines - 1) = tenon_test::nan_value;
    const tenon::tensor<double, rank<2>> rows = tenon::transpose(x);
    for (const auto options : {tenon::scan_options{}, tenon::scan_options{true, true}}) {
      const auto check = [&](const auto& operand, auto along) {
        constexpr int at = tenon::only_axis<2>(along);
        const auto values = numbers_of(operand);
        const auto extents = operand.shape().to_array();
        CHECK(difference(numbers_of(tenon::cumsum(operand, along, options)),
                         scanned(values, extents, at, 0, options, added)) == "");
        CHECK(difference(numbers_of(tenon::cummin(operand, along, options)),
                         scanned(values, extents, at, tenon_test::infinity, options, less)) == "");
      };
      check(x, axis<0>);
      check(rows, axis<1>);
    }
  }
}

TEST_CASE("scans are the same on any number of threads", "[scan]") {
  const auto x = tenon_test::made_tensor<float>(rank<2>(300, 301), [](tenon::index i) { return std::sin(i); });
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::cumsum(x, axis<0>)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::cumsum(x, axis<1>)); }));
}

TEST_CASE("scans of complex numbers", "[scan]") {
  using number = tenon_test::complex<float>;
  const tenon::tensor<number, tenon::rank<1>> z = {number(3, 4), number(0, 1), number(-1, 2)};
  CHECK(tenon_test::elements_of(tenon::cumsum(z, tenon::axis<0>)) == std::vector<number>{{3, 4}, {3, 5}, {2, 7}});
  CHECK(tenon_test::elements_of(tenon::cumprod(z, tenon::axis<0>)) == std::vector<number>{{3, 4}, {-4, 3}, {-2, -11}});
}
