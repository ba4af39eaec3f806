// tests/conformance/pointwise.hpp: entries of pointwise operations.
// Operands become tensors of six axes that broadcast together; the function is Tenon's, or composes several of Tenon's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>
#include <tuple>
#include <utility>

#include "conformance/operations.hpp"

namespace conformance {

/// The rank of a broadcast of all inputs.
inline int broadcast_rank(const call& from) {
  int rank = 0;
  for (const auto& input : from.inputs) rank = std::max(rank, input ? input->rank() : 0);
  return rank;
}

namespace detail {
template <class Function, class... Operands>
auto apply_to(const Function& function, const call& from, const Operands&... operands) {
  if constexpr (std::is_invocable_v<Function, const Operands&..., const call&>) {
    return function(operands..., from);
  } else {
    return function(operands...);
  }
}
}  // namespace detail

/// `function(x...)`, or `function(x..., call)`, of `Arity` inputs of one element type, one of `Types`.
template <class Space, int Arity, class... Types, class Function>
operation pointwise(Function function) {
  return [function](const call& from) {
    return with_type<Types...>(from.input(0).dtype, [&]<class T>() {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        const std::tuple operands{tensor_of<T, Space>(from.input(I))...};
        return evaluated<Space>(detail::apply_to(function, from, std::get<I>(operands)...), broadcast_rank(from));
      }(std::make_index_sequence<Arity>{});
    });
  };
}

template <class Space, int Arity, class... Types, class Function>
operation pointwise(type_list<Types...>, Function function) {
  return pointwise<Space, Arity, Types...>(function);
}

/// `function(x, y)` folded over any number of inputs of one element type.
template <class Space, class Function, class... Types>
operation folded(type_list<Types...>, Function function) {
  return [function](const call& from) {
    return with_type<Types...>(from.input(0).dtype, [&]<class T>() {
      array result = from.input(0);
      for (std::size_t i = 1; i < from.inputs.size(); ++i) {
        const auto left = tensor_of<T, Space>(result), right = tensor_of<T, Space>(from.input(i));
        result = evaluated<Space>(function(left, right), std::max(result.rank(), from.input(i).rank()));
      }
      return result;
    });
  };
}

}  // namespace conformance
