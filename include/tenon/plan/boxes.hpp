// tenon/plan/boxes.hpp: which statements run over many small boxes, such as points, rotations and poses.
// A box is what the last axes span, whose few extents types know. The axes before it may be as long as they like.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/box_sums.hpp>
#include <tenon/plan/box_views.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// Whether an expression holds elements that move other than by strides.
template <class E, class Operands = operands_of<E>>
inline constexpr bool moves_elements = true;
template <class E, class... Operands>
  requires(!std::is_same_v<typename E::kind, index_map_kind> || requires(const E& node) { node.map.target; })
inline constexpr bool moves_elements<E, tuple<Operands...>> = (false || ... || moves_elements<Operands>);

/// Whether the elements of an expression have the axes of `Shape` from `First` on: none of them is repeated there.
template <class E, class Shape, int First>
constexpr bool lies_as() {
  using own = typename E::shape_type;
  if constexpr (own::rank == 0 || std::is_same_v<typename E::kind, generator_kind>) {
    return true;
  } else if constexpr (std::is_same_v<typename E::kind, leaf_kind>) {
    constexpr int missing = Shape::rank - own::rank;
    bool result = missing <= First;
    for (int axis = First; result && axis < Shape::rank; ++axis) {
      result = (own::static_extent(axis - missing) == 1) == (Shape::static_extent(axis) == 1);
    }
    return result;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return std::is_same_v<typename E::kind, pointwise_kind> && (lies_as<Operands, Shape, First>() && ...);
    }(std::type_identity<operands_of<E>>{});
  }
}
/// Whether all reductions of a statement fold rows of memory as they lie there: other loops are faster with these, but
/// for positions of extremes.
template <class E>
constexpr bool folds_rows_as_they_lie() {
  if constexpr (is_reduction<E>) {
    using operand = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>;
    return !finds_places<typename E::monoid> && lies_as<operand, typename operand::shape_type, 0>();
  } else if constexpr (slot_count<E> == 0) {
    return true;
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (folds_rows_as_they_lie<Operands>() && ...);
    }(std::type_identity<operands_of<E>>{});
  }
}
/// Whether a statement that neither folds nor multiplies moves or repeats elements within its boxes.
template <class E, int Outer>
constexpr bool moves_within_boxes() {
  using shape = typename E::shape_type;
  return Outer < shape::rank && (moves_elements<E> || !lies_as<E, shape, Outer>());
}

/// Whether types know that there are few boxes: other loops for few elements begin sooner.
template <class Shape, int Outer>
constexpr bool has_few_boxes() {
  constexpr index many = 32;
  index count = 1;
  for (int axis = 0; axis < Outer; ++axis)
    count *= Shape::static_extent(axis) == dyn ? many : Shape::static_extent(axis);
  return count < many;
}
/// Whether some elements that an expression reads lie in boxes: without any, nothing else needs to be asked.
template <class E, class Operands = operands_of<E>>
inline constexpr bool reads_boxes = E::shape_type::rank > 0 &&
                                    axes_before_box<typename E::shape_type>() < E::shape_type::rank;
template <class E, class... Operands>
  requires(!std::is_same_v<typename E::kind, leaf_kind>)
inline constexpr bool reads_boxes<E, tuple<Operands...>> = (false || ... || reads_boxes<Operands>);

}  // namespace detail

/// Whether the host runs a statement box by box: a product or rows of few elements, or elements that are moved.
template <class Space, class E>
inline constexpr bool runs_in_boxes = [] {
  constexpr int outer = detail::axes_before_box<typename E::shape_type>();
  if constexpr (compiled_by_nvcc || TENON_CHECKED != 0 || !fuses_operations || !std::is_same_v<Space, host> ||
                detail::has_few_boxes<typename E::shape_type, outer>() || is_own_pass<E> ||
                (outer == E::shape_type::rank && !detail::reads_boxes<E>)) {
    return false;
  } else if constexpr (slot_count<E> == 0 && !detail::moves_within_boxes<E, outer>()) {
    return false;
  } else if constexpr (stage_of<E>() == stage::reduce && detail::folds_rows_as_they_lie<E>()) {
    return false;
  } else if constexpr (!detail::boxes_of<E, outer>::fits) {
    return false;
  } else {
    return simd::width_for(detail::widest_value<E>()) > 1;
  }
}();

}  // namespace tenon
