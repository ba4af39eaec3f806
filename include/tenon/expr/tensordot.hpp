// tenon/expr/tensordot.hpp: inner, outer and tensor products.
// Axes are paired by number; einsum pairs them by letter.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/matmul.hpp>

namespace tenon {

namespace detail {

/// The letters of a tensordot operand of `Rank` axes: the paired axes bear `FirstPaired` and on, the others, in their
/// order, `FirstFree` and on.
template <int Rank, int FirstFree, int FirstPaired, int... Paired>
struct tensordot_letters {
  static constexpr int of(int axis) {
    const int paired[] = {normalise_axis(Paired, Rank)..., -1};
    int free = FirstFree;
    for (int place = 0; place < static_cast<int>(sizeof...(Paired)); ++place) {
      if (paired[place] == axis) return FirstPaired + place;
    }
    for (int before = 0; before < axis; ++before) free += of(before) < FirstPaired ? 1 : 0;
    return free;
  }
  using type = decltype(list_axes<tensordot_letters>(std::make_integer_sequence<int, Rank>{}));
};

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_pair(const char* operation, const array<int, 2>& axes,
                                                               extents_view left, extents_view right) {
  throw shape_error(compose_text(operation, ": axes ", axes[0], " and ", axes[1], ": extents ", left[axes[0]], " and ",
                                 right[axes[1]], " differ (operands ", left, " and ", right, ")"));
}
template <class Left, class Right>
constexpr void check_paired_extents(const char* operation, const Left& left, int left_axis, const Right& right,
                                    int right_axis) {
  if (left.extent(left_axis) == right.extent(right_axis)) return;
  const auto all_left = left.to_array();
  const auto all_right = right.to_array();
  refuse_pair(operation, {{left_axis, right_axis}}, {all_left.begin(), Left::rank}, {all_right.begin(), Right::rank});
}

template <int Rank, int... Axes>
constexpr bool axes_differ() {
  int named = 0;
  for (const bool each : axis_set<Rank>(axis_list<Axes...>{})) named += each ? 1 : 0;
  return named == static_cast<int>(sizeof...(Axes));
}

}  // namespace detail

/// The sum of products over pairs of axes: axis `LeftAxes[i]` of the left with axis `RightAxes[i]` of the right.
/// extents   the other axes of the left operand, then those of the right
/// types     as matmul
/// throws    shape_error when the extents of a pair differ
/// cost      one kernel, pointwise operands and a pointwise result included
/// example   z = tensordot(x, y, axis<1>, axis<0>);
template <tensor_operand LeftOperand, tensor_operand RightOperand, int... LeftAxes, int... RightAxes>
constexpr auto tensordot(LeftOperand&& left_operand, RightOperand&& right_operand, axis_list<LeftAxes...>,
                         axis_list<RightAxes...>) {
  static_assert(sizeof...(LeftAxes) == sizeof...(RightAxes), "tenon: tensordot takes axes in pairs");
  return []<class Left, class Right>(const Left& left, const Right& right) {
    constexpr int paired = static_cast<int>(sizeof...(LeftAxes));
    constexpr int left_rank = Left::shape_type::rank, right_rank = Right::shape_type::rank;
    static_assert(detail::axes_differ<left_rank, LeftAxes...>() && detail::axes_differ<right_rank, RightAxes...>(),
                  "tenon: tensordot pairs an axis once");
    (detail::check_paired_extents("tensordot", left.shape(), normalise_axis(LeftAxes, left_rank), right.shape(),
                                  normalise_axis(RightAxes, right_rank)),
     ...);
    constexpr int rank = left_rank + right_rank - 2 * paired;
    using left_letters = typename detail::tensordot_letters<left_rank, 0, rank, LeftAxes...>::type;
    using right_letters = typename detail::tensordot_letters<right_rank, left_rank - paired, rank, RightAxes...>::type;
    return detail::contract_letters<rank, left_letters, right_letters>(left, right);
  }(as_node(std::forward<LeftOperand>(left_operand)), as_node(std::forward<RightOperand>(right_operand)));
}

/// The sum of products over the last `Count` axes of the left and the first `Count` of the right operand.
template <int Count, tensor_operand Left, tensor_operand Right>
constexpr auto tensordot(Left&& left, Right&& right) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return tensordot(std::forward<Left>(left), std::forward<Right>(right), axis<I - Count...>, axis<I...>);
  }(std::make_integer_sequence<int, Count>{});
}

/// The sum of products of two vectors, without axes.
/// throws    shape_error when the extents differ
/// example   const float product = dot(u, v);
template <tensor_operand Left, tensor_operand Right>
constexpr auto dot(Left&& left, Right&& right) {
  static_assert(node_of<Left>::shape_type::rank == 1 && node_of<Right>::shape_type::rank == 1,
                "tenon: dot takes two vectors");
  detail::check_paired_extents("dot", left.shape(), 0, right.shape(), 0);
  return tensordot<1>(std::forward<Left>(left), std::forward<Right>(right));
}

/// Every product of an element of the left with one of the right operand.
/// extents   the axes of the left operand, then those of the right
/// example   z = outer(u, v);
template <tensor_operand Left, tensor_operand Right>
constexpr auto outer(Left&& left, Right&& right) {
  return tensordot<0>(std::forward<Left>(left), std::forward<Right>(right));
}

}  // namespace tenon
