// tests/contraction/host_problem.cpp: what products of the host know of statements: values, and a call per tile.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_problem.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;

namespace {

/// Whether two matrices have the same elements in `extents` rows and columns.
template <class Left, class Right>
bool same_elements(const Left& left, const Right& right, tenon::index rows, tenon::index columns) {
  bool same = true;
  for (tenon::index row = 0; row < rows; ++row) {
    for (tenon::index column = 0; column < columns; ++column) {
      same = same && left.value(row, column) == right.value(row, column);
    }
  }
  return same;
}

}  // namespace

TEST_CASE("matrices along two axes become plain, whatever their patterns and batches", "[host_results]") {
  const auto a = counting<float>(rank<3>(2, 3, 4)), b = counting<float>(rank<3>(2, 5, 4));
  const auto node = tenon::matmul(a, tenon::transpose(b));
  const auto left = tenon::left_matrix(node).at_batch(tenon::array<tenon::index, 3>{{1, 0, 0}});
  const auto right = tenon::right_matrix(node).at_batch(tenon::array<tenon::index, 3>{{1, 0, 0}});
  const auto plain_left = tenon::as_plain_matrix(left);
  const auto plain_right = tenon::as_plain_matrix(right);
  STATIC_REQUIRE(std::is_same_v<decltype(plain_left), const tenon::plain_matrix<float>>);
  STATIC_REQUIRE(std::is_same_v<decltype(plain_right), const tenon::plain_matrix<float>>);
  CHECK(same_elements(left, plain_left, 3, 4));
  CHECK(same_elements(right, plain_right, 4, 5));
  CHECK(plain_left.value(2, 3) == a(1, 2, 3));
  CHECK(plain_right.value(3, 4) == b(1, 4, 3));
  CHECK(tenon::memory_of(plain_right).row_step == 1);
}

TEST_CASE("a vector is a plain matrix of one row or column", "[host_results]") {
  const auto a = counting<float>(rank<2>(3, 4)), x = counting<float>(rank<2>(1, 4));
  const auto node = tenon::matmul(x, tenon::transpose(a));
  const auto left = tenon::as_plain_matrix(tenon::left_matrix(node));
  CHECK(same_elements(left, tenon::left_matrix(node), 1, 4));
}

TEST_CASE("what is computed or runs over several axes stays as it is", "[host_results]") {
  const auto a = counting<float>(rank<2>(3, 4)), b = counting<float>(rank<2>(4, 5));
  const auto computed = tenon::matmul(a * 2, b);
  const auto left = tenon::left_matrix(computed);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::as_plain_matrix(left)), std::remove_cvref_t<decltype(left)> const&>);
  const auto c = counting<float>(rank<3>(3, 4, 5)), d = counting<float>(rank<3>(2, 4, 5));
  const auto several = tenon::tensordot(c, d, tenon::axis<1, 2>, tenon::axis<1, 2>);
  const auto wide = tenon::left_matrix(several);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::as_plain_matrix(wide)), std::remove_cvref_t<decltype(wide)> const&>);
}

TEST_CASE("tiles reach an epilogue whose type the product does not know", "[host_results]") {
  const auto a = counting<float>(rank<2>(3, 2)), b = counting<float>(rank<2>(2, 40));
  const auto node = tenon::matmul(a, b) * 2 + 1;
  const auto bare = tenon::matmul(a, b);
  using product_type = std::remove_const_t<decltype(bare)>;
  tenon::tensor<float, rank<2>> result({3, 40});
  result = -1.0f;
  const tenon::strided_target<float, 2> target{result.data(), {{40, 1}}};
  const auto epilogue = tenon::make_epilogue<product_type>(target, node);
  const auto plain = tenon::make_epilogue<product_type>(target, bare);
  const tenon::host_results<float> through(epilogue), as_they_are(plain);
  CHECK(through.plain_rows<float>(0, 0, 16).data == nullptr);
  CHECK(as_they_are.plain_rows<float>(1, 8, 32).data == &result(1, 8));
  CHECK(as_they_are.plain_rows<float>(1, 8, 32).pitch == 40);
  const float sums[] = {1, 2, 3, 4, 5, 6};
  through.store_tile(1, 10, {{2, 2}}, sums, 3);
  CHECK(result(1, 10) == 3);
  CHECK(result(1, 11) == 5);
  CHECK(result(2, 10) == 9);
  CHECK(result(2, 11) == 11);
  CHECK(result(0, 10) == -1);
  CHECK(result(1, 12) == -1);
}
