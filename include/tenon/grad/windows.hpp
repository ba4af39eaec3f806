// tenon/grad/windows.hpp: gradients of windows that may reach beside their operand.
// For each element, the sum over the windows that see it.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/placed_windows.hpp>

namespace tenon {

/// Both ways between an element with a number for one of the windows that see it, and that window with its tap there.
template <bool FromElements, class T, int Leading, class Windows>
struct window_membership_map {
  static constexpr int rank = Windows::rank;
  Windows windows;
  T outside{};

  template <int Count>
  TENON_HOST_DEVICE array<index, Count> operator()(const array<index, Count>& position) const {
    array<index, Count> result = position;
    for (int axis = 0; axis < rank; ++axis) {
      const index from = position[Leading + axis], number = position[Leading + rank + axis];
      if constexpr (FromElements) {
        const index window = windows.window_over(axis, from, number);
        result[Leading + axis] = window;
        result[Leading + rank + axis] = window < 0 ? -1 : windows.tap(axis, from, window);
      } else {
        const index element = windows.element(axis, from, number);
        result[Leading + axis] = element;
        result[Leading + rank + axis] = element < 0 ? -1 : windows.window_index_of(axis, element, from);
      }
    }
    return result;
  }
  template <int Count>
  TENON_HOST_DEVICE bool contains(const array<index, Count>& position) const {
    return is_place((*this)(position));
  }
};

template <int, class T, int Leading, class Windows, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<window_map<T, Leading, Windows>, Shape, Operand>& node, const Gradient& gradient) {
  using operand_shape = typename Operand::shape_type;
  constexpr int rank = operand_shape::rank;
  const auto& operand = get<0>(node.operands);
  return [&]<int... I, int... J>(std::integer_sequence<int, I...>, std::integer_sequence<int, J...>) {
    using seen_shape = shape<operand_shape::static_extent(I)..., (static_cast<void>(J), dyn)...>;
    const array<index, rank + Windows::rank> extents{
        {operand.shape().extent(I)..., node.map.windows.windows_over(J)...}};
    return sum(make_remap(window_membership_map<true, typename Gradient::element, Leading, Windows>{node.map.windows},
                          seen_shape(extents), gradient),
               drop<rank + J...>);
  }(std::make_integer_sequence<int, rank>{}, std::make_integer_sequence<int, Windows::rank>{});
}

/// The gradient of a window gradient: the inverse map.
template <int, bool FromElements, class T, int Leading, class Windows, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<window_membership_map<FromElements, T, Leading, Windows>, Shape, Operand>& node,
                      const Gradient& gradient) {
  return make_remap(
      window_membership_map<!FromElements, typename Gradient::element, Leading, Windows>{node.map.windows},
      get<0>(node.operands).shape(), gradient);
}

}  // namespace tenon
