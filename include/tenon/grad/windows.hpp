// tenon/grad/windows.hpp: gradients of windows that may reach beside their operand.
// For each element, the sum over the windows that see it. On the host it is added up in place.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/placed_windows.hpp>
#include <tenon/grad/views.hpp>

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

/// The gradient of windows on the host, in statements of elements that differ. Of even windows, tap after tap: what all
/// windows were given there is added to the elements that they see. Of others, window after window.
template <int Leading, class Windows>
struct placed_window_gradient_algorithm {
  static constexpr const char* name = "window_gradient";
  static constexpr int rank = Windows::rank;
  Windows windows;

  bool operator==(const placed_window_gradient_algorithm&) const = default;
  template <class Target, class Gradient>
  void operator()(const Target& target, const Gradient& gradient) const {
    target = typename Target::element(0.0f);
    if constexpr (Leading == 0) {
      add<rank - 1>(target.data(), target, gradient);
    } else {
      detail::for_each_batch(target, gradient, [&](index first, const auto& part) {
        add<rank - 1>(target.data() + first * target.strides()[0], target, part);
      });
    }
  }

 private:
  static constexpr bool are_even = requires(const Windows& each) { each.windows_seeing(0, index{0}); };

  /// Adds `part`, which has lost the taps or windows of the axes behind `Axis`, to elements from `place` on.
  template <int Axis, class Target, class Part>
  void add(typename Target::element* place, const Target& target, const Part& part) const {
    if constexpr (Axis < 0) {
      auto strides = target.strides();
      if constexpr (are_even) {
        for (int axis = 0; axis < rank; ++axis) strides[Leading + axis] *= windows.stride[axis];
      }
      detail::add_in_place(place, strides, part);
    } else {
      constexpr int along = Leading + Axis, taps = along + (are_even ? rank : Axis + 1);
      const index step = target.strides()[along];
      for (index i = 0; i < part.shape().extent(are_even ? taps : along); ++i) {
        if constexpr (are_even) {
          const auto seeing = windows.windows_seeing(Axis, i);
          if (seeing[0] >= seeing[1]) continue;
          add<Axis - 1>(place + windows.element(Axis, seeing[0], i) * step, target,
                        narrow(select(part, axis<taps>, i), axis<along>, seeing[0], seeing[1] - seeing[0]));
        } else {
          const index count = windows.end(i, windows.image[Axis], windows.output[Axis]) - windows.element(Axis, i, 0);
          add<Axis - 1>(place + windows.element(Axis, i, 0) * step, target,
                        select(narrow(part, axis<taps>, 0, count), axis<along>, i));
        }
      }
    }
  }
};
/// The gradient of such a gradient: the windows again, which see zeros beside the operand.
template <int, int Leading, class Windows, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<placed_window_gradient_algorithm<Leading, Windows>, T, Shape, Operand>& node,
                      const Gradient& gradient) {
  using element = typename Gradient::element;
  return make_remap(window_map<element, Leading, Windows>{node.options.windows, element(0.0f)},
                    get<0>(node.operands).shape(), gradient);
}

template <int, class T, int Leading, class Windows, class Shape, class Operand, class Gradient>
auto operand_gradient(const remap<window_map<T, Leading, Windows>, Shape, Operand>& node, const Gradient& gradient) {
  using operand_shape = typename Operand::shape_type;
  constexpr int rank = operand_shape::rank;
  using element = typename Gradient::element;
  const auto& operand = get<0>(node.operands);
  if constexpr (detail::adds_in_place<Operand, Gradient>) {
    return make_own_pass<element>(placed_window_gradient_algorithm<Leading, Windows>{node.map.windows}, operand.shape(),
                                  gradient);
  } else {
    return [&]<int... I, int... J>(std::integer_sequence<int, I...>, std::integer_sequence<int, J...>) {
      using seen_shape = shape<operand_shape::static_extent(I)..., (static_cast<void>(J), dyn)...>;
      const array<index, rank + Windows::rank> extents{
          {operand.shape().extent(I)..., node.map.windows.windows_over(J)...}};
      return sum(make_remap(window_membership_map<true, element, Leading, Windows>{node.map.windows},
                            seen_shape(extents), gradient),
                 drop<rank + J...>);
    }(std::make_integer_sequence<int, rank>{}, std::make_integer_sequence<int, Windows::rank>{});
  }
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
