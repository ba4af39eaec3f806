// tenon/evaluate.hpp: from a statement to loops and kernels.
// Defines the assignment hook: checks extents and aliasing, picks the form by the plan and the executor by the space.
// Floor 5: may include base, core, device, expr, plan, host, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/host/in_place.hpp>
#include <tenon/host/reduce.hpp>
#include <tenon/host/rows.hpp>
#include <tenon/host/run_time_boxes.hpp>
#include <tenon/host/short_statements.hpp>
#include <tenon/kernels/pointwise.hpp>
#include <tenon/kernels/reduce.hpp>
#include <tenon/kernels/rows.hpp>
#include <tenon/plan/alias.hpp>
#include <tenon/plan/describe.hpp>
#include <tenon/plan/devices.hpp>
#include <tenon/plan/joint.hpp>
#include <tenon/plan/split.hpp>
#if TENON_CHECKED != 0
#include <tenon/plan/alive.hpp>
#endif

namespace tenon {

namespace detail {

template <class T, class Shape, class Space, class E>
void evaluate_whole(const view<T, Shape, Space>& destination, const E& node, aliasing alias = aliasing::handled);

/// Evaluates `node` into a new tensor.
template <class Space, class E>
auto evaluate_part(const E& node) {
  const auto extents = node.shape().to_array();
  const statement_scope<Space> scope(extents_view{extents.begin(), extents.size()}, {&node, &statement_type_of<E>});
  tensor<typename E::element, typename E::shape_type, Space> result(node.shape());
  evaluate_whole(result.write_view(), node);
  return result;
}

/// A part of a statement, evaluated: a new tensor, or on the host a number, which takes no memory.
template <class Space, class E>
auto value_of_part(const E& part) {
  if constexpr (std::is_same_v<Space, host> && E::shape_type::rank == 0) {
    typename E::element number;
    evaluate_whole(view<typename E::element, shape<>, host>(&number, shape<>{}), part);
    return constants(shape<>{}, number);
  } else {
    return evaluate_part<Space>(part);
  }
}

template <class Space, class Target, class E>
void run_stage(const Target& target, const E& node) {
  constexpr stage form = stage_of<E>();
  constexpr bool on_host = std::is_same_v<Space, host>;
  if constexpr (runs_in_boxes<Space, E>) {
    run_boxes_host(target, node);
  } else if constexpr (form == stage::pointwise) {
    auto program = node.template lower<0>(identity_map<E::shape_type::rank>());
    if constexpr (on_host) run_pointwise_host(node.shape().to_array(), target, program);
    else run_pointwise_kernel<Space>(node.shape().to_array(), target, program);
  } else if constexpr (form == stage::reduce) {
    if constexpr (on_host && meets_points<E>) {
      if (run_points_host(target, node)) return;
    }
    if constexpr (on_host) run_reduce_host(target, node);
    else run_reduce_kernel<Space>(target, node);
  } else if constexpr (form == stage::rows) {
    constexpr int row_axis = E::shape_type::rank - row_axes<E>();
    if constexpr (on_host) run_rows_host<row_axis>(target, node);
    else run_rows_kernel<Space, row_axis>(target, node);
  } else if constexpr (form == stage::contract) {
    stage_executor<stage::contract, Space>::run(target, node);
  } else if constexpr (form == stage::own_pass) {
    node.template write<Space>(target.data, target.stride);
  }
}

/// A statement of one stage, of whose type only that of its elements and their axes is left.
template <class T, int Rank>
struct any_stage {
  any_node node;
  void (*run)(const strided_target<T, Rank>& target, const void* node);
};
template <class T, class Space, class E>
void run_any_stage(const strided_target<T, E::shape_type::rank>& target, const void* node) {
  run_stage<Space>(target, *static_cast<const E*>(node));
}
template <class T, class Space, class E>
any_stage<T, E::shape_type::rank> stage_with(const E& node) {
  return {{&node, &statement_type_of<E>}, &run_any_stage<T, Space, E>};
}

/// A statement into elements of its extents, by way of a temporary where it reads elsewhere what it writes.
template <class T, class Shape, class Space>
[[gnu::noinline]] void evaluate_stage(const view<T, Shape, Space>& destination, const any_stage<T, Shape::rank>& stage,
                                      aliasing alias) {
  if (destination.size() == 0) return;
  const auto written = block_of(destination);
  const statement_scope<Space> scope(written, stage.node);
  const auto found = relevant_reads(alias, written, stage.node);
  if (found.elsewhere) {
    tensor<T, Shape, Space> temporary(destination.shape());
    evaluate_stage(temporary.write_view(), stage, alias);
    return evaluate_stage(destination, stage_with<T, Space>(as_node(temporary)), aliasing::handled);
  }
  auto target = make_target(destination);
  const index bytes_written = destination.size() * written.size;
  target.streaming = !found.any && bytes_written >= streaming_bytes;
  announce_statement(stage.node, any_block(written).extents, bytes_written);
  stage.run(target, stage.node.address);
  announce_result<T, Space>(*stage.node.type->words, written);
}

/// `node` into elements of the same extents, whatever its form.
template <class T, class Shape, class Space, class E>
void evaluate_whole(const view<T, Shape, Space>& destination, const E& node, aliasing alias) {
#if TENON_CHECKED != 0
  check_alive("assign", "destination", block_of(destination));
  check_operands_alive({&node, &statement_type_of<E>});
#endif
  if constexpr (runs_program<Space, E>) {
    evaluate_program(destination, node, alias);
  } else if constexpr (stage_of<E>() != stage::split || runs_in_boxes<Space, E>) {
    evaluate_stage(destination, stage_with<T, Space>(node), alias);
  } else if (destination.size() != 0) {
    split(
        node, [](const auto& part) { return value_of_part<Space>(part); },
        [&](const auto& rest) { evaluate_whole(destination, rest, alias); });
  }
}

/// Repeats elements over a destination.
template <class T, class U, class Shape, class Space>
[[gnu::noinline]] void copy_repeated(const view<T, Shape, Space>& destination, const view<U, Shape, Space>& elements) {
  evaluate_whole(destination, as_node(broadcast_to(elements, destination.shape())));
}

/// Evaluates once what the destination holds several times.
template <class T, class Shape, class Space, class E>
[[gnu::noinline]] void evaluate_repeated(const view<T, Shape, Space>& destination, const E& node) {
  check_repeats(destination.shape(), node.shape());
  auto once = evaluate_part<Space>(node);
  copy_repeated(destination, with_dynamic_extents(once.write_view()));
}

/// An expression as elements of type T take it: floats that become integers are cast within the statement, which knows
/// what to do with those beyond the range; other conversions are the store's.
template <class T, class E>
TENON_INLINE constexpr decltype(auto) as_written(const E& node) {
  check_number<T>("assign", node);
  if constexpr (is_integer<T> && is_floating<typename E::element> && !is_complex<typename E::element>) {
    return cast<T>(node);
  } else {
    return (node);
  }
}

/// Matches ranks and extents, then evaluates.
template <aliasing Aliasing = aliasing::handled, class T, class Shape, class Space, class E>
TENON_INLINE void evaluate_into(const view<T, Shape, Space>& destination, const E& node) {
  using node_shape = typename E::shape_type;
  (void)sizeof(typename common_space<Space, typename E::space>::type);
  static_assert(ranks_fit<Shape, node_shape>() || must_hold<Shape, node_shape>,
                "tenon: the destination has fewer axes than the expression");
  static_assert(extents_fit<Shape, node_shape>() || must_hold<Shape, node_shape>,
                "tenon: the extents of destination and expression must be equal");
  static_assert(is_complex<T> || !is_complex<typename E::element> || must_hold<T, E>,
                "tenon: complex numbers become real ones by real(z), imag(z) or abs(z)");
  if constexpr (node_shape::rank > Shape::rank) {
    evaluate_into<Aliasing>(insert_unit_axes<node_shape>(destination), node);
  } else if constexpr (node_shape::rank < Shape::rank) {
    check_repeats(destination.shape(), node.shape());
    evaluate_into<Aliasing>(destination, broadcast_to(node, destination.shape()));
  } else if constexpr (runs_program<Space, E>) {
    evaluate_program(destination, node, Aliasing);
  } else if (destination.shape() == node.shape()) {
    if constexpr (!std::is_same_v<Space, host> || runs_in_boxes<Space, E>) {
    } else if constexpr (requires { node.write_small(destination); }) {
      if (node.write_small(destination)) return;
    } else if constexpr (runs_small<E>) {
      if (run_small_host(destination, node)) return;
    } else if constexpr (stage_of<E>() == stage::contract) {
      if (stage_executor<stage::contract, Space>::run_small(destination, node)) return;
    } else if constexpr (TENON_CHECKED == 0 && Shape::rank == 0 && stage_of<E>() == stage::reduce) {
      if (current_launch_observer() == nullptr) {  // a number is known before it is written
        return run_any_stage<T, Space, E>(make_target(destination), &node);
      }
    }
    evaluate_whole(with_dynamic_extents(destination), node, Aliasing);
  } else {
    evaluate_repeated(with_dynamic_extents(destination), node);
  }
}

/// Evaluates into a tensor in place, in registers where types know that all is small.
template <aliasing Aliasing, class T, class Shape, class E>
TENON_INLINE constexpr void evaluate_into(tensor<T, Shape, in_place>& destination, const E& node) {
  using node_shape = typename E::shape_type;
  constexpr bool fits =
      elements_agree<Shape, node_shape>() || (node_shape::rank <= Shape::rank && extents_fit<Shape, node_shape>());
  constexpr bool in_registers = is_small_shape<Shape>() && stays_in_registers<E> && fits;
  if constexpr (in_registers) {
    if (TENON_CHECKED == 0 || std::is_constant_evaluated()) return evaluate_in_place<Shape>(destination.data(), node);
  }
  if constexpr (!in_registers || TENON_CHECKED != 0) evaluate_into<Aliasing>(destination.write_view(), node);
}

/// A tensor without elements gets those that an expression of `extents` fills.
template <class T, class Shape, class Space, class Extents>
[[gnu::noinline]] void give_elements(tensor<T, Shape, Space>& destination, Extents extents) {
  if constexpr (Extents::rank >= Shape::rank) {
    if (destination.is_empty()) return destination.take_extents(extents_without_units<Shape>(extents));
  }
  destination.take_extents(destination.shape());
}

}  // namespace detail

/// Assigning to a view writes through it.
template <class T, class Shape, class Space, class Expression>
struct assigner<view<T, Shape, Space>, Expression> {
  template <detail::aliasing Aliasing = detail::aliasing::handled>
  TENON_INLINE static void assign(const view<T, Shape, Space>& destination, const Expression& expression) {
    detail::evaluate_into<Aliasing>(destination, detail::as_written<T>(as_node(expression)));
  }
};

/// Assigning to a tensor; an empty one takes the extents of the expression.
template <class T, class Shape, class Space, class Expression>
struct assigner<tensor<T, Shape, Space>, Expression> {
  template <detail::aliasing Aliasing = detail::aliasing::handled>
  TENON_INLINE static void assign(tensor<T, Shape, Space>& destination, const Expression& expression) {
    const auto& node = as_node(expression);
    using node_type = std::remove_cvref_t<decltype(node)>;
    const bool had_elements = destination.data() != nullptr;
    if (!had_elements) [[unlikely]]
      detail::give_elements(destination, node_type::shape_type::of_known(node.shape().to_array()));
    if constexpr (detail::runs_program<Space, node_type>) {  // takes no memory once the destination has its own
      detail::evaluate_into<Aliasing>(destination.write_view(), detail::as_written<T>(node));
    } else {
      try {
        detail::evaluate_into<Aliasing>(destination.write_view(), detail::as_written<T>(node));
      } catch (...) {
        if (!had_elements) destination.reset();
        throw;
      }
    }
  }
};

/// Assigning to a tensor in place.
template <class T, class Shape, class Expression>
struct assigner<tensor<T, Shape, in_place>, Expression> {
  template <detail::aliasing Aliasing = detail::aliasing::handled>
  TENON_INLINE static constexpr void assign(tensor<T, Shape, in_place>& destination, const Expression& expression) {
    detail::evaluate_into<Aliasing>(destination, detail::as_written<T>(as_node(expression)));
  }
};

/// Assigning without a temporary.
template <class Destination, class Expression>
struct assigner<unaliased<Destination>, Expression> {
  static void assign(const Destination& destination, const Expression& expression) {
    assigner<std::remove_cvref_t<Destination>, Expression>::template assign<detail::aliasing::denied>(destination,
                                                                                                      expression);
  }
};

/// The number that an expression without axes is.
template <dtype T, class Expression>
struct assigner<T, Expression> {
  TENON_INLINE static constexpr T value(const Expression& expression) {
    using space = detail::concrete_space<typename Expression::space>;
    if constexpr (stays_in_registers<Expression> && TENON_CHECKED == 0) {
      T result;
      evaluate_in_place<shape<>>(&result, expression);
      return result;
    } else if constexpr (std::is_same_v<space, host>) {
      T result;
      detail::evaluate_into(view<T, shape<>, host>(&result, shape<>{}), expression);
      return result;
    } else {
      const tensor<T, shape<>, host> result = detail::evaluate_part<space>(expression).template to<host>();
      return *result.data();
    }
  }
};

/// Evaluates an expression into a new tensor; where it has no space of its own, in `Space`.
template <memory_space Space = host, tensor_operand Operand>
auto evaluated_tensor(Operand&& operand) {
  using space = typename node_of<Operand>::space;
  return detail::evaluate_part<std::conditional_t<std::is_same_v<space, any_space>, Space, space>>(
      as_node(std::forward<Operand>(operand)));
}

/// Pairs a destination with an expression, for `evaluate`. An empty tensor takes the extents of the expression.
template <class Destination, tensor_operand Operand>
  requires(std::is_lvalue_reference_v<Destination> || detail::is_view<std::remove_cvref_t<Destination>>)
auto assign(Destination&& destination, Operand&& operand) {
  using element = typename std::remove_cvref_t<Destination>::element;
  static_assert(!std::is_const_v<std::remove_pointer_t<decltype(destination.data())>> || must_hold<Destination>,
                "tenon: a view of const elements cannot be assigned to");
  const auto node = detail::as_written<element>(as_node(std::forward<Operand>(operand)));
  if constexpr (requires { detail::give_elements(destination, node.shape()); }) {
    if (destination.data() == nullptr) detail::give_elements(destination, node.shape());
  }
  const auto target = [&] {
    if constexpr (detail::is_view<std::remove_cvref_t<Destination>>) return destination;
    else return destination.write_view();
  }();
  return assignment<std::remove_cvref_t<decltype(target)>, std::remove_cvref_t<decltype(node)>>{target, node};
}

namespace detail {

/// Evaluates everything before anything is assigned.
template <class... Assignments>
void evaluate_apart(const Assignments&... all) {
  const auto results = make_tuple_of(as_node(evaluate_part<typename decltype(all.destination)::space>(all.node))...);
  for_each_index<sizeof...(Assignments)>(
      [&](auto i) { evaluate_into(get<i.value>(make_tuple_of(&all...))->destination, get<i.value>(results)); });
}

/// Evaluates assignments of equal axes as one statement; false, and nothing is done, where that would not be the same.
template <class... Views, class... Nodes>
bool evaluate_joint(const assignment<Views, Nodes>&... each) {
  using node_type = joint<Nodes...>;
  using space = typename common_space<typename Views::space..., typename Nodes::space...>::type;
  if (run_short_joint(each...)) return true;
  constexpr int rank = node_type::shape_type::rank, count = static_cast<int>(sizeof...(Views));
  const int row_axis = stage_of<node_type>() == stage::rows ? rank - row_axes<node_type>() : rank;
  const auto extents = joint_extents<rank, count>({{each.destination.shape().to_array()...}}, row_axis);
  if (!((each.destination.shape() == each.node.shape()) && ...) || count_between(extents, 0, rank) == 0) return false;
  const node_type node{make_tuple_of(each.node...), typename node_type::shape_type(extents)};
  const any_node source{&node, &statement_type_of<node_type>};
  const array<joint_output<rank>, count> outputs{
      {{block_of(each.destination), {&each.node, &statement_type_of<Nodes>}}...}};
  const statement_scope<space> scope(outputs[0].destination, outputs[0].node);
  for (const auto& output : outputs) scope.check_devices(output.destination, output.node);
  if (overwrites_operands(outputs, extents, source, std::is_same_v<space, host>)) return false;
  announce_statement(source, {extents.begin(), rank}, count_bytes(outputs));
  run_stage<space>(
      joint_target<rank, typename Views::element...>{make_tuple_of(make_joint_target(each.destination, extents)...)},
      node);
  (announce_result<typename Views::element, space>(words_of<Nodes>::value, block_of(each.destination)), ...);
  return true;
}

}  // namespace detail

/// Evaluates several assignments together: every expression sees the operands as they were before the statement.
/// extents   equal; where rows are reduced, over the same last axes, an output may also hold one element a row
/// throws    shape_error when the destinations' extents differ from each other or from their expressions';
///           storage_error when destinations have elements in common
/// cost      one kernel for pointwise expressions, reductions over the same axes, or rows; equal reductions run once.
///           A destination that another expression reads elsewhere costs a kernel and a temporary for each output
/// example   evaluate(assign(m, mean(x, axis<0>)), assign(v, variance(x, axis<0>)));
///           evaluate(assign(y, softmax(x, axis<-1>)), assign(l, logsumexp(x, axis<-1>)));
template <class... Views, class... Nodes>
void evaluate(const assignment<Views, Nodes>&... each) {
#if TENON_CHECKED != 0
  (check_alive("evaluate", "destination", block_of(each.destination)), ...);
  (check_operands_alive({&each.node, &statement_type_of<Nodes>}, "evaluate"), ...);
#endif
  [](const auto&... destination) {
    const any_block blocks[] = {destination...};
    check_apart(blocks, static_cast<int>(sizeof...(Views)));
  }(block_of(each.destination)...);
  if constexpr (fuses_operations) {
    static_assert(detail::ranks_agree<decltype(detail::with_equal_axes(each))...>() || must_hold<Views...>,
                  "tenon: the outputs of one evaluate have equal extents");
    static_assert(detail::are_joint<decltype(detail::with_equal_axes(each))...>() || must_hold<Nodes...>,
                  "tenon: evaluate joins pointwise expressions, reductions over the same axes, and rows over the same "
                  "last axes; assign other expressions by themselves");
    if (detail::evaluate_joint(detail::with_equal_axes(each)...)) return;
  } else {
    (detail::with_equal_axes(each), ...);
  }
  detail::evaluate_apart(each...);
}

TENON_ENGINE(void detail::evaluate_stage(const view<float, rank<1>, host>&, const detail::any_stage<float, 1>&,
                                         detail::aliasing))
TENON_ENGINE(void detail::evaluate_stage(const view<float, rank<2>, host>&, const detail::any_stage<float, 2>&,
                                         detail::aliasing))
TENON_ENGINE(void detail::evaluate_stage(const view<float, rank<4>, host>&, const detail::any_stage<float, 4>&,
                                         detail::aliasing))

}  // namespace tenon
