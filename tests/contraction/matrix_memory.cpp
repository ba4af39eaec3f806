// tests/contraction/matrix_memory.cpp: matrices that lie in memory as they are.
// Where an element is said to lie must be where it is; matrices over several axes have no such place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;

namespace {

template <class Matrix>
bool lies_where_it_says(const Matrix& matrix, tenon::index rows, tenon::index columns) {
  const auto memory = tenon::memory_of(matrix);
  if (memory.data == nullptr) return false;
  for (tenon::index row = 0; row < rows; ++row) {
    for (tenon::index column = 0; column < columns; ++column) {
      if (*memory.at(row, column) != matrix.value(row, column)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("plain, transposed and sliced matrices", "[matrix]") {
  const auto a = counting<float>(rank<2>(6, 8)), b = counting<float>(rank<2>(8, 5), 3);
  const auto check = [](const auto& node, tenon::index m, tenon::index n, tenon::index k) {
    CHECK(lies_where_it_says(tenon::left_matrix(node), m, k));
    CHECK(lies_where_it_says(tenon::right_matrix(node), k, n));
  };
  check(tenon::matmul(a, b), 6, 5, 8);
  check(tenon::matmul(tenon::transpose(b), tenon::transpose(a)), 5, 6, 8);
  const auto every = tenon::range(tenon::open_end, tenon::open_end, 2);
  check(tenon::matmul(tenon::slice(a, every, every), tenon::slice(b, every, every)), 3, 3, 4);
}

TEST_CASE("batches begin where they lie", "[matrix]") {
  const auto a = counting<float>(rank<3>(2, 3, 4)), b = counting<float>(rank<3>(2, 4, 5));
  const auto node = tenon::matmul(a, b);
  CHECK(lies_where_it_says(tenon::left_matrix(node).at_batch(tenon::array<tenon::index, 3>{{1, 0, 0}}), 3, 4));
  CHECK(*tenon::memory_of(tenon::left_matrix(node).at_batch(tenon::array<tenon::index, 3>{{1, 0, 0}})).data == 12.0f);
}

TEST_CASE("axes that do not merge have no place, nor have computed matrices", "[matrix]") {
  const auto w = counting<float>(rank<3>(3, 4, 5));
  const auto side_by_side = counting<float>(rank<2>(2, 3)), apart = counting<float>(rank<2>(2, 5));
  const auto merged = tenon::einsum<"ak,kbc->abc">(side_by_side, w);
  CHECK(lies_where_it_says(tenon::right_matrix(merged), 3, 20));
  const auto split = tenon::einsum<"ak,kbc->abc">(apart, tenon::permute(w, tenon::axis<2, 1, 0>));
  CHECK(tenon::memory_of(tenon::right_matrix(split)).data == nullptr);
  const auto computed = tenon::matmul(side_by_side * 2, counting<float>(rank<2>(3, 3)));
  STATIC_REQUIRE(std::is_void_v<tenon::memory_element_of<decltype(tenon::left_matrix(computed))>>);
  STATIC_REQUIRE(std::is_same_v<tenon::memory_element_of<decltype(tenon::right_matrix(computed))>, float>);
}
