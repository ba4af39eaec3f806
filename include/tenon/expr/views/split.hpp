// tenon/expr/views/split.hpp: an axis cut into parts.
// Each part is a slice; those of a tensor can be assigned to.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/expr/views/index_map.hpp>

namespace tenon {

namespace detail {

/// What the parts of an operand are made of: a view of a tensor that lives on, else a node.
template <class Operand>
constexpr auto divisible(Operand&& operand) {
  if constexpr (is_tensor<std::remove_cvref_t<Operand>> && std::is_lvalue_reference_v<Operand>) {
    return operand.view();
  } else if constexpr (is_view<std::remove_cvref_t<Operand>>) {
    return operand;
  } else {
    return as_node(std::forward<Operand>(operand));
  }
}

template <int Axis, index Static, class Operand>
constexpr auto part_of_axis(Operand&& operand, index begin, index count) {
  const auto extents = with_extent<Axis, Static>(operand.shape(), count);
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  auto map = identity_map<rank>();
  map.start[Axis] = count == 0 ? 0 : begin;
  return make_index_map<same_moved_axes<rank>>(std::forward<Operand>(operand), extents, map);
}

constexpr index part_extent(index whole, index parts) { return whole == dyn ? dyn : whole / parts; }

}  // namespace detail

/// `count` positions along one axis, from `begin` on; the other static extents stay.
/// throws    index_error when the axis has no such positions
/// example   y = narrow(x, axis<0>, 1, 2);
template <tensor_operand Operand, int Axis>
constexpr auto narrow(Operand&& operand, axis_list<Axis>, index begin, index count) {
  constexpr int position = only_axis<std::remove_cvref_t<Operand>::shape_type::rank>(axis_list<Axis>{});
  const index extent = operand.shape().extent(position);
  if (begin < 0 || count < 0 || begin > extent || count > extent - begin) {
    throw index_error(compose_text("narrow: axis ", position, ": ", count, " positions from ", begin,
                                   ", expected within the extent ", extent));
  }
  return detail::part_of_axis<position, dyn>(std::forward<Operand>(operand), begin, count);
}

/// One axis cut into `Parts` equal parts.
/// throws    shape_error when the extent is no multiple of `Parts`
/// example   const auto [query, key, value] = split<3>(projected, axis<-1>);
template <int Parts, tensor_operand Operand, int Axis>
constexpr auto split(Operand&& operand, axis_list<Axis>) {
  static_assert(Parts >= 1, "tenon: split makes at least one part");
  using shape_type = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int position = only_axis<shape_type::rank>(axis_list<Axis>{});
  constexpr index known = shape_type::static_extent(position);
  static_assert(known == dyn || known % Parts == 0, "tenon: split cuts an axis into equal parts");
  const index extent = operand.shape().extent(position), length = extent / Parts;
  if (extent % Parts != 0) {
    throw shape_error(compose_text("split: axis ", position, ": extent ", extent, ", expected a multiple of ", Parts));
  }
  const auto whole = detail::divisible(std::forward<Operand>(operand));
  constexpr index part = detail::part_extent(known, Parts);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return std::array{detail::part_of_axis<position, part>(whole, I * length, length)...};
  }(std::make_integer_sequence<int, Parts>{});
}

/// One axis cut into parts of the given lengths.
/// throws    shape_error when the lengths do not add up to the extent
/// example   const auto [image, label] = split(rows, axis<1>, {784, 10});
template <tensor_operand Operand, int Axis, std::size_t Parts>
constexpr auto split(Operand&& operand, axis_list<Axis>, const index (&lengths)[Parts]) {
  constexpr int position = only_axis<std::remove_cvref_t<Operand>::shape_type::rank>(axis_list<Axis>{});
  const index extent = operand.shape().extent(position);
  array<index, Parts> begins{};
  checked_extent total = 0;
  for (index part = 0; part < static_cast<index>(Parts); ++part) {
    begins[part] = total.value(), total = total + lengths[part];
  }
  if (!total.fits() || total.value() != extent) {
    throw shape_error(compose_text("split: axis ", position, ": lengths add up to ",
                                   total.fits() ? std::to_string(total.value()) : "more than 64 bits",
                                   ", expected the extent ", extent));
  }
  const auto whole = detail::divisible(std::forward<Operand>(operand));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{narrow(whole, axis<position>, begins[I], lengths[I])...};
  }(std::make_index_sequence<Parts>{});
}

}  // namespace tenon
