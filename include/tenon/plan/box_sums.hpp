// tenon/plan/box_sums.hpp: reductions and products within boxes.
// Which values a result adds, compilers know.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/contract.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/plan/box_operands.hpp>

namespace tenon::detail {

/// Whether a reduction finds where the first extreme is.
template <class Monoid>
inline constexpr bool finds_places = std::is_same_v<Monoid, argmax_monoid> || std::is_same_v<Monoid, argmin_monoid>;
/// The most elements of a box in which such a reduction looks: for more, loops over rows are faster.
inline constexpr index most_with_places = 8;

template <class Monoid, class Axes, class Operand, int Outer>
struct boxes_of<reduction<Monoid, Axes, Operand>, Outer> : boxes_base<reduction<Monoid, Axes, Operand>, Outer> {
  using node = reduction<Monoid, Axes, Operand>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  using operand_shape = box<typename Operand::shape_type, Outer>;
  using operand_type = compute_type<typename Operand::element>;
  using state = typename node::state;
  static constexpr auto reduced = reduced_axes<Operand::shape_type::rank>(Axes{});
  static constexpr bool fits = [] {
    bool result = boxes_of<Operand, Outer>::fits && base::is_small &&
                  (finds_places<Monoid>
                       ? !std::is_same_v<operand_type, bool> && operand_shape::count <= most_with_places
                       : is_lanewise<Monoid> && std::is_same_v<state, value_type> && !std::is_same_v<state, bool>);
    for (int axis = 0; axis < Outer; ++axis) result = result && !reduced[axis];
    return result;
  }();

  static constexpr bool repeats(int axis) { return boxes_of<Operand, Outer>::repeats(axis); }
  static constexpr bool shares_operands(int axis) { return boxes_of<Operand, Outer>::shares_operands(axis); }

  boxes_of<Operand, Outer> operand;

  explicit boxes_of(const node& from) : operand(from.operand()) {}
  auto leaves() { return operand.leaves(); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    return results<Lanes>(operand.template values<Lanes, SideBySide>(places));
  }
  template <int Lanes, int Axis>
  TENON_INLINE auto along(const box_places<Outer>& places) const {
    return [values = boxes_along<Lanes, Axis>(operand, places)](index further)
               __attribute__((always_inline)) { return results<Lanes>(values(further)); };
  }

 private:
  template <int Lanes, class Values>
  TENON_INLINE static auto results(const Values& values) {
    using V = simd::pack<value_type, Lanes>;
    return make_box_values<V, base::count>([&](auto place) __attribute__((always_inline)) {
      constexpr std::make_integer_sequence<int, folds> all{};
      if constexpr (finds_places<Monoid> && Lanes > 1) return place_of_extreme(place, values, all);
      else return folded<V>(place, values, all);
    });
  }
  static constexpr int folds = operand_shape::count / base::count;

  template <class V, int Place, class Values, int... I>
  TENON_INLINE static V folded(constant<Place>, const Values& values, std::integer_sequence<int, I...>) {
    constexpr auto places = folded_places(Place);
    const auto lifted = [](const auto& value, [[maybe_unused]] index at) __attribute__((always_inline)) {
      if constexpr (finds_places<Monoid>) return Monoid::template lift<state>(value, at);
      else return simd::convert<operand_type, state>(value);
    };
    const std::conditional_t<finds_places<Monoid>, state, V> each[] = {lifted(values.at[places[I]], I)...};
    auto total = each[0];
    ((total = I == 0 ? total : Monoid::combine(total, each[I])), ...);
    return Monoid::template finish<V>(total, folds);
  }
  /// Where the first extreme is, or the first NaN, in lanes.
  template <int Place, class Values, int... I>
  TENON_INLINE static auto place_of_extreme(constant<Place>, const Values& values, std::integer_sequence<int, I...>) {
    constexpr auto places = folded_places(Place);
    auto extreme = values.at[places[0]];
    using numbers = decltype(extreme > extreme);
    using number = std::remove_cvref_t<decltype(numbers{}[0])>;
    numbers found{};
    const auto look = [&](const auto& each, int at) __attribute__((always_inline)) {
      const numbers is_beyond = [&] {
        if constexpr (std::is_same_v<Monoid, argmax_monoid>) return each > extreme;
        else return each < extreme;
      }();
      const numbers is_new = (is_beyond | (each != each)) & (extreme == extreme);
      extreme = is_new ? each : extreme;
      found = is_new ? numbers{} + static_cast<number>(at) : found;
    };
    (look(values.at[places[I]], I), ...);
    return simd::convert<number, value_type>(found);
  }
  /// The places of the operand that a result folds, in order.
  static constexpr auto folded_places(int result) {
    constexpr auto in_result = axes_in_result<Operand::shape_type::rank>(Axes{});
    array<int, folds> places{};
    const auto own = shape::position(result);
    for (int place = 0, found = 0; place < operand_shape::count; ++place) {
      const auto position = operand_shape::position(place);
      bool is_folded = true;
      for (int axis = 0; axis < operand_shape::rank; ++axis) {
        const int to = in_result[axis + Outer] - Outer;
        is_folded = is_folded && (reduced[axis + Outer] || position[axis] == own[to]);
      }
      if (is_folded) places[found++] = place;
    }
    return places;
  }
};

/// The most terms of the elements of a matrix product that runs in boxes: for more, its own loops are faster.
inline constexpr index most_terms_of_matrix = 4;

/// Where the axes of a product's operand that stand before its box lie in the result, and where the others lie.
template <class Letters, int Outer>
struct letters_before_box;
template <int... Letters, int Outer>
struct letters_before_box<axis_list<Letters...>, Outer> {
  static constexpr array<int, sizeof...(Letters)> letters{{Letters...}};
  static constexpr int count = (0 + ... + (Letters < Outer ? 1 : 0));
  static constexpr bool come_first = [] {
    bool result = true;
    for (int axis = 0; axis < letters.size(); ++axis) result = result && (letters[axis] < Outer) == (axis < count);
    return result;
  }();

  /// Whether the last axis before the operand's boxes is the last one before the result's, or none is.
  static constexpr bool ends_as = count == 0 || letters[count - 1] == Outer - 1;

  /// Where an axis before boxes lies among the operand's, or -1.
  static constexpr int axis_of(int axis) {
    for (int own = 0; own < count; ++own) {
      if (letters[own] == axis) return own;
    }
    return -1;
  }
  /// Whether the operand repeats along an axis.
  static constexpr bool shares(int axis) { return axis_of(axis) < 0; }
  /// Whether an axis and the next one, where the operand has it, lie side by side, too.
  static constexpr bool are_neighbours(int axis) {
    const int next = axis_of(axis + 1);
    return next < 0 ? axis_of(axis) == count - 1 : next == axis_of(axis) + 1;
  }

  static constexpr box_places<count> own(const box_places<Outer>& places) {
    box_places<count> result{{}, {}, places.count};
    for (int axis = 0; axis < count; ++axis) {
      result.first[axis] = places.first[letters[axis]], result.step[axis] = places.step[letters[axis]];
    }
    return result;
  }
  /// The place in the operand's box of a position along all letters.
  template <class Box, int Rank>
  static constexpr int place(const array<index, Rank>& position) {
    array<index, letters.size() - count> own{};
    for (int axis = 0; axis < own.size(); ++axis) own[axis] = position[letters[axis + count]];
    return Box::place(own);
  }
};

template <class Left, class Right, class Pattern, int Outer>
struct boxes_of<contraction<Left, Right, Pattern>, Outer> : boxes_base<contraction<Left, Right, Pattern>, Outer> {
  using node = contraction<Left, Right, Pattern>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  using left_letters = letters_before_box<typename Pattern::left_letters, Outer>;
  using right_letters = letters_before_box<typename Pattern::right_letters, Outer>;
  using left_boxes = boxes_of<Left, left_letters::count>;
  using right_boxes = boxes_of<Right, right_letters::count>;
  static constexpr int rank = Pattern::rank, letters = rank + Pattern::depth_count;
  static constexpr array<index, Pattern::depth_count> depths = [] {
    array<index, Pattern::depth_count> result{};
    for (int axis = 0; axis < result.size(); ++axis) {
      result[axis] = broadcast_static_extent(
          static_extent_of_letter<typename Left::shape_type, typename Pattern::left_letters>(rank + axis),
          static_extent_of_letter<typename Right::shape_type, typename Pattern::right_letters>(rank + axis));
    }
    return result;
  }();
  static constexpr index depth = count_between(depths, 0, Pattern::depth_count);
  /// Whether each box is one number, as rows of the left operand meet columns of the right one.
  static constexpr bool is_matrix = base::count == 1 && left_letters::count < Outer && right_letters::count < Outer;
  static constexpr bool fits = base::is_small && left_letters::come_first && right_letters::come_first &&
                               left_boxes::fits && right_boxes::fits && depth > 0 &&
                               depth <= (is_matrix ? most_terms_of_matrix : most_in_box);

  static constexpr bool shares_operands(int axis) {
    return left_letters::shares(axis) != right_letters::shares(axis) &&
           (left_letters::shares(axis) || left_letters::are_neighbours(axis)) &&
           (right_letters::shares(axis) || right_letters::are_neighbours(axis));
  }

  left_boxes left;
  right_boxes right;

  explicit boxes_of(const node& from) : left(get<0>(from.operands)), right(get<1>(from.operands)) {}
  auto leaves() { return join_tuples(left.leaves(), right.leaves()); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    constexpr bool is_left = SideBySide && left_letters::ends_as, is_right = SideBySide && right_letters::ends_as;
    return products<Lanes>(left.template values<Lanes, is_left>(left_letters::own(places)),
                           right.template values<Lanes, is_right>(right_letters::own(places)));
  }
  template <int Lanes, int Axis>
  TENON_INLINE auto along(const box_places<Outer>& places) const {
    return
        [rows = boxes_along<Lanes, left_letters::axis_of(Axis)>(left, left_letters::own(places)),
         columns = boxes_along<Lanes, right_letters::axis_of(Axis)>(right, right_letters::own(places))](index further)
            __attribute__((always_inline)) { return products<Lanes>(rows(further), columns(further)); };
  }

 private:
  template <int Lanes, class Rows, class Columns>
  TENON_INLINE static auto products(const Rows& rows, const Columns& columns) {
    return make_box_values<simd::pack<value_type, Lanes>, base::count>([&](auto place) __attribute__((always_inline)) {
      return sum_of_products(place, rows, columns, std::make_integer_sequence<int, static_cast<int>(depth)>{});
    });
  }
  template <int Place, class Rows, class Columns, int... K>
  TENON_INLINE static auto sum_of_products(constant<Place>, const Rows& rows, const Columns& columns,
                                           std::integer_sequence<int, K...>) {
    using V = decltype(factor<Left>(rows.at[0]));
    constexpr array<int, sizeof...(K)> from_left{{left_place(Place, K)...}}, from_right{{right_place(Place, K)...}};
    V sum = factor<Left>(rows.at[from_left[0]]) * factor<Right>(columns.at[from_right[0]]);
    ((sum = K == 0 ? sum : sum + factor<Left>(rows.at[from_left[K]]) * factor<Right>(columns.at[from_right[K]])), ...);
    return simd::as_lanes<value_type>(sum);
  }
  template <class Operand, class V>
  TENON_INLINE static auto factor(const V& values) {
    return simd::convert<compute_type<typename Operand::element>, typename node::accumulator>(values);
  }
  static constexpr array<index, letters> position(int place, int k) {
    array<index, letters> result{};
    const auto within = shape::position(place);
    for (int axis = 0; axis < within.size(); ++axis) result[axis + Outer] = within[axis];
    array<index, Pattern::depth_count> along{};
    set_position(along, depths, 0, Pattern::depth_count, k);
    for (int axis = 0; axis < along.size(); ++axis) result[rank + axis] = along[axis];
    return result;
  }
  static constexpr int left_place(int place, int k) {
    return left_letters::template place<typename left_boxes::shape>(position(place, k));
  }
  static constexpr int right_place(int place, int k) {
    return right_letters::template place<typename right_boxes::shape>(position(place, k));
  }
};

}  // namespace tenon::detail
