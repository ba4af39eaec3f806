// tenon/plan/few_elements.hpp: which statements have few elements everywhere, as types know.
// Their values stay in registers, and the compiler may evaluate them.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// The extents of a plain product. Where there is one matrix alone, it has one row, or its columns are the results.
template <class Product>
struct known_product;
template <class Left, class Right, class Pattern>
struct known_product<contraction<Left, Right, Pattern>> {
  using shape = typename contraction<Left, Right, Pattern>::shape_type;
  static constexpr int columns = static_cast<int>(shape::static_extent(shape::rank - 1));
  static constexpr int rows = static_cast<int>(shape{}.count()) / columns;
  static constexpr int depth = static_cast<int>(broadcast_static_extent(
      static_extent_of_letter<typename Left::shape_type, typename Pattern::left_letters>(Pattern::rank),
      static_extent_of_letter<typename Right::shape_type, typename Pattern::right_letters>(Pattern::rank)));

  /// The position of an element of the left matrix.
  static constexpr auto left_position(int row) {
    if constexpr (Pattern::row_count == 0) return array<index, 1>{};
    else return array<index, 2>{{row, 0}};
  }
};

/// Whether a contraction is a product of two matrices, or of a matrix and a vector.
template <class Pattern>
inline constexpr bool is_plain_product =
    Pattern::batch_count == 0 && Pattern::row_count <= 1 && Pattern::column_count == 1 && Pattern::depth_count == 1;
template <class Node>
inline constexpr bool multiplies_plainly = false;
template <class Left, class Right, class Pattern>
inline constexpr bool multiplies_plainly<contraction<Left, Right, Pattern>> = is_plain_product<Pattern>;

/// How many products a sum adds at most.
inline constexpr int most_in_depth = 32;

/// Whether a value of type T is an element and a number of a statement alike; short floats are computed as float.
template <class T>
inline constexpr bool is_own_compute_type = std::is_same_v<compute_type<T>, T>;

/// Whether types know the extents of all that a statement names, and that each of its operations has few results.
template <class E>
struct has_few_results {
  static constexpr bool test() {
    using kind = typename E::kind;
    if constexpr (std::is_same_v<kind, leaf_kind> || std::is_same_v<kind, generator_kind>) {
      return E::shape_type::dynamic_rank == 0 &&
             (std::is_same_v<typename E::space, host> || std::is_same_v<typename E::space, any_space>);
    } else if constexpr (!is_small_shape<typename E::shape_type>()) {
      return false;
    } else if constexpr (std::is_same_v<kind, pointwise_kind> || std::is_same_v<kind, index_map_kind>) {
      return all_operands<detail::has_few_results, E>;
    } else if constexpr (is_reduction<E>) {
      using operand = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>;
      return is_own_compute_type<typename E::element> && is_small_shape<typename operand::shape_type>() &&
             all_operands<detail::has_few_results, E>;
    } else if constexpr (is_own_pass<E>) {
      return E::runs_small_on_values && all_operands<detail::has_few_results, E>;
    } else if constexpr (is_contraction<E> && multiplies_plainly<E>) {
      return is_own_compute_type<typename E::element> && known_product<E>::depth <= most_in_depth &&
             known_product<E>::depth > 0 && all_operands<detail::has_few_results, E>;
    } else {
      return false;
    }
  }
  static constexpr bool value = test();
};

/// Whether no part of an expression is an algorithm.
template <class E>
struct has_no_algorithm {
  static constexpr bool value = !is_own_pass<E> && all_operands<detail::has_no_algorithm, E>;
};

/// Whether types know the extents of a statement, few everywhere: of all that it names on the host, and of the results
/// of its operations.
template <class E>
inline constexpr bool is_small_everywhere = [] {
  if constexpr (is_small_shape<typename E::shape_type>()) return has_few_results<E>::value;
  else return false;
}();

}  // namespace detail

/// Whether such a statement has no algorithm either, so that its values are known to registers and the compiler alone.
template <class E>
inline constexpr bool stays_in_registers = detail::is_small_everywhere<E> && detail::has_no_algorithm<E>::value;

/// Whether the host runs a statement so that reduces, multiplies or holds an algorithm, also into elements in memory.
template <class E>
inline constexpr bool runs_small = [] {
  if constexpr (compiled_by_nvcc || TENON_CHECKED != 0 || !detail::is_small_everywhere<E>) {
    return false;
  } else if constexpr (!detail::has_no_algorithm<E>::value) {
    return fuses_operations;
  } else {
    constexpr stage form = stage_of<E>();
    return form == stage::reduce || form == stage::rows || form == stage::contract;
  }
}();

}  // namespace tenon
