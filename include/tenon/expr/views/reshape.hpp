// tenon/expr/views/reshape.hpp: the same elements under other extents.
// Of contiguous elements it is a view; of an expression each position is renumbered in row-major order.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/index_map.hpp>
#include <tenon/expr/views/remap.hpp>

namespace tenon {

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_reshape(extents_view extents, index count, index elements,
                                                                  extents_view operand) {
  throw shape_error(compose_text("reshape: extents ", extents, " hold ", count, " elements, expected ", elements,
                                 " (operand ", operand, ")"));
}
template <shape_type Shape, int Rank>
constexpr void check_reshape(const Shape& extents, index elements, const array<index, Rank>& operand) {
  const index count = extents.count();
  if (count == elements) return;
  const auto all = extents.to_array();
  refuse_reshape({all.begin(), Shape::rank}, count, elements, {operand.begin(), Rank});
}

/// Replaces an extent of -1 by what the others leave of `elements`.
[[gnu::noinline]] inline void infer_extent(index* extents, int rank, index elements) {
  index known = 1;
  int inferred = -1;
  bool fits = true;
  for (int axis = 0; axis < rank; ++axis) {
    if (extents[axis] == -1) fits = fits && inferred < 0, inferred = axis;
    else fits = multiply(known, extents[axis]) && fits;
  }
  if (inferred < 0) return;
  if (!fits || known <= 0 || elements % known != 0) {
    throw shape_error(compose_text("reshape: extents ", extents_view{extents, rank}, " of ", elements,
                                   " elements, expected at most one -1, and a multiple of the other extents"));
  }
  extents[inferred] = elements / known;
}
/// The shape that braces list for so many elements.
template <int Rank>
rank<Rank> inferred_shape(const listed_extent (&extents)[Rank], index elements) {
  array<index, Rank> values{};
  for (int axis = 0; axis < Rank; ++axis) values[axis] = extents[axis].value;
  infer_extent(values.begin(), Rank, elements);
  return rank<Rank>(values);
}

}  // namespace detail

/// A contiguous view under other extents.
/// throws    shape_error when the number of elements differs or the elements are not contiguous
/// example   y = reshape(x, {2, -1});
template <class T, shape_type Old, memory_space Space, shape_type New>
constexpr view<T, New, Space> reshape(const view<T, Old, Space>& operand, const New& extents) {
  detail::check_reshape(extents, operand.size(), operand.shape().to_array());
  if (!is_contiguous(operand.shape().to_array(), operand.strides())) {
    throw shape_error(compose_text("reshape: operand: strides ", operand.strides(), " of extents ",
                                   operand.shape().to_array(), " are not contiguous; evaluate it into a tensor first"));
  }
  return {operand.data(), extents};
}

template <class T, shape_type Old, memory_space Space, shape_type New>
constexpr view<T, New, statement_space<Space>> reshape(tensor<T, Old, Space>& operand TENON_LIFETIMEBOUND,
                                                       const New& extents) {
  return reshape(operand.view(), extents);
}
template <class T, shape_type Old, memory_space Space, shape_type New>
constexpr view<const T, New, statement_space<Space>> reshape(const tensor<T, Old, Space>& operand TENON_LIFETIMEBOUND,
                                                             const New& extents) {
  return reshape(operand.view(), extents);
}

/// The number of a position, in row-major order, taken apart by other extents.
template <int Rank, int OperandRank>
struct renumber_map {
  array<index, Rank> strides;
  array<index, OperandRank> extents;

  static constexpr bool moves_in_runs(int) { return true; }
  TENON_HOST_DEVICE constexpr array<index, OperandRank> operator()(const array<index, Rank>& position) const {
    index number = 0;
    for (int axis = 0; axis < Rank; ++axis) number += position[axis] * strides[axis];
    array<index, OperandRank> result{};
    for (int axis = OperandRank - 1; axis > 0; --axis) {
      result[axis] = number % extents[axis];
      number /= extents[axis];
    }
    if (OperandRank > 0) result[0] = number;
    return result;
  }
};

/// An expression or a temporary under other extents.
/// throws    shape_error when the number of elements differs
/// cost      a division per axis and element; none for a tensor or a contiguous view
template <class Operand, shape_type New>
  requires(expression<std::remove_cvref_t<Operand>> ||
           (detail::is_tensor<std::remove_cvref_t<Operand>> && !std::is_lvalue_reference_v<Operand>))
constexpr auto reshape(Operand&& operand, const New& extents) {
  const auto old = operand.shape().to_array();
  detail::check_reshape(extents, operand.shape().count(), old);
  return make_remap(renumber_map<New::rank, old.size()>{row_major_strides(extents.to_array()), old}, extents,
                    as_node(std::forward<Operand>(operand)));
}

/// The same with extents in braces, `reshape(x, {3, -1})`: a -1 stands for what the others leave.
/// throws    shape_error where that is no whole number
template <tensor_operand Operand, int Rank>
constexpr auto reshape(Operand&& operand, const listed_extent (&extents)[Rank]) {
  return reshape(std::forward<Operand>(operand), detail::inferred_shape(extents, operand.shape().count()));
}

namespace detail {

/// The shape whose axes `First` to `Last` are one.
template <int First, int Last, class Shape>
constexpr auto flattened_shape(const Shape& extents) {
  static_assert(First <= Last, "tenon: flatten joins axes from a first to a last one");
  constexpr auto known = [](int axis) {
    if (axis != First) return Shape::static_extent(axis < First ? axis : axis + Last - First);
    index product = 1;
    for (int joined = First; joined <= Last; ++joined) {
      const index extent = Shape::static_extent(joined);
      product = product == dyn || extent == dyn ? dyn : product * extent;
    }
    return product;
  };
  constexpr int rank = Shape::rank - (Last - First);
  array<index, rank> joined{};
  for (int axis = 0; axis < rank; ++axis) joined[axis] = extents.extent(axis < First ? axis : axis + Last - First);
  for (int axis = First; axis < Last; ++axis) joined[First] *= extents.extent(axis);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<known(I)...>(joined);
  }(std::make_integer_sequence<int, rank>{});
}

}  // namespace detail

/// The axes from `First` to `Last`, both included, as one.
/// throws    shape_error for a view whose elements are not contiguous
/// cost      as of `reshape`
/// example   const auto line = evaluated_tensor(flatten(x, axis<0, 1>));
template <tensor_operand Operand, int First, int Last>
constexpr auto flatten(Operand&& operand, axis_list<First, Last>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  constexpr int first = only_axis<rank>(axis_list<First>{}), last = only_axis<rank>(axis_list<Last>{});
  const auto extents = detail::flattened_shape<first, last>(operand.shape());
  return reshape(std::forward<Operand>(operand), extents);
}

/// One axis as two, the outer one of `outer` blocks: [..., n, ...] becomes [..., outer, n / outer, ...].
/// throws    shape_error when the extent is no multiple of `outer`
/// cost      none of its own: strides change, of any view and expression
/// example   unflatten(y, axis<1>, groups) = standardise(unflatten(x, axis<1>, groups), axis<2, 3>);
template <tensor_operand Operand, int Axis>
constexpr auto unflatten(Operand&& operand, axis_list<Axis> axes, index outer) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank + 1, split = only_axis<rank - 1>(axis_list<Axis>{});
  (void)axes;
  const index extent = operand.shape().extent(split);
  if (outer < 1 || extent % outer != 0) {
    throw shape_error(compose_text("unflatten: axis ", split, ": extent ", extent, ", expected a multiple of ", outer,
                                   " (operand ", operand.shape().to_array(), ")"));
  }
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<(I == split || I == split + 1 ? dyn : old_shape::static_extent(I - (I > split)))...>;
    array<index, rank> extents{{operand.shape().extent(I - (I > split))...}};
    axis_map<rank - 1, rank> map{{}, {{I - (I > split)...}}, filled_array<rank>(index{1})};
    extents[split] = outer;
    extents[split + 1] = map.step[split] = extent / outer;
    return make_index_map<divided_axes>(std::forward<Operand>(operand), new_shape(extents), map);
  }(std::make_integer_sequence<int, rank>{});
}

/// All axes as one.
template <tensor_operand Operand>
constexpr auto flatten(Operand&& operand) {
  return flatten(std::forward<Operand>(operand), axis<0, -1>);
}

namespace detail {

template <class Shape, int Position, class Sequence = std::make_integer_sequence<int, Shape::rank + 1>>
struct inserted_shape;
template <class Shape, int Position, int... I>
struct inserted_shape<Shape, Position, std::integer_sequence<int, I...>> {
  static constexpr index extent(int axis) {
    if (axis == Position) return 1;
    return Shape::static_extent(axis < Position ? axis : axis - 1);
  }
  using type = shape<extent(I)...>;
  using axes = renamed_axes<(I == Position ? -1 : I < Position ? I : I - 1)...>;
};

}  // namespace detail

/// An axis of extent 1 at position `Axis` of the result.
/// cost      none of its own: strides change
template <int Axis, tensor_operand Operand>
constexpr auto new_axis(Operand&& operand) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank + 1, position = normalise_axis(Axis, rank);
  static_assert(position >= 0 && position < rank, "tenon: an axis must lie in [-rank, rank)");
  axis_map<rank - 1, rank> map{};
  array<index, rank> extents{};
  for (int axis = 0; axis < rank; ++axis) {
    const int source = axis < position ? axis : axis - 1;
    map.target[axis] = axis == position ? -1 : source;
    map.step[axis] = axis == position ? 0 : 1;
    extents[axis] = axis == position ? 1 : operand.shape().extent(source);
  }
  using new_shape = typename detail::inserted_shape<old_shape, position>::type;
  return make_index_map<typename detail::inserted_shape<old_shape, position>::axes>(std::forward<Operand>(operand),
                                                                                    new_shape(extents), map);
}

/// `node` with `Count` more axes of extent 1 at the back.
template <int Count, class Node>
constexpr auto with_unit_axes(const Node& node) {
  if constexpr (Count == 0) return node;
  else return with_unit_axes<Count - 1>(new_axis<-1>(node));
}

namespace detail {

/// The axes that `removed` does not name, in order.
template <int Rank, int Kept>
constexpr array<int, Kept> kept_axes(const array<bool, Rank>& removed) {
  array<int, Kept> kept{};
  int next = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    if (!removed[axis]) kept[next++] = axis;
  }
  return kept;
}

template <class Shape, int... Axes>
constexpr void check_squeeze(const Shape& extents, axis_list<Axes...>) {
  static_assert(((Shape::static_extent(Axes) == 1 || Shape::static_extent(Axes) == dyn) && ...),
                "tenon: squeeze removes axes of extent 1");
  for (const int axis : array<int, sizeof...(Axes)>{{Axes...}}) {
    if (extents.extent(axis) != 1) {
      throw shape_error(compose_text("squeeze: axis ", axis, ": extent ", extents.extent(axis),
                                     ", expected 1 (operand ", extents.to_array(), ")"));
    }
  }
}

}  // namespace detail

/// The operand without the named axes, which must have extent 1.
/// throws    shape_error naming an axis of another extent
/// cost      none of its own
/// example   const auto line = evaluated_tensor(squeeze(row, axis<0>));
template <tensor_operand Operand, int... Axes>
constexpr auto squeeze(Operand&& operand, axis_list<Axes...> axes) {
  using old_shape = typename std::remove_cvref_t<Operand>::shape_type;
  constexpr int rank = old_shape::rank;
  constexpr auto removed = axis_set<rank>(axis_list<Axes...>{});
  constexpr int kept_rank = [&removed] {
    int count = 0;
    for (const bool each : removed) count += each ? 0 : 1;
    return count;
  }();
  (void)axes;
  detail::check_squeeze(operand.shape(), axis_list<normalise_axis(Axes, rank)...>{});
  constexpr auto kept = detail::kept_axes<rank, kept_rank>(removed);
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using new_shape = shape<old_shape::static_extent(kept[I])...>;
    const new_shape extents(array<index, kept_rank>{operand.shape().extent(kept[I])...});
    const axis_map<rank, kept_rank> map{{}, kept, filled_array<kept_rank>(index{1})};
    return make_index_map<renamed_axes<kept[I]...>>(std::forward<Operand>(operand), extents, map);
  }(std::make_integer_sequence<int, kept_rank>{});
}

}  // namespace tenon
