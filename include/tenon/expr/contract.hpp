// tenon/expr/contract.hpp: sums of products over shared axes.
// One node for all of them; the contraction core runs it, with whatever stands before and after it fused.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>

namespace tenon {

/// How a matrix lies in the axes of a program: rows and columns run over the named axes in row-major order. Axes
/// `batches` stay fixed within one matrix; they follow the axes `result_batches` of the result.
template <int Row, int... Columns>
struct matrix_axes {
  static constexpr array<int, 1> rows{{Row}};
  static constexpr array<int, static_cast<int>(sizeof...(Columns))> columns{{Columns...}};
  static constexpr array<int, 0> batches{}, result_batches{};
};

namespace detail {

/// An axis list of the values that `Values::of(position)` gives.
template <class Values, int... I>
constexpr axis_list<Values::of(I)...> list_axes(std::integer_sequence<int, I...>) {
  return {};
}

enum class letter_role { row, column, batch };

/// The axis that bears `letter`, or -1.
template <int... Letters>
constexpr int axis_of_letter(axis_list<Letters...>, int letter) {
  const array<int, static_cast<int>(sizeof...(Letters))> letters{{Letters...}};
  for (int axis = 0; axis < letters.size(); ++axis) {
    if (letters[axis] == letter) return axis;
  }
  return -1;
}
constexpr int axis_of_letter(axis_list<>, int) { return -1; }

template <class Left, class Right>
constexpr letter_role role_of_letter(int letter) {
  if (axis_of_letter(Right{}, letter) < 0) return letter_role::row;
  return axis_of_letter(Left{}, letter) < 0 ? letter_role::column : letter_role::batch;
}

template <class Left, class Right>
constexpr int count_letters(int rank, letter_role role) {
  int count = 0;
  for (int letter = 0; letter < rank; ++letter) count += role_of_letter<Left, Right>(letter) == role ? 1 : 0;
  return count;
}

template <class Left, class Right, int Count>
constexpr array<int, Count> letters_of_role(int rank, letter_role role) {
  array<int, Count> letters{};
  for (int letter = 0, place = 0; letter < rank; ++letter) {
    if (role_of_letter<Left, Right>(letter) == role) letters[place++] = letter;
  }
  return letters;
}

/// `Count` axes from `first` on.
template <int Count>
constexpr array<int, Count> consecutive_axes(int first) {
  array<int, Count> axes{};
  for (int place = 0; place < Count; ++place) axes[place] = first + place;
  return axes;
}

template <int First, int Second, int Third>
constexpr array<int, First + Second + Third> join_arrays(const array<int, First>& first,
                                                         const array<int, Second>& second,
                                                         const array<int, Third>& third) {
  array<int, First + Second + Third> result{};
  for (int place = 0; place < First; ++place) result[place] = first[place];
  for (int place = 0; place < Second; ++place) result[First + place] = second[place];
  for (int place = 0; place < Third; ++place) result[First + Second + place] = third[place];
  return result;
}

}  // namespace detail

/// Which axes of two operands are the same. Letters stand for axes: 0 to `Rank` - 1 are those of the result in its
/// order, higher ones are summed; an operand's list names the letters of its axes. Result letters of the left operand
/// alone are rows, those of the right alone columns, those of both batches.
template <int Rank, class Left, class Right>
struct contraction_pattern {
  using left_letters = Left;
  using right_letters = Right;
  static constexpr int rank = Rank;
  static constexpr int row_count = detail::count_letters<Left, Right>(Rank, detail::letter_role::row);
  static constexpr int column_count = detail::count_letters<Left, Right>(Rank, detail::letter_role::column);
  static constexpr int batch_count = Rank - row_count - column_count;
  static constexpr int depth_count = Left::count - row_count - batch_count;
  static_assert(Right::count <= column_count + batch_count + depth_count && depth_count >= 0,
                "tenon: a contraction sums letters of both operands");

  struct result_axes {
    static constexpr auto rows = detail::letters_of_role<Left, Right, row_count>(Rank, detail::letter_role::row);
    static constexpr auto columns =
        detail::letters_of_role<Left, Right, column_count>(Rank, detail::letter_role::column);
    static constexpr auto batches = detail::letters_of_role<Left, Right, batch_count>(Rank, detail::letter_role::batch);
    static constexpr auto result_batches = batches;
  };
  struct left_axes {
    static constexpr auto batches = detail::consecutive_axes<batch_count>(0), result_batches = result_axes::batches;
    static constexpr auto rows = detail::consecutive_axes<row_count>(batch_count);
    static constexpr auto columns = detail::consecutive_axes<depth_count>(batch_count + row_count);
    static constexpr auto letters =
        detail::join_arrays(result_axes::batches, result_axes::rows, detail::consecutive_axes<depth_count>(Rank));
  };
  struct right_axes {
    static constexpr auto batches = detail::consecutive_axes<batch_count>(0), result_batches = result_axes::batches;
    static constexpr auto rows = detail::consecutive_axes<depth_count>(batch_count);
    static constexpr auto columns = detail::consecutive_axes<column_count>(batch_count + depth_count);
    static constexpr auto letters =
        detail::join_arrays(result_axes::batches, detail::consecutive_axes<depth_count>(Rank), result_axes::columns);
  };
};

/// How exactly the operands of a product are multiplied.
namespace precision {
struct full {};  ///< as their type says
struct tf32 {};  ///< floats with 10 bits of mantissa, where matrix units multiply them so; accumulated in float
}  // namespace precision

/// A pattern whose operands may be multiplied with less precision.
template <class Pattern, class Precision>
struct precise_pattern : Pattern {};

namespace detail {

/// The static extent of a letter among the axes of a shape: 1 when no axis bears it.
template <class Shape, class Letters>
constexpr index static_extent_of_letter(int letter) {
  const int axis = axis_of_letter(Letters{}, letter);
  return axis < 0 ? 1 : Shape::static_extent(axis);
}

/// The extent of a letter among both operands; of extents that differ one is 1.
template <class Pattern, class Left, class Right>
constexpr index extent_of_letter(const Left& left, const Right& right, int letter) {
  const int left_axis = axis_of_letter(typename Pattern::left_letters{}, letter);
  const int right_axis = axis_of_letter(typename Pattern::right_letters{}, letter);
  const index extent = left_axis < 0 ? 1 : left.extent(left_axis);
  return extent == 1 && right_axis >= 0 ? right.extent(right_axis) : extent;
}

template <class Pattern, class Left, class Right, class Sequence = std::make_integer_sequence<int, Pattern::rank>>
struct contracted_shape;
template <class Pattern, class Left, class Right, int... Letters>
struct contracted_shape<Pattern, Left, Right, std::integer_sequence<int, Letters...>> {
  using type =
      shape<broadcast_static_extent(static_extent_of_letter<Left, typename Pattern::left_letters>(Letters),
                                    static_extent_of_letter<Right, typename Pattern::right_letters>(Letters))...>;
};

}  // namespace detail

/// The sum of products of two operands over the letters that `Pattern` does not keep: every matrix product.
/// An extent of 1 repeats along its letter.
template <class Left, class Right, class Pattern>
struct contraction {
  using kind = contraction_kind;
  using element = promoted_element<Left, Right>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Left::space, typename Right::space>::type;
  using shape_type =
      typename detail::contracted_shape<Pattern, typename Left::shape_type, typename Right::shape_type>::type;
  using left_axes = typename Pattern::left_axes;
  using right_axes = typename Pattern::right_axes;
  using result_axes = typename Pattern::result_axes;

  tuple<Left, Right> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  /// How many products each result sums.
  constexpr index depth() const {
    index product = 1;
    for (int letter = Pattern::rank; letter < Pattern::rank + Pattern::depth_count; ++letter) product *= extent(letter);
    return product;
  }
  /// This node on other operands of the same extents.
  template <class NewLeft, class NewRight>
  constexpr auto with_operands(const tuple<NewLeft, NewRight>& others) const {
    using node = contraction<NewLeft, NewRight, Pattern>;
    return node{others, typename node::shape_type(extents)};
  }

  template <int FirstSlot, int Outer>
  constexpr auto lower(const axis_map<shape_type::rank, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Left> + slot_count<Right>, compute_type<element>>{};
  }
  /// The left operand over [batches..., rows..., depth...], and the extents of these axes.
  TENON_INLINE constexpr auto lower_left() const {
    return lower_operand<typename Pattern::left_letters, left_axes>(get<0>(operands));
  }
  constexpr auto left_extents() const { return extents_of_letters(left_axes::letters); }
  /// The right operand over [batches..., depth..., columns...].
  TENON_INLINE constexpr auto lower_right() const {
    return lower_operand<typename Pattern::right_letters, right_axes>(get<1>(operands));
  }
  constexpr auto right_extents() const { return extents_of_letters(right_axes::letters); }

 private:
  constexpr index extent(int letter) const {
    return detail::extent_of_letter<Pattern>(get<0>(operands).shape(), get<1>(operands).shape(), letter);
  }
  template <int Count>
  constexpr array<index, Count> extents_of_letters(const array<int, Count>& letters) const {
    array<index, Count> result{};
    for (int place = 0; place < Count; ++place) result[place] = extent(letters[place]);
    return result;
  }
  template <class Letters, class Axes, class Operand>
  TENON_INLINE static constexpr auto lower_operand(const Operand& operand) {
    constexpr auto letters = Axes::letters;
    constexpr int count = letters.size();
    axis_map<Operand::shape_type::rank, count> map{};
    for (int place = 0; place < count; ++place) {
      const int axis = detail::axis_of_letter(Letters{}, letters[place]);
      const bool moves = axis >= 0 && operand.shape().extent(axis) != 1;
      map.target[place] = moves ? axis : -1;
      map.step[place] = moves ? 1 : 0;
    }
    return operand.template lower<0>(map);
  }
};

/// Composes a contraction of operands whose extents fit.
template <class Pattern, class Left, class Right>
TENON_INLINE constexpr auto make_contraction(const Left& left, const Right& right) {
  using node = contraction<Left, Right, Pattern>;
  array<index, Pattern::rank> extents{};
  for (int letter = 0; letter < Pattern::rank; ++letter) {
    extents[letter] = detail::extent_of_letter<Pattern>(left.shape(), right.shape(), letter);
  }
  return node{{{{left}, {right}}}, typename node::shape_type(extents)};
}

namespace detail {

/// A contraction of the same operands, multiplied as precisely as `Precision` says; other nodes as they are.
template <class Precision, class Node>
Node with_precision(const Node& node) {
  return node;
}
template <class Precision, class Left, class Right, class Pattern>
constexpr auto with_precision(const contraction<Left, Right, Pattern>& node) {
  return contraction<Left, Right, precise_pattern<Pattern, Precision>>{node.operands, node.extents};
}

template <class Node>
struct precision_of_node {
  using type = precision::full;
};
template <class Left, class Right, class Pattern, class Precision>
struct precision_of_node<contraction<Left, Right, precise_pattern<Pattern, Precision>>> {
  using type = Precision;
};

}  // namespace detail

/// How exactly a contraction multiplies its operands.
template <class Node>
using precision_of = typename detail::precision_of_node<Node>::type;

}  // namespace tenon
