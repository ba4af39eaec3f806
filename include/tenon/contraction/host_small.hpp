// tenon/contraction/host_small.hpp: small products of extents that the compiler knows.
// Operands are read where they lie; all loops but those over k are unrolled, nothing is packed.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_problem.hpp>
#include <tenon/contraction/pack.hpp>

namespace tenon {

/// The extents of a product, as far as types know them.
struct static_extents {
  index rows, columns, depth;

  constexpr bool are_small() const { return is_small(rows) && is_small(columns) && is_small(depth); }

 private:
  static constexpr bool is_small(index extent) { return extent != dyn && extent > 0 && extent <= 32; }
};

namespace detail {

/// The product of the static extents of `letters`, dyn when one of them is not static.
template <class Left, class Right, class Pattern, int Count>
constexpr index static_extent_over(const array<int, Count>& letters) {
  index product = 1;
  for (const int letter : letters) {
    const index extent = broadcast_static_extent(
        static_extent_of_letter<typename Left::shape_type, typename Pattern::left_letters>(letter),
        static_extent_of_letter<typename Right::shape_type, typename Pattern::right_letters>(letter));
    if (extent == dyn) return dyn;
    product *= extent;
  }
  return product;
}

template <class Node>
struct static_extents_of_node {
  static constexpr static_extents value{dyn, dyn, dyn};
};
template <class Left, class Right, class Pattern>
struct static_extents_of_node<contraction<Left, Right, Pattern>> {
  static constexpr auto depth_letters = consecutive_axes<Pattern::depth_count>(Pattern::rank);
  static constexpr static_extents value{static_extent_over<Left, Right, Pattern>(Pattern::result_axes::rows),
                                        static_extent_over<Left, Right, Pattern>(Pattern::result_axes::columns),
                                        static_extent_over<Left, Right, Pattern>(depth_letters)};
};

/// `Count` rows of `Columns` sums, of `Depth` products each.
template <class T, int Count, int Columns, int Depth>
TENON_INLINE void multiply_small_rows(const matrix_memory<T>& left, const matrix_memory<T>& right, T* results) {
  constexpr int lanes = simd::native_width<T>, vectors = (Columns + lanes - 1) / lanes;
  simd::pack<T, lanes> sums[Count][vectors] = {};
  TENON_UNROLL(4)
  for (int k = 0; k < Depth; ++k) {
    TENON_UNROLL(8)
    for (int j = 0; j < vectors; ++j) {
      const T* from = right.data + k * right.row_step + j * lanes;
      const auto row = (j + 1) * lanes <= Columns ? simd::load<T, lanes>(from)
                                                  : simd::load_part<T, lanes>(from, Columns - j * lanes);
      TENON_UNROLL(8)
      for (int i = 0; i < Count; ++i) sums[i][j] += *left.at(i, k) * row;
    }
  }
  TENON_UNROLL(8)
  for (int i = 0; i < Count; ++i) {
    TENON_UNROLL(8)
    for (int j = 0; j < vectors; ++j) simd::store<lanes>(results + (i * vectors + j) * lanes, sums[i][j]);
  }
}

/// The elements of a small matrix in memory; a copy at `place` where they are not elements of T side by side.
template <index Rows, index Columns, class T, class Matrix>
TENON_INLINE matrix_memory<T> lay_out(const Matrix& matrix, T* place) {
  if constexpr (std::is_same_v<memory_element_of<Matrix>, T>) {
    if (const auto memory = memory_of(matrix); memory.data != nullptr && memory.column_step == 1) return memory;
  }
  for (index row = 0; row < Rows; ++row) copy_row(matrix, row, 0, Columns, place + row * Columns);
  return {place, Columns, 1};
}

}  // namespace detail

/// The extents of a contraction that types know.
template <class Node>
inline constexpr static_extents static_extents_of = detail::static_extents_of_node<Node>::value;

/// A product of the small extents `Extents`.
template <class T, static_extents Extents, class Left, class Right, class Epilogue>
[[gnu::noinline]] void multiply_small(const Left& left, const Right& right, const Epilogue& epilogue) {
  constexpr int rows = static_cast<int>(Extents.rows), columns = static_cast<int>(Extents.columns),
                depth = static_cast<int>(Extents.depth), together = 8;
  constexpr int pitch = static_cast<int>(detail::round_up(columns, simd::native_width<T>));
  T left_copy[rows * depth], right_copy[depth * columns];
  alignas(64) T results[rows * pitch];
  const auto left_rows = detail::lay_out<rows, depth>(left, left_copy);
  const auto right_rows = detail::lay_out<depth, columns>(right, right_copy);
  const auto run_rows = [&](int row, auto count) {
    detail::multiply_small_rows<T, count, columns, depth>({left_rows.at(row, 0), left_rows.row_step, 1}, right_rows,
                                                          results + row * pitch);
  };
  int row = 0;
  for (; row + together <= rows; row += together) run_rows(row, std::integral_constant<int, together>{});
  if constexpr (rows % together != 0) run_rows(row, std::integral_constant<int, rows % together>{});
  epilogue.store_tile(0, 0, {{rows, columns}}, results, pitch);
}

namespace on_host {

/// Products whose types say that they are small.
struct small_product {
  static constexpr const char* name = "small product";
  template <class Problem>
  static constexpr bool can_take =
      Problem::products::group == 1 && static_extents_of<typename Problem::product_type>.are_small();
  template <class Problem>
  static void run(const Problem& problem) {
    multiply_small<typename Problem::unit, static_extents_of<typename Problem::product_type>>(
        problem.left, problem.right, problem.epilogue);
  }
};

}  // namespace on_host

}  // namespace tenon
