// tenon/base/tuple.hpp: a trivially copyable tuple that kernels may carry.
// std::tuple is neither trivially copyable nor usable in a kernel without compiler flags.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <type_traits>
#include <utility>

namespace tenon {

namespace detail {

template <int I, class T>
struct tuple_element {
  [[no_unique_address]] T value;
};

template <class Sequence, class... Ts>
struct tuple_base;
template <int... I, class... Ts>
struct tuple_base<std::integer_sequence<int, I...>, Ts...> : tuple_element<I, Ts>... {};

}  // namespace detail

/// One value of each type; trivially copyable when they all are.
template <class... Ts>
struct tuple : detail::tuple_base<std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>, Ts...> {
  static constexpr int count = static_cast<int>(sizeof...(Ts));
};

/// A tuple that holds the values.
template <class... Ts>
constexpr tuple<Ts...> make_tuple_of(Ts... values) {
  return {{{std::move(values)}...}};
}
template <class... Ts>
  requires(std::is_trivially_copyable_v<Ts> && ...)
TENON_HOST_DEVICE constexpr tuple<Ts...> make_tuple_of(Ts... values) {
  return {{{values}...}};
}

/// The value at I of a tuple: of its part that holds it, so that all tuples with a T there share one function.
template <int I, class T>
TENON_HOST_DEVICE constexpr const T& get(const detail::tuple_element<I, T>& element) {
  return element.value;
}
template <int I, class T>
TENON_HOST_DEVICE constexpr T& get(detail::tuple_element<I, T>& element) {
  return element.value;
}
template <int I, class T>
TENON_HOST_DEVICE constexpr T&& get(detail::tuple_element<I, T>&& element) {
  return static_cast<T&&>(element.value);
}
template <int I, class T>
TENON_HOST_DEVICE constexpr const T&& get(const detail::tuple_element<I, T>&& element) {
  return static_cast<const T&&>(element.value);
}

/// `body(values...)` of a tuple; on the host only, where lambdas need no marks.
template <class Body, class... Ts>
TENON_INLINE constexpr decltype(auto) apply_tuple(Body&& body, const tuple<Ts...>& values) {
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) -> decltype(auto) {
    return body(get<I>(values)...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>{});
}
template <class Body, class... Ts>
TENON_INLINE constexpr decltype(auto) apply_tuple(Body&& body, tuple<Ts...>& values) {
  return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) -> decltype(auto) {
    return body(get<I>(values)...);
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Ts))>{});
}

}  // namespace tenon

/// `auto [first, second] = ...` of a tuple.
template <class... Ts>
struct std::tuple_size<tenon::tuple<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};
template <std::size_t I, class... Ts>
struct std::tuple_element<I, tenon::tuple<Ts...>> {
  using type = std::remove_cvref_t<decltype(tenon::get<static_cast<int>(I)>(std::declval<tenon::tuple<Ts...>&>()))>;
};
