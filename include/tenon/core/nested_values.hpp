// tenon/core/nested_values.hpp: values in braces within braces, as matrices are written: {{1, 2}, {3, 4}}.
// Braces hold values, one pair for each axis; extents stand in parentheses.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <tenon/base/dtype.hpp>
#include <tenon/core/extents.hpp>

namespace tenon::detail {

template <class T, class Number>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_number(const char* operation, Number number) {
  throw dtype_error(compose_text(operation, ": number ", number, ", expected ", lowest_value<T>(), " to ",
                                 highest_value<T>(), " (elements of ", dtype_name<T>(), ")"));
}
/// Whether the integer type T has this number, an integer too.
template <class T, class Number>
TENON_INLINE constexpr bool is_held_by(Number number) {
  const T held = static_cast<T>(number);
  const auto is_negative = [](auto x) { return std::is_signed_v<decltype(x)> && static_cast<std::int64_t>(x) < 0; };
  return static_cast<Number>(held) == number && is_negative(held) == is_negative(number);
}

/// A number in braces, as an element.
/// throws    dtype_error where integers of type T do not hold the number
template <dtype T>
struct listed_value {
  T value;

  template <dtype Number>
    requires std::convertible_to<Number, T>
  constexpr listed_value(Number number)
      : value(static_cast<T>(static_cast<std::conditional_t<is_short_float<T>, float, T>>(number))) {
    constexpr bool is_count = std::is_integral_v<Number> && sizeof(Number) > sizeof(int) && is_floating<T>;
    constexpr bool has_fraction = std::is_floating_point_v<Number> && std::is_integral_v<T>;
    static_assert(!is_count || must_hold<T, Number>,
                  "tenon: braces hold a tensor's values; counts are extents and stand in parentheses, as in x(count) "
                  "or x({rows, columns})");
    static_assert(!has_fraction || must_hold<T, Number>, "tenon: a tensor of integers takes no values with fractions");
    if constexpr (is_integer<T> && is_integer<Number> && !std::is_same_v<T, Number>) {
      if (!is_held_by<T>(number)) refuse_number<T>("tensor", number);
    }
  }
  /// An expression without axes, as `sum(x)`.
  template <class Number>
    requires(Number::shape_type::rank == 0)
  constexpr listed_value(const Number& number) : listed_value(static_cast<typename Number::element>(number)) {}
};

template <class T, int Rank>
struct nested_list {
  using type = std::initializer_list<typename nested_list<T, Rank - 1>::type>;
};
template <class T>
struct nested_list<T, 0> {
  using type = listed_value<T>;
};
/// Lists of lists, one within the other for each axis.
template <class T, int Rank>
using nested_values = typename nested_list<T, Rank>::type;

/// Notes how long the lists are along `Axis` and the axes behind it, where `extents` is not `dyn` already.
template <int Axis, int Rank, class List>
constexpr void measure_lists(const List& list, array<index, Rank>& extents) {
  const index count = static_cast<index>(list.size());
  if (extents[Axis] == dyn) extents[Axis] = count;
  if (extents[Axis] != count) {
    throw shape_error(compose_text("tensor: values: axis ", Axis, ": lists of ", extents[Axis], " and of ", count,
                                   ", expected equally long ones; extents stand in parentheses"));
  }
  if constexpr (Axis + 1 < Rank) {
    for (const auto& each : list) measure_lists<Axis + 1>(each, extents);
  }
}

/// The extents that nested lists have.
/// throws    shape_error where lists of one axis differ in length
template <int Rank, class List>
constexpr array<index, Rank> extents_of_lists(const List& list) {
  array<index, Rank> extents = filled_array<Rank>(dyn);
  measure_lists<0>(list, extents);
  for (index& extent : extents) extent = extent == dyn ? 0 : extent;  // within lists that are empty
  return extents;
}

/// Writes the values of nested lists one after another; returns where the next would go.
template <class T>
constexpr T* copy_values(const listed_value<T>& each, T* to) {
  *to = each.value;
  return to + 1;
}
template <class T, class List>
constexpr T* copy_values(const std::initializer_list<List>& list, T* to) {
  for (const List& each : list) to = copy_values(each, to);
  return to;
}

}  // namespace tenon::detail
