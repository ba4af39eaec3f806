// tenon/algorithms/scatter.hpp: elements written to places that indices name.
// Elements for one place lie in one line along the axis. A line is written in order, whatever the number of threads.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/scatter_runs.hpp>
#include <tenon/core/layout.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/index_add.hpp>
#include <tenon/expr/operations/arithmetic.hpp>

namespace tenon {

/// The operation of a plain scatter: the new element replaces the old one. Other operations are those of expressions:
/// `add`, `multiply`, `maximum`, `minimum`, or any other of two operands.
struct overwrite_op : promoting {
  static constexpr const char* name = "overwrite";
  template <class V>
  TENON_HOST_DEVICE static V value(V, V fresh) {
    return fresh;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<overwrite_op> overwrite;

/// What a scatter may write to: a tensor that lives on (no temporary), or a view.
template <class T>
concept scatter_destination = detail::is_view<std::remove_cvref_t<T>> ||
                              (detail::is_tensor<std::remove_cvref_t<T>> && std::is_lvalue_reference_v<T>);

namespace detail {

/// The elements to write, as a view.
template <scatter_destination Destination>
auto target_of(const char* algorithm, Destination&& destination) {
#if TENON_CHECKED != 0
  check_alive(algorithm, "destination", block_of(as_node(destination).view()));
#endif
  using type = std::remove_cvref_t<Destination>;
  algorithms_must_run<typename type::space>();
  check_current_device(algorithm, as_node(destination).view());
  if constexpr (is_view<type>) return destination;
  else return destination.write_view();
}

template <class Indices>
consteval void indices_must_be_integers() {
  static_assert(is_integer<typename Indices::element> || must_hold<Indices>, "tenon: indices are integers");
}

/// Refuses a source that depends on a variable.
template <class Source>
consteval void must_be_written_in_place() {
  static_assert(
      !depends_on<any_variable, Source> || must_hold<Source>,
      "tenon: what is written in place has no gradient; index_add(axis<0>, y, indices, x) makes another tensor "
      "and has one, and stop_gradient(x) is a constant");
}

/// The elements of a leaf that a scatter reads: where they lie, or in `copy` when the target overlaps them.
template <class Target, class T, class Shape, class Space, class Owner>
view<const T, Shape, Space> elements_apart(const Target& target, const leaf<T, Shape, Space, Owner>& node,
                                           storage<T, Space>& copy) {
  const auto& elements = node.view();
  if (!overlap(addresses(block_of(target)), addresses(block_of(elements)))) return elements;
  copy = storage<T, Space>(elements.size());
  const view<T, Shape, Space> copied(copy.data(), elements.shape());
  copied = elements;
  return copied;
}

/// An index counted from the front.
/// throws    index_error when it lies outside the extent
template <class Index, class Extents>
index checked_index(const char* name, Index given, int axis, const Extents& extents) {
  const index which = nearest_index(given), extent = extents[axis];
  if (which < -extent || which >= extent) {
    throw index_error(compose_text(name, ": axis ", axis, ": index ", given, ", expected at least ", -extent,
                                   " and below ", extent, " (destination ", extents, ")"));
  }
  return which < 0 ? which + extent : which;
}

/// Checks all indices that the host reaches, in row-major order: one by one where the least or the greatest of a run
/// lies outside.
template <class Target, class Indices>
void check_indices_on_host(const char* name, const Target& target, int axis, const Indices& indices) {
  const auto extents = target.shape().to_array();
  const auto check_targets = [&](index first, index last) {
    visit_runs(indices, first, last, [&](index, const auto* row, index step, index run) {
      const index different = step == 0 ? 1 : run;
      auto least = row[0], greatest = row[0];
      for (index i = 0; i < different; ++i) {
        least = row[i * step] < least ? row[i * step] : least;
        greatest = row[i * step] > greatest ? row[i * step] : greatest;
      }
      if (nearest_index(least) >= -extents[axis] && nearest_index(greatest) < extents[axis]) return;
      for (index i = 0; i < different; ++i) checked_index(name, row[i * step], axis, extents);
    });
  };
  try {
    parallel_for(indices.size(), line_grain, check_targets);
  } catch (const index_error&) {
    check_targets(0, indices.size());  // several threads may have found one; the first is named
  }
}

/// Checks all indices before anything is written. Those on a device are copied only when one of them is to be named.
template <class Target, class Indices>
void check_indices(const char* name, const Target& target, int axis, const Indices& indices) {
  if constexpr (Indices::space::host_accessible) {
    if (Indices::rank == 1 || indices.size() == 0 || !lines_are_one(indices, axis)) {
      return check_indices_on_host(name, target, axis, indices);
    }
    const view<typename Indices::element const, rank<1>, typename Indices::space> line(
        indices.data(), rank<1>(indices.extent(axis)), {{indices.strides()[axis]}});
    check_indices_on_host(name, target, axis, line);
  } else if (indices.size() != 0) {
    using number = typename Indices::element;
    const auto given = as_node(indices);
    const index least = nearest_index(static_cast<number>(min(given)));
    const index greatest = nearest_index(static_cast<number>(max(given)));
    if (least >= -target.extent(axis) && greatest < target.extent(axis)) return;
    const tensor<number, typename Indices::shape_type, typename Indices::space> copied(given);
    check_indices_on_host(name, target, axis, copied.template to<host>().view());
  }
}

/// Lanes of the packs in which elements of type T combine with others of type Source as they do one by one; 1 of none.
template <class Op, class T, class Source>
inline constexpr int combined_width =
    std::is_same_v<T, Source> && std::is_same_v<T, compute_type<T>> && std::is_arithmetic_v<T> &&
            !std::is_same_v<T, bool> && !requires { typename Op::of_elements_alone; }
        ? simd::width_for(simd::lane_bytes<T>)
        : 1;

/// Combines elements that lie side by side with as many others. Rests are done in shorter packs, not in parts of one: a
/// line that comes next would wait for such a part to be in memory.
template <class Op, int Width, class T, class Source>
void combine_adjacent(T* held, const Source* fresh, index count) {
  index i = 0;
  if constexpr (Width >= 4) {
    for (; i + Width <= count; i += Width) {
      const auto lanes = Op::value(simd::load<T, Width>(held + i), simd::load<T, Width>(fresh + i));
      simd::store<Width>(held + i, simd::as_lanes<T>(lanes));
    }
    combine_adjacent<Op, Width / 2>(held + i, fresh + i, count - i);
  } else {
    for (; i < count; ++i) held[i] = combined<Op>(held[i], fresh[i]);
  }
}

/// An element of a line, and how far the next one is.
template <class T>
struct stepped {
  T* at;
  index step;
};

/// Writes a line of elements, one for each index, to places of a line of `extent`.
template <class Op, class T, class Index, class Source>
void scatter_line(stepped<T> to, index extent, stepped<const Index> which, stepped<const Source> from, index length) {
  for (index place = 0; place < length; ++place, which.at += which.step, from.at += from.step) {
    const auto row = static_cast<index>(*which.at);
    T& held = to.at[(row < 0 ? row + extent : row) * to.step];
    held = combined<Op>(held, *from.at);
  }
}

/// On the host: writes the element of `source` at every position of `indices` to the index that stands there. Where
/// neighbouring lines share their indices, slices are combined as they are.
template <class Op, class Target, class Indices, class Source>
void scatter_lines_on_host(const Target& target, int axis, const Indices& indices, const Source& source) {
  constexpr int rank = Target::rank;
  const int beside = beside_axis(rank, axis);
  const index extent = target.extent(axis), length = indices.extent(axis);
  const index to_step = target.strides()[axis], to_line = target.strides()[beside];
  const index from_step = source.strides()[axis], from_line = source.strides()[beside];
  const index step = indices.strides()[axis], line_step = indices.strides()[beside];
  const bool is_shared = rank > 1 && line_step == 0, is_adjacent = to_line == 1 && from_line == 1;
  constexpr int width =
      combined_width<Op, std::remove_const_t<typename Target::element>, std::remove_const_t<typename Source::element>>;
  const bool is_along = (step < 0 ? -step : step) <= (line_step < 0 ? -line_step : line_step);
  for_each_line_block(indices.shape().to_array(), axis, is_shared ? 128 : 32, [&] {
    return [=, &target, &indices, &source](const array<index, rank>& position, index count) {
      auto* to = target.data() + target.offset(position);
      const auto* from = source.data() + source.offset(position);
      const auto* which = indices.data() + indices.offset(position);
      if (is_shared) {
        for (index place = 0; place < length; ++place, from += from_step, which += step) {
          const auto row = static_cast<index>(*which);
          auto* held = to + (row < 0 ? row + extent : row) * to_step;
          if (is_adjacent) {
            combine_adjacent<Op, width>(held, from, count);
            continue;
          }
          for (index line = 0; line < count; ++line) {
            held[line * to_line] = combined<Op>(held[line * to_line], from[line * from_line]);
          }
        }
      } else if (rank == 1 || is_along) {
        for (index line = 0; line < count; ++line) {
          scatter_line<Op>(stepped{to + line * to_line, to_step}, extent, stepped{which + line * line_step, step},
                           stepped{from + line * from_line, from_step}, length);
        }
      } else {
        for (index place = 0; place < length; ++place, from += from_step, which += step) {
          for (index line = 0; line < count; ++line) {
            const auto row = static_cast<index>(which[line * line_step]);
            auto& held = to[line * to_line + (row < 0 ? row + extent : row) * to_step];
            held = combined<Op>(held, from[line * from_line]);
          }
        }
      }
    };
  });
}

/// Extents of indices: within the source's, and within the destination's but for the axis.
template <int Rank>
void check_scatter_extents(const char* name, int axis, const array<index, Rank>& target,
                           const array<index, Rank>& indices, const array<index, Rank>& source) {
  for (int each = 0; each < Rank; ++each) {
    const bool beyond_target = each != axis && indices[each] > target[each];
    if (!beyond_target && indices[each] <= source[each]) continue;
    throw shape_error(compose_text(name, ": axis ", each, ": ", indices[each], " indices, expected at most ",
                                   beyond_target ? target[each] : source[each], " as of the ",
                                   beyond_target ? "destination" : "source", " (destination ", target, ", indices ",
                                   indices, ", source ", source, ")"));
  }
}

/// Checks everything, then scatters; `indices` and `source` are views of equal rank.
template <class Op, class Target, class Indices, class Source>
void checked_scatter(const char* name, const Target& target, int axis, const Indices& indices, const Source& source) {
  static_assert(Indices::rank == Target::rank && Source::rank == Target::rank,
                "tenon: destination, indices and source of a scatter have the same number of axes");
  check_scatter_extents(name, axis, target.shape().to_array(), indices.shape().to_array(), source.shape().to_array());
  using space = typename Target::space;
  spaces_must_agree<space, typename Indices::space, typename Source::space>();
  check_indices(name, target, axis, indices);
  if constexpr (space::host_accessible) scatter_lines_on_host<Op>(target, axis, indices, source);
  else scatter_lines_on_device<Op>(target, axis, indices, source);
}

/// `scatter` under the name of the function that the user calls.
template <class Op, scatter_destination Destination, int Axis, tensor_operand Indices, tensor_operand Source>
void scatter_as(const char* name, Destination&& destination, axis_list<Axis> axes, const Indices& indices,
                const Source& source) {
  const auto target = target_of(name, std::forward<Destination>(destination));
  constexpr int along = only_axis<std::remove_cvref_t<Destination>::rank>(axes);
  const auto places = in_memory(name, indices);
  must_be_written_in_place<node_of<const Source&>>();
  const auto elements = in_memory(name, source);
  indices_must_be_integers<std::remove_cvref_t<decltype(places)>>();
  storage<typename std::remove_cvref_t<decltype(places)>::element, algorithm_space<Indices>> places_copy;
  storage<typename std::remove_cvref_t<decltype(elements)>::element, algorithm_space<Source>> elements_copy;
  checked_scatter<Op>(name, target, along, elements_apart(target, places, places_copy),
                      elements_apart(target, elements, elements_copy));
}

/// One number as source.
/// throws    dtype_error where the destination's integers do not hold the number
template <class Op, scatter_destination Destination, int Axis, tensor_operand Indices, dtype Number>
void scatter_as(const char* name, Destination&& destination, axis_list<Axis> axes, const Indices& indices,
                Number number) {
  using element = typename std::remove_cvref_t<Destination>::element;
  using shape = typename node_of<const Indices&>::shape_type;
  using space = algorithm_space<const Indices&>;
  const tensor<element, tenon::rank<1>, space> one(tenon::rank<1>(1), {number_as<element>(name, number)});
  scatter_as<Op>(name, std::forward<Destination>(destination), axes, indices,
                 view<const element, shape, space>(one.data(), indices.shape(), array<index, shape::rank>{}));
}

}  // namespace detail

/// `destination[.., indices[p], ..] = source[p]`, at `Axis`, for every position p of `indices` in row-major order. An
/// operation as last argument combines old and new elements: `scatter(y, axis<0>, indices, x, add)`. Of several
/// elements for one place the last wins, or all are combined in order. Negative indices count from the back.
/// extents   of indices: at most the source's, and but for the axis at most the destination's; as in PyTorch
/// types     the source is cast to the destination's element type; half and bfloat16 are rounded at every combination
/// throws    shape_error, and index_error naming the first index outside the axis; the destination is then untouched
/// cost      one pass over the indices; threads share the lines along the axis; on a device, an argsort of the indices,
///           after which one thread combines all elements for a place in order
/// example   scatter(y, axis<0>, indices, x);
template <scatter_destination Destination, int Axis, tensor_operand Indices, tensor_operand Source,
          class Op = overwrite_op>
void scatter(Destination&& destination, axis_list<Axis> axes, const Indices& indices, const Source& source,
             pointwise_function<Op> = {}) {
  detail::scatter_as<Op>("scatter", std::forward<Destination>(destination), axes, indices, source);
}

/// One number as source.
template <scatter_destination Destination, int Axis, tensor_operand Indices, dtype Number, class Op = overwrite_op>
void scatter(Destination&& destination, axis_list<Axis> axes, const Indices& indices, Number number,
             pointwise_function<Op> = {}) {
  detail::scatter_as<Op>("scatter", std::forward<Destination>(destination), axes, indices, number);
}

/// A `scatter` that adds: `destination[.., indices[p], ..] += source[p]`; extents and errors as of `scatter`.
/// example   scatter_add(sums, axis<0>, groups, values);
template <scatter_destination Destination, int Axis, tensor_operand Indices, class Source>
void scatter_add(Destination&& destination, axis_list<Axis> axes, const Indices& indices, const Source& source) {
  detail::scatter_as<add_op>("scatter_add", std::forward<Destination>(destination), axes, indices, source);
}

/// Adds slices: slice i of `source` along `Axis` to slice `indices[i]` of `destination`. Another operation as last
/// argument combines in its way; `overwrite` replaces.
/// extents   of source: the number of indices along the axis, the destination's elsewhere
/// throws    shape_error, and index_error naming the first index outside the axis; the destination is then untouched
/// example   index_add(y, axis<0>, rows, x);
template <scatter_destination Destination, int Axis, tensor_operand Indices, tensor_operand Source, class Op = add_op>
void index_add(Destination&& destination, axis_list<Axis> axes, const Indices& indices, const Source& source,
               pointwise_function<Op> = {}) {
  constexpr int rank = std::remove_cvref_t<Destination>::rank, along = only_axis<rank>(axes);
  static_assert(node_of<const Indices&>::shape_type::rank == 1, "tenon: the indices of slices have one axis");
  const auto places = in_memory("index_add", indices);
  const auto extents = source.shape().to_array();
  for (int each = 0; each < rank; ++each) {
    const index expected = each == along ? places.shape().extent(0) : destination.extent(each);
    if (extents[each] != expected) {
      throw shape_error(compose_text("index_add: axis ", each, ": extent ", extents[each], " of the source, expected ",
                                     expected, each == along ? " as there are indices" : " of the destination"));
    }
  }
  array<index, rank> strides{};
  strides[along] = places.elements.strides()[0];
  using index_type = typename std::remove_cvref_t<decltype(places)>::element;
  detail::scatter_as<Op>("index_add", std::forward<Destination>(destination), axes,
                         view<const index_type, tenon::rank<rank>, algorithm_space<const Indices&>>(
                             places.elements.data(), tenon::rank<rank>(extents), strides),
                         source);
}

/// One number in every place of the slices: with `overwrite`, NumPy's `y[rows] = number`.
/// throws    dtype_error where the destination's integers do not hold the number
/// example   index_add(y, axis<0>, rows, 0, overwrite);
template <scatter_destination Destination, int Axis, tensor_operand Indices, dtype Number, class Op = add_op>
void index_add(Destination&& destination, axis_list<Axis> axes, const Indices& indices, Number number,
               pointwise_function<Op> operation = {}) {
  using target = std::remove_cvref_t<Destination>;
  using space = typename target::space;
  using element = std::remove_const_t<typename target::element>;
  static_assert(node_of<const Indices&>::shape_type::rank == 1, "tenon: the indices of slices have one axis");
  auto extents = destination.shape().to_array();
  extents[only_axis<target::rank>(axes)] = indices.shape().extent(0);
  const tensor<element, rank<1>, space> one(rank<1>(1), {detail::number_as<element>("index_add", number)});
  const view<const element, rank<target::rank>, space> slices(one.data(), rank<target::rank>(extents),
                                                              array<index, target::rank>{});
  index_add(std::forward<Destination>(destination), axes, indices, slices, operation);
}

/// A destination that is no memory of the user's.
template <tensor_operand Destination, int Axis, tensor_operand Indices, tensor_operand Source, class... Operation>
  requires(!scatter_destination<Destination>)
void index_add(Destination&&, axis_list<Axis>, const Indices&, const Source&, Operation...) {
  static_assert(must_hold<Destination>,
                "tenon: index_add(y, axis<0>, ...) writes into a tensor or view; of traced values and expressions "
                "index_add(axis<0>, y, indices, x) makes another, with gradients");
}

/// Gradients are added to elements that begin at zero.
template <int Axis, int IndexRank>
struct executor_of<gather_gradient_algorithm<Axis, IndexRank>> {
  template <class Target, class Gradient, class Indices>
  static void run(const gather_gradient_algorithm<Axis, IndexRank>&, const Target& target, const Gradient& gradient,
                  const Indices& indices) {
    using space = typename Target::space;
    target = constants(target.shape(), typename Target::element(0.0f));
    const auto gradients = evaluated_tensor<space>(gradient);
    const auto places = evaluated_tensor<space>(indices);
    if constexpr (chooses_slices<Target::rank, Indices>()) {
      array<index, Target::rank> extents = target.shape().to_array();
      extents[Axis] = places.size();
      index_add(target, axis<Axis>, reshape(places, rank<1>(places.size())),
                reshape(gradients, rank<Target::rank>(extents)));
    } else {
      scatter_add(target, axis<Axis>, broadcast_to(places, gradients.shape()), gradients);
    }
  }

 private:
  /// Whether an index chooses all elements with its position on the axis, as in `take`.
  template <int Rank, class Indices>
  static constexpr bool chooses_slices() {
    using shape_type = typename Indices::shape_type;
    bool result = shape_type::rank == IndexRank + Rank - 1 - Axis;
    for (int behind = IndexRank; result && behind < shape_type::rank; ++behind) {
      result = shape_type::static_extent(behind) == 1;
    }
    return result;
  }
};

}  // namespace tenon
