// tenon/contraction/operand.hpp: how a block brings tiles of its operands into shared memory.
// Elements that lie side by side are copied asynchronously; all others are evaluated, a chunk of them at a time.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/numbered_patches.hpp>
#include <tenon/contraction/tile.hpp>

namespace tenon {

enum class operand_side { left, right };

/// The part of an operand that a step needs: lines and depths from the first ones on, before the last ones.
struct operand_part {
  index first_line, line_end, first_depth, depth_end;
};

namespace detail {

/// Reads neighbours of a matrix, `count` of Size: of a column where `AlongColumn`, else of a row. Others stay as they
/// are.
template <bool AlongColumn, class Matrix, class T, int Size>
TENON_HOST_DEVICE void read_run(const Matrix& matrix, array<T, Size>& values, index row, index column, int count) {
  for (int k = 0; k < Size; ++k) {
    if (k >= count) continue;
    values[k] = static_cast<T>(AlongColumn ? matrix.value(row + k, column) : matrix.value(row, column + k));
  }
}
template <bool AlongColumn, class Program, int Rank, int GroupAxis, class T, int Size>
TENON_HOST_DEVICE void read_run(const numbered_patches<Program, Rank, GroupAxis>& matrix, array<T, Size>& values,
                                index row, index column, int count) {
  if constexpr (AlongColumn) matrix.read_along_column(values, row, column, count);
  else matrix.read_along_row(values, row, column, count);
}
template <bool AlongColumn, class Matrix, class T, int Size>
TENON_HOST_DEVICE void read_run(const transposed_matrix<Matrix>& matrix, array<T, Size>& values, index row,
                                index column, int count) {
  read_run<!AlongColumn>(matrix.matrix, values, column, row, count);
}

/// Where images lie of which a matrix has the patches; void where they are computed.
template <class Matrix>
struct image_element {
  using type = void;
};
template <class T, int Rank, int ImageRank, int GroupAxis>
struct image_element<numbered_patches<strided_source<T, ImageRank>, Rank, GroupAxis>> {
  using type = T;
};
template <class Matrix>
struct image_element<transposed_matrix<Matrix>> : image_element<Matrix> {};

/// The patches that a matrix is or that it has transposed.
template <class Program, int Rank, int GroupAxis>
TENON_HOST_DEVICE const auto& patches_in(const numbered_patches<Program, Rank, GroupAxis>& matrix) {
  return matrix;
}
template <class Matrix>
TENON_HOST_DEVICE const auto& patches_in(const transposed_matrix<Matrix>& matrix) {
  return patches_in(matrix.matrix);
}
template <class Program, int Rank, int GroupAxis>
auto& patches_in(numbered_patches<Program, Rank, GroupAxis>& matrix) {
  return matrix;
}
template <class Matrix>
auto& patches_in(transposed_matrix<Matrix>& matrix) {
  return patches_in(matrix.matrix);
}

}  // namespace detail

/// Runs of a matrix in memory, numbered: `inner` of them are `pitch` elements apart, then the next begin `outer_pitch`
/// behind the first of these.
struct run_pitches {
  int pitch = 0, outer_pitch = 0;
  divisor inner;
  bool has_outer = false;

  TENON_HOST_DEVICE index offset(int run) const {
    if (!has_outer) return static_cast<index>(run) * pitch;
    const std::uint32_t outer = inner.quotient(static_cast<std::uint32_t>(run));
    const int within = run - static_cast<int>(outer * inner.number());
    return static_cast<index>(within) * pitch + static_cast<index>(outer) * outer_pitch;
  }
};

/// An operand as lines along the depth, in shared memory as elements of T. The layout is a choice of run time that all
/// threads share, and so is how it is read.
template <class T, class Matrix, operand_side Side>
struct product_operand {
  static constexpr bool may_copy = std::is_same_v<memory_element_of<Matrix>, T>;
  static constexpr bool may_copy_images = std::is_same_v<typename detail::image_element<Matrix>::type, T>;

  Matrix matrix;
  tile_layout layout;
  int copy_bytes;    // of each asynchronous copy; 0 where elements are evaluated
  run_pitches runs;  // in memory, where they are copied
  const T* data;     // where the batch begins

  template <int Rank>
  TENON_HOST_DEVICE product_operand at_batch(const array<index, Rank>& position) const {
    product_operand result{matrix.at_batch(position), layout, copy_bytes, runs, nullptr};
    if constexpr (may_copy) {
      result.data = result.matrix.program.at(result.matrix.batch).data;
    } else if constexpr (may_copy_images) {
      const auto& patches = detail::patches_in(static_cast<const Matrix&>(result.matrix)).matrix;
      result.data = patches.program.data + patches.group * patches.program.stride[0];
    }
    return result;
  }
  /// Brings a part, or starts to, into the places that `Placement` says; outside the operand there are zeros.
  template <class Placement, int Threads, class Device, class Stage>
  TENON_HOST_DEVICE void fetch(Device& device, const Stage& to, const operand_part& part) const {
    if (layout == tile_layout::along_depth) {
      fetch_tile<Threads>(device, to, tile<Placement, tile_layout::along_depth>(part));
    } else {
      fetch_tile<Threads>(device, to, tile<Placement, tile_layout::along_lines>(part));
    }
  }

 private:
  static constexpr int chunk = chunk_size<T>;

  /// A part by runs and elements of runs. The layout is known where this is compiled, and places within a tile are
  /// small, so that finding them costs little beside the copies.
  template <class Placement, tile_layout Layout>
  struct tile {
    static constexpr bool along_depth = Layout == tile_layout::along_depth;
    static constexpr unsigned chunks_of_run = (along_depth ? Placement::depth : Placement::lines) / chunk;
    static constexpr int chunks = Placement::lines * Placement::depth / chunk;
    index first_run, first_element;  // of the operand
    int run_end, element_end;        // of the tile

    TENON_HOST_DEVICE explicit tile(const operand_part& part)
        : first_run(along_depth ? part.first_line : part.first_depth),
          first_element(along_depth ? part.first_depth : part.first_line),
          run_end(count_before((along_depth ? part.line_end : part.depth_end) - first_run)),
          element_end(count_before((along_depth ? part.depth_end : part.line_end) - first_element)) {}

    /// Run and first element of chunk `i`, and the place of such a chunk in shared memory.
    TENON_HOST_DEVICE static int run_of(int i) { return static_cast<int>(static_cast<unsigned>(i) / chunks_of_run); }
    TENON_HOST_DEVICE static int element_of(int i) {
      return static_cast<int>(static_cast<unsigned>(i) % chunks_of_run) * chunk;
    }
    TENON_HOST_DEVICE static int target_of(int run, int element) {
      return Placement::offset(Layout, run, element / chunk);
    }
    TENON_HOST_DEVICE bool holds(int run, int element) const { return run < run_end && element < element_end; }

   private:
    TENON_HOST_DEVICE static int count_before(index count) {
      constexpr index most = 1 << 30;
      return static_cast<int>(count < most ? count : most);
    }
  };

  template <int Threads, class Device, class Stage, class Tile>
  TENON_HOST_DEVICE void fetch_tile(Device& device, const Stage& to, const Tile& from) const {
    if constexpr (may_copy) {
      if (copy_bytes == 16) return copy<16, Threads>(device, to, from);
      if constexpr (sizeof(T) <= 8) {
        if (copy_bytes == 8) return copy<8, Threads>(device, to, from);
      }
      if constexpr (sizeof(T) <= 4) {
        if (copy_bytes == 4) return copy<4, Threads>(device, to, from);
      }
    }
    if constexpr (may_copy_images) {
      if (copy_bytes == chunk_bytes) return copy_channels<Threads>(device, to, from);
    }
    evaluate<Threads>(device, to, from);
  }
  /// Copies chunks of channels, or zeros.
  template <int Threads, class Device, class Stage, class Tile>
  TENON_HOST_DEVICE void copy_channels(Device& device, const Stage& to, const Tile& from) const {
    const auto& patches = detail::patches_in(matrix);
    const int first_run = static_cast<int>(from.first_run), first_element = static_cast<int>(from.first_element);
    for (int first = 0; first < Tile::chunks; first += Threads) {
      const int i = first + device.reread_thread();
      if (Tile::chunks % Threads != 0 && i >= Tile::chunks) return;
      const int run = Tile::run_of(i), element = Tile::element_of(i);
      const auto taps = patches.tap_of(first_element + element);
      const int offset = patches.offset_of_channels(taps, patches.window_of(first_run + run));
      const bool is_inside = offset >= 0 && from.holds(run, element);
      device.template copy_async<chunk_bytes>(to, Tile::target_of(run, element), data + (is_inside ? offset : 0),
                                              is_inside);
    }
  }
  /// Copies chunks. Those of a thread have the same place in runs that are equally far apart.
  template <int Bytes, int Threads, class Device, class Stage, class Tile>
  TENON_HOST_DEVICE void copy(Device& device, const Stage& to, const Tile& from) const {
    static_assert(Threads % Tile::chunks_of_run == 0, "tenon: threads copy whole runs");
    constexpr int step = Bytes / static_cast<int>(sizeof(T));
    constexpr int runs_apart = Threads / static_cast<int>(Tile::chunks_of_run);
    const int i = device.reread_thread(), element = Tile::element_of(i);
    int run = Tile::run_of(i);
    const auto start = [&] {
      return data + from.first_element + element + runs.offset(static_cast<int>(from.first_run) + run);
    };
    const T* source = start();
    TENON_UNROLLED
    for (int first = 0; first < Tile::chunks; first += Threads) {
      if (Tile::chunks % Threads != 0 && first + i >= Tile::chunks) return;
      const int target = Tile::target_of(run, element);
      for (int j = 0; j < chunk; j += step) {
        device.template copy_async<Bytes>(to, target + j, source + j, from.holds(run, element + j));
      }
      run += runs_apart;
      source = runs.has_outer ? start() : source + static_cast<index>(runs_apart) * runs.pitch;
    }
  }
  template <int Threads, class Device, class Stage, class Tile>
  TENON_HOST_DEVICE void evaluate(Device& device, const Stage& to, const Tile& from) const {
    for (int i = device.reread_thread(); i < Tile::chunks; i += Threads) {
      const int run = Tile::run_of(i), element = Tile::element_of(i);
      array<T, chunk> values{};
      const int rest = run < from.run_end ? from.element_end - element : 0;
      if (rest > 0) {
        const index at_run = from.first_run + run, at_element = from.first_element + element;
        constexpr bool exchanges = Tile::along_depth == (Side == operand_side::right);
        detail::read_run<exchanges>(matrix, values, exchanges ? at_element : at_run, exchanges ? at_run : at_element,
                                    rest < chunk ? rest : chunk);
      }
      to.template store_vector<chunk>(Tile::target_of(run, element), values);
    }
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
template <class Program, int Rank, int GroupAxis>
bool lies_along_rows(const numbered_patches<Program, Rank, GroupAxis>& patches) {
  return patches.channels_last;
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

/// Steps along some axes of a matrix: from a position to the next, and over every `inner` of them where outer axes do
/// not go on where inner ones end.
struct axis_steps {
  bool exist = true;
  index step = 0, outer_step = 0, inner = 0;  // 0 where all positions are one step apart
};
template <int Rank, int Count>
axis_steps steps_along(const array<index, Rank>& extents, const array<index, Rank>& stride,
                       const array<int, Count>& axes) {
  axis_steps result;
  index count = 0, end = 0;  // of the positions that are a step apart, and where they end
  for (int place = Count - 1; place >= 0; --place) {
    const int axis = axes[place];
    if (extents[axis] == 1) continue;
    if (count == 0) {
      result.step = stride[axis], count = extents[axis];
    } else if (stride[axis] == end) {
      count *= extents[axis];
    } else if (result.inner == 0) {
      result.inner = count, result.outer_step = stride[axis];
    } else {
      result.exist = false;
    }
    end = stride[axis] * extents[axis];
  }
  return result;
}

/// How the runs of a matrix in memory are copied: not at all where they do not lie side by side.
template <class Operand>
void choose_copies(Operand& operand, bool by_columns, index run, index runs) {
  if constexpr (Operand::may_copy) {
    const auto& matrix = operand.matrix;
    using axes = typename std::remove_cvref_t<decltype(matrix)>::axes_type;
    const auto rows = steps_along(matrix.extents, matrix.program.stride, axes::rows);
    const auto columns = steps_along(matrix.extents, matrix.program.stride, axes::columns);
    const axis_steps& along = by_columns ? rows : columns;
    const axis_steps& across = by_columns ? columns : rows;
    const auto fits = [](index number) { return number == static_cast<int>(number); };
    if (!across.exist || !along.exist || along.inner != 0 || (run != 1 && along.step != 1)) return;
    if (!fits(across.step) || !fits(across.outer_step) || runs >= dividend_limit) return;
    operand.runs.pitch = static_cast<int>(across.step), operand.runs.outer_pitch = static_cast<int>(across.outer_step);
    operand.runs.has_outer = across.inner != 0;
    if (operand.runs.has_outer) operand.runs.inner = divisor(across.inner);
    operand.data = matrix.program.at(matrix.batch).data;
    operand.copy_bytes = common_copy_bytes(matrix, run);
  } else if constexpr (Operand::may_copy_images) {
    auto& patches = patches_in(operand.matrix);
    if (find_pitches(patches, chunk_bytes)) operand.copy_bytes = chunk_bytes;
  }
}

}  // namespace detail

/// The operand `matrix` of rows x columns, as a kernel fetches it.
template <class T, operand_side Side, class Matrix>
product_operand<T, Matrix, Side> make_operand(const Matrix& matrix, index rows, index columns) {
  const bool by_columns = detail::lies_along_rows(matrix);
  const bool along_depth = by_columns == (Side == operand_side::right);
  product_operand<T, Matrix, Side> operand{
      matrix, along_depth ? tile_layout::along_depth : tile_layout::along_lines, 0, {}, nullptr};
  detail::choose_copies(operand, by_columns, by_columns ? rows : columns, by_columns ? columns : rows);
  return operand;
}

}  // namespace tenon
