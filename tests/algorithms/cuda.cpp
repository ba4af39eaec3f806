// tests/algorithms/cuda.cpp: algorithms on more elements than one block of a device takes.
// The tests of each algorithm run on cuda too; here are long lines, many lines and many bins, which take other ways.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cuda.hpp>
#include <tenon/device/graph.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::elements_of;

static_assert(tenon::device_passes<tenon::cuda>::available == tenon::compiled_by_nvcc);

/// Numbers that repeat and are out of order.
template <class T, class Space, class Shape>
auto scattered_values(const Shape& shape) {
  return tenon_test::made_tensor<T, Space>(
      shape, [](tenon::index i) { return static_cast<double>(i * 7919 % 100003 % 5000 - 2500); });
}

/// How many positions are out of order in lines of `length`, of equal elements by position.
template <class T>
int disorders(const std::vector<T>& values, const std::vector<tenon::index>& order, std::size_t length) {
  int found = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % length == 0) continue;
    const std::size_t line = i / length * length;
    const auto before = static_cast<std::size_t>(order[i - 1]), here = static_cast<std::size_t>(order[i]);
    const bool in_order =
        values[line + before] < values[line + here] || (values[line + before] == values[line + here] && before < here);
    found += in_order ? 0 : 1;
  }
  return found;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("scans of long lines and of many", "[cuda]", tenon_test::algorithm_spaces) {
  for (const auto& extents : {tenon::array<tenon::index, 2>{{3, 100001}}, tenon::array<tenon::index, 2>{{40001, 5}}}) {
    const auto x = scattered_values<int, TestType>(rank<2>(extents));
    const auto values = elements_of<TestType>(x);
    const auto sums = elements_of<TestType>(tenon::cumsum(x, axis<1>));
    const auto before = elements_of<TestType>(tenon::cumsum(x, axis<1>, {.exclusive = true}));
    const auto length = static_cast<std::size_t>(extents[1]);
    int wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t first = i % length == 0 ? 0 : sums[i - 1];
      wrong += before[i] != first || sums[i] != first + values[i] ? 1 : 0;
    }
    CHECK(wrong == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("sorting one line, long ones, and many", "[cuda]", tenon_test::algorithm_spaces) {
  for (const auto& extents : {tenon::array<tenon::index, 2>{{1, 30001}}, tenon::array<tenon::index, 2>{{2, 140001}},
                              tenon::array<tenon::index, 2>{{30001, 3}}, tenon::array<tenon::index, 2>{{7, 5000}}}) {
    const auto x = scattered_values<float, TestType>(rank<2>(extents));
    const auto order = elements_of<TestType>(tenon::argsort(x, axis<1>));
    CHECK(disorders(elements_of<TestType>(x), order, static_cast<std::size_t>(extents[1])) == 0);
  }
}

#if defined(__CUDACC__)
TEMPLATE_TEST_CASE("many lines are sorted within a graph, since the host waits for nothing", "[cuda]", float, double) {
  constexpr std::size_t length = 20;
  const auto x = scattered_values<TestType, tenon::cuda>(rank<2>(700, length));
  tenon::argsort(x, axis<1>);
  tenon::tensor<tenon::index, rank<2>, tenon::cuda> order({700, length});
  const auto graph = tenon::capture([&] { order.copy_from(tenon::argsort(x, axis<1>)); });
  graph.launch();
  CHECK(disorders(elements_of<tenon::cuda>(x), elements_of<tenon::cuda>(order), length) == 0);
}
#endif

TEMPLATE_LIST_TEST_CASE("selection and counts of many elements", "[cuda]", tenon_test::algorithm_spaces) {
  const auto x = scattered_values<int, TestType>(rank<1>(200001));
  const auto values = elements_of<TestType>(x);
  std::vector<int> expected;
  std::vector<tenon::index> counts(5000);
  for (const int each : values) {
    if (each > 0) expected.push_back(each);
    ++counts[static_cast<std::size_t>(each + 2500)];
  }
  CHECK(elements_of<TestType>(tenon::masked_select(x, x > 0)) == expected);
  CHECK(elements_of<TestType>(tenon::bincount(x + 2500)) == counts);
  const auto found = tenon::unique(x);
  CHECK(elements_of<TestType>(found.counts) == counts);
  CHECK(elements_of<TestType>(tenon::searchsorted(found.values, x, {.right = true}) - 1) ==
        elements_of<TestType>(found.inverse));
}
