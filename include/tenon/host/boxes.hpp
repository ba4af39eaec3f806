// tenon/host/boxes.hpp: statements over many small boxes on the CPU.
// Packs hold the same element of neighbouring boxes, so that short rows are as fast as long ones.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_interleave.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/plan/access.hpp>
#include <tenon/plan/boxes.hpp>

namespace tenon {

namespace detail {

inline constexpr index box_grain = 4096;  // boxes; for fewer, a second thread costs more than it saves

/// Writes the first `count` lanes of each place, one by one.
template <class Value, class T, class Layout, class V>
[[gnu::noinline]] void scatter_boxes(T* to, const Layout& layout, index step, const V* packs, index count) {
  for (int place = 0; place < layout.offsets.size(); ++place) {
    for (index lane = 0; lane < count; ++lane) {
      to[layout.offsets[place] + lane * step] = static_cast<T>(static_cast<Value>(packs[place][lane]));
    }
  }
}

/// Writes the boxes at some places, `step` apart and at most as many as lanes, all of whose values are known before one
/// is written.
template <int Lanes, class T, class Boxes, int Outer>
[[gnu::noinline]] void write_boxes(T* to, const box_layout<typename Boxes::shape>& layout, index step,
                                   const Boxes& boxes, const box_places<Outer>& places) {
  using value_type = typename Boxes::value_type;
  const auto values = boxes.template values<Lanes>(places);
  if constexpr (lie_in_packs<T, value_type>) {
    if (layout.is_whole && step == Boxes::count && places.count == Lanes) [[likely]]
      return simd::store_interleaved<Lanes>(to, values.at);
  }
  scatter_boxes<value_type>(to, layout, step, values.at, places.count);
}

}  // namespace detail

/// Evaluates a statement that `runs_in_boxes` into its target.
template <class T, int Rank, class E>
void run_boxes_host(const strided_target<T, Rank>& target, const E& node) {
  constexpr int outer = detail::axes_before_box<typename E::shape_type>(), along = outer - 1;
  constexpr int lanes = simd::width_for(detail::widest_value<E>());
  using boxes_type = detail::boxes_of<E, outer>;
  const counted_launch counted("boxes");
  const auto extents = node.shape().to_array();
  const boxes_type boxes(node);
  const detail::box_layout<typename boxes_type::shape> layout(target.stride);
  const index step = target.stride[along];
  parallel_for(count_between(extents, 0, outer), detail::box_grain, [&](index first, index last) {
    array<index, Rank> position{};
    set_position(position, extents, 0, outer, first);
    detail::box_places<outer> places{};
    places.step[along] = 1;
    for (index count = 0; first < last; first += count) {
      const index rest = extents[along] - position[along];
      count = rest < last - first ? rest : last - first;
      for (int axis = 0; axis < outer; ++axis) places.first[axis] = position[axis];
      T* to = target.at(position);
      for (index done = 0; done < count; done += lanes) {
        places.count = count - done < lanes ? count - done : lanes;
        detail::write_boxes<lanes>(to, layout, step, boxes, places);
        places.first[along] += lanes;
        to += lanes * step;
      }
      position[along] = 0;
      advance_position(position, extents, 0, along);
    }
  });
}

}  // namespace tenon
