// tenon/grad/scans.hpp: gradients of cumulative sums, products, maxima and minima.
// Each is a scan from the other end: it collects what the gradients of later results give an element.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/logical.hpp>
#include <tenon/expr/scan.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/grad/fit.hpp>  // arithmetic and where
#include <tenon/grad/gathers.hpp>

namespace tenon {

namespace detail {

constexpr scan_options from_other_end(scan_options options) {
  options.reverse = !options.reverse;
  return options;
}

/// What an element gets of a cumulative sum.
template <class Monoid, int Axis, class Node, class Operand, class Gradient>
auto scan_gradient(std::type_identity<sum_monoid>, const Node& node, const Operand&, const Gradient& gradient) {
  return make_scan<sum_monoid, Axis>(gradient, from_other_end(node.options.options));
}

/// What an element gets of a cumulative product: of all results behind it, each divided by the element. Of zeros, only
/// the first has a gradient: products without it, which others make zero.
template <class Monoid, int Axis, class Node, class Operand, class Gradient>
auto scan_gradient(std::type_identity<prod_monoid>, const Node& node, const Operand& x, const Gradient& gradient) {
  const scan_options options = node.options.options, back = from_other_end(options);
  const auto zeros = make_scan<sum_monoid, Axis>(as_node(x == 0), {.reverse = options.reverse});
  const auto is_first_zero = x == 0 && zeros == 1;
  const auto without_zero = make_scan<prod_monoid, Axis>(as_node(where(is_first_zero, 1, x)), options);
  const auto of_zero = make_scan<sum_monoid, Axis>(as_node(gradient * without_zero), back);
  const auto of_others = make_scan<sum_monoid, Axis>(as_node(gradient * node), back) / where(x == 0, 1, x);
  return where(x == 0, of_zero, of_others);
}

/// The last element that is the greatest (or least) so far has the gradient of the results that it is.
template <class Monoid, int Axis, class Node, class Operand, class Gradient>
auto scan_gradient(std::type_identity<max_monoid>, const Node& node, const Operand& x, const Gradient& gradient) {
  const bool is_reverse = node.options.options.reverse, is_exclusive = node.options.options.exclusive;
  const auto reached = make_scan<Monoid, Axis>(x, {.reverse = is_reverse});
  const auto place = index_grid<index>(x.shape(), axis<Axis>);
  const index extent = x.shape().extent(Axis), first = is_reverse ? extent - 1 : 0, step = is_reverse ? -1 : 1;
  const auto steps = (place - first) * step;  // from the end at which the scan begins
  const auto last_step =
      make_scan<max_monoid, Axis>(as_node(where(x == reached || isnan(x), steps, index{0})), {.reverse = is_reverse});
  const auto chosen = as_node(last_step * step + first);
  const auto shifted = roll(gradient, is_exclusive ? -step : 0, axis<Axis>);
  const auto share = as_node(where(steps == extent - 1 && is_exclusive, 0, shifted));
  using element = compute_type<typename Gradient::element>;
  return make_own_pass<element>(gather_gradient_algorithm<Axis, 1>{{extent}}, x.shape(), share, chosen);
}

template <class Monoid>
using scan_family = std::type_identity<std::conditional_t<std::is_same_v<Monoid, min_monoid>, max_monoid, Monoid>>;

}  // namespace detail

/// The gradient of what a scan folds, from the result's.
template <int, class Monoid, int Axis, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<scan_algorithm<Monoid, Axis>, T, Shape, Operand>& node, const Gradient& gradient) {
  return detail::scan_gradient<Monoid, Axis>(detail::scan_family<Monoid>{}, node, get<0>(node.operands), gradient);
}

}  // namespace tenon
