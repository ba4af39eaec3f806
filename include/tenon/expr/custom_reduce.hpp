// tenon/expr/custom_reduce.hpp: reductions by a monoid or a function of the user's.
// They are the node of `sum` with another monoid, so whatever fuses with a sum fuses with them.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/called_by_kernels.hpp>
#include <tenon/device/simd_lanes.hpp>
#include <tenon/expr/pointwise.hpp>
#include <tenon/expr/reduce.hpp>

namespace tenon {

/// What folds values of `T`: names, an identity, and static functions without side effects; `combine` is associative
/// and commutative, as threads fold in an order of their own. Positions count within the reduced axes.
template <class Monoid, class T>
concept folds_values_of = requires(typename Monoid::template state<T> state, compute_type<T> value, index count) {
  { Monoid::name } -> std::convertible_to<const char*>;
  { Monoid::has_identity } -> std::convertible_to<bool>;  // false: nothing to fold is an error
  { Monoid::template identity<decltype(state)>() } -> std::convertible_to<decltype(state)>;
  { Monoid::template lift<decltype(state)>(value, count) } -> std::convertible_to<decltype(state)>;
  { Monoid::combine(state, state) } -> std::convertible_to<decltype(state)>;
  Monoid::template finish<compute_type<typename Monoid::template element<T>>>(state, count);
};

/// `Monoid` folded over `axes`.
/// types     state<T> and element<T> of the monoid say what values of T are kept in and what they give
/// throws    shape_error when no value is left to fold and the monoid has no identity
/// cost      one kernel, as of any reduction; a `using lanewise = bits_monoid;` in the monoid itself promises that its
///           state is one number, which `lift` takes as it is, and that `combine` takes packs too
/// example   struct bits_monoid : sum_monoid {  // what else a monoid holds: sum_monoid in expr/monoids.hpp
///             static constexpr const char* name = "bits";
///             template <class V>
///             TENON_HOST_DEVICE static V combine(V left, V right) { return left | right; }
///           };
///           y = reduce<bits_monoid>(x, axis<1>);
/// gradient  where the monoid has a static `gradient(of_operand<0>{}, g, y, x)`: an expression made of the gradient g
///           of the result y, both with extent 1 on reduced axes, and of the operand x
template <class Monoid, tensor_operand Operand, axes_of_reduction Axes = all_axes>
  requires folds_values_of<Monoid, typename node_of<Operand>::element>
auto reduce(Operand&& operand, Axes axes = {}) {
  using element = typename node_of<Operand>::element;
  detail::check_folded_by_kernels<typename node_of<Operand>::space, Monoid, typename Monoid::template state<element>,
                                  compute_type<element>, compute_type<typename Monoid::template element<element>>>();
  return reduction_function<Monoid>{}(std::forward<Operand>(operand), axes);
}

namespace detail {
/// An operation of two operands as a function of numbers.
template <class Op>
struct operation_of_numbers {
  template <class V>
  TENON_HOST_DEVICE V operator()(V left, V right) const {
    return Op::value(left, right);
  }
};
}  // namespace detail

/// Some values folded, or none yet.
template <class T>
struct partial_fold {
  T value;
  bool is_empty;
};

/// The monoid of a function that has no identity of its own.
template <class Function>
struct function_monoid {
  static constexpr const char* name = "reduce";
  static constexpr bool has_identity = true;
  template <class T>
  using state = partial_fold<compute_type<T>>;
  template <class T>
  using element = T;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return {{}, true};
  }
  template <class State, class V>
  TENON_HOST_DEVICE static State lift(V value, index) {
    return {value, false};
  }
  TENON_NO_EXEC_CHECK
  template <class State>
  TENON_HOST_DEVICE static State combine(const State& left, const State& right) {
    if (left.is_empty) return right;
    if (right.is_empty) return left;
    return {static_cast<decltype(State::value)>(Function{}(left.value, right.value)), false};
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static Result finish(const State& state, index) {
    return state.value;
  }
};

/// What a fold starts from, combined with its result unless there was nothing to fold.
template <class T, class Function>
struct start_from_op {
  static constexpr const char* name = "reduce";
  template <class Operand>
  using element = typename Operand::element;
  template <int, class Operand>
  using operand = typename Operand::element;

  T initial;
  bool is_alone;

  TENON_NO_EXEC_CHECK
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE V value(V folded) const {
    if constexpr (simd::is_number<V>) {
      return is_alone ? static_cast<V>(initial) : static_cast<V>(Function{}(static_cast<V>(initial), folded));
    } else {
      return simd::map_lanes<simd::lane_of<V>>([this](simd::lane_of<V> lane) { return this->value(lane); }, folded);
    }
  }
};

/// `combine` folded over `axes`, starting from `initial`, which is the result where there is nothing to fold.
/// `combine(left, right)` is associative and commutative, as threads fold in an order of their own. It may be an
/// operation of two operands, as `maximum`.
/// types     combine takes and gives the element type, half and bfloat16 as float; it has no members (a lambda without
///           captures; under CUDA a struct whose operator() is TENON_HOST_DEVICE)
/// throws    dtype_error where integers of the element type do not hold `initial`
/// cost      one kernel; values are folded one by one, where a `lanewise` monoid folds packs
/// example   reduce(x, axis<1>, 1, [](float left, float right) { return left * right; })
template <tensor_operand Operand, axes_of_reduction Axes, dtype T, class Function>
  requires std::is_empty_v<Function> && std::is_default_constructible_v<Function>
auto reduce(Operand&& operand, Axes axes, T initial, Function) {
  using value_type = compute_type<typename node_of<Operand>::element>;
  detail::check_called_by_kernels<typename node_of<Operand>::space, Function, value_type, value_type>();
  const bool is_alone = folded_count(axes, operand.shape(), "reduce") == 0;
  const auto start = detail::number_as<value_type>("reduce", initial);
  return make_pointwise(start_from_op<value_type, Function>{start, is_alone},
                        reduction_function<function_monoid<Function>>{}(std::forward<Operand>(operand), axes));
}
template <tensor_operand Operand, axes_of_reduction Axes, dtype T, class Op>
auto reduce(Operand&& operand, Axes axes, T initial, pointwise_function<Op>) {
  return reduce(std::forward<Operand>(operand), axes, initial, detail::operation_of_numbers<Op>{});
}
template <tensor_operand Operand, axes_of_reduction Axes, dtype T, class Function>
  requires(!std::is_empty_v<Function> || !std::is_default_constructible_v<Function>)
auto reduce(Operand&&, Axes, T, Function) {
  static_assert(
      must_hold<Function>,
      "tenon: the function of reduce is a struct without members or a lambda without captures, and no pointer");
}

}  // namespace tenon
