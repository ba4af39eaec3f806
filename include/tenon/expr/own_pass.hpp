// tenon/expr/own_pass.hpp: the one node of algorithms within expressions.
// An algorithm is no loop over its result: it runs when the statement does, and what is around it reads what it wrote.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/node.hpp>

namespace tenon {

/// Who runs an algorithm: the algorithm itself. One that expressions and gradients only name is run from a floor above,
/// whose header specialises this; without that header, the algorithm's own operator() says which one to include.
template <class Algorithm>
struct executor_of {
  template <class Destination, class... Operands>
  static void run(const Algorithm& algorithm, const Destination& destination, const Operands&... operands) {
    algorithm(destination, operands...);
  }
};

namespace detail {
/// Whether an algorithm has a short way for a destination and operands of these types.
template <class Algorithm, class Destination, class... Operands>
inline constexpr bool algorithm_runs_small = [] {
  if constexpr (requires { Algorithm::template runs_small<Destination, Operands...>; })
    return Algorithm::template runs_small<Destination, Operands...>;
  else return false;
}();
}  // namespace detail

/// What `Algorithm` makes of its operands: elements of `T` with a shape. It is a struct with a `name`, an `==`, and
///   operator()(destination, operands...)   writes every element of a view; operands are nodes, any expressions, none
///                                          of which reads an element of the view
template <class Algorithm, dtype T, shape_type Shape, class... Operands>
struct own_pass {
  using kind = algorithm_kind;
  using element = T;
  using space = typename common_space<typename Operands::space...>::type;
  using shape_type = Shape;
  static constexpr const char* name = Algorithm::name;

  Algorithm options;
  tuple<Operands...> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  /// A number, for a result without axes.
  operator element() const
    requires(Shape::rank == 0)
  {
    return assigner<element, own_pass>::value(*this);
  }
  operator detail::widened<element>() const
    requires(Shape::rank == 0 && is_short_float<element>)
  {
    return assigner<element, own_pass>::value(*this);
  }
  /// This node on other operands of the same extents.
  template <class... Others>
  constexpr auto with_operands(const tuple<Others...>& others) const {
    return own_pass<Algorithm, T, Shape, Others...>{options, others, extents};
  }
  /// Runs an algorithm that has a short way for such a destination and such operands, before anything else is known of
  /// the statement. Returns false, and has done nothing, where an observer wants to see the launch or that way fails.
  template <class Destination>
  TENON_INLINE bool write_small(const Destination& destination) const
    requires(detail::algorithm_runs_small<Algorithm, Destination, Operands...>)
  {
    return apply_tuple([&](const Operands&... operand)
                           __attribute__((always_inline)) { return options.run_small(destination, operand...); },
                       operands);
  }
  /// Whether it has a short way once the values of its operands lie in place.
  static constexpr bool runs_small_on_values = [] {
    if constexpr (Shape::dynamic_rank + (0 + ... + Operands::shape_type::dynamic_rank) != 0) return false;
    else
      return detail::algorithm_runs_small<
          Algorithm, view<T, Shape, host>,
          leaf<typename Operands::element, typename Operands::shape_type, host, lie_in_place>...>;
  }();
  /// Runs the algorithm into elements of `Space`.
  template <class Space, class Element>
  void write(Element* elements, const array<index, Shape::rank>& strides) const {
    const view<Element, Shape, Space> destination(elements, extents, strides);
    apply_tuple([&](const Operands&... operand) { executor_of<Algorithm>::run(options, destination, operand...); },
                operands);
  }
};

/// Composes the node from its operands: nodes, or what becomes one where the node keeps it.
template <class T, class Algorithm, shape_type Shape, class... Operands>
TENON_INLINE auto make_own_pass(const Algorithm& algorithm, Shape extents, Operands&&... operands) {
  return own_pass<Algorithm, T, Shape, node_of<Operands>...>{
      algorithm, {{{as_node(std::forward<Operands>(operands))}...}}, extents};
}

}  // namespace tenon
