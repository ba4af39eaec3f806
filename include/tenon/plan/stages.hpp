// tenon/plan/stages.hpp: from the type of an expression to the kernels that will run.
// A statement that fits one of four forms is one kernel; otherwise one inner node is evaluated first, and so on.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/contract.hpp>
#include <tenon/expr/pointwise.hpp>
#include <tenon/expr/reduce.hpp>

namespace tenon {

/// The forms of a kernel. `own_pass` and `split` are none of them: an algorithm runs, or part of the statement is
/// evaluated first.
enum class stage { pointwise, reduce, rows, contract, own_pass, split };

/// Who runs the stages of a form in a space, where the evaluator does not: contraction/execute.hpp specialises it.
template <stage Form, class Space>
struct stage_executor {
  template <class Target, class E>
  static void run(const Target&, const E&) {
    static_assert(
        must_hold<E>,
        "tenon: to run products, convolutions and attention include <tenon/products.hpp> or <tenon/tenon.hpp>");
  }
  template <class Destination, class E>
  static bool run_small(const Destination&, const E&) {
    return false;
  }
  template <class Target, class E>
  static const char* algorithm(const Target&, const E&) {
    return nullptr;
  }
};

template <class E>
inline constexpr bool is_reduction = std::is_same_v<typename E::kind, reduction_kind>;
template <class E>
inline constexpr bool is_contraction = std::is_same_v<typename E::kind, contraction_kind>;
template <class E>
inline constexpr bool is_own_pass = std::is_same_v<typename E::kind, algorithm_kind>;

/// Whether a node stands for several statements that run as one; each of its operands is one of them.
template <class E>
inline constexpr bool is_joint_statement = std::is_same_v<typename E::kind, pointwise_kind> && !requires { E::op; };

/// What texts call a node with operands.
template <class E>
inline constexpr const char* operation_name = [] {
  if constexpr (is_joint_statement<E>) return "evaluate";
  else if constexpr (std::is_same_v<typename E::kind, pointwise_kind>) return decltype(E::op)::name;
  else if constexpr (is_reduction<E>) return E::monoid::name;
  else if constexpr ((is_contraction<E> || is_own_pass<E>) && requires { E::name; }) return E::name;
  else if constexpr (is_contraction<E>) return "contract";
  else if constexpr (requires(const E& node) { node.generator; }) return decltype(E::generator)::name;
  else return "view";
}();

namespace detail {

// What follows asks each type once, by variables: compilers keep their values, where functions run anew for each
// expression that holds the type.

/// Whether `Test` holds for every operand type of E.
template <template <class> class Test, class E, class Operands = operands_of<E>>
inline constexpr bool all_operands = true;
template <template <class> class Test, class E, class... Operands>
inline constexpr bool all_operands<Test, E, tuple<Operands...>> = (Test<Operands>::value && ...);

/// How many contractions an expression holds, those that algorithms run not counted.
template <class E, class Operands = operands_of<E>>
inline constexpr int contraction_count = 0;
template <class E, class... Operands>
  requires(!is_own_pass<E>)
inline constexpr int contraction_count<E, tuple<Operands...>> =
    (int{is_contraction<E>} + ... + contraction_count<Operands>);

/// How many operations an expression holds; views and generators are none.
template <class E, class Operands = operands_of<E>>
inline constexpr int operation_count = 1;
template <class E, class... Operands>
  requires(!is_own_pass<E>)
inline constexpr int operation_count<E, tuple<Operands...>> =
    (int{std::is_same_v<typename E::kind, pointwise_kind> || is_reduction<E> || is_contraction<E>} + ... +
     operation_count<Operands>);

/// Whether E is several operations, each of them a statement of its own as nothing is fused.
template <class E, bool Fuses = fuses_operations>
inline constexpr bool runs_apart = false;
template <class E>
inline constexpr bool runs_apart<E, false> = operation_count<E> > 1;

/// Reductions of plain operands, under pointwise operations only.
template <class E>
struct reduces_plainly {
  static constexpr bool test() {
    if constexpr (slot_count<E> == 0) {
      return true;
    } else if constexpr (is_reduction<E>) {
      return slot_count<E> == 1;
    } else {
      return std::is_same_v<typename E::kind, pointwise_kind> && all_operands<detail::reduces_plainly, E>;
    }
  }
  static constexpr bool value = test();
};

/// How many tensors and reductions a statement joins, not looking into reductions.
template <class E, class Operands = operands_of<E>>
inline constexpr int joined_count = E::shape_type::rank == 0 ? 0 : 1;
template <class E, class... Operands>
  requires std::is_same_v<typename E::kind, pointwise_kind>
inline constexpr int joined_count<E, tuple<Operands...>> = (0 + ... + joined_count<Operands>);

/// Whether every axis that a reduction folds is gone from a result of shape `Result`.
template <class Result, class Axes, int Rank>
constexpr bool folds_away() {
  if constexpr (Result::rank != reduced_rank<Axes, Rank>()) {
    return false;
  } else if constexpr (drops_axes<Axes>) {
    return true;
  } else {
    constexpr auto reduced = reduced_axes<Rank>(Axes{});
    for (int axis = 0; axis < Rank; ++axis) {
      if (reduced[axis] && Result::static_extent(axis) != 1) return false;
    }
    return true;
  }
}

/// Whether every axis that a reduction of the statement folds is gone from its result. Of axes known at run time, any
/// may repeat over what else the statement joins, and would be folded again for each repetition.
template <class Result, int Joined>
struct folds_into {
  template <class E>
  struct each {
    static constexpr bool test() {
      if constexpr (is_reduction<E>) {
        using operand = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>;
        return folds_away<Result, typename E::axes, operand::shape_type::rank>() &&
               (Joined <= 1 || !std::is_same_v<typename E::axes, run_time_axes>);
      } else {
        return all_operands<detail::folds_into<Result, Joined>::template each, E>;
      }
    }
    static constexpr bool value = test();
  };
};

/// The number of trailing axes that a reduction folds and keeps, or -1 when it folds others.
template <class Axes, int Rank>
constexpr int trailing_axes() {
  if constexpr (drops_axes<Axes>) {
    return -1;
  } else {
    constexpr auto reduced = reduced_axes<Rank>(Axes{});
    int count = 0;
    while (count < Rank && reduced[Rank - 1 - count]) ++count;
    for (int axis = 0; axis < Rank - count; ++axis) {
      if (reduced[axis]) return -1;
    }
    return count;
  }
}

/// The number of trailing axes that the first reduction of E folds; 0 when there is none.
template <class E>
constexpr int row_axes();
template <class... Operands>
constexpr int first_row_axes(std::type_identity<tuple<Operands...>>) {
  int found = 0;
  ((found = found != 0 ? found : row_axes<Operands>()), ...);
  return found;
}
template <class E>
constexpr int row_axes() {
  if constexpr (is_reduction<E>) {
    using operand = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>;
    return trailing_axes<typename E::axes, operand::shape_type::rank>();
  } else if constexpr (slot_count<E> == 0) {
    return 0;
  } else {
    return first_row_axes(std::type_identity<operands_of<E>>{});
  }
}

/// Any nesting of reductions over the same `Count` trailing axes of operands of `Rank`, under pointwise operations
/// only.
template <int Rank, int Count>
struct nests_in_rows {
  template <class E>
  struct each {
    static constexpr bool test() {
      if constexpr (slot_count<E> == 0) {
        return true;
      } else if constexpr (is_reduction<E>) {
        using operand = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>;
        if constexpr (operand::shape_type::rank == Rank) {
          return trailing_axes<typename E::axes, Rank>() == Count && each<operand>::value;
        } else {
          return false;
        }
      } else {
        return std::is_same_v<typename E::kind, pointwise_kind> &&
               all_operands<detail::nests_in_rows<Rank, Count>::template each, E>;
      }
    }
    static constexpr bool value = test();
  };
};

/// One contraction of plain operands, under pointwise operations that keep its rank.
template <int Rank>
struct ends_contraction {
  template <class E>
  struct each {
    static constexpr bool test() {
      if constexpr (slot_count<E> == 0) {
        return true;
      } else if constexpr (is_contraction<E>) {
        return slot_count<E> == 1 && E::shape_type::rank == Rank;
      } else {
        return std::is_same_v<typename E::kind, pointwise_kind> &&
               all_operands<detail::ends_contraction<Rank>::template each, E>;
      }
    }
    static constexpr bool value = test();
  };
};

}  // namespace detail

/// The form that a statement of type `E` takes.
template <class E>
constexpr stage stage_of() {
  constexpr int rank = E::shape_type::rank;
  if constexpr (is_own_pass<E>) {
    return stage::own_pass;
  } else if constexpr (detail::runs_apart<E>) {
    return stage::split;
  } else if constexpr (slot_count<E> == 0) {
    return stage::pointwise;
  } else if constexpr (detail::contraction_count<E> != 0) {
    const bool fits = slot_count<E> == 1 && detail::ends_contraction<rank>::template each<E>::value;
    return fits ? stage::contract : stage::split;
  } else if constexpr (detail::reduces_plainly<E>::value &&
                       detail::folds_into<typename E::shape_type, detail::joined_count<E>>::template each<E>::value) {
    return stage::reduce;
  } else {
    constexpr int count = detail::row_axes<E>();
    const bool fits = count > 0 && detail::nests_in_rows<rank, count>::template each<E>::value;
    return fits ? stage::rows : stage::split;
  }
}

}  // namespace tenon
