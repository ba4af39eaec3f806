// tenon/algorithms/interp.hpp: functions of which some values are known, and straight lines between them.
// Nodes are found by halving; then it is an expression of the two values beside each element.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/search.hpp>
#include <tenon/expr/differences.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/stop_gradient.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/take.hpp>

namespace tenon {

namespace detail {

/// throws    shape_error where there is no node, or not a value for each; error where nodes descend, or are NaN
template <class Nodes, class Values>
void check_nodes(const Nodes& nodes, const Values& values) {
  static_assert(Nodes::shape_type::rank == 1 && Values::shape_type::rank == 1,
                "tenon: interp takes nodes and values of one axis");
  const index count = nodes.shape().extent(0), given = values.shape().extent(0);
  if (count == 0) throw shape_error("interp: axis 0: extent 0 of the nodes, expected at least 1");
  if (count != given) {
    throw shape_error(
        compose_text("interp: axis 0: extents ", count, " and ", given, " of nodes and values differ, expected equal"));
  }
  const bool ascend = all(diff(nodes, axis<0>) >= 0);
  if (!ascend) throw error("interp: nodes descend or are NaN, expected in ascending order");
}

/// One element after another.
template <class Number, class Line, class Heights, class Source, class Target>
struct interp_pass {
  Line nodes;
  Heights values;
  index count;
  Source source;
  Target target;

  TENON_HOST_DEVICE void operator()(index number) const {
    const auto at = static_cast<Number>(source[number]);
    index behind = 0, last = count - 1;
    while (behind < last) {
      const index middle = behind + (last - behind) / 2;
      if (static_cast<Number>(nodes[middle]) < at) behind = middle + 1;
      else last = middle;
    }
    const index before = behind > 0 ? behind - 1 : 0;
    const auto from = static_cast<Number>(nodes[before]), width = static_cast<Number>(nodes[behind]) - from;
    const Number least = width > 0 ? Number(0) : Number(1), share = width > 0 ? (at - from) / width : at - from;
    using element = typename Target::element;
    using result = compute_type<element>;
    target[number] =
        static_cast<element>(lerp_op::value(static_cast<result>(values[before]), static_cast<result>(values[behind]),
                                            static_cast<result>(share < least ? least
                                                                : share > 1   ? Number(1)
                                                                              : share)));
  }
};

/// Interpolation within an expression, at places that are compared as `Number`.
template <class Number>
struct interp_algorithm {
  static constexpr const char* name = "interp";

  bool operator==(const interp_algorithm&) const = default;
  template <class Target, class Source, class Nodes, class Values>
  void operator()(const Target& target, const Source& source, const Nodes& nodes, const Values& values) const {
    using space = typename Target::space;
    run<space>(target, operand_in<space>(name, source), operand_in<space>(name, nodes),
               operand_in<space>(name, values));
  }

 private:
  template <class Space, class Target, class Source, class Nodes, class Values>
  static void run(const Target& target, const Source& source, const Nodes& nodes, const Values& values) {
    const auto elements = in_order(source.view());
    const auto line = in_order(nodes.view());
    const auto heights = in_order(values.view());
    const auto results = in_order(target);
    using pass =
        interp_pass<compute_type<Number>, std::remove_const_t<decltype(line)>, std::remove_const_t<decltype(heights)>,
                    std::remove_const_t<decltype(elements)>, std::remove_const_t<decltype(results)>>;
    for_each_number<Space>(target.size(), index{1} << 10,
                           pass{line, heights, nodes.shape().extent(0), elements, results});
  }
};

/// The same, with gradients: an expression of the two values beside each element.
template <class Number, class Source, class Nodes, class Values>
auto interp_by_taking(const Source& at, const Nodes& nodes, const Values& values) {
  using places = tensor<index, typename Source::shape_type, concrete_space<typename Source::space>>;
  const auto found = searchsorted(stop_gradient(nodes), stop_gradient(at));
  const auto right = as_node(places(minimum(found, nodes.shape().extent(0) - 1)));
  const auto left = as_node(places(maximum(right - 1, 0)));
  const auto taken = [](const auto& line, const auto& chosen) { return take(line, trusted(chosen), axis<0>); };
  const auto from = cast<Number>(taken(nodes, left));
  const auto width = cast<Number>(taken(nodes, right)) - from;
  const auto is_between = width > 0;
  const auto share = clamp((cast<Number>(at) - from) / where(is_between, width, 1), where(is_between, 0, 1), 1);
  return lerp(taken(values, left), taken(values, right), share);
}

}  // namespace detail

/// The function that goes through `values` at `nodes` and straight between them, at each x; beyond the ends it keeps
/// the value there, as numpy.interp. NaN stays NaN. Where nodes are equal it jumps, and has the first value at them.
/// extents   those of x; nodes and values have one axis of one length
/// types     floating, of integers float
/// throws    shape_error for other lengths or none; error where nodes are not in ascending order, which takes a
///           reduction and a wait
/// cost      O(log n) for each element, shared among threads
/// gradient  of all three; the places of elements among the nodes are constants
/// example   y = interp(x, hours, temperatures);
template <tensor_operand Operand, tensor_operand Nodes, tensor_operand Values>
auto interp(Operand&& x, Nodes&& nodes, Values&& values) {
  const auto at = as_node(std::forward<Operand>(x));
  const auto line = as_node(std::forward<Nodes>(nodes));
  const auto heights = as_node(std::forward<Values>(values));
  using source = std::remove_const_t<decltype(at)>;
  using number = floating_result::element<source, std::remove_const_t<decltype(line)>>;
  using result =
      floating_result::element<source, std::remove_const_t<decltype(line)>, std::remove_const_t<decltype(heights)>>;
  if constexpr (depends_on<any_variable, std::remove_const_t<decltype(at)>> ||
                depends_on<any_variable, std::remove_const_t<decltype(line)>> ||
                depends_on<any_variable, std::remove_const_t<decltype(heights)>>) {
    detail::check_nodes(stop_gradient(line), heights);
    return detail::interp_by_taking<number>(at, line, heights);
  } else {
    detail::check_nodes(line, heights);
    return make_own_pass<result>(detail::interp_algorithm<number>{}, at.shape(), at, line, heights);
  }
}

}  // namespace tenon
