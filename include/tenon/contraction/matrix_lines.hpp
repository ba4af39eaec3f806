// tenon/contraction/matrix_lines.hpp: a matrix as lines of elements that a kernel reads in packets.
// Rows or columns are lines, whichever suits; all that the matrix is computed of is read side by side along them.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix_memory.hpp>

namespace tenon {

/// How many elements a packet of a program's operands has: 16 bytes of the widest type, at most eight.
template <class Program>
inline constexpr int line_packet = element_bytes<Program> >= 16  ? 1
                                   : element_bytes<Program> <= 2 ? 8
                                                                 : 16 / element_bytes<Program>;

namespace detail {
/// Reads elements that are known to lie side by side, so that nothing stands between one access and the next.
struct adjacent_reader {
  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index) const {
    return load_packet<Size>(data);
  }
};
}  // namespace detail

/// A matrix whose rows and columns are an axis each: its rows as lines, or its columns with both axes exchanged.
template <class Program, int Rank, class Axes>
struct matrix_lines {
  static constexpr int packet = line_packet<Program>;
  static constexpr bool is_one_source = source_count<Program> == 1;
  Program program;
  array<index, Rank> batch;
  bool in_packets;  // of all lines, from the first element on

  /// What reads a line from `element` on.
  TENON_HOST_DEVICE TENON_INLINE auto cursor(index line, index element) const {
    constexpr auto rows = Axes::rows;
    auto position = batch;
    if constexpr (rows.size() != 0) position[rows[rows.size() - 1]] = line;
    position[Rank - 1] = element;
    return program.at(position);
  }
  /// `Size` elements of a line as numbers, a packet or one by one: then those from `count` on, which is not 0, are 0.
  template <bool InPackets, class Number, int Size>
  TENON_HOST_DEVICE TENON_INLINE void read(array<Number, Size>& numbers, index line, index element, int count) const {
    const auto from = cursor(line, element);
    if constexpr (InPackets) {
      std::conditional_t<is_one_source, detail::adjacent_reader, direct_reader> reader;
      const auto fetched = fetch<Size>(from, reader);
      for (int k = 0; k < Size; ++k) numbers[k] = static_cast<Number>(value_from(from, fetched, k));
    } else {
      for (int k = 0; k < Size; ++k) {
        const auto number = static_cast<Number>(from.value(k < count ? k : count - 1, no_slots{}));  // no branch
        numbers[k] = k < count ? number : Number(0);
      }
    }
  }
  template <int ResultRank>
  TENON_HOST_DEVICE matrix_lines at_batch(const array<index, ResultRank>& position) const {
    constexpr auto batches = Axes::batches;
    constexpr auto sources = Axes::result_batches;
    matrix_lines result = *this;
    for (int place = 0; place < batches.size(); ++place) result.batch[batches[place]] = position[sources[place]];
    return result;
  }
};

namespace detail {

/// Merges the axes `axes` of a matrix into the last of them; false where memory does not allow it.
template <int Rank, int Count>
bool merge_into_last(array<index, Rank>& extents, const array<int, Count>& axes, const stride_list<Rank>& strides) {
  for (int place = Count - 2; place >= 0; --place) {
    const int outer = axes[place], last = axes[Count - 1];
    if (extents[outer] == 1) continue;
    if (extents[last] == 1) strides.move(outer, last);
    else if (!strides.merge(outer, last, extents[last])) return false;
    extents[last] *= extents[outer];
    extents[outer] = 1;
  }
  return true;
}

/// Counts the sources in memory that lie side by side along each of two axes.
template <int Rank>
struct adjacent_sources {
  int row_axis;
  int along_rows = 0, along_columns = 0;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T*) {
    along_rows += stride[Rank - 1] == 1 ? 1 : 0;
    along_columns += row_axis >= 0 && stride[row_axis < 0 ? 0 : row_axis] == 1 ? 1 : 0;
  }
  void operator()(const array<index, Rank>&, index) {}
};

}  // namespace detail

/// Which elements of a matrix are to be lines: those of each row, of each column, or those that lie side by side in
/// most of what it is computed of.
enum class line_direction { rows, columns, adjacent };

/// A matrix as lines, and whether these are its columns.
template <class Program, int Rank, class Axes>
struct found_lines {
  bool exist;  // else rows or columns run over several axes of memory
  bool are_columns;
  matrix_lines<Program, Rank, Axes> matrix;
};

template <class Program, int Rank, class Axes>
found_lines<Program, Rank, Axes> lines_of(const folded_matrix<Program, Rank, Axes>& matrix, line_direction direction) {
  constexpr auto rows = Axes::rows;
  constexpr auto columns = Axes::columns;
  constexpr int row_axis = rows.size() == 0 ? -1 : rows[rows.size() - 1];
  found_lines<Program, Rank, Axes> result{
      false, direction == line_direction::columns, {matrix.program, matrix.batch, false}};
  auto& program = result.matrix.program;
  auto extents = matrix.extents;
  stride_list<Rank> strides;
  program.visit(strides);
  if (!visits_all_reads<Program> || strides.count > stride_list<Rank>::capacity ||
      columns[columns.size() - 1] != Rank - 1 || !detail::merge_into_last(extents, rows, strides) ||
      !detail::merge_into_last(extents, columns, strides)) {
    return result;
  }
  detail::adjacent_sources<Rank> adjacent{row_axis};
  program.visit(adjacent);
  if (direction == line_direction::adjacent) result.are_columns = adjacent.along_columns > adjacent.along_rows;
  if (result.are_columns) {
    if constexpr (row_axis < 0) return result;
    strides.exchange(row_axis < 0 ? 0 : row_axis, Rank - 1);
    std::swap(extents[row_axis < 0 ? 0 : row_axis], extents[Rank - 1]);
  }
  result.exist = true;
  constexpr int size = line_packet<Program>;
  if constexpr (size > 1) {
    detail::packet_check<Rank, size> check{extents};
    program.visit(check);
    const int adjacent_count = result.are_columns ? adjacent.along_columns : adjacent.along_rows;
    result.matrix.in_packets =
        check.fits && extents[Rank - 1] % size == 0 && (source_count<Program> != 1 || adjacent_count == 1);
  }
  return result;
}

}  // namespace tenon
