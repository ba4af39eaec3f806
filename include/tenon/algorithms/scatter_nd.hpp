// tenon/algorithms/scatter_nd.hpp: slices written to places that rows of indices name.
// Threads share the elements of a slice, never the slices, so that slices for the same place are written in order.
// Floor 5: may include base, core, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/scatter.hpp>

namespace tenon {

namespace detail {

/// Offsets of the positions along axes `First` to `Last` - 1, in row-major order.
template <int First, int Last, class View>
storage<index, host> offsets_between(const View& elements) {
  auto extents = filled_array<View::rank>(index{1});
  for (int axis = First; axis < Last; ++axis) extents[axis] = elements.extent(axis);
  return offsets_within(elements, extents);
}

/// The offset that each row of `indices` names, `strides` apart; all indices are checked.
template <int Named, int Rank, class Indices>
storage<index, host> named_offsets(const array<index, Rank>& extents, const array<index, Rank>& strides,
                                   const Indices& indices) {
  constexpr int last = Indices::rank - 1;
  const auto rows = offsets_between<0, last>(indices);
  storage<index, host> offsets(rows.count());
  for (index row = 0; row < rows.count(); ++row) {
    offsets.data()[row] = 0;
    for (int axis = 0; axis < Named; ++axis) {
      const auto given = indices.data()[rows.data()[row] + axis * indices.strides()[last]];
      offsets.data()[row] += checked_index("scatter_nd", given, axis, extents) * strides[axis];
    }
  }
  return offsets;
}

/// Extents of the source: those of the rows of indices, then those of the slices.
template <int Named, class Target, class Indices, class Source>
void check_slices(const Target& target, const Indices& indices, const Source& source) {
  constexpr int batch = Indices::rank - 1;
  if (indices.extent(batch) != Named) {
    throw shape_error(compose_text("scatter_nd: indices: ", indices.extent(batch), " of a row, expected ", Named,
                                   " (destination ", target.shape().to_array(), ", source ", source.shape().to_array(),
                                   ")"));
  }
  for (int axis = 0; axis < Source::rank; ++axis) {
    const index expected = axis < batch ? indices.extent(axis) : target.extent(axis - batch + Named);
    if (source.extent(axis) != expected) {
      throw shape_error(compose_text(
          "scatter_nd: axis ", axis, ": extent ", source.extent(axis), " of the source, expected ", expected,
          " of the ", axis < batch ? "indices" : "destination", " (destination ", target.shape().to_array(),
          ", indices ", indices.shape().to_array(), ", source ", source.shape().to_array(), ")"));
    }
  }
}

/// On the host: writes slice after slice.
template <class Op, int Named, class Target, class Indices, class Source>
void scatter_slices_on_host(const Target& target, const Indices& indices, const Source& source) {
  constexpr int batch = Indices::rank - 1;
  const auto places = named_offsets<Named>(target.shape().to_array(), target.strides(), indices);
  const auto to = offsets_between<Named, Target::rank>(target);
  const auto slices = offsets_between<0, batch>(source), from = offsets_between<batch, Source::rank>(source);
  parallel_for(to.count(), 1 + line_grain / (1 + places.count()), [&](index first, index last) {
    for (index slice = 0; slice < places.count(); ++slice) {
      auto* held = target.data() + places.data()[slice];
      const auto* fresh = source.data() + slices.data()[slice];
      for (index i = first; i < last; ++i) {
        held[to.data()[i]] = combined<Op>(held[to.data()[i]], fresh[from.data()[i]]);
      }
    }
  });
}

/// The axes from `first` on, and then those before.
template <int Rank>
constexpr array<int, Rank> axes_from(int first) {
  array<int, Rank> order{};
  for (int place = 0; place < Rank; ++place) order[place] = (first + place) % Rank;
  return order;
}

/// On a device, the elements at one position of all slices are a line, along which the named axes are one axis.
template <class Op, int Named, class Target, class Indices, class Source>
void scatter_slices_on_device(const Target& target, const Indices& indices, const Source& source) {
  using space = typename Target::space;
  constexpr int batch = Indices::rank - 1;
  const tensor<typename Indices::element, typename Indices::shape_type, space> copied(indices);
  const auto extents = target.shape().to_array();
  auto named = extents;
  for (int axis = Named; axis < Target::rank; ++axis) named[axis] = 1;
  const auto places = named_offsets<Named>(extents, row_major_strides(named), copied.template to<host>().view());
  if (source.size() == 0) return;
  const auto rows = table_in<space>(places);
  scatter_runs<Op, space>(in_order(target, axes_from<Target::rank>(Named)), count_between(named, 0, Target::rank),
                          in_order(source, axes_from<Source::rank>(batch)), source.size() / rows.count(),
                          view<const index, rank<2>, space>(rows.data(), rank<2>(1, rows.count())));
}

template <class Op, int Named, class Target, class Indices, class Source>
void scatter_slices(const Target& target, const Indices& indices, const Source& source) {
  using space = typename Target::space;
  spaces_must_agree<space, typename Indices::space, typename Source::space>();
  if constexpr (space::host_accessible) scatter_slices_on_host<Op, Named>(target, indices, source);
  else scatter_slices_on_device<Op, Named>(target, indices, source);
}

}  // namespace detail

/// `destination[indices[p]] = source[p]` for every row `indices[p]`, which names a place along the first axes of the
/// destination, in row-major order of p. An operation as last argument combines, as in `scatter`. Of several slices for
/// one place the last wins, or all are combined in order. Negative indices count from the back. As in ONNX.
/// extents   of indices: [p..., k]; of source: [p..., the destination's without the first k]
/// types     the source is cast to the destination's element type; half and bfloat16 are rounded at every combination
/// throws    shape_error, and index_error naming the first index outside its axis; the destination is then untouched
/// cost      one pass over the source; the elements of slices are shared among threads; on a device as `scatter`, and
///           the indices are checked on the host
/// example   scatter_nd(y, places, lines);
template <scatter_destination Destination, tensor_operand Indices, tensor_operand Source, class Op = overwrite_op>
void scatter_nd(Destination&& destination, const Indices& indices, const Source& source, pointwise_function<Op> = {}) {
  const auto target = detail::target_of("scatter_nd", std::forward<Destination>(destination));
  const auto places = in_memory("scatter_nd", indices);
  detail::must_be_written_in_place<node_of<const Source&>>();
  const auto elements = in_memory("scatter_nd", source);
  using places_type = std::remove_cvref_t<decltype(places)>;
  using elements_type = std::remove_cvref_t<decltype(elements)>;
  constexpr int batch = places_type::shape_type::rank - 1, rank = std::remove_cvref_t<Destination>::rank;
  constexpr int named = rank - (elements_type::shape_type::rank - batch);
  static_assert(batch >= 0 && named >= 0 && named <= rank,
                "tenon: the source of scatter_nd has the axes of the indices but the last, and those of a slice");
  detail::indices_must_be_integers<places_type>();
  storage<typename places_type::element, algorithm_space<Indices>> places_copy;
  storage<typename elements_type::element, algorithm_space<Source>> elements_copy;
  detail::check_slices<named>(target, places.elements, elements.view());
  detail::scatter_slices<Op, named>(target, detail::elements_apart(target, places, places_copy),
                                    detail::elements_apart(target, elements, elements_copy));
}

/// One number in every place of the slices: with `add`, a count of how often rows name a place.
/// throws    dtype_error where the destination's integers do not hold the number
/// example   scatter_nd(counts, places, 1, add);
template <scatter_destination Destination, tensor_operand Indices, dtype Number, class Op = overwrite_op>
void scatter_nd(Destination&& destination, const Indices& indices, Number number,
                pointwise_function<Op> operation = {}) {
  using target = std::remove_cvref_t<Destination>;
  using places = typename node_of<const Indices&>::shape_type;
  using element = std::remove_const_t<typename target::element>;
  constexpr int batch = places::rank - 1;
  static_assert(batch >= 0, "tenon: the indices of scatter_nd are rows along their last axis");
  const auto rows = indices.shape().to_array();
  const auto extents = destination.shape().to_array();
  if (rows[batch] > target::rank) {
    throw shape_error(compose_text("scatter_nd: indices: ", rows[batch], " of a row, expected at most ", target::rank,
                                   " (destination ", extents, ")"));
  }
  const tensor<element, rank<1>, typename target::space> one(rank<1>(1),
                                                             {detail::number_as<element>("scatter_nd", number)});
  for_each_index<target::rank + 1>([&](auto each) {
    constexpr int named = each.value, slices_rank = batch + target::rank - named;
    constexpr index known = places::static_extent(batch);
    if constexpr (known == dyn || known == named) {
      if (rows[batch] != named) return;
      array<index, slices_rank> source{};
      for (int axis = 0; axis < slices_rank; ++axis)
        source[axis] = axis < batch ? rows[axis] : extents[axis - batch + named];
      const view<const element, rank<slices_rank>, typename target::space> slices(one.data(), rank<slices_rank>(source),
                                                                                  array<index, slices_rank>{});
      scatter_nd(destination, indices, slices, operation);
    }
  });
}

}  // namespace tenon
