// tenon/expr/reduce.hpp: reductions over axes.
// One node for all of them: a monoid folded over an operand that is never stored.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/expr/monoids.hpp>
#include <tenon/expr/runtime_axes.hpp>
#include <utility>

namespace tenon {

/// All axes, whatever the rank: the result has none.
struct all_axes {};

/// The named axes are gone from the result. (`axis<...>` keeps them, with extent 1.)
template <int... Axes>
struct dropped_axes {
  template <class... Operands>
  void operator()(Operands&&...) const = delete;  // tenon: axes stand behind the operand, sum(x, drop<0>)
};
template <int... Axes>
inline constexpr dropped_axes<Axes...> drop{};

namespace detail {
template <class T>
inline constexpr bool names_axes = std::is_same_v<T, all_axes> || std::is_same_v<T, axes>;
template <int... Axes>
inline constexpr bool names_axes<axis_list<Axes...>> = true;
template <int... Axes>
inline constexpr bool names_axes<dropped_axes<Axes...>> = true;
}  // namespace detail

/// The axes that a reduction folds: `axis<0, -1>`, which stay with extent 1, `drop<0, -1>`, which go, all of them, or
/// `axes{0, -1}`, which are known at run time only and stay with extent 1.
template <class T>
concept axes_of_reduction = detail::names_axes<T>;

/// Whether results have fewer axes than the operand.
template <class Axes>
inline constexpr bool drops_axes = true;
template <int... Axes>
inline constexpr bool drops_axes<axis_list<Axes...>> = false;

/// Whether an operand of `Rank` has the axes that a reduction folds, as far as types know them.
template <int Rank, class Axes>
inline constexpr bool reduced_axes_exist = true;
template <int Rank, int... Axes>
inline constexpr bool reduced_axes_exist<Rank, axis_list<Axes...>> = axes_exist<Rank>(axis_list<Axes...>{});
template <int Rank, int... Axes>
inline constexpr bool reduced_axes_exist<Rank, dropped_axes<Axes...>> = axes_exist<Rank>(axis_list<Axes...>{});

/// Which axes of an operand of `Rank` a reduction folds.
template <int Rank>
constexpr array<bool, Rank> reduced_axes(all_axes) {
  return filled_array<Rank>(true);
}
template <int Rank, int... Axes>
constexpr array<bool, Rank> reduced_axes(axis_list<Axes...> axes) {
  return axis_set<Rank>(axes);
}
template <int Rank, int... Axes>
constexpr array<bool, Rank> reduced_axes(dropped_axes<Axes...>) {
  return axis_set<Rank>(axis_list<Axes...>{});
}

template <int Rank>
constexpr array<bool, Rank> reduced_axes(run_time_axes) {
  array<bool, Rank> result{};
  for (int axis = Rank / 2; axis < Rank; ++axis) result[axis] = true;
  return result;
}

/// Where each axis of an operand of `Rank` lies in the result of a reduction; -1 for the reduced.
template <int Rank, class Axes>
constexpr array<int, Rank> axes_in_result(Axes axes) {
  const auto reduced = reduced_axes<Rank>(axes);
  array<int, Rank> result{};
  int kept = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    result[axis] = reduced[axis] ? -1 : drops_axes<Axes> ? kept : axis;
    if (!reduced[axis]) ++kept;
  }
  return result;
}

/// The rank of a reduction of an operand of `Rank`.
template <class Axes, int Rank>
constexpr int reduced_rank() {
  int rank = 0;
  for (const int axis : axes_in_result<Rank>(Axes{})) rank += axis >= 0 || !drops_axes<Axes> ? 1 : 0;
  return rank;
}

namespace detail {

/// The extents of a reduction's result from those of its operand.
template <class Axes, int Rank>
constexpr auto reduced_extents(const array<index, Rank>& extents) {
  constexpr int rank = reduced_rank<Axes, Rank>();
  constexpr auto in_result = axes_in_result<Rank>(Axes{});
  auto result = filled_array<rank>(index{1});
  if constexpr (rank != 0) {
    for (int axis = 0; axis < Rank; ++axis) {
      if (in_result[axis] >= 0) result[in_result[axis]] = extents[axis];
    }
  }
  return result;
}

template <class Axes, class Shape, class Sequence = std::make_integer_sequence<int, Shape::rank>>
struct reduced_shape;
template <class Axes, class Shape, int... I>
struct reduced_shape<Axes, Shape, std::integer_sequence<int, I...>> {
  static constexpr auto extents = reduced_extents<Axes>(array<index, Shape::rank>{Shape::static_extent(I)...});
  template <int... J>
  static auto made(std::integer_sequence<int, J...>) -> shape<extents[J]...>;
  using type = decltype(made(std::make_integer_sequence<int, reduced_rank<Axes, Shape::rank>()>{}));
};

template <int Rank>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_empty(const char* name, int axis, array<index, Rank> extents) {
  throw shape_error(compose_text(name, ": axis ", axis, ": extent 0, expected at least 1 (operand ", extents, ")"));
}
/// throws    shape_error where no value is left to fold
template <int Rank>
constexpr void check_not_empty(const char* operation, const array<bool, Rank>& reduced,
                               const array<index, Rank>& extents) {
  for (int axis = 0; axis < Rank; ++axis) {
    if (reduced[axis] && extents[axis] == 0) refuse_empty(operation, axis, extents);
  }
}

/// Which axes a reduction folds, also where that is known at run time only.
/// throws    index_error naming an axis that the operand lacks or that is named twice
template <axes_of_reduction Axes, int Rank>
constexpr array<bool, Rank> folded_axes(const Axes& named, const array<index, Rank>& extents,
                                        [[maybe_unused]] const char* operation) {
  if constexpr (std::is_same_v<Axes, axes>) return named.among(extents, operation);
  else return reduced_axes<Rank>(named);
}

}  // namespace detail

/// How many values each result of a reduction folds.
template <int Rank>
constexpr index folded_count(const array<bool, Rank>& reduced, const array<index, Rank>& extents) {
  index count = 1;
  for (int axis = 0; axis < Rank; ++axis) count *= reduced[axis] ? extents[axis] : 1;
  return count;
}
template <axes_of_reduction Axes, class Shape>
constexpr index folded_count(const Axes& named, const Shape& extents, const char* operation) {
  return folded_count(detail::folded_axes(named, extents.to_array(), operation), extents.to_array());
}

/// `Monoid` folded over `Axes` of the operand. A reduced axis of `axis<...>` stays, with static extent 1, so that the
/// result broadcasts back over the operand; a destination of lower rank takes it without those axes.
template <class Monoid, class Axes, class Operand>
struct reduction {
  using kind = reduction_kind;
  using monoid = Monoid;
  using axes = Axes;
  using operand_element = typename Operand::element;
  using element = typename Monoid::template element<operand_element>;
  using state = typename Monoid::template state<operand_element>;
  using space = typename Operand::space;
  using shape_type = typename detail::reduced_shape<Axes, typename Operand::shape_type>::type;

  tuple<Operand> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  constexpr const Operand& operand() const { return get<0>(operands); }
  /// A number, for a reduction of everything. cost: the statement's kernels, and a wait for them
  constexpr operator element() const
    requires(shape_type::rank == 0)
  {
    return assigner<element, reduction>::value(*this);
  }
  explicit operator element() const  // tenon: the value still has axes; sum(x) and max(x, drop<0>) have fewer
    requires(shape_type::rank > 0 && !std::is_same_v<element, bool>)
  = delete;
  constexpr operator detail::widened<element>() const
    requires(shape_type::rank == 0 && is_short_float<element>)
  {
    return assigner<element, reduction>::value(*this);
  }
  /// This node on other operands of the same extents.
  template <class Other>
  constexpr auto with_operands(const tuple<Other>& others) const {
    return reduction<Monoid, Axes, Other>{others, extents};
  }

  template <int FirstSlot, int Outer>
  constexpr auto lower(const axis_map<shape_type::rank, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Operand>, compute_type<element>>{};
  }
};

/// Composes a reduction that may have nothing to fold: its result is what the monoid starts from, as the least number
/// where it looks for the greatest.
template <class Monoid, class Axes, class Operand>
TENON_INLINE constexpr auto make_reduction_of_any(Axes, const Operand& operand) {
  using node = reduction<Monoid, Axes, Operand>;
  const auto extents = operand.shape().to_array();
  return node{{{{operand}}}, typename node::shape_type(detail::reduced_extents<Axes>(extents))};
}

/// Composes a reduction.
/// throws    shape_error when no value is left to fold and the monoid has no identity
template <class Monoid, class Axes, class Operand>
TENON_INLINE constexpr auto make_reduction(Axes axes, const Operand& operand) {
  if constexpr (!Monoid::has_identity) {
    detail::check_not_empty(Monoid::name, reduced_axes<Operand::shape_type::rank>(Axes{}), operand.shape().to_array());
  }
  return make_reduction_of_any<Monoid>(axes, operand);
}

/// Composes a reduction over axes known at run time: of an operand with all axes twice, over the last ones.
/// extents   none is static
/// throws    index_error naming an axis that the operand lacks or that is named twice
/// cost      about that of static axes; a few times that for many short rows on the host. A statement of more than this
///           one reduction and numbers is one kernel more, since any of its axes may repeat
template <class Monoid, class Operand>
constexpr auto make_reduction(const axes& named, const Operand& operand) {
  const auto reduced = named.among(operand.shape().to_array(), Monoid::name);
  if constexpr (!Monoid::has_identity) detail::check_not_empty(Monoid::name, reduced, operand.shape().to_array());
  return make_reduction<Monoid>(run_time_axes{}, as_node(axes_apart(operand, reduced)));
}

/// The callable that users see: `sum(x)` folds everything, `sum(x, axis<0, -1>)` the named axes, and
/// `sum(x, drop<0, -1>)` the same to a result without them.
template <class Monoid>
struct reduction_function {
  template <tensor_operand Operand, axes_of_reduction Axes = all_axes>
  TENON_INLINE constexpr auto operator()(Operand&& operand, Axes axes = {}) const {
    constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
    static_assert(reduced_axes_exist<rank, Axes> || must_hold<Axes, constant<rank>>,
                  "tenon: an axis must lie in [-rank, rank)");
    if constexpr (reduced_axes_exist<rank, Axes>) {
      return make_reduction<Monoid>(axes, as_node(std::forward<Operand>(operand)));
    }
  }
  template <tensor_operand Operand, class Axes>
    requires(!axes_of_reduction<Axes>)
  auto operator()(Operand&&, const Axes&) const {
    static_assert((!tensor_operand<Axes> && !is_floating<Axes>) || must_hold<Axes>,
                  "tenon: a reduction folds one tensor; of two, or of a tensor and a number, write maximum(x, y), "
                  "minimum(x, y), logical_and(x, y)");
    static_assert(
        tensor_operand<Axes> || is_floating<Axes> || must_hold<Axes>,
        "tenon: axes are part of the type, sum(x, axis<0>), or, where only the run knows them, sum(x, axes{0})");
  }
};

TENON_FUNCTION_OBJECT reduction_function<sum_monoid> sum;
TENON_FUNCTION_OBJECT reduction_function<mean_monoid> mean;
TENON_FUNCTION_OBJECT reduction_function<prod_monoid> prod;
TENON_FUNCTION_OBJECT reduction_function<max_monoid> max;
TENON_FUNCTION_OBJECT reduction_function<min_monoid> min;
TENON_FUNCTION_OBJECT reduction_function<argmax_monoid> argmax;
TENON_FUNCTION_OBJECT reduction_function<argmin_monoid> argmin;
TENON_FUNCTION_OBJECT reduction_function<all_monoid> all;
TENON_FUNCTION_OBJECT reduction_function<any_monoid> any;

/// Refuses `auto [values, positions] = max(x, axis<1>)`: what PyTorch gives is a pair.
template <int I, class Monoid, class Axes, class Operand>
constexpr int get(const reduction<Monoid, Axes, Operand>&) {
  static_assert(must_hold<Monoid>,
                "tenon: a reduction is one expression; argmax(x, axis<1>) gives positions, topk(x, 1, axis<1>) both");
  return 0;
}

}  // namespace tenon

template <class Monoid, class Axes, class Operand>
struct std::tuple_size<tenon::reduction<Monoid, Axes, Operand>> : std::integral_constant<std::size_t, 2> {};
template <std::size_t I, class Monoid, class Axes, class Operand>
struct std::tuple_element<I, tenon::reduction<Monoid, Axes, Operand>> {
  using type = int;
};
