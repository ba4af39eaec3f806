// tests/expr/joined_list.cpp: lists of tensors as one, in every space; what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/joined_list.hpp>

#include <span>
#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using tenon_test::text_of;

TEMPLATE_LIST_TEST_CASE("lists of tensors are stacked", "[joined_list]", tenon_test::spaces) {
  std::vector<tenon::tensor<float, rank<1>, TestType>> list;
  for (int i = 0; i < 3; ++i)
    list.push_back(tensor_of<TestType, float>(rank<1>(2), {float(10 * i), float(10 * i + 1)}));
  const auto rows = tenon::stack(axis<0>, list);
  CHECK(rows.shape().to_array() == tenon::array<tenon::index, 2>{{3, 2}});
  CHECK(numbers_of(rows) == std::vector<double>{0, 1, 10, 11, 20, 21});
  CHECK(numbers_of(tenon::stack(axis<-1>, list)) == std::vector<double>{0, 10, 20, 1, 11, 21});
  CHECK(numbers_of(tenon::concatenate(axis<0>, list)) == numbers_of(rows));
  CHECK(numbers_of(tenon::stack(axis<0>, std::span(list).first(1))) == std::vector<double>{0, 1});
}

TEMPLATE_LIST_TEST_CASE("lists of matrices and of views are concatenated", "[joined_list]", tenon_test::spaces) {
  const std::vector list = {tensor_of<TestType, int>(rank<2>(2, 1), {1, 2}),
                            tensor_of<TestType, int>(rank<2>(2, 2), {3, 4, 5, 6}),
                            tensor_of<TestType, int>(rank<2>(2, 0), {})};
  const auto joined = tenon::concatenate(axis<1>, list);
  CHECK(numbers_of(joined) == std::vector<double>{1, 3, 4, 2, 5, 6});
  const std::array views = {joined.view(), joined.view()};
  CHECK(numbers_of(tenon::concatenate(axis<0>, views)) == std::vector<double>{1, 3, 4, 2, 5, 6, 1, 3, 4, 2, 5, 6});
  const std::vector<tenon::tensor<float, tenon::shape<2>>> small(4, tenon::tensor<float, tenon::shape<2>>{7, 8});
  static_assert(decltype(tenon::stack(axis<0>, small))::shape_type::static_extent(1) == 2);
  CHECK(tenon::all(tenon::stack(axis<1>, small) == tenon::new_axis<1>(small[0])));
}

TEST_CASE("empty lists and extents that differ", "[joined_list]") {
  std::vector<tenon::tensor<float, rank<2>>> list;
  CHECK(text_of<tenon::shape_error>([&] { tenon::stack(axis<0>, list); }) ==
        "stack: the list is empty, expected at least one operand");
  list.emplace_back(rank<2>(2, 3)), list.emplace_back(rank<2>(2, 3)), list.emplace_back(rank<2>(2, 4));
  CHECK(text_of<tenon::shape_error>([&] { tenon::concatenate(axis<0>, list); }) ==
        "concatenate: axis 1: extents 3 and 4 differ, expected equal (element 0 of the list [2, 3], element 2 [2, 4])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::stack(axis<0>, list); }) ==
        "stack: axis 2: extents 3 and 4 differ, expected equal (element 0 of the list [1, 2, 3], element 2 [1, 2, 4])");
}
