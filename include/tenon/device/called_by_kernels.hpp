// tenon/device/called_by_kernels.hpp: refuses functions of users that kernels could not call.
// Between headers nvcc says nothing of such a call and leaves it out; in a `__global__` function it is an error.
// Floor 1: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <type_traits>

namespace tenon {

struct cuda;

namespace detail {

#if defined(__CUDACC__)
// Kernels that nobody launches: their names stand in nvcc's error, so each is a sentence.

template <class Function, class... Numbers>
__global__ void function_of_map_or_reduce_needs_TENON_HOST_DEVICE(const Function* function, const Numbers*... numbers) {
  static_cast<void>((*function)(*numbers...));
}

template <class Monoid, class State, class Number, class Result>
__global__ void monoid_of_reduce_needs_TENON_HOST_DEVICE(State* state, const Number* value, index position) {
  *state = Monoid::combine(Monoid::template identity<State>(), Monoid::template lift<State>(*value, position));
  static_cast<void>(Monoid::template finish<Result>(*state, position));
}
#endif

/// Does not compile where kernels of `Space` cannot call a function with `Numbers`. cost: nothing at run time
template <class Space, class Function, class... Numbers>
constexpr void check_called_by_kernels() {
  if constexpr (std::is_same_v<Space, cuda>) {
    static_assert(!std::is_pointer_v<Function> || must_hold<Function>,
                  "tenon: a pointer to a function is the host's; for CUDA write a struct whose operator() is "
                  "TENON_HOST_DEVICE");
#if defined(__CUDACC__)
    [[maybe_unused]] constexpr auto called = &function_of_map_or_reduce_needs_TENON_HOST_DEVICE<Function, Numbers...>;
#endif
  }
}

/// The same for a monoid that folds values of `Number`.
template <class Space, class Monoid, class State, class Number, class Result>
constexpr void check_folded_by_kernels() {
#if defined(__CUDACC__)
  if constexpr (std::is_same_v<Space, cuda>) {
    [[maybe_unused]] constexpr auto called = &monoid_of_reduce_needs_TENON_HOST_DEVICE<Monoid, State, Number, Result>;
  }
#endif
}

}  // namespace detail

}  // namespace tenon
