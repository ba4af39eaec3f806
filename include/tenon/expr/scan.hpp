// tenon/expr/scan.hpp: cumulative sums, products, maxima and minima, as users and gradients name them.
// A scan folds with the monoid of a reduction and keeps every state on its way; algorithms/scan.hpp runs it.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/dependence.hpp>
#include <tenon/expr/monoids.hpp>
#include <tenon/expr/own_pass.hpp>

namespace tenon {

/// How a scan runs along its axis: `cumsum(x, axis<0>, {.exclusive = true})`.
struct scan_options {
  bool exclusive = false;  ///< each result leaves its own element out; the first is the monoid's identity
  bool reverse = false;    ///< from the last element to the first

  bool operator==(const scan_options&) const = default;
};

namespace detail {

/// What a scan of elements of `T` gives.
template <class Monoid, class T>
using scan_element = typename Monoid::template element<T>;

}  // namespace detail

/// A scan within an expression.
template <class Monoid, int Axis>
struct scan_algorithm {
  static constexpr const char* name = "scan";
  scan_options options;

  bool operator==(const scan_algorithm&) const = default;
  template <class... Others>
  void operator()(const Others&...) const {
    static_assert(must_hold<Others...>, "tenon: to run scans include <tenon/algorithms/scan.hpp> or <tenon/tenon.hpp>");
  }
};

/// A scan that runs when the statement does: its value follows the operand's, and it has a gradient.
template <class Monoid, int Axis, class Node>
auto make_scan(const Node& operand, const scan_options& options) {
  return make_own_pass<detail::scan_element<Monoid, typename Node::element>>(scan_algorithm<Monoid, Axis>{options},
                                                                             operand.shape(), operand);
}

/// The callable that users see: `cumsum(x, axis<1>)`.
/// extents   those of the operand
/// types     as the reduction's: sums and products of integers and bool in 64 bits, maxima and minima in the operand's
/// accuracy  floating types are folded in double, each result rounded once; the same for any number of threads
///           (on a CUDA device, double sums may differ in their last bits from run to run)
/// cost      one pass; lines are shared among threads, a single line is one thread's work; on a device, CUB's scan,
///           which evaluates pointwise operands as it reads them
/// gradient  of an operand with variables the result is an expression; of maxima, the last element that reached them
///           has theirs, as in PyTorch
template <class Monoid>
struct scan_function {
  const char* name = Monoid::name;

  template <tensor_operand Operand, int Axis>
  auto operator()(Operand&& operand, axis_list<Axis> axes, scan_options options = {}) const {
    using node = node_of<Operand>;
    constexpr int along = only_axis<node::shape_type::rank>(axes);
    if constexpr (depends_on<any_variable, node>) {
      return make_scan<Monoid, along>(as_node(std::forward<Operand>(operand)), options);
    } else {
      using executor = executor_of<scan_algorithm<Monoid, along>>;
      constexpr bool is_here = requires { typename executor::algorithm; };
      static_assert(is_here || must_hold<node>,
                    "tenon: to run scans include <tenon/algorithms/scan.hpp> or <tenon/tenon.hpp>");
      if constexpr (is_here) return executor::evaluate({options}, name, std::forward<Operand>(operand));
    }
  }
  template <tensor_operand Operand>
  auto operator()(Operand&&, index = 0, scan_options = {}) const {
    static_assert(must_hold<Monoid, Operand>, "tenon: axes are part of the type, cumsum(x, axis<0>)");
  }
};

/// Sums of all elements up to each.
inline constexpr scan_function<sum_monoid> cumsum{"cumsum"};
/// Products of all elements up to each.
inline constexpr scan_function<prod_monoid> cumprod{"cumprod"};
/// The greatest element up to each; NaN from the first NaN on. Exclusive scans begin with the type's lowest value.
inline constexpr scan_function<max_monoid> cummax{"cummax"};
/// The least element up to each; NaN from the first NaN on. Exclusive scans begin with the type's highest value.
inline constexpr scan_function<min_monoid> cummin{"cummin"};

}  // namespace tenon
