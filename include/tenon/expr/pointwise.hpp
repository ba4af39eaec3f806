// tenon/expr/pointwise.hpp: the one node of all pointwise operations.
// An operation is a small struct (name, element rule, value); this node broadcasts and lowers for all of them.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/node.hpp>

namespace tenon {

namespace detail {

/// How many values of an executor each operand reads, and those before number `position` together.
template <class... Operands>
inline constexpr int slots_of[] = {slot_count<Operands>...};
constexpr int slots_before(const int* slots, int position) {
  int total = 0;
  for (int before = 0; before < position; ++before) total += slots[before];
  return total;
}

/// The program of an operand. A number is converted here, once: its own type, double more often than not, must not
/// narrow the packs.
template <int FirstSlot, class Computed, int Rank, int Outer, class Operand>
constexpr auto lower_operand(const axis_map<Rank, Outer>& map, const Operand& operand) {
  if constexpr (is_scalar_node<Operand>) return constant_source<Computed>{converted_to<Computed>(operand.value)};
  else return operand.template lower<FirstSlot>(broadcast_map(map, operand.shape().to_array()));
}

/// The program of an operation. All nodes with an operand share what lowers it.
template <class Result, class Computes, class Op, class... Programs>
TENON_INLINE constexpr operation_program<Op, Result, Computes, Programs...> make_program(const Op& op,
                                                                                         const Programs&... programs) {
  return {op, {{{programs}...}}};
}
template <int FirstSlot, class Result, class Op, int Rank, int Outer, int... I, class... Operands>
constexpr auto lower_operation(Op op, const axis_map<Rank, Outer>& map,
                               const tuple_base<std::integer_sequence<int, I...>, Operands...>& operands) {
  return make_program<Result, type_list<compute_type<typename Op::template operand<I, Operands...>>...>>(
      op, lower_operand<FirstSlot + slots_before(slots_of<Operands...>, I),
                        compute_type<typename Op::template operand<I, Operands...>>>(
              map, static_cast<const tuple_element<I, Operands>&>(operands).value)...);
}

template <class Op, int... I, class... Operands>
TENON_INLINE constexpr void check_numbers(const tuple_base<std::integer_sequence<int, I...>, Operands...>& operands) {
  constexpr bool is_of_bits = requires { requires Op::is_of_bits; };
  (check_number<typename Op::template operand<I, Operands...>, is_of_bits>(
       Op::name, static_cast<const tuple_element<I, Operands>&>(operands).value),
   ...);
}

}  // namespace detail

/// `Op` applied to the elements of its operands, broadcast together.
template <class Op, class... Operands>
struct pointwise {
  static constexpr auto known = known_broadcast<typename Operands::shape_type...>;
  static_assert(known.fits() ||
                    must_hold<Op, at_axis<known.misfit>, left_extent<known.left>, right_extent<known.right>>,
                "tenon: these extents must be equal, or one of them 1");
  static_assert(spaces_agree<typename Operands::space...> || must_hold<typename Operands::space...>,
                "tenon: the operands of one statement must lie in one memory space; copy one of "
                "them first, x.to<Space>()");

  using kind = pointwise_kind;
  using element = typename Op::template element<Operands...>;
  using space = typename first_space<typename Operands::space...>::type;
  using shape_type = broadcast_shape<typename Operands::shape_type...>;

  [[no_unique_address]] Op op;
  tuple<Operands...> operands;
  shape_type extents;

  /// throws    shape_error when run-time extents do not broadcast, dtype_error for a number that no element can be
  TENON_INLINE constexpr pointwise(Op operation, const Operands&... nodes)
      : pointwise(operation, broadcast_all<Op>(nodes.shape()...), nodes...) {
    if constexpr ((detail::is_scalar_node<Operands> || ...)) detail::check_numbers<Op>(operands);
  }
  constexpr pointwise(Op operation, const shape_type& broadcast, const Operands&... nodes)
      : op(operation), operands{{{nodes}...}}, extents(broadcast) {}
  constexpr pointwise(const Op& operation, const shape_type& broadcast, const tuple<Operands...>& nodes)
      : op(operation), operands(copy_values(nodes)), extents(broadcast) {}
  TENON_INLINE constexpr pointwise(const pointwise& other)
      : op(other.op), operands(copy_values(other.operands)), extents(other.extents) {}
  pointwise& operator=(const pointwise&) = delete;

  constexpr const shape_type& shape() const { return extents; }
  /// A number, for an expression without axes. cost: the statement's kernels, and a wait for them
  constexpr operator element() const
    requires(shape_type::rank == 0)
  {
    return assigner<element, pointwise>::value(*this);
  }
  explicit operator element() const  // tenon: the value still has axes; sum(x) and max(x, drop<0>) have fewer
    requires(shape_type::rank > 0 && !std::is_same_v<element, bool>)
  = delete;
  /// Refuses to be a condition. (`std::equality_comparable` asks the same of !(x == y), and gets no for an answer.)
  template <std::same_as<bool> Truth>
    requires(std::is_same_v<element, bool> && shape_type::rank > 0)
  constexpr explicit(std::is_same_v<typename Op::template operand<0, Operands...>, bool>) operator Truth() const {
    static_assert(must_hold<pointwise, Truth>, "tenon: a condition is one bool, all(x == y) or any(x == y)");
    return {};
  }
  constexpr operator detail::widened<element>() const
    requires(shape_type::rank == 0 && is_short_float<element>)
  {
    return assigner<element, pointwise>::value(*this);
  }
  /// This node on other operands of the same extents.
  template <class... Others>
  constexpr auto with_operands(const tuple<Others...>& others) const {
    using changed = pointwise<Op, Others...>;
    return changed(op, typename changed::shape_type(extents), others);
  }

  template <int FirstSlot, int Outer>
  constexpr auto lower(const axis_map<shape_type::rank, Outer>& map) const {
    return detail::lower_operation<FirstSlot, compute_type<element>>(op, map, operands);
  }
};

/// The node of `Op` on these operands. Functions name it as their result, so that the compiler reads its assertions at
/// the user's call, before any body.
template <class Op, class... Operands>
using pointwise_of = pointwise<Op, node_of<Operands>...>;

/// Composes a pointwise node; extents are checked here.
/// throws    shape_error when run-time extents do not broadcast
template <class Op, class... Operands>
TENON_INLINE constexpr pointwise_of<Op, Operands...> make_pointwise(Op op, Operands&&... operands) {
  return {op, as_node(std::forward<Operands>(operands))...};
}

/// The node of `Op` by its type, for derivatives: they name operations that stand behind them in a header.
template <class Op, class... Operands>
TENON_INLINE constexpr pointwise_of<Op, Operands...> apply_op(Operands&&... operands) {
  return {Op{}, as_node(std::forward<Operands>(operands))...};
}

/// The callable that users see: `inline constexpr pointwise_function<exp_op> exp;`.
template <class Op>
struct pointwise_function {
  template <class... Operands>
    requires operands_of_expression<Operands...>
  TENON_INLINE constexpr pointwise_of<Op, Operands...> operator()(Operands&&... operands) const {
    return {Op{}, as_node(std::forward<Operands>(operands))...};
  }
  /// An operand that takes the operation in by itself, such as a layer's call that has not run yet.
  template <class Operand>
    requires requires(Operand&& operand) { std::forward<Operand>(operand).with_activation(Op{}); }
  auto operator()(Operand&& operand) const {
    return std::forward<Operand>(operand).with_activation(Op{});
  }
  template <dtype... Numbers>
  void operator()(Numbers...) const = delete;  // tenon: one operand is a tensor; of numbers alone, write std::sqrt(2.0)
};

/// As pointwise_function, of an operation whose operands after the first may be left out: then they are `Op::defaults`.
template <class Op>
struct pointwise_function_with_defaults {
  template <class... Operands>
    requires(operands_of_expression<Operands...> && sizeof...(Operands) <= 1 + Op::defaults.size())
  TENON_INLINE constexpr auto operator()(Operands&&... operands) const {
    constexpr int given = static_cast<int>(sizeof...(Operands)) - 1;
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return make_pointwise(Op{}, std::forward<Operands>(operands)..., Op::defaults[given + I]...);
    }(std::make_integer_sequence<int, static_cast<int>(Op::defaults.size()) - given>{});
  }
  template <dtype... Numbers>
  void operator()(Numbers...) const = delete;  // tenon: one operand is a tensor; of numbers alone, write std::sqrt(2.0)
};

}  // namespace tenon
