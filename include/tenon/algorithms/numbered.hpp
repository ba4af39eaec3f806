// tenon/algorithms/numbered.hpp: elements by their number, and what is done for every number, in any memory space.
// What a device runs is a struct that is called with a number; the host calls the same struct in a loop.
// Floor 5: may include base, core, device, kernels, plan, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/view.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/kernels/positions.hpp>
#include <tenon/plan/access.hpp>
#include <tenon/plan/iterate.hpp>

namespace tenon {

/// Elements by their number in row-major order of `extents`; a kernel may carry it.
template <class T, int Rank>
struct numbered_elements {
  using element = std::remove_const_t<T>;
  T* data;
  array<index, Rank> extents, strides;

  TENON_HOST_DEVICE T& operator[](index number) const {
    index offset = 0;
    for (int axis = Rank - 1; axis > 0 && number != 0; --axis) {
      if (extents[axis] == 1) continue;
      const index outer = number / extents[axis];
      offset += (number - outer * extents[axis]) * strides[axis];
      number = outer;
    }
    if constexpr (Rank > 0) offset += number * strides[0];
    return data[offset];
  }
};

namespace detail {

/// The same elements, with axes merged where possible and those of extent 1 last, so that numbers cost few divisions.
template <class T, int Rank>
numbered_elements<T, Rank> merged(numbered_elements<T, Rank> elements) {
  strided_target<T, Rank> all{elements.data, elements.strides};
  merge_axes(elements.extents, 0, Rank, all);
  numbered_elements<T, Rank> result{elements.data, filled_array<Rank>(index{1}), {}};
  int place = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    if (elements.extents[axis] == 1) continue;
    result.extents[place] = elements.extents[axis];
    result.strides[place++] = all.stride[axis];
  }
  return result;
}

}  // namespace detail

/// The elements of a view in row-major order.
template <class T, class Shape, class Space>
numbered_elements<T, Shape::rank> in_order(const view<T, Shape, Space>& elements) {
  return detail::merged(
      numbered_elements<T, Shape::rank>{elements.data(), elements.shape().to_array(), elements.strides()});
}

/// The elements of a view in row-major order of its axes as `order` lists them.
template <class T, class Shape, class Space>
numbered_elements<T, Shape::rank> in_order(const view<T, Shape, Space>& elements,
                                           const array<int, Shape::rank>& order) {
  numbered_elements<T, Shape::rank> result{elements.data(), {}, {}};
  for (int place = 0; place < Shape::rank; ++place) {
    result.extents[place] = elements.extent(order[place]);
    result.strides[place] = elements.strides()[order[place]];
  }
  return detail::merged(result);
}

/// The elements of a view line after line, lines along `axis` in row-major order of the other axes; each line from its
/// end where `reverse`.
template <class T, class Shape, class Space>
numbered_elements<T, Shape::rank> line_by_line(const view<T, Shape, Space>& elements, int axis, bool reverse = false) {
  const auto order = with_axis_last<Shape::rank>(axis);
  if (!reverse || elements.size() == 0) return in_order(elements, order);
  auto strides = elements.strides();
  T* last = elements.data() + (elements.extent(axis) - 1) * strides[axis];
  strides[axis] = -strides[axis];
  return in_order(view<T, Shape, Space>(last, elements.shape(), strides), order);
}

/// Calls `body(number)` for its share of the numbers below `count`.
template <class Body>
struct number_kernel {
  static constexpr const char* name = "for_each_number";
  index count;
  Body body;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index stride = static_cast<index>(device.grid_size().x) * device.block_size();
    const index first = static_cast<index>(device.block().x) * device.block_size() + device.thread();
    for (index number = first; number < count; number += stride) body(number);
  }
};

/// Calls `body(number)` for the numbers below `count`, in any order, where `Space` is: on the host's threads, `grain`
/// numbers at least each, or as a kernel, for which `body` is a trivially copyable struct.
template <class Space, class Body>
void for_each_number(index count, index grain, const Body& body) {
  if constexpr (Space::host_accessible) {
    parallel_for(count, grain, [&](index first, index last) {
      for (index number = first; number < last; ++number) body(number);
    });
  } else {
    launch<Space>(launch_shape{.grid = {blocks_for(count)}, .block = kernel_block}, number_kernel<Body>{count, body});
  }
}

}  // namespace tenon
