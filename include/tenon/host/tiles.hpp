// tenon/host/tiles.hpp: pointwise statements, tile by tile and row by row.
// Elements that packs cannot read where they lie are copied first, a tile at a time.
// Floor 4: may include base, device, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/host/staging.hpp>
#include <tenon/host/tile_grid.hpp>

namespace tenon::detail {

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
  /// `block` is one of `blocks_for`: where it is null, the writer has room enough itself.
  [[gnu::noinline]] tile_writer(const any_statement<Rank>& statement, const tile_grid<Rank>& grid, std::byte* block)
      : statement_(statement), grid_(grid), memory_(0, block) {
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
    const index written_rows = grid_.is_one_row ? 1 : rows, length = grid_.is_one_row ? rows * columns : columns;
    for (index row = 0; row < written_rows; ++row) {
      if (!grid_.is_one_row && row % rows_ahead == 0) prefetch_column(next, row / rows_ahead);
      write_row(length);
    }
  }

 private:
  struct row_source {
    std::uintptr_t at;    // address or position of the row
    index step;           // from row to row
    std::byte* lines;     // the copy of a tile, or of one element
    std::uintptr_t held;  // where what `lines` is a copy of begins
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
  [[gnu::noinline]] static index bytes_needed(const any_statement<Rank>& statement, const tile_grid<Rank>& grid) {
    constexpr auto bytes_for = staged_memory::bytes_for;
    const index sources = statement.facts->source_count, targets = statement.facts->target_count;
    index bytes = bytes_for(statement.facts->cursor_size, 1) + bytes_for(sources, sizeof(cursor_field)) +
                  bytes_for(sources, sizeof(row_source)) + bytes_for(targets, sizeof(row_target)) +
                  bytes_for(targets, sizeof(void*));
    for (int k = 0; k < sources; ++k) bytes += bytes_for(lines_of(k, statement, grid), 1);
    for (int k = 0; k < targets; ++k) bytes += bytes_for(grid.columns, statement.targets[k].copies->size);
    return bytes;
  }
  [[gnu::noinline]] static index lines_of(int k, const any_statement<Rank>& statement, const tile_grid<Rank>& grid) {
    const auto& source = statement.sources[k];
    if (statement.copies_at_once() || statement.first_same(k) != k) return 0;
    if (is_staged(source, statement, grid)) return grid.rows * grid.columns * source.size();
    return is_repeated(source, statement, grid) ? line_bytes : 0;
  }
  /// Whether a tile of a source is copied to where packs can read it.
  static bool is_staged(const listed_source<Rank>& source, const any_statement<Rank>& statement,
                        const tile_grid<Rank>& grid) {
    const bool rests = !grid.is_one_row || grid.follow(source.stride);
    return statement.is_staged(source) || (!rests && source.copies != nullptr);
  }
  /// Whether a source has one element for a whole row.
  static bool is_repeated(const listed_source<Rank>& source, const any_statement<Rank>& statement,
                          const tile_grid<Rank>& grid) {
    return statement.is_repeated(source) && !is_staged(source, statement, grid);
  }
  bool is_staged(int k) const { return is_staged(statement_.sources[k], statement_, grid_); }
  void prepare(int k) {
    const auto& source = statement_.sources[k];
    row_source& row = sources_[k];
    const int first = statement_.first_same(k);
    row = {0, 0, nullptr, 0, first == k};
    if (!row.is_first) row.lines = sources_[first].lines;
    else if (const index bytes = lines_of(k, statement_, grid_); bytes != 0) row.lines = memory_.take(bytes, 1);
    *fields_[k].stride = is_staged(k) ? 1 : source.stride[Rank - 1];
  }
  void stage(int k, const array<index, Rank>& origin) {
    const auto& source = statement_.sources[k];
    row_source& row = sources_[k];
    const index along = source.stride[Rank - 1], across = grid_.step_across(source.stride);
    row.at = source.start + static_cast<std::uintptr_t>(offset_at(origin, source.stride) * source.size());
    row.step = across * source.size();
    if (!is_staged(k)) return;
    const index rows = grid_.rows_at(origin), columns = grid_.columns_at(origin);
    const bool is_held = grid_.is_one_row && across == 0 && row.held == row.at;  // the same for every tile
    if (row.is_first && !is_held) {
      const auto from = reinterpret_cast<const void*>(row.at);
      row.held = row.at;
      source.copies->gather(row.lines, from, {across == 0 ? grid_.rows : rows, columns, across, along, columns});
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
      if (is_repeated(statement_.sources[k], statement_, grid_)) start = hold(*statement_.sources[k].copies, row);
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

/// Writes a statement of few rows along one axis as they come, by its own cursor, where each is read and written in its
/// place: to merge axes, to cut tiles and to copy what repeats would take longer. For any other it does nothing and
/// returns false.
template <int Rank>
bool write_few_rows(const any_statement<Rank>& statement) {
  constexpr int last = Rank - 1, most_sources = 8;
  const auto& [extents, sources, targets, cursor, facts, streaming] = statement;
  const index rows = extents[last - 1], count = facts->source_count;
  if (rows > 8 || count_between(extents, 0, Rank) != rows * extents[last] || rows * extents[last] > pointwise_grain ||
      facts->target_count != 1 || targets->stride[last] != 1 || count > most_sources) {
    return false;
  }
  for (index k = 0; k < count; ++k) {
    if (sources[k].stride[last] != 1 && sources[k].copies != nullptr) return false;
  }
  cursor_field fields[most_sources];
  facts->find_fields(cursor, fields);
  for (index row = 0; row < rows; ++row) {
    for (index k = 0; k < count; ++k) {
      const auto start =
          sources[k].start + static_cast<std::uintptr_t>(row * sources[k].stride[last - 1] * sources[k].size());
      std::memcpy(fields[k].start, &start, sizeof(start));
    }
    void* const to = targets->start + row * targets->stride[last - 1] * targets->copies->size;
    facts->write(cursor, &to, extents[last], streaming);
  }
  return true;
}

/// Runs a statement, its tiles shared among threads.
template <int Rank>
void run_tiles(any_statement<Rank>& statement) {
  const counted_launch counted("pointwise");
  if (write_few_rows(statement)) return;
  if (statement.facts->rank > 1) simplify(statement);
  const tile_grid<Rank> grid(statement);
  const index tiles = count_between(grid.tiles, 0, Rank);
  const index worth = pointwise_parts(count_between(grid.extents, 0, Rank)), parts = tiles < worth ? tiles : worth;
  const auto memory = tile_writer<Rank>::blocks_for(statement, grid, parts);
  parallel_parts(tiles, 1, parts, [&](index first, index last, index part) {
    tile_writer<Rank> writer(statement, grid, memory.block(part));
    for (index tile = first; tile < last; ++tile) {
      writer.write(grid.origin(tile), grid.origin(tile + 1 < last ? tile + 1 : tile));
    }
    simd::finish_streaming();
  });
}

}  // namespace tenon::detail
