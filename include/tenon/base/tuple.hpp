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

/// As `std::is_trivially_copyable_v`, without the classes that it makes of each type.
template <class T>
inline constexpr bool is_copied_as_bytes = __is_trivially_copyable(T);

/// Only what is empty shares its place. In the padding of a tuple within a tuple nothing else lies: nvcc 13 copies the
/// inner one with its padding, and so would overwrite that.
template <int I, class T>
struct tuple_element {
  T value;
};
template <int I, class T>
  requires(std::is_empty_v<T>)
struct tuple_element<I, T> {
  [[no_unique_address]] T value;
  constexpr tuple_element() = default;
  TENON_HOST_DEVICE TENON_INLINE constexpr tuple_element(const T& given) : value(given) {}  // clang++ 18 fails without
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
  requires(detail::is_copied_as_bytes<Ts> && ...)
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

/// `body(values...)` of a tuple; on the host only, where lambdas need no marks. Numbers and types are deduced from what
/// the tuple is made of, as a function that would name each value is one more for each tuple.
template <class Body, int... I, class... Ts>
TENON_INLINE constexpr decltype(auto) apply_tuple(
    Body&& body, const detail::tuple_base<std::integer_sequence<int, I...>, Ts...>& values) {
  return body(static_cast<const detail::tuple_element<I, Ts>&>(values).value...);
}
template <class Body, int... I, class... Ts>
TENON_INLINE constexpr decltype(auto) apply_tuple(Body&& body,
                                                  detail::tuple_base<std::integer_sequence<int, I...>, Ts...>& values) {
  return body(static_cast<detail::tuple_element<I, Ts>&>(values).value...);
}

/// A copy of a tuple, value by value: as one block, what was just written in small pieces would be read in large ones,
/// for which processors wait; values stay in registers.
template <int... I, class... Ts>
TENON_INLINE constexpr tuple<Ts...> copy_values(
    const detail::tuple_base<std::integer_sequence<int, I...>, Ts...>& values) {
  return {{{static_cast<const detail::tuple_element<I, Ts>&>(values).value}...}};
}

}  // namespace tenon

/// `auto [first, second] = ...` of a tuple.
template <class... Ts>
struct std::tuple_size<tenon::tuple<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};
template <std::size_t I, class... Ts>
struct std::tuple_element<I, tenon::tuple<Ts...>> {
  using type = std::remove_cvref_t<decltype(tenon::get<static_cast<int>(I)>(std::declval<tenon::tuple<Ts...>&>()))>;
};
