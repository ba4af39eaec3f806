// tenon/host/tiles.hpp: pointwise statements, tile by tile and row by row.
// Here a statement has no type but its rank: a list of what it reads and writes, and a function that does one row.
// Floor 4: may include base, device, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/host/staging.hpp>
#include <tenon/plan/alias.hpp>

namespace tenon::detail {

inline constexpr index pointwise_chunk = 4096;   // elements of a tile that is copied: the first cache holds it
inline constexpr index pointwise_grain = 16384;  // of any other; for fewer, a second thread costs more than it saves
inline constexpr index across_rows = 256;        // of a tile, along an operand that lies across the loop
inline constexpr index across_columns = 64;      // of such a tile, along the loop
inline constexpr index rows_ahead = across_rows / across_columns;  // written between two looks ahead
inline constexpr array<index, 2> copied_tile{{64, 4096}};          // rows and columns of a tile that is copied as it is
inline constexpr array<index, 2> streamed_tile{{1024, 256}};       // of one that is copied past the caches

/// What a statement reads along its axes: elements in memory, or positions.
template <int Rank>
struct listed_source {
  std::uintptr_t start;
  array<index, Rank> stride;
  const simd::element_copies* copies;  // none of positions

  index size() const { return copies == nullptr ? 1 : copies->size; }
};

/// Where a statement writes.
template <int Rank>
struct listed_target {
  std::byte* start;
  array<index, Rank> stride;
  const simd::element_copies* copies;
};

/// Where a cursor keeps the address or position of a source, and its step along a row.
struct cursor_field {
  void* start;
  index* stride;
};

/// What the type of a statement says.
struct listed_facts {
  int source_count, target_count;
  index cursor_size;
  void (*find_fields)(void* cursor, cursor_field* fields);
  void (*write)(const void* cursor, void* const* to, index count, bool streaming);
  bool in_packs;  // these read elements side by side, or one for a whole row
  bool is_copy;   // of one source to one target of its type
};

/// A statement without its type.
template <int Rank>
struct any_statement {
  array<index, Rank> extents;
  listed_source<Rank>* sources;
  listed_target<Rank>* targets;
  const void* cursor;
  const listed_facts* facts;
  bool streaming;

  bool is_repeated(const listed_source<Rank>& source) const {
    return facts->in_packs && source.copies != nullptr && source.stride[Rank - 1] == 0;
  }
  bool is_staged(const listed_source<Rank>& source) const {
    return facts->in_packs && source.copies != nullptr && source.stride[Rank - 1] != 0 && source.stride[Rank - 1] != 1;
  }
  /// The first source that is the same as source `k`: one copy serves both.
  int first_same(int k) const {
    for (int earlier = 0; earlier < k; ++earlier) {
      const auto &left = sources[earlier], &right = sources[k];
      if (left.copies == right.copies && left.start == right.start && left.stride == right.stride) return earlier;
    }
    return k;
  }
  /// Whether elements go from the source to the target by the copies of their type.
  bool copies_at_once() const { return facts->is_copy && is_staged(sources[0]) && targets[0].stride[Rank - 1] == 1; }
};

/// Lists what programs visit.
template <int Rank>
struct source_lister {
  listed_source<Rank>* next;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    *next++ = {reinterpret_cast<std::uintptr_t>(data), stride, &simd::copies_of<T>};
  }
  void operator()(const array<index, Rank>& stride, index position) {
    *next++ = {static_cast<std::uintptr_t>(position), stride, nullptr};
  }
};

/// Lists what cursors visit.
struct field_lister {
  cursor_field* next;

  template <class Start>
  void operator()(Start& start, index& stride) {
    *next++ = {&start, &stride};
  }
};

/// What a statement reads of its first target.
template <int Rank>
found_reads reads_of_target(const any_statement<Rank>& statement) {
  const auto block = [&](std::uintptr_t start, array<index, Rank> stride, const simd::element_copies* copies) {
    for (int axis = 0; axis < Rank; ++axis) stride[axis] = statement.extents[axis] == 1 ? 0 : stride[axis];
    return strided_block<Rank>{start, statement.extents, stride, copies->size, copies};
  };
  const auto& target = statement.targets[0];
  const auto written = block(reinterpret_cast<std::uintptr_t>(target.start), target.stride, target.copies);
  read_check check(written);
  for (int k = 0; k < statement.facts->source_count; ++k) {
    const auto& source = statement.sources[k];
    if (source.copies != nullptr) check.show({block(source.start, source.stride, source.copies), "assign", true});
  }
  return check.found();
}

/// Orders axes as the first destination has them in memory, largest steps first.
template <int Rank>
void order_by_destination(array<index, Rank>& extents, const stride_list<Rank>& list) {
  const array<index, Rank>& step = *list.strides[0];
  const auto comes_before = [&](int axis, int other) {
    if (extents[axis] == 1 || extents[other] == 1) return extents[axis] == 1 && extents[other] != 1;
    return (step[axis] < 0 ? -step[axis] : step[axis]) > (step[other] < 0 ? -step[other] : step[other]);
  };
  for (int end = 1; end < Rank; ++end) {
    for (int axis = end; axis > 0 && comes_before(axis, axis - 1); --axis) {
      list.exchange(axis, axis - 1);
      std::swap(extents[axis], extents[axis - 1]);
    }
  }
}

/// Brings the axes into the order of memory and merges those that are adjacent everywhere.
template <int Rank>
void simplify(any_statement<Rank>& statement) {
  stride_list<Rank> list{};
  for (int k = 0; k < statement.facts->target_count; ++k) list(statement.targets[k].stride);
  for (int k = 0; k < statement.facts->source_count; ++k) list(statement.sources[k].stride);
  if (list.count > stride_list<Rank>::capacity) return;
  order_by_destination(statement.extents, list);
  merge_listed_axes(statement.extents, 0, Rank, list);
}

/// An iteration space cut into tiles of `rows` along the axis `across` and `columns` along the last axis.
template <int Rank>
struct tile_grid {
  array<index, Rank> extents, tiles;
  int across;  // none is -1
  index rows = across_rows, columns = across_columns;

  explicit tile_grid(const any_statement<Rank>& statement)
      : extents(statement.extents), tiles(statement.extents), across(axis_across(statement)) {
    if (across < 0) {
      const index chunk = copies(statement) ? pointwise_chunk : pointwise_grain;
      across = Rank - 2;
      columns = clamp_to_extent(chunk, extents[Rank - 1]);
      rows = chunk / columns;
    } else if (statement.copies_at_once()) {
      rows = (statement.streaming ? streamed_tile : copied_tile)[0];
      columns = (statement.streaming ? streamed_tile : copied_tile)[1];
    }
    columns = clamp_to_extent(columns, extents[Rank - 1]);
    rows = across < 0 ? 1 : clamp_to_extent(rows, extents[across]);
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
    return across < 0 ? 1 : least(rows, extents[across] - origin[across]);
  }
  index columns_at(const array<index, Rank>& origin) const {
    return least(columns, extents[Rank - 1] - origin[Rank - 1]);
  }
  index step_across(const array<index, Rank>& stride) const { return across < 0 ? 0 : stride[across]; }

 private:
  static index least(index left, index right) { return left < right ? left : right; }
  static index clamp_to_extent(index most, index extent) { return extent < 1 ? 1 : least(most, extent); }
  /// Whether a tile of some source or target is copied.
  static bool copies(const any_statement<Rank>& statement) {
    const int sources = statement.facts->source_count, targets = statement.facts->target_count;
    bool result = false;
    for (int k = 0; k < sources; ++k) result = result || statement.is_staged(statement.sources[k]);
    for (int k = 0; k < targets; ++k) result = result || statement.targets[k].stride[Rank - 1] != 1;
    return result;
  }
  /// The axis along which a source is contiguous that is not contiguous along the loop; -1 where no source is such.
  static int axis_across(const any_statement<Rank>& statement) {
    constexpr index shortest = 8;  // shorter runs are not worth a square tile
    for (int k = 0; k < statement.facts->source_count; ++k) {
      const auto& source = statement.sources[k];
      if (!statement.is_staged(source) || statement.extents[Rank - 1] < shortest) continue;
      for (int axis = 0; axis < Rank - 1; ++axis) {
        if (source.stride[axis] == 1 && statement.extents[axis] >= shortest) return axis;
      }
    }
    return -1;
  }
};

template <int Rank>
index offset_at(const array<index, Rank>& position, const array<index, Rank>& stride) {
  index offset = 0;
  for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * stride[axis];
  return offset;
}

/// Does the tiles of one thread, with a cursor of its own.
template <int Rank>
class tile_writer {
 public:
  /// `block` is one of `blocks_for`.
  tile_writer(const any_statement<Rank>& statement, const tile_grid<Rank>& grid, std::byte* block)
      : statement_(statement), grid_(grid), memory_(bytes_needed(statement, grid), block) {
    cursor_ = memory_.take(statement.facts->cursor_size, 1);
    std::memcpy(cursor_, statement.cursor, static_cast<std::size_t>(statement.facts->cursor_size));
    fields_ = array_of<cursor_field>(statement.facts->source_count);
    sources_ = array_of<row_source>(statement.facts->source_count);
    targets_ = array_of<row_target>(statement.facts->target_count);
    to_ = array_of<void*>(statement.facts->target_count);
    statement.facts->find_fields(cursor_, fields_);
    for (int k = 0; k < statement.facts->source_count; ++k) prepare(k);
    for (int k = 0; k < statement.facts->target_count; ++k) {
      const auto& target = statement.targets[k];
      if (target.stride[Rank - 1] == 1) targets_[k].lines = nullptr;
      else targets_[k].lines = memory_.take(grid.columns, target.copies->size);
    }
  }

  /// The memory of writers for several threads.
  static line_blocks blocks_for(const any_statement<Rank>& statement, const tile_grid<Rank>& grid, index threads) {
    return staged_memory::blocks_for(threads, bytes_needed(statement, grid));
  }

  /// Writes the tile at `origin`; asks meanwhile for the elements of the one at `next` that lie across.
  void write(const array<index, Rank>& origin, const array<index, Rank>& next) {
    const index rows = grid_.rows_at(origin), columns = grid_.columns_at(origin);
    if (statement_.copies_at_once()) return copy(origin, rows, columns);
    for (int k = 0; k < statement_.facts->source_count; ++k) stage(k, origin);
    for (int k = 0; k < statement_.facts->target_count; ++k) {
      const auto& target = statement_.targets[k];
      targets_[k].at = target.start + offset_at(origin, target.stride) * target.copies->size;
      targets_[k].step = grid_.step_across(target.stride) * target.copies->size;
    }
    for (index row = 0; row < rows; ++row) {
      if (row % rows_ahead == 0) prefetch_column(next, row / rows_ahead);
      write_row(columns);
    }
  }

 private:
  struct row_source {
    std::uintptr_t at;    // address or position of the row
    index step;           // from row to row
    std::byte* lines;     // the copy of a tile, or of one element
    std::uintptr_t held;  // the element of which `lines` is the copy
    bool is_first;        // of those that are the same and share `lines`
  };
  struct row_target {
    std::byte* at;
    index step;
    std::byte* lines;
  };

  template <class T>
  T* array_of(int count) {
    return reinterpret_cast<T*>(memory_.take(count, sizeof(T)));
  }
  static index bytes_needed(const any_statement<Rank>& statement, const tile_grid<Rank>& grid) {
    constexpr auto bytes_for = staged_memory::bytes_for;
    const index sources = statement.facts->source_count, targets = statement.facts->target_count;
    index bytes = bytes_for(statement.facts->cursor_size, 1) + bytes_for(sources, sizeof(cursor_field)) +
                  bytes_for(sources, sizeof(row_source)) + bytes_for(targets, sizeof(row_target)) +
                  bytes_for(targets, sizeof(void*));
    for (int k = 0; k < sources; ++k) bytes += bytes_for(lines_of(k, statement, grid), 1);
    for (int k = 0; k < targets; ++k) bytes += bytes_for(grid.columns, statement.targets[k].copies->size);
    return bytes;
  }
  static index lines_of(int k, const any_statement<Rank>& statement, const tile_grid<Rank>& grid) {
    const auto& source = statement.sources[k];
    if (statement.copies_at_once() || statement.first_same(k) != k) return 0;
    if (statement.is_repeated(source)) return line_bytes;
    return statement.is_staged(source) ? grid.rows * grid.columns * source.size() : 0;
  }
  void prepare(int k) {
    const auto& source = statement_.sources[k];
    row_source& row = sources_[k];
    const int first = statement_.first_same(k);
    row = {0, 0, nullptr, 0, first == k};
    if (!row.is_first) row.lines = sources_[first].lines;
    else if (const index bytes = lines_of(k, statement_, grid_); bytes != 0) row.lines = memory_.take(bytes, 1);
    *fields_[k].stride = statement_.is_staged(source) ? 1 : source.stride[Rank - 1];
  }
  void stage(int k, const array<index, Rank>& origin) {
    const auto& source = statement_.sources[k];
    row_source& row = sources_[k];
    const index along = source.stride[Rank - 1], across = grid_.step_across(source.stride);
    row.at = source.start + static_cast<std::uintptr_t>(offset_at(origin, source.stride) * source.size());
    row.step = across * source.size();
    if (!statement_.is_staged(source)) return;
    const index rows = grid_.rows_at(origin), columns = grid_.columns_at(origin);
    if (row.is_first) {
      const auto from = reinterpret_cast<const void*>(row.at);
      source.copies->gather(row.lines, from, {rows, columns, across, along, columns});
    }
    row.at = reinterpret_cast<std::uintptr_t>(row.lines);
    row.step = columns * source.size();
  }
  void copy(const array<index, Rank>& origin, index rows, index columns) {
    const auto& source = statement_.sources[0];
    const auto& target = statement_.targets[0];
    const index size = source.copies->size;
    const auto from = reinterpret_cast<const std::byte*>(source.start) + offset_at(origin, source.stride) * size;
    source.copies->gather(target.start + offset_at(origin, target.stride) * size, from,
                          {rows, columns, grid_.step_across(source.stride), source.stride[Rank - 1],
                           grid_.step_across(target.stride), statement_.streaming});
  }
  void write_row(index columns) {
    for (int k = 0; k < statement_.facts->source_count; ++k) {
      row_source& row = sources_[k];
      std::uintptr_t start = row.at;
      if (statement_.is_repeated(statement_.sources[k])) start = hold(*statement_.sources[k].copies, row);
      std::memcpy(fields_[k].start, &start, sizeof(start));
      row.at += static_cast<std::uintptr_t>(row.step);
    }
    for (int k = 0; k < statement_.facts->target_count; ++k) {
      to_[k] = targets_[k].lines == nullptr ? targets_[k].at : targets_[k].lines;
    }
    statement_.facts->write(cursor_, to_, columns, statement_.streaming && targets_[0].lines == nullptr);
    for (int k = 0; k < statement_.facts->target_count; ++k) {
      row_target& target = targets_[k];
      const auto& listed = statement_.targets[k];
      if (target.lines != nullptr) {
        listed.copies->scatter(target.at, listed.stride[Rank - 1], target.lines, columns);
      }
      target.at += target.step;
    }
  }
  /// As many copies of the element of a row as a pack may have lanes.
  static std::uintptr_t hold(const simd::element_copies& copies, row_source& row) {
    if (row.held != row.at) {
      copies.gather(row.lines, reinterpret_cast<const void*>(row.at), {1, line_bytes / copies.size, 0, 0, 0});
      row.held = row.at;
    }
    return reinterpret_cast<std::uintptr_t>(row.lines);
  }
  TENON_INLINE void prefetch_column(const array<index, Rank>& next, index column) const {
    for (int k = 0; k < statement_.facts->source_count; ++k) {
      const auto& source = statement_.sources[k];
      if (!statement_.is_staged(source) || grid_.step_across(source.stride) != 1) continue;
      const index offset = offset_at(next, source.stride) + column * source.stride[Rank - 1];
      const auto from = reinterpret_cast<const std::byte*>(source.start) + offset * source.size();
      for (index byte = 0; byte < across_rows * source.size(); byte += line_bytes) __builtin_prefetch(from + byte);
    }
  }

  const any_statement<Rank>& statement_;
  const tile_grid<Rank>& grid_;
  staged_memory memory_;
  std::byte* cursor_;
  cursor_field* fields_;
  row_source* sources_;
  row_target* targets_;
  void** to_;
};

/// Runs a statement, its tiles shared among threads.
template <int Rank>
void run_tiles(any_statement<Rank>& statement) {
  const counted_launch counted("pointwise");
  simplify(statement);
  const tile_grid<Rank> grid(statement);
  const index grain = 1 + pointwise_grain / (grid.rows * grid.columns);
  const index tiles = count_between(grid.tiles, 0, Rank), parts = part_count(tiles, grain);
  const auto memory = tile_writer<Rank>::blocks_for(statement, grid, parts);
  parallel_parts(tiles, grain, parts, [&](index first, index last, index part) {
    tile_writer<Rank> writer(statement, grid, memory.block(part));
    for (index tile = first; tile < last; ++tile) {
      writer.write(grid.origin(tile), grid.origin(tile + 1 < last ? tile + 1 : tile));
    }
    simd::finish_streaming();
  });
}

}  // namespace tenon::detail
