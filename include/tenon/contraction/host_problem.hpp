// tenon/contraction/host_problem.hpp: a product of the host as its algorithms see it.
// Engines are compiled once for each element type: matrices are pointers and steps, an epilogue is a call per tile.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/algorithm.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/host_arithmetic.hpp>

namespace tenon {

/// An epilogue behind function pointers, so that engines do not depend on its type. The epilogue must outlive it.
template <class Sum>
class host_results {
 public:
  template <class Epilogue>
  explicit host_results(const Epilogue& epilogue)
      : epilogue_(&epilogue), store_(&store_with<Epilogue>), find_(&find_with<Epilogue>) {}

  /// Stores the results of `extents` rows and columns. Rows of sums are `pitch` apart.
  void store_tile(index row, index column, const array<index, 2>& extents, const Sum* sums, index pitch) const {
    store_(epilogue_, {{row, column}}, extents, {sums, pitch});
  }
  /// Where `count` sums of each row from `row` on may be written as they are, or nowhere.
  template <class Accumulator>
  result_rows<Sum> plain_rows(index row, index column, index count) const {
    static_assert(std::is_same_v<Accumulator, Sum>);
    return find_(epilogue_, {{row, column}}, count);
  }

 private:
  using place = array<index, 2>;
  template <class Epilogue>
  static void store_with(const void* epilogue, const place& from, const array<index, 2>& extents,
                         const result_rows<const Sum>& sums) {
    static_cast<const Epilogue*>(epilogue)->store_tile(from[0], from[1], extents, sums.data, sums.pitch);
  }
  template <class Epilogue>
  static result_rows<Sum> find_with(const void* epilogue, const place& from, index count) {
    return static_cast<const Epilogue*>(epilogue)->template plain_rows<Sum>(from[0], from[1], count);
  }

  const void* epilogue_;
  void (*store_)(const void*, const place&, const array<index, 2>&, const result_rows<const Sum>&);
  result_rows<Sum> (*find_)(const void*, const place&, index);
};

/// Rows and columns are one axis each, and there is nothing else.
struct two_axes {
  static constexpr array<int, 0> batches{}, result_batches{};
  static constexpr array<int, 1> rows{{0}}, columns{{1}};
};

/// A matrix in memory, wherever the axes of its tensor are.
template <class T>
using plain_matrix = folded_matrix<strided_source<T, 2>, 2, two_axes>;
template <class T>
TENON_INLINE matrix_memory<T> memory_of(const plain_matrix<T>& matrix) {
  return {matrix.program.data, matrix.program.stride[0], matrix.program.stride[1]};
}

namespace detail {

template <class Matrix>
inline constexpr bool lies_in_two_axes = false;
template <class T, int Rank, class Axes>
inline constexpr bool lies_in_two_axes<folded_matrix<strided_source<T, Rank>, Rank, Axes>> =
    Axes::rows.size() <= 1 && Axes::columns.size() == 1;

}  // namespace detail

/// A matrix as an engine takes it. One that lies in memory along two axes is described by values, without its type.
template <class Matrix>
const Matrix& as_plain_matrix(const Matrix& matrix) {
  return matrix;
}
template <class T, int Rank, class Axes>
  requires detail::lies_in_two_axes<folded_matrix<strided_source<T, Rank>, Rank, Axes>>
plain_matrix<T> as_plain_matrix(const folded_matrix<strided_source<T, Rank>, Rank, Axes>& matrix) {
  constexpr bool has_rows = Axes::rows.size() != 0;
  constexpr int row = has_rows ? Axes::rows[0] : 0, column = Axes::columns[0];
  const auto& stride = matrix.program.stride;
  return {{matrix.program.at(matrix.batch).data, {{has_rows ? stride[row] : 0, stride[column]}}},
          {{has_rows ? matrix.extents[row] : 1, matrix.extents[column]}},
          {}};
}

/// Rows, columns and depth of a product.
struct matrix_extents {
  index rows, columns, depth;
};

/// A batch of `Product`: its operands, the same as engines take them, and the epilogue.
template <class Product, class Left, class Right, class Epilogue>
struct host_problem {
  using product_type = Product;
  using left_type = Left;
  using right_type = Right;
  using products = host_products<typename Product::element, Left, Right>;
  using unit = typename products::unit;
  using plain_left_type = decltype(as_plain_matrix(std::declval<const Left&>()));  // a value, or a reference
  using plain_right_type = decltype(as_plain_matrix(std::declval<const Right&>()));
  /// Whether results may come in tiles of any extents, not only in whole rows of windows.
  static constexpr bool takes_any_tile = detail::rows_together<Epilogue> == 1;

  const matrix_extents& extents;
  const Left& left;
  const Right& right;
  const Epilogue& epilogue;

  plain_left_type plain_left() const { return as_plain_matrix(left); }
  plain_right_type plain_right() const { return as_plain_matrix(right); }
  auto results() const { return host_results<typename products::sum>(epilogue); }
  /// Runs an engine on these operands and results.
  template <template <class, class, class, class> class Engine, class Arithmetic = products, class L, class R, class To>
  TENON_INLINE void run_engine(const L& left_matrix, const R& right_matrix, const To& to) const {
    Engine<Arithmetic, L, R, To>{left_matrix, right_matrix, to}.run(extents.rows, extents.columns, extents.depth);
  }
  template <template <class, class, class, class> class Engine, class Arithmetic = products, class R>
  TENON_INLINE void run_engine(const R& right_matrix) const {
    run_engine<Engine, Arithmetic>(left, right_matrix, epilogue);
  }
};

/// The algorithm that multiplies with a right matrix of type `Matrix`: `can_take`, `takes` and `run`. The header of
/// such matrices specialises it.
template <class Matrix>
struct product_of_right;

/// The problem of these operands. It refers to them, so they must outlive it.
template <class Product, class Left, class Right, class Epilogue>
host_problem<Product, Left, Right, Epilogue> host_problem_of(const matrix_extents& extents, const Left& left,
                                                             const Right& right, const Epilogue& epilogue) {
  return {extents, left, right, epilogue};
}

}  // namespace tenon
