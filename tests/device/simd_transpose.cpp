// tests/device/simd_transpose.cpp: copies of elements that lie a stride apart.
// Every element is compared with the one it was copied from; what lies beside the copy stays.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_transpose.hpp>

#include <vector>

#include "support/catch.hpp"

namespace {

template <class T>
std::vector<T> numbered(std::size_t count) {
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = static_cast<T>(static_cast<float>(i % 127));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("matrices of every size are copied from any strides", "[simd_transpose]", std::int8_t, tenon::half,
                   float, double) {
  const auto from = numbered<TestType>(4000);
  for (const tenon::index rows : {1, 3, 7, 11, 16, 17, 33}) {
    for (const tenon::index columns : {1, 8, 15, 16, 40}) {
      for (const tenon::index row_stride : {1, 0, 45}) {
        for (const tenon::index column_stride : {0, 1, 2, 3, 4, 50, -1}) {
          std::vector<TestType> to(static_cast<std::size_t>(rows * columns + 1), TestType{});
          const tenon::index origin = column_stride < 0 ? columns : 0;
          tenon::simd::copy_matrix(to.data(), from.data() + origin,
                                   {rows, columns, row_stride, column_stride, columns});
          bool right = to.back() == TestType{};
          for (tenon::index i = 0; i < rows; ++i) {
            for (tenon::index j = 0; j < columns; ++j) {
              right = right && to[static_cast<std::size_t>(i * columns + j)] ==
                                   from[static_cast<std::size_t>(origin + i * row_stride + j * column_stride)];
            }
          }
          CAPTURE(rows, columns, row_stride, column_stride);
          CHECK(right);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("columns of a few elements are copied, and nothing beyond their memory is read", "[simd_transpose]",
                   float, double) {
  for (const tenon::index rows : {2, 3, 5, 8, 11, 15}) {
    for (const tenon::index columns : {1, 4, 16, 37}) {
      for (const tenon::index column_stride : {rows, rows + 1, rows + 3, tenon::index{1}}) {
        const auto from = numbered<TestType>(static_cast<std::size_t>((columns - 1) * column_stride + rows));
        const tenon::index to_stride = columns + 2;
        std::vector<TestType> to(static_cast<std::size_t>(rows * to_stride), TestType{-1});
        tenon::simd::copy_matrix(to.data(), from.data(), {rows, columns, 1, column_stride, to_stride});
        bool right = true;
        for (tenon::index i = 0; i < rows * to_stride; ++i) {
          const tenon::index row = i / to_stride, column = i % to_stride;
          const auto source = static_cast<std::size_t>(row + column * column_stride);
          right = right && to[static_cast<std::size_t>(i)] == (column < columns ? from[source] : TestType{-1});
        }
        CAPTURE(rows, columns, column_stride);
        CHECK(right);
      }
    }
  }
}
