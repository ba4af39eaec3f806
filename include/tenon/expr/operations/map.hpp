// tenon/expr/operations/map.hpp: a function of the user's, applied element by element.
// It is the operation of a pointwise node: the program holds it, with its state, as it holds the library's own.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/called_by_kernels.hpp>
#include <tenon/device/simd_lanes.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// `Function` of elements that are computed as `Numbers`.
template <class Function, class... Numbers>
struct map_op {
  static constexpr const char* name = "map";
  using costly = void;
  using of_elements_alone = void;
  using result = std::remove_cvref_t<std::invoke_result_t<const Function&, Numbers...>>;
  template <class...>
  using element = result;
  template <int I, class...>
  using operand = typename type_list<Numbers...>::template at<I>;

  [[no_unique_address]] Function function;

  TENON_NO_EXEC_CHECK
  template <class... Vs>
  TENON_HOST_DEVICE TENON_INLINE auto value(const Vs&... xs) const {
    if constexpr ((simd::is_number<Vs> && ...)) {
      return function(xs...);
    } else {
      return simd::map_lanes<Numbers...>(function, xs...);
    }
  }
  /// A function that says its derivative has one.
  template <int I, class Gradient, class Node, class... Operands>
    requires requires(of_operand<I> which, const Gradient& g, const Node& y, const Operands&... xs) {
      y.op.function.gradient(which, g, y, xs...);
    }
  static auto gradient(of_operand<I> which, const Gradient& g, const Node& y, const Operands&... xs) {
    return y.op.function.gradient(which, g, y, xs...);
  }
};

/// `function(x...)` of the elements of the operands, broadcast together.
/// types     each operand in its own type, half and bfloat16 as float; the elements are what the function returns
/// cost      as an operation of the library: loops over functions without calls and branches are vectorised
/// example   map([](float a, float b) { return a * b + 1; }, x, y)
/// The function is copied and called on a const copy, from many threads and in no order: it must not change anything.
/// gradient  that of operand I, where the function is a struct with `gradient(of_operand<I>{}, g, y, x...)`, an
///           expression made of the gradient g of the result y and of the operands:
///             struct cube {
///               TENON_HOST_DEVICE double operator()(double x) const { return x * x * x; }
///               static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x) {
///                 return g * (3 * x * x);
///               }
///             };
/// For CUDA it is a trivially copyable struct whose operator() is TENON_HOST_DEVICE, or an extended lambda,
/// `[] __host__ __device__ (float a) { return a + 1; }`; nvcc refuses others.
template <class Function, class... Operands>
  requires operands_of_expression<Operands...>
auto map(Function function, Operands&&... operands) {
  using op = map_op<Function, compute_type<typename node_of<Operands>::element>...>;
  static_assert(dtype<typename op::result> || must_hold<Function, typename op::result>,
                "tenon: a mapped function returns an element type");
  detail::check_called_by_kernels<typename pointwise_of<op, Operands...>::space, Function,
                                  compute_type<typename node_of<Operands>::element>...>();
  return make_pointwise(op{std::move(function)}, std::forward<Operands>(operands)...);
}

}  // namespace tenon
