// tests/expr/contract.cpp: the node of every contraction.
// Rows, columns, depth and batches are several axes each, in any order; the reference loops over all letters.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/contract.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis_list;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::scattered;

/// Every letter has an extent of its own.
const tenon::index extents_by_letter[] = {3, 2, 5, 4, 6, 7};

template <class T, class Space, int... Letters>
auto lettered_tensor(axis_list<Letters...>) {
  return tenon_test::made_tensor<T, Space>(rank<sizeof...(Letters)>(extents_by_letter[Letters]...), scattered);
}

/// The place of a position, given letter by letter, in an operand.
template <int... Letters>
std::size_t place_of(axis_list<Letters...>, const std::vector<tenon::index>& position) {
  tenon::index place = 0;
  ((place = place * extents_by_letter[Letters] + position[Letters]), ...);
  return static_cast<std::size_t>(place);
}

template <int Rank, int Count, class Left, class Right>
std::vector<double> contracted(const std::vector<double>& left, const std::vector<double>& right) {
  tenon::index kept = 1, all = 1;
  for (int letter = 0; letter < Count; ++letter) all *= extents_by_letter[letter];
  for (int letter = 0; letter < Rank; ++letter) kept *= extents_by_letter[letter];
  std::vector<double> result(static_cast<std::size_t>(kept), 0.0);
  for (tenon::index number = 0; number < all; ++number) {  // the summed letters run fastest
    std::vector<tenon::index> position(Count);
    tenon::index rest = number;
    for (int letter = Count - 1; letter >= 0; --letter) {
      position[static_cast<std::size_t>(letter)] = rest % extents_by_letter[letter];
      rest /= extents_by_letter[letter];
    }
    result[static_cast<std::size_t>(number / (all / kept))] +=
        left[place_of(Left{}, position)] * right[place_of(Right{}, position)];
  }
  return result;
}

template <class Space, int Rank, int Count, class Left, class Right>
void check_pattern() {
  const auto a = lettered_tensor<float, Space>(Left{});
  const auto b = lettered_tensor<float, Space>(Right{});
  const auto node =
      tenon::make_contraction<tenon::contraction_pattern<Rank, Left, Right>>(tenon::as_node(a), tenon::as_node(b));
  const auto expected = contracted<Rank, Count, Left, Right>(numbers_of(a), numbers_of(b));
  CHECK(difference(numbers_of(node), expected, 1e-5) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("contractions of any pattern are the sum over all letters", "[contract]", tenon_test::spaces) {
  using space = TestType;
  check_pattern<space, 2, 3, axis_list<0, 2>, axis_list<2, 1>>();                 // a matrix product
  check_pattern<space, 3, 5, axis_list<0, 3, 4>, axis_list<1, 4, 3, 2>>();        // two depths in other orders
  check_pattern<space, 4, 5, axis_list<2, 4, 0>, axis_list<1, 4, 3>>();           // rows and columns interleaved
  check_pattern<space, 4, 6, axis_list<0, 4, 2, 5>, axis_list<5, 1, 4, 3, 0>>();  // a batch as well
  check_pattern<space, 3, 4, axis_list<2, 0, 3>, axis_list<3, 1, 2>>();           // the batch comes last
  check_pattern<space, 3, 4, axis_list<0, 2, 3>, axis_list<1, 3>>();              // a row comes last
  check_pattern<space, 1, 2, axis_list<1>, axis_list<1, 0>>();                    // no rows
}

TEST_CASE("roles of letters", "[contract]") {
  using pattern = tenon::contraction_pattern<4, axis_list<0, 1, 4>, axis_list<0, 4, 2, 3>>;
  STATIC_REQUIRE(pattern::batch_count == 1);
  STATIC_REQUIRE(pattern::row_count == 1);
  STATIC_REQUIRE(pattern::column_count == 2);
  STATIC_REQUIRE(pattern::depth_count == 1);
  STATIC_REQUIRE(pattern::left_axes::letters == tenon::array<int, 3>{{0, 1, 4}});
  STATIC_REQUIRE(pattern::right_axes::letters == tenon::array<int, 4>{{0, 4, 2, 3}});
}

TEST_CASE("extents of 1 repeat along their letter, static extents stay", "[contract]") {
  using pattern = tenon::contraction_pattern<3, axis_list<0, 1, 3>, axis_list<0, 3, 2>>;
  const auto a = tenon_test::counting<double>(shape<1, 2, 3>{});
  const auto b = tenon_test::counting<double>(shape<4, 3, 2>{});
  const auto node = tenon::make_contraction<pattern>(tenon::as_node(a), tenon::as_node(b));
  STATIC_REQUIRE(std::is_same_v<decltype(node)::shape_type, shape<4, 2, 2>>);
  for (tenon::index batch = 0; batch < 4; ++batch) {
    for (tenon::index row = 0; row < 2; ++row) {
      double total = 0;
      for (tenon::index k = 0; k < 3; ++k) total += a(0, row, k) * b(batch, k, 1);
      CHECK(tenon::evaluated_tensor(node)(batch, row, 1) == total);
    }
  }
  CHECK(extents_of(node) == std::vector<tenon::index>{4, 2, 2});
}
