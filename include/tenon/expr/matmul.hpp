// tenon/expr/matmul.hpp: products of matrices, vectors and tensors.
// Each says which axes are the same and leaves the rest to one function, which picks product, sum or contraction.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/contract.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/index_map.hpp>

namespace tenon {

namespace detail {

/// `operand` over the axes 0 to `Count` - 1 of a space of letters; letters that it lacks have extent 1.
template <class Letters, class Operand, int... I>
constexpr auto spread_letters(const Operand& operand, std::integer_sequence<int, I...>) {
  constexpr int count = static_cast<int>(sizeof...(I));
  using old_shape = typename Operand::shape_type;
  using new_shape = shape<static_extent_of_letter<old_shape, Letters>(I)...>;
  axis_map<old_shape::rank, count> map{};
  array<index, count> extents{};
  for (int letter = 0; letter < count; ++letter) {
    const int axis = axis_of_letter(Letters{}, letter);
    map.target[letter] = axis;
    map.step[letter] = axis < 0 ? 0 : 1;
    extents[letter] = axis < 0 ? 1 : operand.shape().extent(axis);
  }
  return make_index_map<renamed_axes<axis_of_letter(Letters{}, I)...>>(operand, new_shape(extents), map);
}

template <int First, int... I>
constexpr axis_list<First + I...> axes_from(std::integer_sequence<int, I...>) {
  return {};
}
template <class Letters, int Count, class Operand>
constexpr auto spread_letters(const Operand& operand) {
  using letters = std::make_integer_sequence<int, Count>;
  if constexpr (std::is_same_v<Letters, decltype(axes_from<0>(letters{}))>) return operand;
  else return spread_letters<Letters>(operand, letters{});
}

/// The axes before `Rank`; the others have extent 1.
template <int Rank, class Operand>
constexpr auto leading_axes(const Operand& operand) {
  return spread_letters<decltype(axes_from<0>(std::make_integer_sequence<int, Operand::shape_type::rank>{})), Rank>(
      operand);
}

/// The sum over the axes from `Rank` on, which are gone from the result.
template <int Rank, class Operand>
constexpr auto sum_trailing(const Operand& operand) {
  using element = typename Operand::element;
  constexpr int summed = Operand::shape_type::rank - Rank;
  if constexpr (summed == 0) {
    return operand;
  } else if constexpr (Rank == 0) {
    return cast<element>(sum(operand));
  } else {
    return leading_axes<Rank>(cast<element>(sum(operand, axes_from<Rank>(std::make_integer_sequence<int, summed>{}))));
  }
}

/// The sum of products over the letters from `Rank` on: a product where there are none, a sum where every result letter
/// is a batch, a contraction otherwise. Its columns should end with the last axis of the result.
template <int Rank, class LeftLetters, class RightLetters, class Left, class Right>
TENON_INLINE constexpr auto contract_letters(const Left& left, const Right& right) {
  using pattern = contraction_pattern<Rank, LeftLetters, RightLetters>;
  if constexpr (pattern::depth_count == 0 || pattern::row_count + pattern::column_count == 0) {
    constexpr int letters = Rank + pattern::depth_count;
    return sum_trailing<Rank>(spread_letters<LeftLetters, letters>(left) *
                              spread_letters<RightLetters, letters>(right));
  } else if constexpr (pattern::column_count == 0 ||
                       (pattern::row_count != 0 &&
                        role_of_letter<LeftLetters, RightLetters>(Rank - 1) == letter_role::row)) {
    return make_contraction<contraction_pattern<Rank, RightLetters, LeftLetters>>(right, left);
  } else {
    return make_contraction<pattern>(left, right);
  }
}

/// Names the operation in messages.
struct matmul_operation {
  static constexpr const char* name = "matmul";
};

/// Which axes of the operands a matrix product sums, and their static extents.
template <class Left, class Right>
struct inner_axes {
  static constexpr int left = Left::rank - 1, right = Right::rank < 2 ? 0 : Right::rank - 2;
  static constexpr index left_extent = Left::static_extent(left), right_extent = Right::static_extent(right);
  static constexpr bool fit = left_extent == dyn || right_extent == dyn || left_extent == right_extent;
};

/// The extents before the last two axes.
template <class Shape, int... I>
constexpr auto batch_shape(const Shape& extents, std::integer_sequence<int, I...>) {
  return shape<Shape::static_extent(I)...>(array<index, static_cast<int>(sizeof...(I))>{{extents.extent(I)...}});
}
template <class Shape>
constexpr auto batch_shape(const Shape& extents) {
  if constexpr (Shape::rank <= 2) {
    return shape<>{};
  } else {
    return batch_shape(extents, std::make_integer_sequence<int, Shape::rank - 2>{});
  }
}

template <class Left, class Right>
constexpr void check_inner_extents(const Left& left, const Right& right) {
  using axes = inner_axes<Left, Right>;
  const index inner = left.extent(axes::left), other = right.extent(axes::right);
  if (inner == other) return;
  const bool transposed_fits = Right::rank >= 2 && inner == right.extent(Right::rank - 1);
  throw shape_error(compose_text("matmul: inner extents ", inner, " and ", other, " differ (operands ", left.to_array(),
                                 " and ", right.to_array(), ")",
                                 transposed_fits ? "; transpose the second operand?" : ""));
}

template <class Left, class Right>
TENON_INLINE constexpr void check_matrix_batches(const Left& left, const Right& right) {
  if constexpr (Left::rank > 2 && Right::rank > 2) {
    const auto left_batch = batch_shape(left);
    const auto right_batch = batch_shape(right);
    if (!(left_batch == right_batch)) {
      const auto all_left = left.to_array();
      const auto all_right = right.to_array();
      check_batches("matmul", {all_left.begin(), Left::rank}, {all_right.begin(), Right::rank}, {{2, 2}});
    }
    broadcast_extents<matmul_operation>(left_batch, right_batch);
  }
}

/// The letters of a matrix: those of its batches from `First` on, then `Row` and `Column`.
template <int First, int... Last, int... Batches>
constexpr axis_list<First + Batches..., Last...> matrix_letters(axis_list<Last...>,
                                                                std::integer_sequence<int, Batches...>) {
  return {};
}

/// The letters of the operands of matmul; the axes before the last two are aligned at the back.
template <int LeftRank, int RightRank>
struct matmul_letters {
  static constexpr int greatest = LeftRank > RightRank ? LeftRank : RightRank,
                       batches = greatest < 2 ? 0 : greatest - 2;
  static constexpr bool has_rows = LeftRank > 1, has_columns = RightRank > 1;
  static constexpr int row = batches, column = batches + (has_rows ? 1 : 0), rank = column + (has_columns ? 1 : 0);
  template <int Rank>
  static constexpr int batch_axes = Rank < 2 ? 0 : Rank - 2;
  using left = decltype(matrix_letters<batches - batch_axes<LeftRank>>(
      std::conditional_t<has_rows, axis_list<row, rank>, axis_list<rank>>{},
      std::make_integer_sequence<int, batch_axes<LeftRank>>{}));
  using right = decltype(matrix_letters<batches - batch_axes<RightRank>>(
      std::conditional_t<has_columns, axis_list<rank, column>, axis_list<rank>>{},
      std::make_integer_sequence<int, batch_axes<RightRank>>{}));
};

template <class Left, class Right>
TENON_INLINE constexpr auto multiply_matrices(const Left& left, const Right& right) {
  using axes = inner_axes<typename Left::shape_type, typename Right::shape_type>;
  if constexpr (axes::left_extent == dyn || axes::right_extent == dyn) {
    check_inner_extents(left.shape(), right.shape());
  }
  check_matrix_batches(left.shape(), right.shape());
  using letters = matmul_letters<Left::shape_type::rank, Right::shape_type::rank>;
  return contract_letters<letters::rank, typename letters::left, typename letters::right>(left, right);
}

}  // namespace detail

/// Matrix product of the last two axes, batched and broadcast over the ones before. A vector is a row on the left, a
/// column on the right, and its axis is gone from the result.
/// extents   [..., m, k], [..., k, n] -> [..., m, n]
/// types     promoted; short floats accumulate in float, integers as if in 64 bits
/// throws    shape_error when the inner extents differ or the batches do not broadcast
/// cost      one kernel, pointwise operands and a pointwise result included
/// example   y = matmul(x, w);
template <tensor_operand LeftOperand, tensor_operand RightOperand>
TENON_INLINE constexpr auto matmul(LeftOperand&& left_operand, RightOperand&& right_operand) {
  using left_shape = typename std::remove_cvref_t<LeftOperand>::shape_type;
  using right_shape = typename std::remove_cvref_t<RightOperand>::shape_type;
  static_assert(left_shape::rank >= 1 && right_shape::rank >= 1, "tenon: matmul takes matrices and vectors");
  if constexpr (left_shape::rank >= 1 && right_shape::rank >= 1) {
    using inner = detail::inner_axes<left_shape, right_shape>;
    static_assert(inner::fit || must_hold<left_extent<inner::left_extent>, right_extent<inner::right_extent>>,
                  "tenon: the inner extents of a matrix product must be equal");
    return detail::multiply_matrices(as_node(std::forward<LeftOperand>(left_operand)),
                                     as_node(std::forward<RightOperand>(right_operand)));
  }
}

/// The same with operands that are multiplied as precisely as `Precision` says: `matmul<precision::tf32>(a, b)`.
/// accuracy  of floats with precision::tf32, 2^-11 for each operand, on devices with such units; else as without
template <class Precision, tensor_operand Left, tensor_operand Right>
  requires std::is_same_v<Precision, precision::full> || std::is_same_v<Precision, precision::tf32>
constexpr auto matmul(Left&& left, Right&& right) {
  return detail::with_precision<Precision>(matmul(std::forward<Left>(left), std::forward<Right>(right)));
}

/// alpha a b + beta c, in one kernel.
/// throws    shape_error as matmul, and when c does not broadcast
/// example   z = gemm(0.5f, x, y, 1.0f, z);
template <dtype Alpha, tensor_operand Left, tensor_operand Right, dtype Beta, tensor_operand Addend>
constexpr auto gemm(Alpha alpha, Left&& left, Right&& right, Beta beta, Addend&& addend) {
  return alpha * matmul(std::forward<Left>(left), std::forward<Right>(right)) + beta * std::forward<Addend>(addend);
}

}  // namespace tenon
