// tenon/expr/index_add.hpp: slices added up at the places that indices name, as an expression with gradients.
// It is what `take` is on the way back; so its own gradient is a `take`. algorithms/scatter.hpp runs it.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/views/take.hpp>

namespace tenon {

/// Names the operation in messages.
struct index_add_operation {
  static constexpr const char* name = "index_add";
};

namespace detail {

/// Extents of a source: as many slices as indices, and `wanted` along the other axes.
/// throws    shape_error naming the axis and both extents
template <int Axis, int Rank>
void check_added_extents(const array<index, Rank>& source, index count, const array<index, Rank>& wanted) {
  for (int each = 0; each < Rank; ++each) {
    const index expected = each == Axis ? count : wanted[each];
    if (source[each] == expected) continue;
    throw shape_error(compose_text("index_add: axis ", each, ": extent ", source[each], " of the source, expected ",
                                   expected, each == Axis ? " as there are indices" : " of the operand"));
  }
}

/// The sums of slices that have an index in common, at that index of `extent` slices.
template <int Axis, class Indices, class Source>
auto added_at_indices(index extent, Indices&& indices, const Source& source) {
  constexpr int rank = Source::shape_type::rank;
  if (extent < 0) {
    throw shape_error(compose_text("index_add: axis ", Axis, ": extent ", extent, ", expected at least 0"));
  }
  const auto chosen = checked_indices<index_add_operation>(Axis, extent, std::forward<Indices>(indices));
  using index_shape = typename std::remove_cvref_t<decltype(chosen)>::shape_type;
  static_assert(index_shape::rank == 1 || must_hold<index_shape>, "tenon: the indices of slices have one axis");
  check_added_extents<Axis>(source.shape().to_array(), chosen.shape().extent(0), source.shape().to_array());
  using element = typename Source::element;
  using sum_type = std::conditional_t<is_floating<element>, compute_type<element>, element>;
  const auto sums = make_own_pass<sum_type>(gather_gradient_algorithm<Axis, 1>{take_map<Axis, 1>{extent}},
                                            with_extent<Axis>(source.shape(), extent), source,
                                            with_unit_axes<rank - 1 - Axis>(chosen));
  if constexpr (std::is_same_v<sum_type, element>) return sums;
  else return cast<element>(sums);
}

}  // namespace detail

/// Zeros with `extent` slices along `Axis`, to which slice i of `source` is added at `indices[i]`: sums of segments, or
/// of messages at the nodes of a graph. Negative indices count from the back.
/// extents   of source: the number of indices along the axis, which the result has `extent` of
/// types     the source's; sums of half and bfloat16 are made in float
/// throws    shape_error; index_error when the expression is made with an index outside the axis
/// cost      two reductions of the indices and a wait, unless they are `trusted`; a pass over the source
/// gradient  that of the result, taken at the indices
/// example   traced sums = index_add(axis<0>, nodes, receivers, messages);
template <int Axis, class Indices, tensor_operand Source>
auto index_add(axis_list<Axis>, index extent, Indices&& indices, Source&& source) {
  constexpr int along = only_axis<node_of<Source>::shape_type::rank>(axis_list<Axis>{});
  return detail::added_at_indices<along>(extent, std::forward<Indices>(indices), as_node(std::forward<Source>(source)));
}
/// The same added to an operand, which stays as it is: PyTorch's `x.index_add(dim, index, source)`.
/// extents   of source: the number of indices along the axis, the operand's elsewhere
/// types     promoted
/// example   traced y = index_add(axis<0>, x, rows, updates);
template <int Axis, tensor_operand Operand, class Indices, tensor_operand Source>
auto index_add(axis_list<Axis>, Operand&& operand, Indices&& indices, Source&& source) {
  constexpr int rank = node_of<Operand>::shape_type::rank, along = only_axis<rank>(axis_list<Axis>{});
  static_assert(rank == node_of<Source>::shape_type::rank || must_hold<Operand, Source>,
                "tenon: operand and source of index_add have the same number of axes");
  const auto added = as_node(std::forward<Source>(source));
  const auto before = as_node(std::forward<Operand>(operand));
  const auto extents = before.shape().to_array();
  detail::check_added_extents<along>(added.shape().to_array(), added.shape().extent(along), extents);
  return before + detail::added_at_indices<along>(extents[along], std::forward<Indices>(indices), added);
}

}  // namespace tenon
