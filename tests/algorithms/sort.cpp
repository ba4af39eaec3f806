// tests/algorithms/sort.cpp: sorted lines, their positions, and the greatest and least elements, along every axis.
// The reference inserts one element at a time behind those that are not greater, which is stable by construction.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/sort.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/views/flip.hpp>
#include <tenon/expr/views/permute.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

bool is_before(double left, double right, bool descending) {
  if (std::isnan(left) || std::isnan(right)) return descending ? !std::isnan(right) : !std::isnan(left);
  return descending ? left > right : left < right;
}

/// Positions of the elements of a line in order, by insertion.
numbers inserted(const numbers& values, const tenon_test::line& line, bool descending) {
  numbers order;
  for (std::size_t place = 0; place < line.size(); ++place) {
    auto at = order.end();
    while (at != order.begin() &&
           is_before(values[line[place]], values[line[static_cast<std::size_t>(*(at - 1))]], descending)) {
      --at;
    }
    order.insert(at, static_cast<double>(place));
  }
  return order;
}

template <class Operand, int Axis>
void check_sorted(const Operand& x, tenon::axis_list<Axis> axes) {
  const auto values = numbers_of(x);
  const auto extents = x.shape().to_array();
  for (const bool descending : {false, true}) {
    CAPTURE(extents[0], extents[1], extents[2], Axis, descending);
    numbers sorted(values.size()), order(values.size());
    for (const auto& line : tenon_test::lines_of(extents, Axis)) {
      const numbers positions = inserted(values, line, descending);
      for (std::size_t place = 0; place < line.size(); ++place) {
        order[line[place]] = positions[place];
        sorted[line[place]] = values[line[static_cast<std::size_t>(positions[place])]];
      }
    }
    CHECK(difference(numbers_of(tenon::sort(x, axes, {descending})), sorted) == "");
    CHECK(difference(numbers_of(tenon::argsort(x, axes, {descending})), order) == "");
  }
}

template <class Operand, int Axis>
void check_topk(const Operand& x, tenon::index count, tenon::axis_list<Axis> axes) {
  const auto values = numbers_of(x);
  const auto extents = x.shape().to_array();
  auto kept = extents;
  kept[Axis] = count;
  const auto targets = tenon_test::lines_of(kept, Axis);
  for (const bool largest : {false, true}) {
    CAPTURE(extents[0], extents[1], extents[2], Axis, largest);
    numbers found(static_cast<std::size_t>(kept[0] * kept[1] * kept[2])), places = found;
    const auto lines = tenon_test::lines_of(extents, Axis);
    for (std::size_t number = 0; number < lines.size(); ++number) {
      const numbers positions = inserted(values, lines[number], largest);
      for (std::size_t place = 0; place < targets[number].size(); ++place) {
        places[targets[number][place]] = positions[place];
        found[targets[number][place]] = values[lines[number][static_cast<std::size_t>(positions[place])]];
      }
    }
    const auto result = tenon::topk(x, count, axes, {largest});
    CHECK(result.values.shape().to_array() == kept);
    CHECK(difference(numbers_of(result.values), found) == "");
    CHECK(difference(numbers_of(result.indices), places) == "");
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sorted lines along every axis of operands of every kind", "[sort]",
                        tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) {
      check_sorted(x, axis<0>);
      check_sorted(x, axis<1>);
      check_sorted(x, axis<2>);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("the greatest and least elements along every axis", "[sort]", tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<int, TestType>(extents, [&](const auto& x) {
      for (const tenon::index part : {3, 2, 1}) {
        check_topk(x, extents[0] / part, axis<0>);
        check_topk(x, extents[1] / part, axis<1>);
        check_topk(x, extents[2] / part, axis<2>);
      }
    });
  }
}

TEMPLATE_LIST_TEST_CASE("sorting other element types and long lines", "[sort]", tenon_test::algorithm_spaces) {
  check_sorted(tenon_test::few_values<bool, TestType>({{3, 1, 70}}, 1, 2), axis<2>);
  check_sorted(tenon_test::few_values<std::uint8_t, TestType>({{3, 70, 5}}, 2, 200), axis<1>);
  check_sorted(tenon_test::few_values<tenon::half, TestType>({{33, 4, 5}}, 3, 200), axis<0>);
  const auto x = tenon_test::made_tensor<float, TestType>(
      rank<2>(100000, 3), [](tenon::index i) { return static_cast<double>(i * 7919 % 100003); });
  const auto sorted = numbers_of(tenon::sort(x, axis<0>));
  for (std::size_t i = 3; i < sorted.size(); ++i) {
    if (sorted[i - 3] > sorted[i]) FAIL("out of order at " << i);
  }
}

TEMPLATE_LIST_TEST_CASE("the first elements of long lines, most of which never come in", "[sort]",
                        tenon_test::algorithm_spaces) {
  const auto x = tenon_test::few_values<float, TestType>({{1, 2, 700}}, 8, 200);
  const auto rising = tenon_test::made_tensor<int, TestType>(
      rank<3>(700, 1, 2), [](tenon::index i) { return static_cast<double>(i % 2 == 0 ? i / 6 : -i / 6); });
  for (const tenon::index count : {0, 1, 60}) {
    check_topk(x, count, axis<2>);
    check_topk(tenon::permute(x, tenon::axis<2, 0, 1>), count, axis<0>);
    check_topk(tenon::flip(x, axis<2>), count, axis<2>);
    check_topk(rising, count, axis<0>);
  }
  const double nan = tenon_test::nan_value, infinity = tenon_test::infinity;
  const auto special = tenon_test::made_tensor<double, TestType>(rank<3>(2, 1, 700), [&](tenon::index i) {
    return i % 97 == 96 ? nan : i % 89 == 88 ? infinity : i % 83 == 82 ? -infinity : static_cast<double>(i % 31);
  });
  for (const tenon::index count : {5, 20}) check_topk(special, count, axis<2>);
  check_topk(tenon::where(special < 30.0, nan, special), 3, axis<2>);
  check_topk(tenon_test::few_values<tenon::half, TestType>({{1, 3, 700}}, 9, 200), 4, axis<2>);
}

TEMPLATE_LIST_TEST_CASE("NaN is greater than every number", "[sort]", tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value, infinity = tenon_test::infinity;
  const auto x = tenon_test::repeated<float, TestType>({nan, 2, -infinity, nan, infinity, -1}, 6);
  CHECK(difference(numbers_of(tenon::sort(x, axis<0>)), {-infinity, -1, 2, infinity, nan, nan}) == "");
  CHECK(numbers_of(tenon::argsort(x, axis<0>)) == numbers{2, 5, 1, 4, 0, 3});
  CHECK(numbers_of(tenon::argsort(x, axis<0>, {.descending = true})) == numbers{0, 3, 4, 1, 5, 2});
  const auto [values, indices] = tenon::topk(x, 3, axis<0>);
  CHECK(difference(numbers_of(values), {nan, nan, infinity}) == "");
  CHECK(numbers_of(indices) == numbers{0, 3, 4});
}

template <class T, class Space>
void check_long_lines(double scale) {
  CAPTURE(tenon::dtype_name<T>());
  const auto make = [=](tenon::index i) {
    const double special[] = {0.0, -0.0, tenon_test::infinity, -tenon_test::infinity, tenon_test::nan_value};
    const bool is_special = std::is_floating_point_v<T> && i % 7 == 0;
    return is_special ? special[i / 7 % 5] : std::trunc(scale * static_cast<double>((i * i * 31 + i) % 401 - 200));
  };
  check_sorted(tenon_test::made_tensor<T, Space>(rank<3>(2, 301, 3), make), axis<1>);
  check_sorted(tenon::flip(tenon_test::made_tensor<T, Space>(rank<3>(1, 3, 270), make), axis<2>), axis<2>);
}

TEMPLATE_LIST_TEST_CASE("long lines of every type are sorted by the bytes of their elements", "[sort]",
                        tenon_test::algorithm_spaces) {
  check_long_lines<float, TestType>(1e10), check_long_lines<double, TestType>(1e200);
  check_long_lines<std::int8_t, TestType>(0.5), check_long_lines<std::int16_t, TestType>(100);
  check_long_lines<std::int32_t, TestType>(1e7), check_long_lines<std::int64_t, TestType>(1e13);
}

TEMPLATE_LIST_TEST_CASE("static extents stay but for the one that topk sets", "[sort]", tenon_test::algorithm_spaces) {
  const tenon::tensor<int, tenon::shape<2, 3>, TestType> x({}, {3, 1, 2, 6, 5, 4});
  static_assert(std::is_same_v<typename decltype(tenon::sort(x, axis<1>))::shape_type, tenon::shape<2, 3>>);
  const auto best = tenon::topk(x, 2, axis<-1>);
  static_assert(std::is_same_v<typename decltype(best.values)::shape_type, tenon::shape<2, tenon::dyn>>);
  CHECK(numbers_of(best.values) == numbers{3, 2, 6, 5});
}

TEMPLATE_LIST_TEST_CASE("topk refuses more elements than there are", "[sort]", tenon_test::algorithm_spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<2>(4, 3));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::topk(x, 4, axis<1>); }) ==
        "topk: axis 1: 4 elements, expected at least 0 and at most 3 (operand [4, 3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::topk(x, -1, axis<0>); }) ==
        "topk: axis 0: -1 elements, expected at least 0 and at most 4 (operand [4, 3])");
}

TEST_CASE("sorting is the same on any number of threads", "[sort]") {
  const auto x = tenon_test::few_values<float, tenon::host>({{40, 50, 60}}, 7, 20);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::argsort(x, axis<1>)); }));
}
