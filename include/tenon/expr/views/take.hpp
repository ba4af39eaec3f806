// tenon/expr/views/take.hpp: elements chosen by indices that are elements themselves.
// Indices are checked when the expression is made, by their least and greatest, so that loops and kernels need not.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/remap.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

/// Reads `Axis` of the operand at the index given; the result has `IndexRank` axes in its place.
template <int Axis, int IndexRank>
struct take_map {
  index extent;

  static constexpr bool moves_in_runs(int rank) { return Axis + IndexRank < rank; }  // of the result: its last is kept
  static constexpr index run_length(index, int axis) { return axis < Axis + IndexRank ? 1 : INT64_MAX; }
  template <int Rank>
  TENON_HOST_DEVICE constexpr auto operator()(const array<index, Rank>& position, index chosen) const {
    array<index, Rank - IndexRank + 1> result{};
    for (int axis = 0; axis < result.size(); ++axis) {
      if (axis != Axis) result[axis] = position[axis < Axis ? axis : axis + IndexRank - 1];
    }
    result[Axis] = chosen < 0 ? chosen + extent : chosen;
    return result;
  }
};

/// The gradient of what `take` or `take_along_axis` chose from: gradients added up where the indices point, elsewhere
/// zero. Its operands are the gradient of the result and the indices.
template <int Axis, int IndexRank>
struct gather_gradient_algorithm {
  static constexpr const char* name = "scatter_add";
  take_map<Axis, IndexRank> map;

  bool operator==(const gather_gradient_algorithm& other) const { return map.extent == other.map.extent; }
  template <class... Others>
  void operator()(const Others&...) const {
    static_assert(must_hold<Others...>,
                  "tenon: to run gradients of take and of scans include <tenon/algorithms/scatter.hpp> or "
                  "<tenon/tenon.hpp>");
  }
};

/// Indices that the caller vouches for.
template <class Node>
struct trusted_indices {
  Node node;
};
/// Indices that `take` and `take_along_axis` use without looking at them first, which would cost two reductions and a
/// wait. An index outside [-extent, extent) then reads memory that is not the operand's; where TENON_CHECKED is 1 they
/// are looked at.
template <tensor_operand Operand>
constexpr auto trusted(Operand&& indices) {
  return trusted_indices<node_of<Operand>>{as_node(std::forward<Operand>(indices))};
}

/// Names the operations in messages.
struct take_operation {
  static constexpr const char* name = "take";
};
struct take_along_axis_operation {
  static constexpr const char* name = "take_along_axis";
};

namespace detail {

/// An integer as an index; the greatest index in place of one beyond.
template <class Integer>
constexpr index nearest_index(Integer number) {
  if constexpr (std::is_unsigned_v<Integer> && sizeof(Integer) == sizeof(index)) {
    if (number > Integer{highest_value<index>()}) return highest_value<index>();
  }
  return static_cast<index>(number);
}

template <class Operation, class Node>
constexpr void check_indices(int axis, index extent, const Node& indices) {
  using element = typename Node::element;
  static_assert(is_integer<element>, "tenon: indices are integers");
  if (indices.shape().count() == 0) return;
  const auto least = static_cast<element>(min(indices)), greatest = static_cast<element>(max(indices));
  const bool is_below = nearest_index(least) < -extent;
  if (!is_below && nearest_index(greatest) < extent) return;
  throw index_error(compose_text(Operation::name, ": axis ", axis, ": index ", is_below ? least : greatest,
                                 ", expected at least ", -extent, " and below ", extent));
}

/// The node of some indices, looked at unless they are trusted.
template <class Operation, tensor_operand Indices>
constexpr auto checked_indices(int axis, index extent, Indices&& indices) {
  auto node = as_node(std::forward<Indices>(indices));
  check_indices<Operation>(axis, extent, node);
  return node;
}
template <class Operation, class Node>
Node checked_indices([[maybe_unused]] int axis, [[maybe_unused]] index extent, const trusted_indices<Node>& indices) {
  static_assert(is_integer<typename Node::element>, "tenon: indices are integers");
  if constexpr (TENON_CHECKED != 0) check_indices<Operation>(axis, extent, indices.node);
  return indices.node;
}

/// The operand's shape, axis `Axis` replaced by the axes of the indices.
template <int Axis, class Shape, class IndexShape>
constexpr auto taken_shape(const Shape& operand, const IndexShape& indices) {
  constexpr int count = IndexShape::rank, rank = Shape::rank - 1 + count;
  constexpr auto of_indices = [](int axis) { return axis >= Axis && axis < Axis + count; };
  constexpr auto source = [](int axis) { return axis < Axis ? axis : axis - count + 1; };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<(of_indices(I) ? IndexShape::static_extent(I - Axis) : Shape::static_extent(source(I)))...>(
        array<index, rank>{{(of_indices(I) ? indices.extent(I - Axis) : operand.extent(source(I)))...}});
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace detail

/// The parts of `operand` at `indices` along one axis. Negative indices count from the back.
/// extents   the operand's, that axis replaced by the axes of the indices (numpy.take)
/// types     the operand's; indices of any integer type
/// throws    index_error when the expression is made with an index outside the axis; indices that change between then
///           and the statement are not looked at again
/// cost      two reductions of the indices and a wait, unless they are `trusted`
/// example   y = take(x, rows, axis<0>);
template <tensor_operand Operand, class Indices, int Axis>
constexpr auto take(Operand&& operand, Indices&& indices, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int position = only_axis<rank>(axis_list<Axis>{});
  const index extent = operand.shape().extent(position);
  const auto chosen = detail::checked_indices<take_operation>(position, extent, std::forward<Indices>(indices));
  const auto extents = detail::taken_shape<position>(operand.shape(), chosen.shape());
  using map = take_map<position, std::remove_cvref_t<decltype(chosen)>::shape_type::rank>;
  return make_remap(map{extent}, extents, as_node(std::forward<Operand>(operand)),
                    with_unit_axes<rank - 1 - position>(chosen));
}

/// Element i along one axis is the operand's at indices[..., i, ...]: what argmax and sorting give picks elements.
/// extents   the indices' along that axis; along the others both broadcast (numpy.take_along_axis)
/// throws    shape_error where extents do not broadcast; index_error as `take` does
/// example   y = take_along_axis(x, places, axis<1>);
template <tensor_operand Operand, class Indices, int Axis>
constexpr auto take_along_axis(Operand&& operand, Indices&& indices, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int position = only_axis<rank>(axis_list<Axis>{});
  const auto source = as_node(std::forward<Operand>(operand));
  const index extent = source.shape().extent(position);
  const auto chosen =
      detail::checked_indices<take_along_axis_operation>(position, extent, std::forward<Indices>(indices));
  static_assert(std::remove_cvref_t<decltype(chosen)>::shape_type::rank == rank,
                "tenon: take_along_axis needs indices of the operand's rank");
  const auto others = broadcast_extents<take_along_axis_operation>(with_extent<position, 1>(source.shape()),
                                                                   with_extent<position, 1>(chosen.shape()));
  return make_remap(take_map<position, 1>{extent}, with_extent<position>(others, chosen.shape().extent(position)),
                    broadcast_to(source, with_extent<position>(others, extent)), chosen);
}

}  // namespace tenon
