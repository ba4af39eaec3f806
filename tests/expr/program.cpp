// tests/expr/program.cpp: the lowered form, evaluated by hand.
// Axis maps place operands in the iteration space; cursors give the same values one by one and several at once.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/program.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::array;
using tenon::rank;

/// Every value of a program over `extents`, one by one, with the lanes of `pack` compared on the way.
template <int Rank, class Program>
std::vector<double> walk(const Program& program, const array<tenon::index, Rank>& extents) {
  [[maybe_unused]] constexpr int width = tenon::simd::native_width<double>;
  std::vector<double> values;
  const tenon::index rows = tenon::count_between(extents, 0, Rank - 1);
  for (tenon::index row = 0; row < rows; ++row) {
    array<tenon::index, Rank> position{};
    tenon::set_position(position, extents, 0, Rank - 1, row);
    const auto cursor = program.at(position);
    for (tenon::index i = 0; i < extents[Rank - 1]; ++i) {
      values.push_back(static_cast<double>(cursor.value(i, tenon::no_slots{})));
    }
    if constexpr (!tenon::compiled_by_nvcc) {  // which has no packs
      for (tenon::index i = 0; i + width <= extents[Rank - 1]; i += width) {
        const auto lanes =
            cursor.template pack<width>(i, tenon::whole_access<tenon::reading::strided>{}, tenon::no_slots{});
        for (int lane = 0; lane < width; ++lane) {
          CHECK(static_cast<double>(lanes[lane]) == static_cast<double>(cursor.value(i + lane, tenon::no_slots{})));
        }
      }
    }
  }
  return values;
}

template <class Node>
std::vector<double> walk_node(const Node& node) {
  constexpr int rank = Node::shape_type::rank;
  return walk<rank>(node.template lower<0>(tenon::identity_map<rank>()), node.shape().to_array());
}

struct numbered_slots {
  template <int Slot>
  TENON_HOST_DEVICE float value(tenon::index i) const {
    return static_cast<float>(100 * Slot + i);
  }
};

}  // namespace

TEST_CASE("memory is read along any stride, one by one and in packs", "[program]") {
  float memory[40];
  for (int i = 0; i < 40; ++i) memory[i] = static_cast<float>(i);
  const auto at = [&](tenon::index start, tenon::index outer, tenon::index inner) {
    return walk<2>(tenon::strided_source<float, 2>{memory + start, {{outer, inner}}}, array<tenon::index, 2>{{2, 5}});
  };
  CHECK(at(0, 5, 1) == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(at(0, 1, 2) == std::vector<double>{0, 2, 4, 6, 8, 1, 3, 5, 7, 9});
  CHECK(at(9, -5, -1) == std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(at(7, 1, 0) == std::vector<double>{7, 7, 7, 7, 7, 8, 8, 8, 8, 8});
}

TEST_CASE("16-bit elements are read as float, bool as itself", "[program]") {
  using half_source = tenon::strided_source<tenon::half, 1>;
  using bool_source = tenon::strided_source<bool, 1>;
  STATIC_REQUIRE(std::is_same_v<half_source::value_type, float>);
  STATIC_REQUIRE(std::is_same_v<bool_source::value_type, bool>);
  const tenon::half memory[4] = {1.0f, -2.5f, 0.0f, 65504.0f};
  CHECK(walk<1>(half_source{memory, {{1}}}, array<tenon::index, 1>{{4}}) == std::vector<double>{1, -2.5, 0, 65504});
}

TEST_CASE("operations convert each operand to the type they compute in", "[program]") {
  const tenon::tensor<int, rank<1>> whole({5}, {1, 2, 3, 4, 5});
  const tenon::tensor<double, rank<1>> exact({5}, {0.5, 0.25, 0.125, 1e-9, 1});
  CHECK(walk_node(whole * exact) == std::vector<double>{0.5, 0.5, 0.375, 4e-9, 5});
  CHECK(walk_node(tenon::where(whole > 2, whole, -whole)) == std::vector<double>{-1, -2, 3, 4, 5});
}

TEST_CASE("slots are numbered in post order", "[program]") {
  const tenon::tensor<float, rank<2>> a({2, 3});
  const auto node = tenon::max(a, tenon::axis<1>) - tenon::sum(a * tenon::min(a, tenon::axis<1>), tenon::axis<1>) * 2;
  const auto program = node.lower<0>(tenon::identity_map<2>());
  // max is slot 0; min, inside the sum, is slot 1; the sum is slot 2
  CHECK(program.at(array<tenon::index, 2>{}).value(7, numbered_slots{}) == 7.0f - 2 * 207.0f);
}

TEST_CASE("visiting a program reaches the strides of all its sources", "[program]") {
  const tenon::tensor<float, rank<2>> a({2, 3});
  const tenon::tensor<float, rank<1>> b({3});
  auto program = (a * b + tenon::iota<float>(rank<2>(2, 3)) + 1).lower<0>(tenon::identity_map<2>());
  std::vector<array<tenon::index, 2>> seen;
  program.visit([&](const array<tenon::index, 2>& stride, auto&...) { seen.push_back(stride); });
  CHECK(seen.size() == 3);
  CHECK(seen[0] == array<tenon::index, 2>{{3, 1}});
  CHECK(seen[1] == array<tenon::index, 2>{{0, 1}});
  CHECK(seen[2] == array<tenon::index, 2>{{3, 1}});
}
