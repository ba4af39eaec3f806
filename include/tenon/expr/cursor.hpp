// tenon/expr/cursor.hpp: what loops ask of cursors and programs, beyond values and packs.
// A cursor answers by a member of the same name; one that has none gets the answer that is always safe.
// Floor 2: may include base, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>

namespace tenon {

/// Whether positions in index order are one stride apart, so that all axes are as one.
template <int Rank>
constexpr bool strides_are_flat(const array<index, Rank>& stride, const array<index, Rank>& extents) {
  for (int axis = 0; axis + 1 < Rank; ++axis) {
    if (stride[axis] != stride[axis + 1] * extents[axis + 1]) return false;
  }
  return true;
}

/// How a cursor's packs read memory: elements that are known to lie side by side; those, or one for the whole row that
/// is held as often as a pack has lanes; elements as strides say.
enum class reading { adjacent, row, strided };

/// The access of whole packs.
template <reading How>
struct whole_access {
  static constexpr reading how = How;
  static constexpr bool whole = true;
};
/// The access of the first `count` lanes.
template <reading How>
struct partial_access {
  static constexpr reading how = How;
  static constexpr bool whole = false;
  index count;
};
/// The access of as many lanes whose elements lie side by side.
template <class Access>
TENON_INLINE constexpr auto side_by_side([[maybe_unused]] Access access) {
  if constexpr (Access::whole) return whole_access<reading::adjacent>{};
  else return partial_access<reading::adjacent>{access.count};
}
/// How many lanes an access wants.
template <int Width, class Access>
TENON_INLINE constexpr index wanted_count([[maybe_unused]] Access access) {
  if constexpr (Access::whole) return Width;
  else return access.count;
}
/// The access of as many lanes whose elements lie as strides say.
template <class Access>
TENON_INLINE constexpr auto in_strides([[maybe_unused]] Access access) {
  if constexpr (Access::whole) return whole_access<reading::strided>{};
  else return partial_access<reading::strided>{access.count};
}

/// Cursors that give the first lanes of a pack alone, whatever is in the others. Functions of the user's are no part of
/// them: these are called with elements only.
template <class Cursor>
inline constexpr bool takes_partial = requires { requires Cursor::takes_partial; };

/// A cursor with the executor's values filled in, where they are the same along a whole row: what depends on them alone
/// is then computed once a row.
template <class Cursor, class Slots>
TENON_HOST_DEVICE TENON_INLINE constexpr auto bind_slots(const Cursor& cursor, const Slots& slots) {
  if constexpr (requires { cursor.with_slots(slots); }) {
    return cursor.with_slots(slots);
  } else {
    return cursor;
  }
}

/// Cursors whose row may be a few runs of elements, those of each run side by side, as that of `roll` is.
template <class Cursor>
inline constexpr bool has_runs = requires { requires Cursor::has_runs; };
/// Whether a row is such runs. Only then has it the two functions below.
template <class Cursor>
TENON_INLINE constexpr bool lies_in_runs(const Cursor& cursor) {
  if constexpr (has_runs<Cursor>) return cursor.lies_in_runs();
  else return true;
}
/// Where the run that holds position i ends, before `end` or there.
template <class Cursor>
TENON_INLINE constexpr index run_end(const Cursor& cursor, index i, index end) {
  if constexpr (has_runs<Cursor>) return cursor.run_end(i, end);
  else return end;
}
/// A cursor from position i on to the end of its run. Positions keep their numbers.
template <class Cursor>
TENON_INLINE constexpr auto run_from(const Cursor& cursor, index i) {
  if constexpr (has_runs<Cursor>) return cursor.run_from(i);
  else return cursor;
}

/// Asks for the memory that a cursor will read at a position, which may lie past its row.
template <class Cursor>
TENON_INLINE constexpr void prefetch(const Cursor& cursor, index i) {
  if constexpr (requires { cursor.prefetch(i); }) cursor.prefetch(i);
}

/// How many elements ahead those of images are asked for: hardware does not look beyond a page.
template <class T>
inline constexpr index elements_ahead = 4096 / static_cast<index>(sizeof(T));

/// The same for the first `count` positions, of which every second may be skipped in memory.
template <class Cursor>
TENON_INLINE constexpr void prefetch_row(const Cursor& cursor, index count) {
  constexpr index step = 32 / Cursor::widest == 0 ? 1 : 32 / Cursor::widest;
  for (index i = 0; i < count; i += step) prefetch(cursor, i);
}

/// Calls `visitor(data, stride)` for the elements in memory that a cursor reads along its row, where it says which.
template <class Cursor, class Visitor>
TENON_INLINE constexpr void visit_elements(Cursor& cursor, Visitor& visitor) {
  if constexpr (requires { cursor.visit(visitor); }) cursor.visit(visitor);
}

/// Whether a cursor reads `count` positions beside the elements at `written`, or those very elements. Cursors that do
/// not say so may read anywhere.
template <class Cursor, class U>
TENON_INLINE constexpr bool reads_disjoint_from(const Cursor& cursor, const U* written, index count) {
  if constexpr (requires { cursor.reads_disjoint_from(written, count); }) {
    return cursor.reads_disjoint_from(written, count);
  } else {
    return false;
  }
}

/// Whether a program's positions in index order are one stride apart. Programs that do not say so are not.
template <class Program, int Rank>
TENON_INLINE constexpr bool is_flat(const Program& program, const array<index, Rank>& extents) {
  if constexpr (requires { program.is_flat(extents); }) {
    return program.is_flat(extents);
  } else {
    return false;
  }
}

/// About how many simple operations a cursor's value takes; one that reads memory or holds a number takes none.
template <class Cursor>
inline constexpr int cost_of = [] {
  if constexpr (requires { Cursor::cost; }) return Cursor::cost;
  else return 0;
}();

/// Cursors that give one number along a whole row.
template <class Cursor>
inline constexpr bool is_uniform = requires { typename Cursor::uniform; };

}  // namespace tenon
