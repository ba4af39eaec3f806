// tenon/host/tile_grid.hpp: a pointwise statement as a list of what it reads and writes, and the tiles it is cut into.
// Here a statement has no type but its rank; a function does one row.
// Floor 4: may include base, device, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_transpose.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/plan/access.hpp>

namespace tenon::detail {

inline constexpr index pointwise_chunk = 4096;   // elements of a tile that is copied: the first cache holds it
inline constexpr index joined_chunk = 1024;      // of short rows that are one: it holds copies of several sources
inline constexpr index pointwise_grain = 16384;  // of any other; for fewer, a second thread costs more than it saves
inline constexpr index across_rows = 256;        // of a tile, along an operand that lies across the loop
inline constexpr index across_columns = 64;      // of such a tile, along the loop
inline constexpr index rows_ahead = across_rows / across_columns;  // written between two looks ahead
inline constexpr index joined_columns = 64;                   // elements; as many more take less time than another row
inline constexpr index joined_rows = 4;                       // the fewest that are worth a copy
inline constexpr array<index, 2> copied_tile{{64, 4096}};     // rows and columns of a tile that is copied as it is
inline constexpr array<index, 2> streamed_tile{{1024, 256}};  // of one that is copied past the caches

/// Whether so many elements of type T, side by side, are one thread's work, and stay within the caches. Where each
/// takes but one or two `Operations`, twice as many take no longer than to wake a thread.
template <class T, int Operations = 8>
TENON_INLINE bool is_done_at_once(index count) {
  if (count <= (Operations <= 2 ? 2 : 1) * pointwise_grain) [[likely]]
    return true;
  return count * static_cast<index>(sizeof(T)) < streaming_bytes && thread_count() == 1;
}

/// How many axes a list has: two or four, so that statements share what is compiled, or as many as there are beyond.
/// Those of the statement are the last ones, and those before have one element.
template <int Rank>
inline constexpr int listed_rank = Rank <= 2   ? 2
                                   : Rank <= 4 ? 4
                                               : Rank;

/// Extents or strides as a list has them, `missing` along the axes before.
template <int Rank>
array<index, listed_rank<Rank>> with_listed_axes(const array<index, Rank>& own, index missing) {
  constexpr int before = listed_rank<Rank> - Rank;
  array<index, listed_rank<Rank>> result{};
  for (int axis = 0; axis < before; ++axis) result[axis] = missing;
  for (int axis = 0; axis < Rank; ++axis) result[before + axis] = own[axis];
  return result;
}

/// How many threads so many elements are worth.
inline index pointwise_parts(index count) { return count == 0 ? 1 : part_count(count, pointwise_grain); }

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
  int rank, source_count, target_count;
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
  void* cursor;
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
  listed_source<listed_rank<Rank>>* next;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    *next++ = {reinterpret_cast<std::uintptr_t>(data), with_listed_axes(stride, 0), &simd::copies_of<T, (Rank > 1)>};
  }
  void operator()(const array<index, Rank>& stride, index position) {
    *next++ = {static_cast<std::uintptr_t>(position), with_listed_axes(stride, 0), nullptr};
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
[[gnu::noinline]] void simplify(any_statement<Rank>& statement) {
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
  int across;       // none is -1
  bool is_one_row;  // short rows follow one another in memory: a tile is written as a single row
  index rows = across_rows, columns = across_columns;

  [[gnu::noinline]] explicit tile_grid(const any_statement<Rank>& statement)
      : extents(statement.extents),
        tiles(statement.extents),
        across(axis_across(statement)),
        is_one_row(across < 0 && joins_rows(statement)) {
    if (across < 0) {
      const index chunk = is_one_row ? joined_chunk : copies(statement) ? pointwise_chunk : even_chunk(extents);
      across = statement.copies_at_once() ? longest_before_last() : Rank - 2;
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
  /// Whether rows of a tile follow one another.
  bool follow(const array<index, Rank>& stride) const { return follow(extents, stride); }

 private:
  static bool follow(const array<index, Rank>& extents, const array<index, Rank>& stride) {
    return stride[Rank - 2] == extents[Rank - 1] * stride[Rank - 1];
  }
  /// Whether rows are short and follow one another in all targets: sources where they do not are copied.
  static bool joins_rows(const any_statement<Rank>& statement) {
    const auto& extents = statement.extents;
    bool result = statement.facts->in_packs && !statement.copies_at_once() && extents[Rank - 1] <= joined_columns &&
                  extents[Rank - 2] >= joined_rows;
    for (int k = 0; result && k < statement.facts->target_count; ++k) {
      const auto& stride = statement.targets[k].stride;
      result = stride[Rank - 1] == 1 && follow(extents, stride);
    }
    for (int k = 0; result && k < statement.facts->source_count; ++k) {
      const auto& source = statement.sources[k];
      result = source.copies != nullptr || follow(extents, source.stride);
    }
    return result;
  }
  /// The axis before the last that has most elements: copies of many small matrices are few copies of long ones.
  int longest_before_last() const {
    int longest = Rank - 2;
    for (int axis = Rank - 3; axis >= 0; --axis) longest = extents[axis] > extents[longest] ? axis : longest;
    return longest;
  }
  static index least(index left, index right) { return left < right ? left : right; }
  /// Elements of a tile, so that all threads get as many: a few whole packs more or less.
  static index even_chunk(const array<index, Rank>& extents) {
    const index count = count_between(extents, 0, Rank), parts = pointwise_parts(count);
    const index most = parts * pointwise_grain, tiles = parts * ((count + most - 1) / most);
    return count == 0 ? 1 : ((count + tiles - 1) / tiles + 63) / 64 * 64;
  }
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

}  // namespace tenon::detail
