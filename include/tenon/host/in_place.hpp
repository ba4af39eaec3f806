// tenon/host/in_place.hpp: statements of few elements whose extents types know.
// All values are known before one is written. What is left is arithmetic in registers, or done by the compiler.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/host/in_registers.hpp>

namespace tenon {

namespace detail {

/// A number as a node with extents; no value is stored for its elements.
template <class T, class Shape>
struct known_number {
  using kind = generator_kind;
  using element = T;
  using space = any_space;
  using shape_type = Shape;

  T number;
  static constexpr tuple<> operands{};

  static constexpr Shape shape() { return {}; }
  template <int, int Outer>
  constexpr constant_source<T> lower(const axis_map<Shape::rank, Outer>&) const {
    return {number};
  }
};

/// Values in memory as a node, which refers to them; a single value is copied into the node.
template <class Shape, class T>
TENON_INLINE constexpr auto node_of_values(const T* values) {
  if constexpr (Shape{}.count() == 1) return known_number<T, Shape>{*values};
  else return leaf<T, Shape, host, lie_in_place>{{values}, {}};
}

/// The values of a node without reductions and products, side by side; a node of values in memory stays as it is.
template <class Node>
struct values_of_node {
  tensor<typename Node::element, typename Node::shape_type, in_place> values;

  explicit values_of_node(const Node& node) { write_in_place<false>(values.data(), node); }
  auto node() const { return as_node(values); }
};
template <class T, class Shape, class Owner>
struct values_of_node<leaf<T, Shape, host, Owner>> {
  const leaf<T, Shape, host, Owner>& known;

  const auto& node() const { return known; }
};

/// Runs an algorithm, on operands whose reductions and products are values, into adjacent elements that none of them
/// reads.
template <class E, class... Operands>
TENON_INLINE void run_in_place(typename E::element* to, const E& node, const values_of_node<Operands>&... operands) {
  const auto own = node.with_operands(tuple<std::remove_cvref_t<decltype(operands.node())>...>{{{operands.node()}...}});
  const view<typename E::element, typename E::shape_type, host> values(to, {});
  if (!own.write_small(values)) [[unlikely]]
    own.template write<host>(to, values.strides());
}

/// Calls `use` with a node whose reductions, products and algorithms are replaced by their values. The values are local
/// variables of these functions, so `use` is called from within.
template <class E, class Use>
TENON_INLINE constexpr auto with_values(const E& node, const Use& use);

/// Calls `use(operands...)` with operands as `with_values` gives them; `done` are those before `I`.
template <int I, class Operands, class Use, class... Done>
TENON_INLINE constexpr auto with_operand_values(const Operands& operands, const Use& use, const Done&... done) {
  if constexpr (I == Operands::count) {
    return use(done...);
  } else {
    return with_values(get<I>(operands), [&](const auto& next) __attribute__((always_inline)) {
      return with_operand_values<I + 1>(operands, use, done..., next);
    });
  }
}
template <class E, class Use>
TENON_INLINE constexpr auto with_values(const E& node, const Use& use) {
  if constexpr (slot_count<E> == 0) {
    return use(node);
  } else {
    return with_operand_values<0>(node.operands, [&](const auto&... operands) __attribute__((always_inline)) {
      using shape = typename E::shape_type;
      if constexpr (is_reduction<E>) {
        typename E::element values[shape{}.count()]{};
        fold_in_place<E>(values, operands...);
        return use(node_of_values<shape>(values));
      } else if constexpr (is_own_pass<E>) {
        typename E::element values[shape{}.count()];
        run_in_place(values, node, values_of_node<std::remove_cvref_t<decltype(operands)>>{operands}...);
        return use(node_of_values<shape>(values));
      } else {
        const auto changed = node.with_operands(tuple<std::remove_cvref_t<decltype(operands)>...>{{{operands}...}});
        if constexpr (is_contraction<E>) {
          typename E::element values[shape{}.count()]{};
          multiply_in_place(values, changed);
          return use(node_of_values<shape>(values));
        } else if constexpr (shape{}.count() == 1 && is_own_compute_type<typename E::element>) {
          typename E::element value{};
          write_in_place<false>(&value, changed);
          return use(node_of_values<shape>(&value));
        } else {
          return use(changed);
        }
      }
    });
  }
}

}  // namespace detail

/// Evaluates a statement that stays in registers into `Shape` elements side by side, which it may read. It repeats over
/// them where it has fewer.
template <class Shape, class T, class E>
TENON_INLINE constexpr void evaluate_in_place(T* to, const E& node) {
  using shape = typename E::shape_type;
  [[maybe_unused]] constexpr bool in_rows = detail::contraction_count<E> != 0;
  if constexpr (!elements_agree<Shape, shape>()) {
    tensor<T, shape, in_place> values;
    evaluate_in_place<shape>(values.data(), node);
    detail::write_in_place<false>(to, broadcast_to(as_node(values), Shape{}));
  } else if constexpr (is_contraction<E> && std::is_same_v<T, typename E::element>) {
    detail::with_operand_values<0>(node.operands, [&](const auto&... operands) __attribute__((always_inline)) {
      detail::multiply_in_place(to,
                                node.with_operands(tuple<std::remove_cvref_t<decltype(operands)>...>{{{operands}...}}));
    });
  } else {
    detail::with_values(
        node, [to](const auto& rest) __attribute__((always_inline)) { detail::write_in_place<in_rows>(to, rest); });
  }
}

/// The same into elements of a tensor that may lie apart. Returns false, and has done nothing, where an observer wants
/// to see the launch.
template <class T, class Shape, class E>
TENON_INLINE bool run_small_host(const view<T, Shape, host>& destination, const E& node) {
  if (current_launch_observer() != nullptr) return false;
  using shape = typename E::shape_type;
  using rows = detail::known_rows<shape>;
  constexpr stage form = stage_of<E>();
  if constexpr (detail::has_no_algorithm<E>::value)
    count_launch(form == stage::contract ? "contract" : form == stage::rows ? "rows" : "reduce");
  tensor<T, shape, in_place> values;
  evaluate_in_place<shape>(values.data(), node);
  const auto target = detail::make_target(destination);
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) {
    T* const to = target.at(rows::position(row));
    for (int i = 0; i < rows::length; ++i) to[i * target.step()] = values.data()[row * rows::length + i];
  }
  return true;
}

}  // namespace tenon
