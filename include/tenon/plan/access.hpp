// tenon/plan/access.hpp: the iteration space of a program, with axes merged where memory allows.
// Most statements end as one flat run: axes that are adjacent in every operand and in the destination become one.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/program.hpp>

namespace tenon {

/// Destinations from this size on push everything else out of the caches, so the host writes past them.
inline constexpr index streaming_bytes = index{12} << 20;

/// Where the results of a row go.
template <class T>
struct target_run {
  T* data;
  index step = 1;
  bool streaming = false;
};
template <class T, class... Rest>
target_run(T*, Rest...) -> target_run<T>;

/// Where results go: elements `stride` apart along each axis of the iteration space.
template <class T, int Rank>
struct strided_target {
  T* data;
  array<index, Rank> stride;
  bool streaming = false;  // large, and not read by the statement

  TENON_HOST_DEVICE T* at(const array<index, Rank>& position) const {
    index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * stride[axis];
    return data + offset;
  }
  TENON_HOST_DEVICE index step() const { return Rank == 0 ? 1 : stride[Rank - 1]; }
  target_run<T> run_at(const array<index, Rank>& position) const { return {at(position), step(), streaming}; }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    visitor(stride);
  }
};

namespace detail {

template <int Rank, class Visit>
TENON_INLINE bool axes_merge(const array<index, Rank>& extents, int outer, int inner, Visit&& visit) {
  bool merge = true;
  visit([&](const array<index, Rank>& stride) { merge = merge && stride[outer] == stride[inner] * extents[inner]; });
  return merge;
}

template <int Rank, class Visit>
TENON_INLINE void move_axis(array<index, Rank>& extents, int from, int to, Visit&& visit) {
  if (from == to) return;
  extents[to] = extents[from];
  visit([&](array<index, Rank>& stride) { stride[to] = stride[from]; });
}

}  // namespace detail

/// Merges the axes `first` to `last` - 1 of an iteration space towards the back; emptied axes get extent 1. `visit`
/// calls its argument with the strides of everything that is iterated together.
template <int Rank, class Visit>
TENON_INLINE void merge_axes(array<index, Rank>& extents, int first, int last, Visit&& visit) {
  int target = last - 1;
  for (int axis = last - 2; axis >= first; --axis) {
    if (extents[axis] == 1) continue;
    if (extents[target] == 1) {
      detail::move_axis(extents, axis, target, visit);
    } else if (detail::axes_merge(extents, axis, target, visit)) {
      extents[target] *= extents[axis];
    } else {
      detail::move_axis(extents, axis, --target, visit);
    }
  }
  for (int axis = first; axis < target; ++axis) {
    extents[axis] = 1;
    visit([&](array<index, Rank>& stride) { stride[axis] = 0; });
  }
}

/// Merges all axes that are contiguous together in target and program.
template <class Target, int Rank, class Program>
void merge_iteration(array<index, Rank>& extents, Target& target, Program& program) {
  merge_axes(extents, 0, Rank, [&](auto&& visitor) {
    target.visit(visitor);
    program.visit(visitor);
  });
}

/// The position numbered `number` in row-major order of the axes `first` to `last` - 1; the others stay.
template <int Rank>
TENON_HOST_DEVICE constexpr void set_position(array<index, Rank>& position, const array<index, Rank>& extents,
                                              int first, int last, index number) {
  for (int axis = last - 1; axis >= first; --axis) {
    const index extent = extents[axis];
    if (extent == 1) {
      position[axis] = 0;
    } else {
      position[axis] = number % extent;
      number /= extent;
    }
  }
}

/// The product of the extents of axes `first` to `last` - 1.
template <int Rank>
TENON_HOST_DEVICE constexpr index count_between(const array<index, Rank>& extents, int first, int last) {
  index product = 1;
  for (int axis = first; axis < last; ++axis) product *= extents[axis];
  return product;
}

namespace detail {

/// Packs of `Width` from i on, as long as they fit before `end`.
template <int Width, class T, class Cursor, class Slots>
TENON_INLINE void write_packs(T* data, index step, index& i, index end, const Cursor& cursor, const Slots& slots) {
  if (step == 1 && cursor.is_adjacent()) {
    for (; i + Width <= end; i += Width) {
      simd::store<Width>(data + i, cursor.template pack<Width>(i, adjacent_access{}, slots));
    }
  } else {
    for (; i + Width <= end; i += Width) {
      const auto lanes = cursor.template pack<Width>(i, strided_access{}, slots);
      step == 1 ? simd::store<Width>(data + i, lanes) : simd::scatter<Width>(data + i * step, step, lanes);
    }
  }
}

}  // namespace detail

namespace detail {

/// As write_packs with step 1, past the caches; begins with single elements up to where packs are aligned.
template <int Width, class T, class Cursor, class Slots>
TENON_INLINE void stream_packs(T* data, index& i, index end, const Cursor& cursor, const Slots& slots) {
  for (; i < end && reinterpret_cast<std::uintptr_t>(data + i) % (Width * sizeof(T)) != 0; ++i) {
    data[i] = static_cast<T>(cursor.value(i, slots));
  }
  for (; i + Width <= end; i += Width) {
    simd::stream(data + i, cursor.template pack<Width>(i, adjacent_access{}, slots));
  }
}

}  // namespace detail

/// Writes the values of a cursor at the positions `part[0]` to `part[1]` - 1 of a row.
template <class T, class Cursor, class Slots>
TENON_INLINE void write_run(const target_run<T>& target, const array<index, 2>& part, Cursor cursor,
                            const Slots& slots) {
  constexpr int width = simd::width_for(greatest_size({static_cast<int>(sizeof(T)), Cursor::widest}));
  T* const data = target.data;
  const index step = target.step, end = part[1];
  index i = part[0];
  if constexpr (simd::can_stream<T, decltype(cursor.template pack<width>(i, adjacent_access{}, slots))>) {
    if (target.streaming && step == 1 && cursor.is_adjacent()) detail::stream_packs<width>(data, i, end, cursor, slots);
  }
  detail::write_packs<width>(data, step, i, end, cursor, slots);
  if constexpr (simd::narrow_width<width> != 1) {
    detail::write_packs<simd::narrow_width<width>>(data, step, i, end, cursor, slots);
  }
  for (; i < end; ++i) data[i * step] = static_cast<T>(cursor.value(i, slots));
}

}  // namespace tenon
