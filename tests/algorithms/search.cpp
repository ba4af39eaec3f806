// tests/algorithms/search.cpp: where elements belong in a sorted line.
// The reference counts the elements of the line that come before.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/search.hpp>
#include <tenon/algorithms/sort.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

template <class Line, class Operand>
void check_search(const Line& line, const Operand& x) {
  numbers left, right;
  const auto elements = numbers_of(line);
  for (const double each : numbers_of(x)) {
    left.push_back(0), right.push_back(0);
    for (const double other : elements) {
      left.back() += other < each ? 1 : 0;
      right.back() += other <= each ? 1 : 0;
    }
  }
  const auto found = tenon::searchsorted(line, x);
  CHECK(tenon_test::extents_of(found) == tenon_test::extents_of(x));
  CHECK(numbers_of(found) == left);
  CHECK(numbers_of(tenon::searchsorted(line, x, {.right = true})) == right);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("positions of operands of every kind in lines of odd lengths", "[search]",
                        tenon_test::algorithm_spaces) {
  for (const tenon::index length : {0, 1, 2, 37}) {
    const auto line = tenon_test::made_tensor<float, TestType>(
        rank<1>(length), [](tenon::index i) { return static_cast<double>(i / 3) / 2; });
    for (const auto& extents : tenon_test::line_shapes) {
      tenon_test::for_each_operand<int, TestType>(extents, [&](const auto& x) { check_search(line, x); });
    }
    check_search(tenon::slice(line, tenon::range(0, tenon::open_end, 2)),
                 tenon_test::few_values<tenon::half, TestType>({{3, 5, 2}}, 4));
  }
}

TEMPLATE_LIST_TEST_CASE("NaN belongs behind every number", "[search]", tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value, infinity = tenon_test::infinity;
  const auto line = tenon::sort(tenon_test::repeated<float, TestType>({nan, 1, infinity, nan, -infinity}, 5), axis<0>);
  const auto x = tenon_test::repeated<float, TestType>({nan, infinity, 0}, 3);
  CHECK(numbers_of(tenon::searchsorted(line, x)) == numbers{3, 2, 1});
  CHECK(numbers_of(tenon::searchsorted(line, x, {.right = true})) == numbers{5, 3, 1});
}
