// tenon/host/staging.hpp: pointwise statements whose operands do not all lie along the loop.
// Those are copied first, tile by tile, in whole cache lines. Nothing here knows a statement's type but run_statement.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/plan/access.hpp>
#include <vector>

namespace tenon::detail {

inline constexpr index pointwise_chunk = 4096;   // elements: few enough to balance, enough to hide the bookkeeping
inline constexpr index pointwise_grain = 16384;  // below this a second thread costs more than it saves
inline constexpr index tile_rows = 256;          // along an operand that lies across the loop
inline constexpr index tile_columns = 64;        // along the loop
inline constexpr index block_rows = tile_rows / tile_columns;  // written between two looks ahead

using simd::copied_matrix;
using copy_function = void(void* to, const void* from, const copied_matrix& matrix);

/// Elements in memory that a program reads, and where the program keeps their address.
template <int Rank>
struct listed_source {
  const void* elements;
  array<index, Rank> stride;
  void* address;
  array<index, Rank>* stride_at;
  index size;  // bytes of an element
  copy_function* copy;

  bool is_staged() const { return stride[Rank - 1] != 0 && stride[Rank - 1] != 1; }
};

/// As stride_list, with the sources.
template <int Rank>
struct source_list : stride_list<Rank> {
  static constexpr int most_sources = 8;  // the others are read where they are
  listed_source<Rank> sources[most_sources];
  int found = 0;

  void operator()(array<index, Rank>& stride) { stride_list<Rank>::operator()(stride); }
  template <class T>
  void operator()(array<index, Rank>& stride, const T*& data) {
    if constexpr (sizeof(T) <= 8) {
      add(stride, data, &data, sizeof(T), [](void* to, const void* from, const copied_matrix& matrix) {
        simd::copy_matrix(static_cast<T*>(to), static_cast<const T*>(from), matrix);
      });
    } else {
      stride_list<Rank>::operator()(stride);
    }
  }

 private:
  [[gnu::noinline]] void add(array<index, Rank>& stride, const void* elements, void* address, index size,
                             copy_function* copy) {
    stride_list<Rank>::operator()(stride);
    if (Rank > 0 && found < most_sources) sources[found++] = {elements, stride, address, &stride, size, copy};
  }
};

/// `count` rows, next to each other along the axis `across` from `position` on; of each the elements `part[0]` to
/// `part[1]` - 1.
template <int Rank>
struct row_block {
  array<index, Rank> position;
  array<index, 2> part;
  int across = 0;
  index count = 1;

  template <class Body>
  TENON_INLINE void for_each(const Body& body) const {
    array<index, Rank> here = position;
    for (index row = 0; row < count; ++row) {
      body(here);
      if constexpr (Rank > 0) ++here[across];
    }
  }
};

/// A statement without its type.
template <int Rank>
struct any_statement {
  void* self;
  std::size_t size;
  void (*visit)(void* self, source_list<Rank>& list);
  void (*write)(const void* self, const row_block<Rank>& rows);
};

/// The rows of an iteration space in chunks, shared among threads.
template <int Rank>
void run_chunks(const array<index, Rank>& extents, const any_statement<Rank>& statement) {
  const index length = Rank == 0 ? 1 : extents[Rank - 1], rows = count_between(extents, 0, Rank - 1);
  const index chunks = (length + pointwise_chunk - 1) / pointwise_chunk;
  const index chunk = chunks <= 1 ? length : pointwise_chunk;
  const index grain = chunk == 0 ? 1 : (pointwise_grain + chunk - 1) / chunk;
  parallel_for(rows * chunks, grain, [&](index first, index last) {
    row_block<Rank> block{};
    for (index item = first; item < last; ++item) {
      const index begin = item % chunks * chunk;
      block.part = {{begin, begin + chunk < length ? begin + chunk : length}};
      set_position(block.position, extents, 0, Rank - 1, item / chunks);
      statement.write(statement.self, block);
    }
    simd::finish_streaming();
  });
}

/// An iteration space cut into tiles of `rows` along the axis `across` and `columns` along the last axis.
template <int Rank>
struct tile_grid {
  array<index, Rank> extents, tiles;
  int across;
  index rows, columns;

  tile_grid(const array<index, Rank>& space, int axis)
      : extents(space),
        tiles(space),
        across(axis),
        rows(axis < 0 ? 1 : tile_rows),
        columns(axis < 0 ? pointwise_chunk : tile_columns) {
    if (across >= 0) tiles[across] = (extents[across] + rows - 1) / rows;
    tiles[Rank - 1] = (extents[Rank - 1] + columns - 1) / columns;
  }
  /// Where tile number `number` begins.
  array<index, Rank> origin(index number) const {
    array<index, Rank> result{};
    set_position(result, tiles, 0, Rank, number);
    if (across >= 0) result[across] *= rows;
    result[Rank - 1] *= columns;
    return result;
  }
  index rows_at(const array<index, Rank>& origin) const {
    if (across < 0) return 1;
    return origin[across] + rows < extents[across] ? rows : extents[across] - origin[across];
  }
  index columns_at(const array<index, Rank>& origin) const {
    return origin[Rank - 1] + columns < extents[Rank - 1] ? columns : extents[Rank - 1] - origin[Rank - 1];
  }
};

/// Memory in whole cache lines.
class staged_lines {
 public:
  explicit staged_lines(std::size_t bytes) : lines_((bytes + sizeof(line) - 1) / sizeof(line)) {}
  std::byte* data() { return lines_.data()->bytes; }

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> lines_;
};

/// Copies of the tile at `origin` of the staged sources, to which the program's addresses are turned.
template <int Rank>
void stage_tile(const tile_grid<Rank>& grid, const array<index, Rank>& origin, const source_list<Rank>& list,
                std::byte* lines) {
  const index rows = grid.rows_at(origin), columns = grid.columns_at(origin);
  for (int i = 0; i < list.found; ++i) {
    const auto& source = list.sources[i];
    if (!source.is_staged()) continue;
    index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) offset += origin[axis] * source.stride[axis];
    source.copy(lines, static_cast<const std::byte*>(source.elements) + offset * source.size,
                {rows, columns, grid.across < 0 ? 0 : source.stride[grid.across], source.stride[Rank - 1]});
    auto stride = filled_array<Rank>(index{0});
    stride[Rank - 1] = 1;
    index to_origin = origin[Rank - 1];
    if (grid.across >= 0) stride[grid.across] = columns, to_origin += origin[grid.across] * columns;
    *source.stride_at = stride;
    const auto address = reinterpret_cast<std::uintptr_t>(lines) - static_cast<std::uintptr_t>(to_origin * source.size);
    std::memcpy(source.address, &address, sizeof(address));  // so that positions count as before
    lines += grid.rows * grid.columns * source.size;
  }
}

/// Asks for column `column` of the staged sources of the tile at `origin`.
template <int Rank>
TENON_INLINE void prefetch_column(const tile_grid<Rank>& grid, const array<index, Rank>& origin,
                                  const source_list<Rank>& list, index column) {
  for (int i = 0; i < list.found; ++i) {
    const auto& source = list.sources[i];
    if (!source.is_staged() || source.stride[grid.across] != 1) continue;
    index offset = column * source.stride[Rank - 1];
    for (int axis = 0; axis < Rank; ++axis) offset += origin[axis] * source.stride[axis];
    const auto from = static_cast<const std::byte*>(source.elements) + offset * source.size;
    for (index byte = 0; byte < tile_rows * source.size; byte += 64) __builtin_prefetch(from + byte);
  }
}

/// The elements `begin` to `begin` + `count` - 1 of a row that its cursor reads with steps, copied side by side.
class staged_row {
 public:
  static constexpr index most_elements = 1024, most_sources = 4;

  staged_row(index begin, index count) : begin_(begin), count_(count) {}
  template <class T>
  void operator()(const T*& data, index& stride) {
    if constexpr (sizeof(T) <= 8) {
      if (stride == 0 || stride == 1 || sources_ == most_sources) return;
      const auto copy = reinterpret_cast<T*>(bytes_ + sources_++ * most_elements * 8);
      simd::copy_strided(copy, data + begin_ * stride, stride, count_);
      data = numbered_from(copy, begin_), stride = 1;
    }
  }

 private:
  index begin_, count_, sources_ = 0;
  alignas(64) std::byte bytes_[most_sources * most_elements * 8];
};

/// The iteration space tile by tile, shared among threads.
template <int Rank>
void run_tiles(const array<index, Rank>& extents, int across, const any_statement<Rank>& statement) {
  const tile_grid<Rank> grid(extents, across);
  parallel_for(count_between(grid.tiles, 0, Rank), 1 + pointwise_grain / (grid.rows * grid.columns),
               [&](index first, index last) {
                 staged_lines copy(statement.size);
                 std::memcpy(copy.data(), statement.self, statement.size);
                 source_list<Rank> list;
                 statement.visit(copy.data(), list);
                 index bytes = 0;
                 for (int i = 0; i < list.found; ++i) bytes += list.sources[i].is_staged() ? list.sources[i].size : 0;
                 staged_lines lines(static_cast<std::size_t>(grid.rows * grid.columns * bytes));
                 for (index item = first; item < last; ++item) {
                   const auto origin = grid.origin(item), next = grid.origin(item + 1 < last ? item + 1 : item);
                   stage_tile(grid, origin, list, lines.data());
                   const index begin = origin[Rank - 1], rows = grid.rows_at(origin);
                   row_block<Rank> block{origin, {{begin, begin + grid.columns_at(origin)}}, across < 0 ? 0 : across};
                   block.position[Rank - 1] = 0;
                   for (index row = 0; row < rows; row += block_rows) {
                     if (across >= 0)
                       prefetch_column(grid, next, list, row / block_rows),
                           block.position[across] = origin[across] + row;
                     block.count = rows - row < block_rows ? rows - row : block_rows;
                     statement.write(copy.data(), block);
                   }
                 }
                 simd::finish_streaming();
               });
}

/// Orders axes as the first destination has them in memory, largest steps first.
template <int Rank>
void order_by_destination(array<index, Rank>& extents, const source_list<Rank>& list) {
  const array<index, Rank>& step = *list.strides[0];
  const auto comes_before = [&](int axis, int other) {
    if (extents[axis] == 1 || extents[other] == 1) return false;
    return (step[axis] < 0 ? -step[axis] : step[axis]) > (step[other] < 0 ? -step[other] : step[other]);
  };
  for (int end = 1; end < Rank; ++end) {
    for (int axis = end; axis > 0 && comes_before(axis, axis - 1); --axis) {
      list.exchange(axis, axis - 1);
      std::swap(extents[axis], extents[axis - 1]);
    }
  }
}

/// The axis along which a staged source lies side by side, -1 where there is none, -2 where nothing needs a copy.
template <int Rank>
int axis_across(const array<index, Rank>& extents, const source_list<Rank>& list) {
  constexpr index least = 8;  // shorter runs are not worth a copy
  int result = -2;
  if (extents[Rank - 1] < least) return result;
  for (int i = 0; i < list.found; ++i) {
    const auto& stride = *list.sources[i].stride_at;
    if (stride[Rank - 1] == 0 || stride[Rank - 1] == 1) continue;
    if (result == -2) result = -1;
    for (int axis = 0; axis < Rank - 1; ++axis) {
      if (stride[axis] == 1 && extents[axis] >= least) return axis;
    }
  }
  return result;
}

/// Runs a statement that visits its destinations first.
template <int Rank>
void run_listed(array<index, Rank> extents, const any_statement<Rank>& statement) {
  count_launch("pointwise");
  source_list<Rank> list;
  statement.visit(statement.self, list);
  if constexpr (Rank > 0) {
    if (list.count <= source_list<Rank>::capacity) {
      order_by_destination(extents, list);
      merge_listed_axes(extents, 0, Rank, list);
      const int across = count_between(extents, 0, Rank) < pointwise_chunk ? -2 : axis_across(extents, list);
      if (across != -2) return run_tiles(extents, across, statement);
    }
  }
  run_chunks(extents, statement);
}

/// Runs a statement, which has `visit(list)` for its destinations and sources and `write(rows)`.
template <int Rank, class Statement>
void run_statement(const array<index, Rank>& extents, Statement& statement) {
  static_assert(std::is_trivially_copyable_v<Statement>, "tenon: functions in expressions must be trivially copyable");
  run_listed<Rank>(extents, {&statement, sizeof(Statement),
                             [](void* self, source_list<Rank>& list) { static_cast<Statement*>(self)->visit(list); },
                             [](const void* self, const row_block<Rank>& rows) {
                               static_cast<const Statement*>(self)->write(rows);
                             }});
}

}  // namespace tenon::detail
