// tests/algorithms/unique.cpp: the different elements and slices, with first positions, inverse and counts.
// The reference looks at every earlier item, and orders the different ones by exchanging neighbours.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/unique.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

struct described {
  std::vector<numbers> items;
  numbers indices, inverse, counts;
};

/// The different items by definition.
described described_by_definition(const std::vector<numbers>& items) {
  described result;
  for (std::size_t i = 0; i < items.size(); ++i) {
    std::size_t at = 0;
    while (at < result.items.size() && result.items[at] != items[i]) ++at;
    if (at == result.items.size()) {
      result.items.push_back(items[i]);
      result.indices.push_back(static_cast<double>(i));
      result.counts.push_back(0);
    }
    ++result.counts[at];
  }
  for (std::size_t end = result.items.size(); end > 1; --end) {
    for (std::size_t i = 1; i < end; ++i) {
      if (!(result.items[i] < result.items[i - 1])) continue;
      std::swap(result.items[i], result.items[i - 1]);
      std::swap(result.indices[i], result.indices[i - 1]);
      std::swap(result.counts[i], result.counts[i - 1]);
    }
  }
  for (const auto& item : items) {
    std::size_t at = 0;
    while (result.items[at] != item) ++at;
    result.inverse.push_back(static_cast<double>(at));
  }
  return result;
}

template <class Found>
void check_described(const Found& found, const described& expected) {
  CHECK(numbers_of(found.indices) == expected.indices);
  CHECK(numbers_of(found.inverse) == expected.inverse);
  CHECK(numbers_of(found.counts) == expected.counts);
}

template <class Operand>
void check_elements(const Operand& x) {
  std::vector<numbers> items;
  for (const double each : numbers_of(x)) items.push_back({each});
  const auto expected = described_by_definition(items);
  const auto found = tenon::unique(x);
  numbers values;
  for (const auto& item : expected.items) values.push_back(item[0]);
  CHECK(numbers_of(found.values) == values);
  CHECK(extents_of(found.inverse) == extents_of(x));
  check_described(found, expected);
}

template <class Operand, int Axis>
void check_slices(const Operand& x, tenon::axis_list<Axis> axes) {
  const auto values = numbers_of(x);
  auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  std::vector<numbers> items(static_cast<std::size_t>(extents[Axis]));
  for (const auto& line : tenon_test::lines_of(extents, Axis)) {
    for (std::size_t place = 0; place < line.size(); ++place) items[place].push_back(values[line[place]]);
  }
  const auto expected = described_by_definition(items);
  const auto found = tenon::unique(x, axes);
  check_described(found, expected);
  extents[Axis] = static_cast<tenon::index>(expected.items.size());
  CHECK(found.values.shape().to_array() == extents);
  const auto kept = numbers_of(found.values);
  const auto lines = tenon_test::lines_of(extents, Axis);
  for (std::size_t number = 0; number < lines.size(); ++number) {
    for (std::size_t place = 0; place < lines[number].size(); ++place) {
      if (kept[lines[number][place]] != expected.items[place][number]) FAIL_CHECK("line " << number);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("different elements of operands of every kind", "[unique]", tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) { check_elements(x); });
  }
  check_elements(tenon_test::few_values<bool, TestType>({{2, 3, 5}}, 1, 2));
}

TEMPLATE_LIST_TEST_CASE("different slices along every axis", "[unique]", tenon_test::algorithm_spaces) {
  for (const auto& extents : {tenon::array<tenon::index, 3>{{20, 2, 1}}, tenon::array<tenon::index, 3>{{2, 20, 2}},
                              tenon::array<tenon::index, 3>{{1, 3, 30}}, tenon::array<tenon::index, 3>{{0, 3, 2}}}) {
    check_slices(tenon_test::few_values<int, TestType>(extents, 6, 2), axis<0>);
    check_slices(tenon_test::few_values<float, TestType>(extents, 7, 2) * 2.0f, axis<1>);
    check_slices(tenon_test::few_values<tenon::half, TestType>(extents, 8, 2), axis<2>);
  }
}

TEMPLATE_LIST_TEST_CASE("different integers that lie close together, and far apart", "[unique]",
                        tenon_test::algorithm_spaces) {
  const auto check = [](auto number, std::initializer_list<std::int64_t> values) {
    using element = decltype(number);
    const auto x = tenon_test::made_tensor<element, tenon::host>(
        rank<1>(static_cast<tenon::index>(values.size())),
        [&](tenon::index i) { return static_cast<double>(values.begin()[i]); });
    const tenon::tensor<element, rank<1>, TestType> there = x.template to<TestType>();
    std::vector<numbers> items;
    for (const double each : numbers_of(x)) items.push_back({each});
    const auto expected = described_by_definition(items);
    const auto found = tenon::unique(there);
    check_described(found, expected);
    numbers different;
    for (const auto& item : expected.items) different.push_back(item[0]);
    CHECK(numbers_of(found.values) == different);
  };
  check(std::int32_t{}, {7});
  check(std::int32_t{}, {-3, 2, -3, 5, 6, 2, -3, -1});    // 10 places for 8 numbers
  check(std::int32_t{}, {0, 15, 0, 15, 3, 3, 3, 3});      // 16 places, the most
  check(std::int32_t{}, {0, 16, 0, 16, 3, 3, 3, 3});      // one more
  check(std::int8_t{}, {-128, 127, -128, 127, 0, 1, 1});  // as far apart as the type allows
  check(std::uint8_t{}, {255, 250, 255, 251, 254});
  check(std::int64_t{}, {-(std::int64_t{1} << 62), std::int64_t{1} << 62, -(std::int64_t{1} << 62)});
}

TEMPLATE_LIST_TEST_CASE("NaN occurs once, as the last", "[unique]", tenon_test::algorithm_spaces) {
  const double nan = tenon_test::nan_value;
  const auto [values, indices, inverse, counts] =
      tenon::unique(tenon_test::repeated<double, TestType>({nan, 2, nan, -1}, 6));
  CHECK(difference(numbers_of(values), {-1, 2, nan}) == "");
  CHECK(numbers_of(indices) == numbers{3, 1, 0});
  CHECK(numbers_of(inverse) == numbers{2, 1, 2, 0, 2, 1});
  CHECK(numbers_of(counts) == numbers{1, 2, 3});
}
