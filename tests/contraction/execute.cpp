// tests/contraction/execute.cpp: whoever includes what runs products runs them, by the form of the statement's stage.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/execute.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/expr/matmul.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("a product with what is done to it is one stage, run by its executor", "[execute]",
                        tenon_test::spaces) {
  const auto a = counting<float, TestType>(rank<2>(3, 5)), b = counting<float, TestType>(rank<2>(5, 2));
  const auto statement = 2 * tenon::matmul(a, b) + 1;
  static_assert(tenon::stage_of<decltype(statement)>() == tenon::stage::contract);
  tenon::tensor<float, rank<2>, TestType> result({3, 2});
  tenon::stage_executor<tenon::stage::contract, TestType>::run(tenon::detail::make_target(result.write_view()),
                                                               statement);
  const tenon::tensor<float, rank<2>, TestType> whole = statement;
  const auto left = numbers_of(a), right = numbers_of(b), sums = numbers_of(result);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 2; ++column) {
      double expected = 1;
      for (std::size_t k = 0; k < 5; ++k) expected += 2 * left[row * 5 + k] * right[k * 2 + column];
      CHECK(sums[row * 2 + column] == expected);
    }
  }
  CHECK(numbers_of(whole) == sums);
}

TEST_CASE("only a small product of known extents is run at once", "[execute]") {
  using executor = tenon::stage_executor<tenon::stage::contract, tenon::host>;
  using small = tenon::tensor<float, tenon::shape<4, 4>>;
  const small one({}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}),
      x({}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7});
  small y;
  y = 0.0f;
  const auto known = tenon::matmul(x, one);
  const bool is_run = executor::run_small(y.write_view(), known);
  CHECK(is_run == tenon::runs_unrolled_product<float, std::remove_const_t<decltype(known)>>);
  if (is_run) CHECK(numbers_of(y) == numbers_of(x));
  const auto a = counting<float>(rank<2>(3, 5)), b = counting<float>(rank<2>(5, 2));
  tenon::tensor<float, rank<2>> result({3, 2});
  result = -1.0f;
  CHECK(!executor::run_small(result.write_view(), tenon::matmul(a, b)));
  CHECK(numbers_of(result) == std::vector<double>(6, -1));
}
