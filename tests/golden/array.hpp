// tests/golden/array.hpp: an array whose element type and rank are data; cases arrive in this form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tenon/core/tensor.hpp>
#include <tuple>
#include <vector>

namespace golden {

namespace tn = tenon;
using tn::index;

/// Row-major elements of the type named `dtype`, as NumPy names it.
struct array {
  std::string dtype;
  std::vector<index> extents;
  std::vector<std::byte> bytes;

  int rank() const { return static_cast<int>(extents.size()); }
  index size() const {
    index product = 1;
    for (const index extent : extents) product *= extent;
    return product;
  }
  template <class T>
  const T* elements() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

/// Element types, of which data choose one.
template <class... Types>
struct type_list {};
inline constexpr type_list<float, double, tn::half, tn::bfloat16> float_types;
inline constexpr type_list<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                           std::uint32_t, std::uint64_t>
    integer_types;
template <class... Left, class... Right>
constexpr type_list<Left..., Right...> operator+(type_list<Left...>, type_list<Right...>) {
  return {};
}
inline constexpr auto number_types = float_types + integer_types;
inline constexpr auto all_types = number_types + type_list<bool>{};

/// Calls `body.operator()<T>()` with that of `Types` which is called `name`.
/// throws    dtype_error when none is
template <class... Types, class Body>
auto with_type(std::string_view name, Body body) {
  using first = std::tuple_element_t<0, std::tuple<Types...>>;
  decltype(body.template operator()<first>()) result {};
  const bool found = ((name == tn::dtype_name<Types>() && (result = body.template operator()<Types>(), true)) || ...);
  if (!found) throw tn::dtype_error(tn::compose_text("element type ", name, " is not among those compiled in"));
  return result;
}
template <class... Types, class Body>
auto with_type(type_list<Types...>, std::string_view name, Body body) {
  return with_type<Types...>(name, body);
}

/// How many axes a tensor of a case has: leading ones of extent 1 stand for those that are absent.
inline constexpr int all_ranks = 6;
using extents_type = tn::rank<all_ranks>;
template <class T, class Space>
using tensor = tn::tensor<T, extents_type, Space>;

/// throws    shape_error when there are more axes than compiled in
template <int Rank = all_ranks>
tn::rank<Rank> padded_extents(const std::vector<index>& extents) {
  if (extents.size() > Rank) {
    throw tn::shape_error(tn::compose_text(extents.size(), " axes, expected at most ", Rank));
  }
  auto padded = tn::filled_array<Rank>(index{1});
  std::copy_backward(extents.begin(), extents.end(), padded.begin() + Rank);
  return tn::rank<Rank>(padded);
}

/// The elements as a tensor of `Rank` axes.
template <class T, class Space, int Rank = all_ranks>
auto tensor_of(const array& source) {
  if (source.dtype != tn::dtype_name<T>()) {
    throw tn::dtype_error(tn::compose_text("element type ", source.dtype, ", expected ", tn::dtype_name<T>()));
  }
  tn::tensor<T, tn::rank<Rank>, Space> result(padded_extents<Rank>(source.extents));
  Space::copy_from_host(result.data(), source.bytes.data(), source.bytes.size());
  return result;
}

/// The elements of a tensor under `extents`.
template <class T, class Shape, class Space>
array array_of(const tn::tensor<T, Shape, Space>& elements, std::vector<index> extents) {
  array result{tn::dtype_name<T>(), std::move(extents), {}};
  result.bytes.resize(static_cast<std::size_t>(result.size()) * sizeof(T));
  if (result.size() != elements.size()) {
    throw tn::shape_error(tn::compose_text(elements.size(), " elements under extents ", result.extents));
  }
  Space::copy_to_host(result.bytes.data(), elements.data(), result.bytes.size());
  return result;
}

/// The elements of a tensor under the last `rank` of its extents.
template <class T, class Shape, class Space>
array array_of(const tn::tensor<T, Shape, Space>& elements, int rank) {
  const auto extents = elements.shape().to_array();
  return array_of(elements, std::vector<index>(extents.end() - rank, extents.end()));
}

}  // namespace golden
