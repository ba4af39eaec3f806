// tenon/contraction/operand.hpp: how a block brings tiles of its operands into shared memory.
// Elements that lie side by side are copied asynchronously; all others are evaluated, a chunk of them at a time.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/contraction/tile.hpp>

namespace tenon {

enum class operand_side { left, right };

/// The part of an operand that a step needs: lines and depths from the first ones on, before the last ones.
struct operand_part {
  index first_line, line_end, first_depth, depth_end;
};

/// An operand as lines along the depth, in shared memory as elements of T. The layout is a choice of run time that all
/// threads share, and so is how it is read.
template <class T, class Matrix, operand_side Side>
struct product_operand {
  static constexpr bool may_copy = std::is_same_v<memory_element_of<Matrix>, T>;

  Matrix matrix;
  tile_layout layout;
  int copy_bytes;  // of each asynchronous copy; 0 where elements are evaluated
  index pitch;     // from run to run in memory, where runs are copied

  template <int Rank>
  TENON_HOST_DEVICE product_operand at_batch(const array<index, Rank>& position) const {
    return {matrix.at_batch(position), layout, copy_bytes, pitch};
  }
  /// Brings a part, or starts to, into the places that `Placement` says; outside the operand there are zeros.
  template <class Placement, int Threads, class Device, class Stage>
  TENON_HOST_DEVICE void fetch(Device& device, const Stage& to, const operand_part& part) const {
    if constexpr (may_copy) {
      if (copy_bytes == 16) return copy<16, Placement, Threads>(device, to, part);
      if constexpr (sizeof(T) <= 8) {
        if (copy_bytes == 8) return copy<8, Placement, Threads>(device, to, part);
      }
      if constexpr (sizeof(T) <= 4) {
        if (copy_bytes == 4) return copy<4, Placement, Threads>(device, to, part);
      }
    }
    evaluate<Placement, Threads>(device, to, part);
  }

 private:
  static constexpr int chunk = chunk_size<T>;

  /// One chunk: its place in the tile, and the run and the position within the run where it begins in the operand.
  struct chunk_place {
    int run, number;
    index from_run, from_element;
    bool is_inside;  // the run is

    TENON_HOST_DEVICE bool holds(index element, index end) const { return is_inside && from_element + element < end; }
  };
  TENON_HOST_DEVICE bool is_along_depth() const { return layout == tile_layout::along_depth; }
  TENON_HOST_DEVICE index element_end(const operand_part& part) const {
    return is_along_depth() ? part.depth_end : part.line_end;
  }
  template <class Placement>
  TENON_HOST_DEVICE chunk_place place_of(int i, const operand_part& part) const {
    constexpr int chunks_along_depth = Placement::depth / chunk, chunks_along_lines = Placement::lines / chunk;
    const bool along_depth = is_along_depth();
    const int run = along_depth ? i / chunks_along_depth : i / chunks_along_lines;
    const int number = along_depth ? i % chunks_along_depth : i % chunks_along_lines;
    const index from_run = (along_depth ? part.first_line : part.first_depth) + run;
    const index from_element = (along_depth ? part.first_depth : part.first_line) + number * chunk;
    return {run, number, from_run, from_element, from_run < (along_depth ? part.line_end : part.depth_end)};
  }
  template <class Placement>
  static constexpr int chunks_of_tile = Placement::lines * Placement::depth / chunk;

  template <int Bytes, class Placement, int Threads, class Device, class Stage>
  TENON_HOST_DEVICE void copy(Device& device, const Stage& to, const operand_part& part) const {
    constexpr int step = Bytes / static_cast<int>(sizeof(T));
    const T* const data = matrix.program.at(matrix.batch).data;
    const index end = element_end(part);
    for (int first = 0; first < chunks_of_tile<Placement>; first += Threads) {
      const int i = first + device.thread();
      if (chunks_of_tile<Placement> % Threads != 0 && i >= chunks_of_tile<Placement>) return;
      const chunk_place place = place_of<Placement>(i, part);
      const int target = Placement::offset(layout, place.run, place.number);
      const T* const source = data + place.from_run * pitch + place.from_element;
      for (int j = 0; j < chunk; j += step) {
        device.template copy_async<Bytes>(to, target + j, source + j, place.holds(j, end));
      }
    }
  }
  template <class Placement, int Threads, class Device, class Stage>
  TENON_HOST_DEVICE void evaluate(Device& device, const Stage& to, const operand_part& part) const {
    const index end = element_end(part);
    for (int i = device.thread(); i < chunks_of_tile<Placement>; i += Threads) {
      const chunk_place place = place_of<Placement>(i, part);
      array<T, chunk> values{};
      for (int j = 0; j < chunk; ++j) {
        if (place.holds(j, end)) values[j] = value(place.from_run, place.from_element + j);
      }
      to.template store_vector<chunk>(Placement::offset(layout, place.run, place.number), values);
    }
  }
  TENON_HOST_DEVICE T value(index run, index element) const {
    const bool exchanges = is_along_depth() == (Side == operand_side::right);
    return static_cast<T>(exchanges ? matrix.value(element, run) : matrix.value(run, element));
  }
};

namespace detail {

/// Counts the sources that lie side by side along each of two axes.
template <int Rank>
struct unit_steps {
  int row_axis, column_axis;
  int along_rows = 0, along_columns = 0;

  template <class Start>
  void operator()(const array<index, Rank>& stride, const Start&) {
    along_rows += stride[row_axis] == 1 ? 1 : 0;
    along_columns += stride[column_axis] == 1 ? 1 : 0;
  }
};

/// Whether neighbours in a column, not those in a row, lie side by side in what a matrix reads.
template <class Matrix>
bool lies_along_rows(const Matrix&) {
  return false;
}
template <class Program, int Rank, class Axes>
bool lies_along_rows(const folded_matrix<Program, Rank, Axes>& matrix) {
  constexpr auto rows = Axes::rows;
  constexpr auto columns = Axes::columns;
  if constexpr (rows.size() == 0) {
    return false;
  } else {
    const int row = moving_axis(matrix.extents, rows), column = moving_axis(matrix.extents, columns);
    unit_steps<Rank> steps{row < 0 ? rows[rows.size() - 1] : row, column < 0 ? columns[columns.size() - 1] : column};
    Program program = matrix.program;
    program.visit(steps);
    return steps.along_rows > steps.along_columns;
  }
}
template <class Matrix>
bool lies_along_rows(const transposed_matrix<Matrix>& matrix) {
  return !lies_along_rows(matrix.matrix);
}

/// The most bytes, up to 16, that divide the address of a matrix, its steps that are not 1 and the length of its runs.
template <class T, int Rank, class Axes>
int common_copy_bytes(const folded_matrix<strided_source<T, Rank>, Rank, Axes>& matrix, index run) {
  auto bits = reinterpret_cast<std::uintptr_t>(matrix.program.data) | static_cast<std::uintptr_t>(run) * sizeof(T);
  for (int axis = 0; axis < Rank; ++axis) {
    const index step = matrix.program.stride[axis];
    if (matrix.extents[axis] != 1 && step != 1) bits |= static_cast<std::uintptr_t>(step) * sizeof(T);
  }
  for (const int bytes : {16, 8, 4}) {
    if (bits % static_cast<std::uintptr_t>(bytes) == 0 && bytes >= static_cast<int>(sizeof(T))) return bytes;
  }
  return 0;
}

/// How the runs of a matrix in memory are copied: not at all where they do not lie side by side.
template <class Operand>
void choose_copies(Operand& operand, bool by_columns, index run) {
  if constexpr (Operand::may_copy) {
    const auto memory = memory_of(operand.matrix);
    if (memory.data == nullptr || (run != 1 && (by_columns ? memory.row_step : memory.column_step) != 1)) return;
    operand.pitch = by_columns ? memory.column_step : memory.row_step;
    operand.copy_bytes = common_copy_bytes(operand.matrix, run);
  }
}

}  // namespace detail

/// The operand `matrix` of rows x columns, as a kernel fetches it.
template <class T, operand_side Side, class Matrix>
product_operand<T, Matrix, Side> make_operand(const Matrix& matrix, index rows, index columns) {
  const bool by_columns = detail::lies_along_rows(matrix);
  const bool along_depth = by_columns == (Side == operand_side::right);
  product_operand<T, Matrix, Side> operand{matrix, along_depth ? tile_layout::along_depth : tile_layout::along_lines, 0,
                                           0};
  detail::choose_copies(operand, by_columns, by_columns ? rows : columns);
  return operand;
}

}  // namespace tenon
