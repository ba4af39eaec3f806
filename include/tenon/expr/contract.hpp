// tenon/expr/contract.hpp: sums of products over a shared axis.
// Matrix products go to the one contraction core, with whatever stands before and after them fused.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>

namespace tenon {

/// How a matrix lies in the axes of a program: rows move along axis `Row`, columns run over the axes `Columns` in
/// row-major order, every other axis is a batch.
template <int Row, int... Columns>
struct matrix_axes {
  static constexpr int row = Row;
  static constexpr int column_count = static_cast<int>(sizeof...(Columns));
  static constexpr array<int, column_count> columns{{Columns...}};
};

/// Names the operation in messages.
struct matmul_operation {
  static constexpr const char* name = "matmul";
};

template <class Operation, class Left, class Right>
consteval void inner_extents_must_agree() {
  static_assert(must_hold<Operation, Left, Right>, "tenon: the inner extents of a matrix product must be equal");
}

namespace detail {

template <class Shape, int Count, class Sequence = std::make_integer_sequence<int, Count>>
struct leading_shape;
template <class Shape, int Count, int... I>
struct leading_shape<Shape, Count, std::integer_sequence<int, I...>> {
  using type = shape<Shape::static_extent(I)...>;
  static type of(const Shape& extents) {
    array<index, Count> leading{};
    for (int axis = 0; axis < Count; ++axis) leading[axis] = extents.extent(axis);
    return type(leading);
  }
};

template <class Shape, index... More>
struct appended_shape;
template <index... Extents, index... More>
struct appended_shape<shape<Extents...>, More...> {
  using type = shape<Extents..., More...>;
};

template <class Left, class Right>
void check_inner_extents(const Left& left, const Right& right) {
  constexpr index static_left = Left::static_extent(Left::rank - 1),
                  static_right = Right::static_extent(Right::rank - 2);
  if constexpr (static_left != dyn && static_right != dyn && static_left != static_right) {
    inner_extents_must_agree<matmul_operation, left_extent<static_left>, right_extent<static_right>>();
  }
  const index inner = left.extent(Left::rank - 1), other = right.extent(Right::rank - 2);
  if (inner == other) return;
  const bool transposed_fits = inner == right.extent(Right::rank - 1);
  throw shape_error(compose_text("matmul: inner extents ", inner, " and ", other, " differ (operands ", left.to_array(),
                                 " and ", right.to_array(), ")",
                                 transposed_fits ? "; transpose the second operand?" : ""));
}

}  // namespace detail

/// [..., m, k] times [..., k, n]; the batch axes before them broadcast.
template <class Left, class Right>
struct matrix_product {
  using kind = contraction_kind;
  using element = promoted_element<Left, Right>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Left::space, typename Right::space>::type;
  using left_shape = typename Left::shape_type;
  using right_shape = typename Right::shape_type;
  using left_batches = detail::leading_shape<left_shape, left_shape::rank - 2>;
  using right_batches = detail::leading_shape<right_shape, right_shape::rank - 2>;
  using batch_shape = broadcast_shape<matmul_operation, typename left_batches::type, typename right_batches::type>;
  static constexpr int batches = batch_shape::rank;
  using shape_type = typename detail::appended_shape<batch_shape, left_shape::static_extent(left_shape::rank - 2),
                                                     right_shape::static_extent(right_shape::rank - 1)>::type;
  using left_axes = matrix_axes<batches, batches + 1>;
  using right_axes = matrix_axes<batches, batches + 1>;
  using result_axes = matrix_axes<batches, batches + 1>;

  tuple<Left, Right> operands;
  shape_type extents;

  const shape_type& shape() const { return extents; }
  index depth() const { return get<0>(operands).shape().extent(left_shape::rank - 1); }
  /// This node on other operands of the same extents.
  template <class NewLeft, class NewRight>
  auto with_operands(const tuple<NewLeft, NewRight>& others) const {
    using node = matrix_product<NewLeft, NewRight>;
    return node{others, typename node::shape_type(extents)};
  }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<shape_type::rank, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Left> + slot_count<Right>, compute_type<element>>{};
  }
  /// The left operand over [batches..., m, k].
  auto lower_left() const { return lower_operand(get<0>(operands)); }
  /// The right operand over [batches..., k, n].
  auto lower_right() const { return lower_operand(get<1>(operands)); }
  /// Extents of the iteration spaces of both.
  auto left_extents() const { return operand_extents(extents.extent(batches), depth()); }
  auto right_extents() const { return operand_extents(depth(), extents.extent(batches + 1)); }

 private:
  template <class Operand>
  static auto lower_operand(const Operand& operand) {
    return operand.template lower<0>(broadcast_map(identity_map<shape_type::rank>(), operand.shape().to_array()));
  }
  array<index, shape_type::rank> operand_extents(index rows, index columns) const {
    auto result = extents.to_array();
    result[batches] = rows;
    result[batches + 1] = columns;
    return result;
  }
};

/// Matrix product of the last two axes, batched and broadcast over the ones before.
/// extents   [..., m, k], [..., k, n] -> [..., m, n]
/// types     promoted; half and bfloat16 accumulate in float, integers in 64 bits
/// throws    shape_error when the inner extents differ or the batches do not broadcast
/// cost      one kernel, pointwise operands and a pointwise result included
template <tensor_operand LeftOperand, tensor_operand RightOperand>
auto matmul(LeftOperand&& left_operand, RightOperand&& right_operand) {
  return []<class Left, class Right>(const Left& left, const Right& right) {
    static_assert(Left::shape_type::rank >= 2 && Right::shape_type::rank >= 2, "tenon: matmul takes matrices");
    detail::check_inner_extents(left.shape(), right.shape());
    using node = matrix_product<Left, Right>;
    const auto batches = broadcast_extents<matmul_operation>(node::left_batches::of(left.shape()),
                                                             node::right_batches::of(right.shape()));
    array<index, node::shape_type::rank> extents{};
    for (int axis = 0; axis < node::batches; ++axis) extents[axis] = batches.extent(axis);
    extents[node::batches] = left.shape().extent(Left::shape_type::rank - 2);
    extents[node::batches + 1] = right.shape().extent(Right::shape_type::rank - 1);
    return node{{{{left}, {right}}}, typename node::shape_type(extents)};
  }(as_node(std::forward<LeftOperand>(left_operand)), as_node(std::forward<RightOperand>(right_operand)));
}

}  // namespace tenon
