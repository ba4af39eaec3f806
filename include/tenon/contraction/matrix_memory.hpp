// tenon/contraction/matrix_memory.hpp: matrices whose elements lie in memory as they are.
// The host product reads them where they are when that is faster than packing.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/contraction/matrix.hpp>
#include <tenon/expr/operations/where_cast.hpp>

namespace tenon {

/// Elements in memory of which rows and columns are `row_step` and `column_step` apart.
template <class T>
struct matrix_memory {
  const T* data;  // null where rows or columns run over several axes
  index row_step, column_step;

  const T* at(index row, index column) const { return data + row * row_step + column * column_step; }
};

namespace detail {

template <class Matrix>
struct memory_element {
  using type = void;
};
template <class T, int Rank, class Axes>
struct memory_element<folded_matrix<strided_source<T, Rank>, Rank, Axes>> {
  using type = T;
};

/// The one axis of `axes` that is longer than 1, the last one where none is; -1 where several are or there is none.
template <int Rank, int Count>
constexpr int moving_axis(const array<index, Rank>& extents, const array<int, Count>& axes) {
  int found = -1, moving = 0;
  for (int place = 0; place < Count; ++place) {
    const bool moves = extents[axes[place]] != 1;
    if (moves || moving == 0) found = axes[place];
    moving += moves ? 1 : 0;
  }
  return moving > 1 ? -1 : found;
}

/// The axis of `axes` whose stride is the step from each position along all of them to the next; -1 where there is
/// none, because outer axes do not go on where inner ones end.
template <int Rank, int Count>
constexpr int stepping_axis(const array<index, Rank>& extents, const array<index, Rank>& stride,
                            const array<int, Count>& axes) {
  int found = Count == 0 ? -1 : axes[Count - 1];
  index end = 0;
  for (int place = Count - 1; place >= 0; --place) {
    const int axis = axes[place];
    if (extents[axis] == 1) continue;
    if (end == 0) found = axis;
    else if (stride[axis] != end) return -1;
    end = stride[axis] * extents[axis];
  }
  return found;
}

}  // namespace detail

/// The elements of a matrix as they lie in memory; void where they are computed.
template <class Matrix>
using memory_element_of = typename detail::memory_element<std::remove_cvref_t<Matrix>>::type;

/// Where the elements of a matrix lie.
template <class T, int Rank, class Axes>
matrix_memory<T> memory_of(const folded_matrix<strided_source<T, Rank>, Rank, Axes>& matrix) {
  constexpr auto rows = Axes::rows;
  constexpr auto columns = Axes::columns;
  const auto& stride = matrix.program.stride;
  const int row = detail::stepping_axis(matrix.extents, stride, rows);
  const int column = detail::stepping_axis(matrix.extents, stride, columns);
  if (column < 0 || (row < 0 && rows.size() != 0)) return {nullptr, 0, 0};
  return {matrix.program.at(matrix.batch).data, row < 0 ? 0 : stride[row], stride[column]};
}

namespace detail {

/// A program without casts to wider integers: `of` gives the program of what they are made of.
template <class Program>
struct before_casts {
  using type = Program;
  static const Program& of(const Program& program) { return program; }
};
template <class T, class Computes, class Program>
  requires is_integer<T> && is_integer<typename Program::value_type> && (sizeof(typename Program::value_type) == 1)
struct before_casts<operation_program<cast_op<T>, T, Computes, Program>> {
  using type = Program;
  static const Program& of(const operation_program<cast_op<T>, T, Computes, Program>& program) {
    return get<0>(program.programs);
  }
};

template <class Program, int Rank, class Axes>
auto without_casts(const folded_matrix<Program, Rank, Axes>& matrix) {
  using bare = before_casts<Program>;
  return folded_matrix<typename bare::type, Rank, Axes>{bare::of(matrix.program), matrix.extents, matrix.batch};
}
template <class Matrix>
const Matrix& without_casts(const Matrix& matrix) {
  return matrix;
}
/// The matrix that `make` makes. One without casts is made in its place: a copy would wait for what was just written.
template <class Make>
auto made_without_casts(const Make& make) {
  using matrix = decltype(make());
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(without_casts(std::declval<matrix>()))>, matrix>) {
    return make();
  } else {
    return without_casts(make());
  }
}

}  // namespace detail
}  // namespace tenon
