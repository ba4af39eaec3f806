// tenon/algorithms/recurrence.hpp: what is left of a line's results so far decays, and each element is added to it.
// Moving averages and volatilities are such recurrences; their gradients are recurrences from the other end.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/side_by_side.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/roll.hpp>

namespace tenon {

/// Options of linear_recurrence and of filters: `linear_recurrence(0.9f, x, axis<0>, {.reverse = true})`
struct recurrence_options {
  bool reverse = false;  ///< from the last element to the first

  bool operator==(const recurrence_options&) const = default;
};

namespace detail {

/// y = a y + x at each place, in double. The first `a` of a line is not read.
struct recurrence_step {
  using state = double;
  static constexpr index work_along = 0;

  template <int Width, class Decay, class Source, class Target>
  TENON_HOST_DEVICE TENON_INLINE void walk(index count, index length, double*, Decay decay, Source source,
                                           Target target) const {
    double states[Width];
    for (index place = 0; place < length; ++place) {
      for (index line = 0; line < count; ++line) {
        const double term = source.template get<double>(place, line);
        states[line] = place == 0 ? term : decay.template get<double>(place, line) * states[line] + term;
      }
      for (index line = 0; line < count; ++line) target.put(place, line, states[line]);
    }
  }
};

template <class... Operands>
consteval void must_be_real() {
  static_assert((!is_complex<typename Operands::element> && ...) || must_hold<Operands...>,
                "tenon: recurrences and filters are of real numbers; real(x) and imag(x) are the parts of others");
}

/// An operand whose gradient sums what repeats; one that has none repeats where it is read.
template <class Operand, class Shape>
auto repeated_for_gradient(const Operand& operand, const Shape& extents) {
  if constexpr (depends_on<any_variable, Operand>) return broadcast_to(operand, extents);
  else return operand;
}
/// An operand of a recurrence seen `steps` further along its line: one of extent 1 is the same everywhere.
template <int Axis, class Operand, class Shape>
auto moved_along(const Operand& operand, const Shape& extents, index steps) {
  if constexpr (is_scalar_node<Operand>) return operand;
  else return roll(broadcast_to(operand, extents), -steps, axis<Axis>);
}

}  // namespace detail

/// A linear recurrence within an expression.
template <int Axis>
struct recurrence_algorithm {
  static constexpr const char* name = "linear_recurrence";
  recurrence_options options;

  bool operator==(const recurrence_algorithm&) const = default;
  template <class Target, class Decay, class Operand>
  void operator()(const Target& target, const Decay& decay, const Operand& operand) const {
    using space = typename Target::space;
    const auto factors = detail::operand_in<space>(name, decay);
    const auto terms = detail::operand_in<space>(name, operand);
    walk_side_by_side<space>(detail::recurrence_step{}, target.shape().to_array(), Axis, options.reverse,
                             factors.view(), terms.view(), target);
  }
};

namespace detail {

template <int Axis, class Decay, class Operand>
auto make_recurrence(const Decay& decay, const Operand& operand, recurrence_options options) {
  using algorithm = recurrence_algorithm<Axis>;
  must_be_real<Decay, Operand>();
  const auto extents = broadcast_extents<algorithm>(decay.shape(), operand.shape());
  return make_own_pass<floating_result::element<Decay, Operand>>(
      algorithm{options}, extents, repeated_for_gradient(decay, extents), repeated_for_gradient(operand, extents));
}

}  // namespace detail

/// Each result is the one before it times `decay`, plus the element: y[t] = decay[t] y[t - 1] + x[t], from y[0] = x[0]
/// on. `decay` is a number, a tensor of the extents of x, or one that repeats over them; its first element along the
/// axis is not read, as x[0] holds what a line begins with.
/// extents   those of `decay` and x, broadcast together
/// types     floating, of integers float; all are computed in double, each result rounded once
/// throws    shape_error where extents do not broadcast
/// cost      one pass; lines are shared among threads, a single line is one thread's work
/// gradient  of both operands, by a recurrence from the other end
/// example   y = linear_recurrence(0.9f, 0.1f * x, axis<0>);  // a moving average that begins with 0.1 x[0]
template <class Decay, tensor_operand Operand, int Axis>
  requires operands_of_expression<Decay, Operand>
auto linear_recurrence(Decay&& decay, Operand&& x, axis_list<Axis> axes, recurrence_options options = {}) {
  const auto factors = as_node(std::forward<Decay>(decay));
  const auto terms = as_node(std::forward<Operand>(x));
  constexpr int rank = decltype(broadcast_extents<recurrence_algorithm<0>>(factors.shape(), terms.shape()))::rank;
  return detail::make_recurrence<only_axis<rank>(axes)>(factors, terms, options);
}

/// The gradients of the operands of a recurrence, from the result's.
template <int I, int Axis, class T, class Shape, class Decay, class Operand, class Gradient>
auto operand_gradient(const own_pass<recurrence_algorithm<Axis>, T, Shape, Decay, Operand>& node,
                      const Gradient& gradient) {
  const recurrence_options options = node.options.options;
  const index step = options.reverse ? -1 : 1, first = options.reverse ? node.shape().extent(Axis) - 1 : 0;
  const auto next_decay = detail::moved_along<Axis>(get<0>(node.operands), node.shape(), step);
  const auto of_terms = detail::make_recurrence<Axis>(as_node(next_decay), as_node(gradient), {!options.reverse});
  if constexpr (I == 1) {
    return of_terms;
  } else {
    const auto place = index_grid<index>(node.shape(), axis<Axis>);
    return where(place == first, 0, of_terms * roll(node, step, axis<Axis>));
  }
}

}  // namespace tenon
