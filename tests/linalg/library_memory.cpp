// tests/linalg/library_memory.cpp: copies of matrices and of halves of them, in memory of every space.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/library_memory.hpp>

#include "algorithms/distant.hpp"
#include "linalg/matrices.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
namespace detail = tenon::detail;

}  // namespace

TEMPLATE_LIST_TEST_CASE("matrices are copied, transposed and by halves", "[library_memory]",
                        tenon_test::algorithm_spaces) {
  const auto a = tenon_test::counting<double, TestType>(rank<2>(3, 4), 1);
  const tenon::matrix_elements<const double> from{a.data(), 3, 4, 4, 1};
  tenon::tensor<double, rank<2>, TestType> work({3, 4});
  detail::copy_matrix<TestType>(from, detail::columns_in(work.data(), 3, 4));
  CHECK(numbers_of(work) == std::vector<double>{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12});
  detail::copy_matrix<TestType>(from.transposed(), detail::rows_in(work.data(), 4, 3));
  CHECK(numbers_of(work) == std::vector<double>{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12});
  tenon::tensor<float, rank<2>, TestType> narrow({3, 4});
  detail::copy_matrix<TestType>(from, detail::rows_in(narrow.data(), 3, 4), detail::matrix_half::upper);
  CHECK(numbers_of(narrow) == std::vector<double>{1, 2, 3, 4, 0, 6, 7, 8, 0, 0, 11, 12});
  detail::copy_matrix<TestType>(from, detail::rows_in(work.data(), 3, 4), detail::matrix_half::lower);
  CHECK(numbers_of(work) == std::vector<double>{1, 0, 0, 0, 5, 6, 0, 0, 9, 10, 11, 0});
  detail::copy_matrix<TestType>(from.transposed(), detail::rows_in(work.data(), 4, 3), detail::matrix_half::lower);
  CHECK(numbers_of(work) == std::vector<double>{1, 0, 0, 2, 6, 0, 3, 7, 11, 4, 8, 12});
  detail::copy_matrix<TestType>(from.transposed(), detail::rows_in(work.data(), 4, 3), detail::matrix_half::upper);
  CHECK(numbers_of(work) == std::vector<double>{1, 5, 9, 0, 6, 10, 0, 0, 11, 0, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("whether elements are finite, of halves too", "[library_memory]",
                        tenon_test::algorithm_spaces) {
  using detail::is_finite_matrix;
  using detail::matrix_half;
  for (const double strange : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    auto a = tenon_test::tensor_of<TestType, double>(rank<2>(2, 2), {1, strange, 2, 3});
    const auto rows = detail::rows_in(a.data(), 2, 2);
    CHECK(!is_finite_matrix<TestType>(rows));
    CHECK(!is_finite_matrix<TestType>(rows, matrix_half::upper));
    CHECK(is_finite_matrix<TestType>(rows, matrix_half::lower));
    CHECK(!is_finite_matrix<TestType>(rows.transposed(), matrix_half::lower));
    CHECK(is_finite_matrix<TestType>(rows.transposed(), matrix_half::upper));
    CHECK(is_finite_matrix<TestType>(detail::rows_in(a.data(), 1, 1)));
  }
}
