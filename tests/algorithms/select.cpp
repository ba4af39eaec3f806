// tests/algorithms/select.cpp: elements, positions and slices that a condition chooses.
// The reference walks all elements in row-major order and keeps what the condition says.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/select.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;
using shape_numbers = std::vector<tenon::index>;

template <class Operand>
void check_masked(const Operand& x) {
  numbers expected;
  for (const double each : numbers_of(x)) {
    if (each > 3) expected.push_back(each);
  }
  CHECK(numbers_of(tenon::masked_select(x, x > 3.0f)) == expected);
}

template <class Operand>
void check_nonzero(const Operand& x) {
  const auto values = numbers_of(x);
  const auto extents = x.shape().to_array();
  numbers rows[3];
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    const auto at = static_cast<tenon::index>(i);
    rows[0].push_back(static_cast<double>(at / extents[2] / extents[1]));
    rows[1].push_back(static_cast<double>(at / extents[2] % extents[1]));
    rows[2].push_back(static_cast<double>(at % extents[2]));
  }
  numbers expected;
  for (const auto& row : rows) expected.insert(expected.end(), row.begin(), row.end());
  const auto found = tenon::nonzero(x);
  CHECK(extents_of(found) == shape_numbers{3, static_cast<tenon::index>(rows[0].size())});
  CHECK(numbers_of(found) == expected);
}

template <class Operand, int Axis>
void check_compress(const Operand& x, tenon::axis_list<Axis> axes) {
  using space = typename tenon::node_of<const Operand&>::space;
  const auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  const auto condition = tenon_test::made_tensor<bool, space>(rank<1>(extents[Axis] - extents[Axis] / 4),
                                                              [](tenon::index i) { return i % 3 != 1; });
  const auto chosen = numbers_of(condition), values = numbers_of(x);
  std::size_t inner = 1;
  for (int i = Axis + 1; i < 3; ++i) inner *= static_cast<std::size_t>(extents[i]);
  numbers expected;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t place = i / inner % static_cast<std::size_t>(extents[Axis]);
    if (place < chosen.size() && chosen[place] != 0) expected.push_back(values[i]);
  }
  CHECK(numbers_of(tenon::compress(x, condition, axes)) == expected);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("masks, positions and slices of operands of every kind", "[select]",
                        tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) {
      check_masked(x);
      check_nonzero(x);
      check_compress(x, axis<0>);
      check_compress(x, axis<1>);
      check_compress(x, axis<2>);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("operand and mask are broadcast together", "[select]", tenon_test::algorithm_spaces) {
  const auto x = counting<int, TestType>(rank<2>(2, 3));
  const auto columns = tensor_of<TestType, bool>(rank<1>(3), {true, false, true});
  const auto rows = tensor_of<TestType, bool>(rank<2>(2, 1), {false, true});
  CHECK(numbers_of(tenon::masked_select(x, columns)) == numbers{0, 2, 3, 5});
  CHECK(numbers_of(tenon::masked_select(x, rows)) == numbers{3, 4, 5});
  CHECK(numbers_of(tenon::masked_select(counting<int, TestType>(rank<1>(3)), rows && columns)) == numbers{0, 2});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          tenon::masked_select(x, tenon_test::made_tensor<bool, TestType>(rank<1>(4), [](tenon::index) { return 1; }));
        }) ==
        "masked_select: axis 1: extents 3 and 4 differ, expected equal or one of them 1 (operands [2, 3] and [4])");
}

TEMPLATE_LIST_TEST_CASE("NaN is not 0, and neither is infinity", "[select]", tenon_test::algorithm_spaces) {
  const auto x = tenon_test::repeated<float, TestType>({0, tenon_test::nan_value, -0.0, -tenon_test::infinity}, 4);
  CHECK(numbers_of(tenon::nonzero(x)) == numbers{1, 3});
  const auto flags = tensor_of<TestType, bool>(tenon::shape<2, 2>{}, {true, false, true, true});
  const auto found = tenon::nonzero(flags);
  static_assert(std::is_same_v<typename decltype(found)::shape_type, tenon::shape<2, tenon::dyn>>);
  CHECK(numbers_of(found) == numbers{0, 1, 1, 0, 0, 1});
}

TEMPLATE_LIST_TEST_CASE("compress without an axis counts elements", "[select]", tenon_test::algorithm_spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 2), 1);
  const auto condition = tensor_of<TestType, bool>(rank<1>(5), {false, true, false, false, true});
  CHECK(numbers_of(tenon::compress(x, condition)) == numbers{2, 5});
  CHECK(numbers_of(tenon::compress(tenon::transpose(x), condition)) == numbers{3, 4});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::compress(x, condition, axis<-1>); }) ==
        "compress: axis 1: a condition of 5 elements, expected at most 2");
}

TEST_CASE("selection is the same on any number of threads", "[select]") {
  const auto x = tenon_test::few_values<int, tenon::host>({{40, 50, 60}}, 7, 3);
  CHECK(tenon_test::is_same_on_any_threads([&] { return tenon_test::elements_of(tenon::nonzero(x)); }));
  CHECK(tenon_test::numbers_of(tenon::masked_select(x, x != 0)).size() ==
        static_cast<std::size_t>(tenon::nonzero(x).extent(1)));
}
