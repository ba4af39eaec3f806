// tenon/grad/reductions.hpp: gradients of reductions.
// Each folded value gets its share of the result's gradient, which is repeated over the axes that were folded.
// Floor 6: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/logical.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

namespace detail {

/// A reduction's result, or a gradient of it, with an axis of extent 1 for every axis that was dropped.
template <class Axes, int Rank, int Axis = 0, class Node>
auto with_dropped_axes(const Node& node) {
  if constexpr (!drops_axes<Axes> || Axis == Rank || Node::shape_type::rank == 0) {
    return node;
  } else if constexpr (reduced_axes<Rank>(Axes{})[Axis]) {
    return with_dropped_axes<Axes, Rank, Axis + 1>(new_axis<Axis>(node));
  } else {
    return with_dropped_axes<Axes, Rank, Axis + 1>(node);
  }
}

/// The same reduction of another operand, its axes kept to repeat over the operand.
template <class Monoid, class Axes, class Operand>
auto reduce_like(const Operand& operand) {
  return with_dropped_axes<Axes, Operand::shape_type::rank>(make_reduction<Monoid>(Axes{}, operand));
}

/// How many values each result folds.
template <class Axes, class Operand>
double count_of_fold(const Operand& x) {
  constexpr auto reduced = reduced_axes<Operand::shape_type::rank>(Axes{});
  return static_cast<double>(folded_count(reduced, x.shape().to_array()));
}

template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(sum_monoid, const Operand&, const Result&, const Gradient& gradient) {
  return gradient;
}
template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(mean_monoid, const Operand& x, const Result&, const Gradient& gradient) {
  return gradient * (1 / count_of_fold<Axes>(x));
}
/// Where one value is 0, only it has a gradient: the product of the others.
template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(prod_monoid, const Operand& x, const Result& product, const Gradient& gradient) {
  const auto zeros = reduce_like<sum_monoid, Axes>(x == 0);
  const auto others = reduce_like<prod_monoid, Axes>(where(x == 0, 1, x));
  return gradient * where(zeros == 0, product / x, where(zeros == 1 && x == 0, others, 0));
}
/// What is chosen together shares the gradient evenly.
template <class Axes, dtype T, class Chosen, class Gradient>
auto share_among_chosen(const Chosen& is_chosen, const Gradient& gradient) {
  const auto count = cast<T>(reduce_like<sum_monoid, Axes>(is_chosen));
  return where(is_chosen, gradient / count, 0);
}
/// Values that are greatest (or least) together share the gradient evenly.
template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(max_monoid, const Operand& x, const Result& chosen, const Gradient& gradient) {
  return share_among_chosen<Axes, typename Operand::element>(x == chosen || isnan(x), gradient);
}
/// NaN, which is passed over, has no share.
template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(nanmax_monoid, const Operand& x, const Result& chosen, const Gradient& gradient) {
  return share_among_chosen<Axes, typename Operand::element>(x == chosen, gradient);
}
template <class Axes, class Operand, class Result, class Gradient>
auto share_gradient(variance_monoid, const Operand& x, const Result&, const Gradient& gradient) {
  return gradient * (x - reduce_like<mean_monoid, Axes>(x)) * (2 / count_of_fold<Axes>(x));
}

/// Whether a gradient can be shared among what `Monoid` folds.
template <class Monoid>
inline constexpr bool has_share =
    std::is_same_v<Monoid, sum_monoid> || std::is_same_v<Monoid, mean_monoid> || std::is_same_v<Monoid, prod_monoid> ||
    std::is_base_of_v<max_monoid, Monoid> || std::is_same_v<Monoid, variance_monoid>;

}  // namespace detail

/// The gradient of what a reduction folds, from the result's.
template <int, class Monoid, class Axes, class Operand, class Gradient>
  requires detail::has_share<Monoid>
auto operand_gradient(const reduction<Monoid, Axes, Operand>& node, const Gradient& gradient) {
  constexpr int rank = Operand::shape_type::rank;
  return detail::share_gradient<Axes>(Monoid{}, node.operand(), detail::with_dropped_axes<Axes, rank>(node),
                                      detail::with_dropped_axes<Axes, rank>(gradient));
}

/// The same of a monoid that says its derivative as operations do, of a result y and its gradient with all axes:
/// `Monoid::gradient(of_operand<0>{}, g, y, x)` is the gradient of x.
template <int I, class Monoid, class Axes, class Operand, class Gradient, int Rank = Operand::shape_type::rank>
  requires requires(const reduction<Monoid, Axes, Operand>& node, const Gradient& gradient) {
    Monoid::gradient(of_operand<I>{}, detail::with_dropped_axes<Axes, Rank>(gradient),
                     detail::with_dropped_axes<Axes, Rank>(node), node.operand());
  }
auto operand_gradient(const reduction<Monoid, Axes, Operand>& node, const Gradient& gradient) {
  return Monoid::gradient(of_operand<I>{}, detail::with_dropped_axes<Axes, Rank>(gradient),
                          detail::with_dropped_axes<Axes, Rank>(node), node.operand());
}

}  // namespace tenon
