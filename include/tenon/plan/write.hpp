// tenon/plan/write.hpp: the values of a cursor, written along a row.
// The one loop of pointwise statements: packs of lanes, past the caches where the destination is large.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/access.hpp>

namespace tenon {

/// Lanes of the packs in which the values of a cursor become elements of T.
template <class T, class Cursor>
inline constexpr int write_width = simd::width_for(greatest_size({simd::lane_bytes<T>, Cursor::widest}));

namespace detail {

/// A place for elements of the positions from `begin` on, at `elements`.
template <class T>
T* numbered_from(T* elements, index begin) {
  const auto bytes = static_cast<std::uintptr_t>(begin) * sizeof(T);
  return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(elements) - bytes);
}

/// What a loop reads again and again: where it is small, it is copied, so that no store can change it.
template <class T>
using loop_constant = std::conditional_t<(sizeof(T) <= 512 && is_copied_as_bytes<T>), const T, const T&>;

/// How many elements from `to` on lie before one where packs of `bytes` are aligned.
template <class T>
index before_aligned(const T* to, index bytes) {
  const index past = static_cast<index>(reinterpret_cast<std::uintptr_t>(to) % static_cast<std::uintptr_t>(bytes));
  return past == 0 ? 0 : (bytes - past) / static_cast<index>(sizeof(T));
}

/// Copies the elements 0 to `count` - 1 of `from` to a target, from its element `begin` on.
template <class T>
[[gnu::noinline]] void copy_apart(const target_run<T>& target, index begin, const T* from, index count) {
  for (index i = 0; i < count; ++i) {
    target.data[(begin + i) * target.step] = from[i];
    simd::keep_loop_short();
  }
}

}  // namespace detail

/// Writes the positions `first` to `end` - 1 of a cursor one by one.
template <class T, class Cursor, class Slots>
[[gnu::noinline]] void write_values(T* to, index first, index end, const Cursor& cursor, const Slots& slots) {
  for (index i = first; i < end; ++i) to[i] = static_cast<T>(cursor.value(i, slots));
}

/// The same of fewer positions than a pack has. The loop stays one: what compilers would make of it, nothing would use.
template <class T, class Cursor, class Slots>
[[gnu::noinline]] void write_few_values(T* to, index first, index end, const Cursor& cursor, const Slots& slots) {
  for (index i = first; i < end; ++i) {
    to[i] = static_cast<T>(cursor.value(i, slots));
    simd::keep_loop_short();
  }
}

/// Writes the positions `first` to `end` - 1, fewer than a pack has.
template <reading How, class T, class Cursor, class Slots>
TENON_INLINE void write_rest(T* to, index first, index end, const Cursor& cursor, const Slots& slots) {
  if constexpr (simd::has_partial_packs && takes_partial<Cursor>) {
    constexpr int width = write_width<T, Cursor>;
    const partial_access<How> rest{end - first};
    simd::store_part<width>(to + first, cursor.template pack<width>(first, rest, slots), rest.count);
  } else {
    write_few_values(to, first, end, cursor, slots);
  }
}

/// Writes the positions `part[0]` to `part[1]` - 1 of a cursor to adjacent elements, past the caches where `streaming`.
/// Out of line: of each kind of reading, a statement has one such loop.
template <reading How, class T, class Cursor, class Slots>
TENON_OUT_OF_LINE void write_packs(T* to, bool streaming, const array<index, 2>& part, const Cursor& shared_cursor,
                                   const Slots& shared_slots) {
  constexpr int width = write_width<T, Cursor>;
  detail::loop_constant<Cursor> cursor = shared_cursor;
  detail::loop_constant<Slots> slots = shared_slots;
  index i = part[0];
  const index end = part[1];
  using lanes_type = decltype(cursor.template pack<width>(i, whole_access<How>{}, slots));
  constexpr bool can_stream = simd::can_stream<T, lanes_type>;
  if (can_stream && streaming) {
    const index first = detail::before_aligned(to + i, sizeof(lanes_type));
    if (first != 0 && i + first <= end) {
      write_packs<How>(to, false, {{i, i + first}}, shared_cursor, shared_slots);
      i += first;
    }
  }
  for (; i + width <= end; i += width) {
    const auto lanes = cursor.template pack<width>(i, whole_access<How>{}, slots);
    if constexpr (can_stream) {
      if (simd::opaque(streaming)) {
        simd::stream(to + i, lanes);
        continue;
      }
    }
    simd::store<width>(to + i, lanes);
  }
  if (i < end) write_rest<How>(to, i, end, cursor, slots);
}

/// The same of any cursor. Where elements may lie apart, adjacent ones have a loop of their own; rows in which one
/// element may stand for all have one loop. A row in runs that is longer than a pack is written run by run.
template <reading How, class T, class Cursor, class Slots>
TENON_INLINE void write_row(T* to, bool streaming, const array<index, 2>& part, const Cursor& cursor,
                            const Slots& slots) {
  if constexpr (write_width<T, Cursor> == 1) {
    write_values(to, part[0], part[1], cursor, slots);
  } else {
    if constexpr (has_runs<Cursor>) {
      if (part[1] - part[0] > write_width<T, Cursor> && lies_in_runs(cursor)) {
        for (index i = part[0], end = i; i < part[1]; i = end) {
          end = run_end(cursor, i, part[1]);
          write_row<How>(to, streaming, {{i, end}}, run_from(cursor, i), slots);
        }
        return;
      }
    }
    if constexpr (How != reading::row) {
      if (cursor.is_adjacent()) return write_packs<reading::adjacent>(to, streaming, part, cursor, slots);
    }
    write_packs<How>(to, streaming, part, cursor, slots);
  }
}

/// As write_row, to any target. On their way to elements that are not side by side, values are.
template <reading How, class T, class Cursor, class Slots>
TENON_INLINE void write_run(const target_run<T>& target, const array<index, 2>& part, const Cursor& cursor,
                            const Slots& slots) {
  if (target.step == 1) return write_row<How>(target.data, target.streaming, part, cursor, slots);
  constexpr index block = 256;
  T side_by_side[block];
  for (index begin = part[0]; begin < part[1]; begin += block) {
    const index end = part[1] - begin < block ? part[1] : begin + block;
    write_row<How>(detail::numbered_from(side_by_side, begin), false, {{begin, end}}, cursor, slots);
    detail::copy_apart(target, begin, side_by_side, end - begin);
  }
}

namespace detail {

/// The lanes in which `count` values of type T are computed: as many as there are, in packs of at least 16 bytes.
template <class T>
constexpr int lanes_within(index count) {
  int lanes = static_cast<int>(16 / sizeof(T));
  while (2 * lanes <= count && lanes < simd::native_width<T>) lanes *= 2;
  return lanes;
}

/// Whether `Count` values of a cursor are computed in packs of elements of type T. For nvcc packs have one lane.
template <class T, class Cursor, int Count>
inline constexpr bool computes_in_lanes = std::is_floating_point_v<T> && !compiled_by_nvcc &&
                                          Cursor::widest == static_cast<int>(sizeof(T)) && Count * sizeof(T) >= 16;

}  // namespace detail

/// Writes the first `Count` values of a cursor side by side. They are few, and their number is known, so no loop is
/// left of it.
template <int Count, class T, class Cursor, class Slots>
TENON_INLINE void write_known(T* to, const Cursor& cursor, const Slots& slots) {
  int i = 0;
  if constexpr (detail::computes_in_lanes<T, Cursor, Count>) {
    constexpr int lanes = detail::lanes_within<T>(Count);
    if (cursor.is_adjacent()) {
      TENON_UNROLL(8)
      for (; i + lanes <= Count; i += lanes) {
        simd::store<lanes>(to + i, cursor.template pack<lanes>(i, whole_access<reading::adjacent>{}, slots));
      }
    }
  }
  TENON_UNROLL(8)
  for (; i < Count; ++i) to[i] = static_cast<T>(cursor.value(i, slots));
}

}  // namespace tenon
