// tenon/plan/access.hpp: the iteration space of a program, with axes merged where memory allows.
// Most statements end as one flat run: axes that are adjacent in every operand and in the destination become one.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/view.hpp>
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
  template <class Value>
  TENON_HOST_DEVICE void store(const array<index, Rank>& position, const Value& value) const {
    *at(position) = static_cast<T>(value);
  }
  TENON_HOST_DEVICE index step() const { return Rank == 0 ? 1 : stride[Rank - 1]; }
  target_run<T> run_along(const array<index, Rank>& position, int axis) const {
    return {at(position), Rank == 0 ? 1 : stride[Rank == 0 ? 0 : axis]};
  }
  target_run<T> run_at(const array<index, Rank>& position) const { return {at(position), step(), streaming}; }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    visitor(stride, data);
  }
};

namespace detail {

/// The elements of a destination.
template <class T, class Shape, class Space>
strided_target<T, Shape::rank> make_target(const view<T, Shape, Space>& destination) {
  return {destination.data(), destination.strides()};
}

/// Elements whose extents are known at run time, as functions for all shapes take them: the same where they are.
template <class T, class Shape, class Space>
decltype(auto) with_dynamic_extents(const view<T, Shape, Space>& elements) {
  if constexpr (std::is_same_v<Shape, rank<Shape::rank>>) {
    return (elements);
  } else {
    return view<T, rank<Shape::rank>, Space>(elements.data(), rank<Shape::rank>(elements.shape().to_array()),
                                             elements.strides());
  }
}

/// Elements under the axes of a node of higher rank, whose extra axes have extent 1 by type.
template <class NodeShape, class T, class Shape, class Space>
auto insert_unit_axes(const view<T, Shape, Space>& destination) {
  constexpr int rank = NodeShape::rank;
  array<index, rank> extents{}, strides{};
  int missing = rank - Shape::rank, source = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const bool inserted = missing > 0 && NodeShape::static_extent(axis) == 1;
    extents[axis] = inserted ? 1 : destination.shape().extent(source);
    strides[axis] = inserted ? 0 : destination.strides()[source];
    inserted ? --missing : ++source;
  }
  return view<T, tenon::rank<rank>, Space>(destination.data(), tenon::rank<rank>(extents), strides);
}

}  // namespace detail

/// The strides of everything that one statement iterates together; how many they are, only the statement's type knows.
/// What works on this list is compiled once for each rank, not for each statement.
template <int Rank>
struct stride_list {
  static constexpr int capacity = 64;
  array<index, Rank>* strides[capacity];
  int count = 0;  // beyond the capacity, nothing merges

  void operator()(array<index, Rank>& stride) {
    if (count < capacity) strides[count] = &stride;
    ++count;
  }
  template <class Start>
  void operator()(array<index, Rank>& stride, Start&) {
    (*this)(stride);
  }
  bool merge(int outer, int inner, index extent) const {
    for (int i = 0; i < count; ++i) {
      if ((*strides[i])[outer] != (*strides[i])[inner] * extent) return false;
    }
    return true;
  }
  void move(int from, int to) const {
    for (int i = 0; i < count; ++i) (*strides[i])[to] = (*strides[i])[from];
  }
  void clear(int axis) const {
    for (int i = 0; i < count; ++i) (*strides[i])[axis] = 0;
  }
  void exchange(int axis, int other) const {
    for (int i = 0; i < count; ++i) std::swap((*strides[i])[axis], (*strides[i])[other]);
  }
};

namespace detail {

template <int Rank>
void merge_listed_axes(array<index, Rank>& extents, int first, int last, const stride_list<Rank>& list) {
  int target = last - 1;
  for (int axis = last - 2; axis >= first; --axis) {
    if (extents[axis] == 1) continue;
    if (extents[target] != 1 && list.merge(axis, target, extents[target])) {
      extents[target] *= extents[axis];
      continue;
    }
    if (extents[target] != 1) --target;
    if (target != axis) extents[target] = extents[axis], list.move(axis, target);
  }
  for (int axis = first; axis < target; ++axis) extents[axis] = 1, list.clear(axis);
}

}  // namespace detail

/// Merges the axes `first` to `last` - 1 of an iteration space towards the back; emptied axes get extent 1. `parts`,
/// targets and programs, are all that is iterated together.
template <int Rank, class... Parts>
void merge_axes(array<index, Rank>& extents, int first, int last, Parts&... parts) {
  if (last - first < 2) return;
  stride_list<Rank> list;
  (parts.visit(list), ...);
  if (list.count <= stride_list<Rank>::capacity) detail::merge_listed_axes(extents, first, last, list);
}

// The loops below ask for axis >= 0 too: g++ does not know that `first` is never negative, and warns.

/// The position numbered `number` in row-major order of the axes `first` to `last` - 1; the others stay.
template <int Rank>
TENON_HOST_DEVICE constexpr void set_position(array<index, Rank>& position, const array<index, Rank>& extents,
                                              int first, int last, index number) {
  for (int axis = last - 1; axis >= 0 && axis >= first; --axis) {
    const index extent = extents[axis];
    if (extent == 1) {
      position[axis] = 0;
    } else {
      position[axis] = number % extent;
      number /= extent;
    }
  }
}

/// The next position in row-major order of the axes `first` to `last` - 1; after the last one, the first.
template <int Rank>
TENON_HOST_DEVICE constexpr void advance_position(array<index, Rank>& position, const array<index, Rank>& extents,
                                                  int first, int last) {
  for (int axis = last - 1; axis >= 0 && axis >= first; --axis) {
    if (++position[axis] < extents[axis]) return;
    position[axis] = 0;
  }
}

/// The product of the extents of axes `first` to `last` - 1.
template <int Rank>
TENON_HOST_DEVICE constexpr index count_between(const array<index, Rank>& extents, int first, int last) {
  index product = 1;
  for (int axis = last - 1; axis >= 0 && axis >= first; --axis) product *= extents[axis];
  return product;
}

namespace detail {

/// Whether packets of `Size` elements lie whole and aligned in all that is visited.
template <int Rank, int Size>
struct packet_check {
  const array<index, Rank>& extents;
  bool fits = true;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    if (stride[Rank - 1] == 0) return;
    fits = fits && stride[Rank - 1] == 1 && reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * Size) == 0;
    for (int axis = 0; axis < Rank - 1; ++axis) fits = fits && (extents[axis] == 1 || stride[axis] % Size == 0);
  }
  void operator()(const array<index, Rank>&, index) {}
};

}  // namespace detail
}  // namespace tenon
