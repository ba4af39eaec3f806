// tenon/algorithms/select.hpp: the elements, positions and slices that a condition chooses.
// True elements are counted in chunks first, so that each chunk knows where its own results begin.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/take.hpp>

namespace tenon {

/// The name of the operation in messages.
struct masked_select_operation {
  static constexpr const char* name = "masked_select";
};

/// Refuses, by a sentence, a mask whose elements are not bool.
template <class Mask>
consteval void mask_must_be_bool() {
  static_assert(std::is_same_v<typename node_of<Mask>::element, bool> || must_hold<Mask>,
                "tenon: a mask is of bool; compare what you have with something, x != 0");
}

namespace detail {

/// The positions of the true ones among `count` values that the host reaches.
template <class Space>
storage<index, Space> indices_where_on_host(const bool* values, index count) {
  constexpr index length = 1 << 14;
  const index chunks = (count + length - 1) / length;
  const auto end_of = [&](index chunk) { return (chunk + 1) * length < count ? (chunk + 1) * length : count; };
  storage<index, host> begins(chunks + 1);
  begins.data()[0] = 0;
  parallel_for(chunks, 1, [&](index first, index last) {
    for (index chunk = first; chunk < last; ++chunk) {
      index found = 0;
      for (index i = chunk * length; i < end_of(chunk); ++i) found += values[i] ? 1 : 0;
      begins.data()[chunk + 1] = found;
    }
  });
  for (index chunk = 0; chunk < chunks; ++chunk) begins.data()[chunk + 1] += begins.data()[chunk];
  storage<index, Space> places(begins.data()[chunks]);
  parallel_for(chunks, 1, [&](index first, index last) {
    for (index chunk = first; chunk < last; ++chunk) {
      index* place = places.data() + begins.data()[chunk];
      const index* end = places.data() + begins.data()[chunk + 1];
      for (index i = chunk * length; place != end; ++i) {  // without a branch: masks are hard to predict
        *place = i;
        place += values[i] ? 1 : 0;
      }
    }
  });
  return places;
}

template <class Source>
struct flag_of_number {
  Source source;
  TENON_HOST_DEVICE bool operator()(index number) const { return source[number]; }
};

/// The numbers of the true ones among elements that a device reads; `condition` is the same as an expression.
template <class Space, class Elements, class Condition>
storage<index, Space> indices_where_on_device(const Elements& elements, const Condition& condition) {
  const index found = sum(condition);
  storage<index, Space> places(found);
  if (found == 0) return places;
  const auto flags = in_order(elements);
  device_passes<Space>::indices_where(flag_of_number<std::remove_const_t<decltype(flags)>>{flags}, elements.size(),
                                      places.data());
  return places;
}

/// The numbers, in row-major order, of the true ones of a condition in `Space`; a pointwise one needs no memory there.
template <class Space, class Condition>
storage<index, Space> indices_where(const Condition& condition) {
  const auto node = as_node(condition);
  using node_type = std::remove_const_t<decltype(node)>;
  constexpr bool is_leaf = std::is_same_v<typename node_type::kind, leaf_kind>;
  if constexpr (!Space::host_accessible && stage_of<node_type>() == stage::pointwise && !is_leaf) {
    return indices_where_on_device<Space>(lazy_elements<node_type>{node}, node);
  } else {
    const tensor<bool, typename node_type::shape_type, Space> chosen(node);
    if constexpr (Space::host_accessible) return indices_where_on_host<Space>(chosen.data(), chosen.size());
    else return indices_where_on_device<Space>(chosen.view(), chosen);
  }
}

/// Copies the elements whose numbers stand at `places`.
template <class Source, class T>
struct copy_places {
  Source source;
  const index* places;
  T* target;
  TENON_HOST_DEVICE void operator()(index number) const { target[number] = source[places[number]]; }
};

/// The elements at `places` in row-major order.
template <class View>
auto elements_at(const View& elements, const index* places, index count) {
  using element = typename View::element;
  using space = typename View::space;
  tensor<element, rank<1>, space> result(rank<1>{count});
  const auto source = in_order(elements);
  for_each_number<space>(count, line_grain,
                         copy_places<std::remove_const_t<decltype(source)>, element>{source, places, result.data()});
  return result;
}

/// Copies, line after line, the elements of a source's lines that stand at `places`.
template <class Source, class Target>
struct copy_slices {
  Source source;
  Target target;
  const index* places;
  index length, kept;
  TENON_HOST_DEVICE void operator()(index number) const {
    target[number] = source[number / kept * length + places[number % kept]];
  }
};

/// The slices at `places` of an axis.
template <int Axis, class View>
auto slices_at(const View& elements, const index* places, index kept) {
  using space = typename View::space;
  const auto extents = with_extent<Axis>(elements.shape(), kept);
  tensor<typename View::element, std::remove_const_t<decltype(extents)>, space> result(extents);
  if constexpr (space::host_accessible) {
    const index step = elements.strides()[Axis], across = elements.strides()[beside_axis(View::rank, Axis)];
    for_each_line_block(extents.to_array(), Axis, 64, [&] {
      return [&](const array<index, View::rank>& position, index count) {
        const auto* from = elements.data() + elements.offset(position);
        visit_line_block(result.write_view(), Axis, position, count, [&](index line, index place, auto& element) {
          element = from[line * across + places[place] * step];
        });
      };
    });
  } else {
    const auto source = line_by_line(elements, Axis);
    const auto target = line_by_line(result.write_view(), Axis);
    using source_type = std::remove_const_t<decltype(source)>;
    using target_type = std::remove_const_t<decltype(target)>;
    for_each_number<space>(result.size(), line_grain,
                           copy_slices<source_type, target_type>{source, target, places, elements.extent(Axis), kept});
  }
  return result;
}

/// The slices of an operand with variables at `places` of an axis, as an expression.
template <int Axis, class Node, class Space>
auto expression_at(const Node& operand, const storage<index, Space>& places) {
  const rank<1> count(places.count());
  tensor<index, rank<1>, Space> chosen(count);
  chosen = view<const index, rank<1>, Space>(places.data(), count);
  return take(operand, trusted(std::move(chosen)), axis<Axis>);
}

/// All elements of a node in one line.
template <class Node>
auto in_one_line(const Node& node) {
  return reshape(node, rank<1>(node.shape().count()));
}

}  // namespace detail

/// The elements of `operand` where `mask` is true, in row-major order; both are broadcast together.
/// extents   [number of true elements of the mask]
/// throws    shape_error when run-time extents do not broadcast
/// cost      one pass over the mask, which is evaluated first, and one over the chosen elements; on a device two over
///           the mask; a pointwise mask is evaluated as it is read
/// gradient  for an operand with variables the result is an expression of the elements chosen at the call
/// example   const auto positive = masked_select(x, x > 0);
template <tensor_operand Operand, tensor_operand Mask>
auto masked_select(Operand&& operand, Mask&& mask) {
  mask_must_be_bool<Mask>();
  const auto extents = broadcast_extents<masked_select_operation>(operand.shape(), mask.shape());
  check_operand("masked_select", as_node(mask));
  const auto places = detail::indices_where<algorithm_space<Operand>>(broadcast_to(as_node(mask), extents));
  if constexpr (depends_on<any_variable, node_of<Operand>>) {
    return detail::expression_at<0>(detail::in_one_line(broadcast_to(as_node(operand), extents)), places);
  } else {
    const auto source = as_read("masked_select", std::forward<Operand>(operand));
    return detail::elements_at(broadcast_to(source.view(), extents), places.data(), places.count());
  }
}

namespace detail {

/// Writes the position that belongs to each chosen number: a row for each axis.
template <int Rank>
struct position_output {
  array<index, Rank> extents;
  const index* places;
  index* target;
  index count;
  TENON_HOST_DEVICE void operator()(index number) const {
    array<index, Rank> position{};
    set_position(position, extents, 0, Rank, places[number]);
    for (int axis = 0; axis < Rank; ++axis) target[axis * count + number] = position[axis];
  }
};

}  // namespace detail

/// The positions, int64, of the elements that are not 0, in row-major order: a row for each axis, a column for each
/// element, as ONNX has it (NumPy's tuple of arrays, the transpose of PyTorch's).
/// extents   [rank, number of elements that are not 0]
/// cost      one pass over the operand
/// example   const auto places = nonzero(x > 0);
template <tensor_operand Operand>
auto nonzero(Operand&& operand) {
  using node = node_of<Operand>;
  constexpr int rank = node::shape_type::rank;
  using space = algorithm_space<Operand>;
  algorithms_must_run<space>();
  check_operand("nonzero", as_node(operand));
  const auto chosen = not_equal(as_node(std::forward<Operand>(operand)), typename node::element(0));
  const auto places = detail::indices_where<space>(chosen);
  const index count = places.count();
  tensor<index, shape<rank, dyn>, space> result(shape<rank, dyn>(array<index, 2>{{rank, count}}));
  for_each_number<space>(count, line_grain,
                         detail::position_output<rank>{chosen.shape().to_array(), places.data(), result.data(), count});
  return result;
}

namespace detail {

/// The positions of the true elements of a condition, along an axis of `extent` elements.
template <class Space, class Condition>
storage<index, Space> chosen_places(const Condition& condition, const std::string& along, index extent) {
  mask_must_be_bool<Condition>();
  static_assert(node_of<Condition>::shape_type::rank == 1, "tenon: the condition of compress has one axis");
  check_operand("compress", as_node(condition));
  if (condition.shape().count() > extent) {
    throw shape_error(compose_text("compress: ", along, ": a condition of ", condition.shape().count(),
                                   " elements, expected at most ", extent));
  }
  return indices_where<Space>(condition);
}

}  // namespace detail

/// The slices along the axis where `condition` is true. Slices beyond a shorter condition are left out.
/// extents   the number of true elements of the condition along the axis, those of the operand elsewhere
/// throws    shape_error when the condition is longer than the axis
/// gradient  as of masked_select
/// example   const auto rows = compress(x, is_kept, axis<0>);
template <tensor_operand Operand, tensor_operand Condition, int Axis>
auto compress(Operand&& operand, Condition&& condition, axis_list<Axis> axes) {
  constexpr int along = only_axis<node_of<Operand>::shape_type::rank>(axes);
  const auto places = detail::chosen_places<algorithm_space<Operand>>(condition, compose_text("axis ", along),
                                                                      operand.shape().extent(along));
  if constexpr (depends_on<any_variable, node_of<Operand>>) {
    return detail::expression_at<along>(as_node(operand), places);
  } else {
    const auto source = as_read("compress", std::forward<Operand>(operand));
    return detail::slices_at<along>(source.view(), places.data(), places.count());
  }
}

/// The elements where `condition` is true, a line [count] in row-major order; errors and gradient as above.
template <tensor_operand Operand, tensor_operand Condition>
auto compress(Operand&& operand, Condition&& condition) {
  const auto places = detail::chosen_places<algorithm_space<Operand>>(condition, "operand", operand.shape().count());
  if constexpr (depends_on<any_variable, node_of<Operand>>) {
    return detail::expression_at<0>(detail::in_one_line(as_node(operand)), places);
  } else {
    const auto source = as_read("compress", std::forward<Operand>(operand));
    return detail::elements_at(source.view(), places.data(), places.count());
  }
}

}  // namespace tenon
