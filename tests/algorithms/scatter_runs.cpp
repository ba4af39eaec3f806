// tests/algorithms/scatter_runs.cpp: elements that meet at one place are combined in the order of the source.
// Subtraction and overwriting show the order; rows are given for each line and for all.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/scatter.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"

namespace {

using tenon::axis;
using tenon::index_add;
using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("what meets is combined in the order of the source", "[scatter_runs]",
                        tenon_test::algorithm_spaces) {
  const auto source = tensor_of<TestType, double>(rank<1>(5), {0x1p60, 1, -0x1p60, 3, 5});
  const auto rows = tensor_of<TestType, int>(rank<1>(5), {2, 2, 2, 0, -1});
  auto sums = tenon::zeros<double, TestType>(rank<1>(3));
  tenon::scatter_add(sums, axis<0>, rows, source);
  CHECK(numbers_of(sums) == numbers{3, 0, 5});  // 1 is lost in the first sum, so it is not added last
  tenon::scatter(sums, axis<0>, rows, source, tenon::subtract);
  CHECK(numbers_of(sums) == numbers{0, 0, -5});
}

TEMPLATE_LIST_TEST_CASE("rows of one line serve all, whatever the lines", "[scatter_runs]",
                        tenon_test::algorithm_spaces) {
  const auto source = tenon_test::counting<float, TestType>(rank<3>(2, 3, 2));
  const auto rows = tensor_of<TestType, int>(rank<1>(3), {1, 0, 1});
  auto sums = tenon::zeros<float, TestType>(rank<3>(2, 2, 2));
  index_add(sums, axis<1>, rows, source);
  CHECK(numbers_of(sums) == numbers{2, 3, 4, 6, 8, 9, 16, 18});
  const auto own = tensor_of<TestType, int>(rank<3>(2, 3, 1), {1, 0, 1, 0, 0, 0});
  sums = tenon::zeros<float, TestType>(rank<3>(2, 2, 2));
  tenon::scatter_add(sums, axis<1>, own, source);
  CHECK(numbers_of(sums) == numbers{2, 0, 4, 0, 24, 0, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("halves are rounded at every combination, bools and bytes stay theirs", "[scatter_runs]",
                        tenon_test::algorithm_spaces) {
  auto sums = tensor_of<TestType, tenon::half>(rank<1>(1), {tenon::half(2048.0f)});
  const auto rows = tenon::zeros<std::int64_t, TestType>(rank<1>(3));
  tenon::scatter_add(sums, axis<0>, rows, 1.0f);
  CHECK(numbers_of(sums) == numbers{2048});
  auto bytes = tensor_of<TestType, std::uint8_t>(rank<1>(2), {250, 7});
  tenon::scatter(bytes, axis<0>, rows, tensor_of<TestType, std::uint8_t>(rank<1>(3), {1, 2, 3}), tenon::maximum);
  CHECK(numbers_of(bytes) == numbers{250, 7});
  auto flags = tensor_of<TestType, bool>(rank<1>(2), {false, false});
  tenon::scatter(flags, axis<0>, rows, tensor_of<TestType, bool>(rank<1>(3), {true, false, true}));
  CHECK(numbers_of(flags) == numbers{1, 0});
}
