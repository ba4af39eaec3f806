// tests/conformance/indexing.cpp: elements chosen, ordered and placed by data.
// The axis is the middle one of three, unless positions have extents of their own.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/axes.hpp"
#include "conformance/lines.hpp"
#include "conformance/slices.hpp"

#include <tenon/algorithms.hpp>

namespace conformance {

namespace {

/// Positions, which ONNX gives as int32 too.
template <class Space, int Rank = all_ranks>
auto places_of(const array& indices) {
  return with_type<index, std::int32_t>(indices.dtype, [&]<class T>() {
    return tn::tensor<index, tn::rank<Rank>, Space>(tn::cast<index>(tensor_of<T, Space, Rank>(indices)));
  });
}

/// Positions along each axis that the operand has; one without axes is a line of one element.
template <class T, class Space>
array nonzero(const call& from) {
  const int rank = std::max(from.input(0).rank(), 1);
  const auto positions = tn::nonzero(tensor_of<T, Space>(from.input(0)));  // (6, count)
  return evaluated<Space>(tn::narrow(positions, tn::axis<0>, all_ranks - rank, rank), 2);
}

template <class T, class Space>
array compress(const call& from) {
  const array& source = from.input(0);
  const auto condition = tensor_of<bool, Space, 1>(from.input(1));
  if (!from.attributes.has("axis")) return array_of(tn::compress(tensor_of<T, Space>(source), condition), 1);
  const index axis = from.attributes.integer("axis", 0);
  return array_of_lines(tn::compress(lines_of<T, Space>(source, axis), condition, middle_axis), source.extents, axis);
}

template <class T, class Space>
array_list top(const call& from) {
  const array& source = from.input(0);
  const index axis = from.attributes.integer("axis", -1), count = integers_of(from.input(1)).at(0);
  const bool largest = from.attributes.integer("largest", 1) != 0;
  const auto found = tn::topk(lines_of<T, Space>(source, axis), count, middle_axis, {.largest = largest});
  return {array_of_lines(found.values, source.extents, axis), array_of_lines(found.indices, source.extents, axis)};
}

template <class T, class Space>
array_list unique(const call& from) {
  const array& source = from.input(0);
  const auto outputs = [&](const auto& found, const array& values) -> array_list {
    return {values, array_of(found.indices, 1), array_of(found.inverse, std::vector<index>{found.inverse.size()}),
            array_of(found.counts, 1)};
  };
  if (!from.attributes.has("axis")) {
    const auto found = tn::unique(tensor_of<T, Space>(source));
    return outputs(found, array_of(found.values, 1));
  }
  const index axis = from.attributes.integer("axis", 0);
  const auto found = tn::unique(lines_of<T, Space>(source, axis), middle_axis);
  return outputs(found, array_of_lines(found.values, source.extents, axis));
}

inline constexpr type_list<float, double, std::int32_t, std::int64_t> ordered_types;

/// Calls `body` with Tenon's operation of the call's reduction.
template <class Body>
void with_reduction(const call& from, Body body) {
  const std::string name = from.attributes.text("reduction", "none");
  if (name == "add") body(tn::add);
  else if (name == "mul") body(tn::multiply);
  else if (name == "max") body(tn::maximum);
  else if (name == "min") body(tn::minimum);
  else body(tn::overwrite);
}

/// Positions have extents of their own, so the axis is brought to a named place by strides.
template <class T, class Space>
array scatter_elements(const call& from) {
  const array& source = from.input(0);
  const auto is_named = named_axes({from.attributes.integer("axis", 0)}, source.rank());
  auto result = tensor_of<T, Space>(source);
  const auto places = places_of<Space>(from.input(1));
  const auto updates = tensor_of<T, Space>(from.input(2));
  with_reduction(from, [&](auto operation) {
    tn::scatter(split_axes(result, is_named), tn::axis<kept_axes>, split_axes(places, is_named),
                split_axes(updates, is_named), operation);
  });
  return array_of(result, source.rank());
}

/// The first `Named` axes of an array, and all others as one.
template <int Named>
std::vector<index> leading_extents(const array& source) {
  std::vector<index> extents(source.extents.begin(), source.extents.begin() + Named);
  index behind = 1;
  for (auto each = source.extents.begin() + Named; each != source.extents.end(); ++each) behind *= *each;
  extents.push_back(behind);
  return extents;
}
/// Rows that each name `Named` positions.
template <int Named>
array index_rows(array indices) {
  indices.extents = {indices.size() / Named, Named};
  return indices;
}

/// Slices at places that rows of `Named` positions name.
template <int Named, class T, class Space>
array scatter_nd(const call& from) {
  array source = from.input(0), updates = from.input(2);
  source.extents = leading_extents<Named>(source);
  updates.extents = {static_cast<index>(from.input(1).size()) / Named, source.extents.back()};
  auto result = tensor_of<T, Space, Named + 1>(source);
  const auto places = places_of<Space, 2>(index_rows<Named>(from.input(1)));
  const auto slices = tensor_of<T, Space, 2>(updates);
  with_reduction(from, [&](auto operation) { tn::scatter_nd(result, places, slices, operation); });
  return array_of(result, from.input(0).extents);
}

/// Calls `body.operator()<Named>()` for rows of that many positions.
template <class Body>
array with_row_length(const call& from, Body body) {
  const index named = from.input(1).extents.back();
  if (named == 1) return body.template operator()<1>();
  if (named == 2) return body.template operator()<2>();
  if (named == 3) return body.template operator()<3>();
  throw tn::shape_error(tn::compose_text("positions along ", named, " axes are not compiled in"));
}

/// Slices at places that rows of `Named` positions behind `batch_dims` axes name.
template <int Named, class T, class Space>
array gather_nd(const call& from) {
  const auto& extents = from.input(0).extents;
  const auto batch = from.attributes.integer("batch_dims", 0);
  index batches = 1;
  for (index axis = 0; axis < batch; ++axis) batches *= extents.at(static_cast<std::size_t>(axis));
  array source = from.input(0), result{source.dtype, from.input(1).extents, {}};
  source.extents.erase(source.extents.begin(), source.extents.begin() + batch);
  result.extents.pop_back();
  result.extents.insert(result.extents.end(), source.extents.begin() + Named, source.extents.end());
  source.extents = leading_extents<Named>(source);
  const auto named = std::vector<index>(source.extents.begin(), source.extents.end() - 1);
  index places_in_batch = 1;
  for (const index extent : named) places_in_batch *= extent;
  const auto rows = places_of<Space, 2>(index_rows<Named>(from.input(1)));
  tn::tensor<index, tn::rank<1>, Space> places =
      tn::floor_divide(tn::arange<index>(rows.extent(0)) * batches, rows.extent(0)) * places_in_batch;
  index stride = places_in_batch;
  for (int axis = 0; axis < Named; ++axis) {
    const index extent = named[static_cast<std::size_t>(axis)];
    stride /= extent;
    const auto column = tn::squeeze(tn::narrow(rows, tn::axis<1>, axis, 1), tn::axis<1>);
    places = places + tn::where(column < 0, column + extent, column) * stride;
  }
  source.extents = {batches * places_in_batch, source.extents.back()};
  return array_of(tn::tensor<T, tn::rank<2>, Space>(tn::take(tensor_of<T, Space, 2>(source), places, tn::axis<0>)),
                  result.extents);
}

/// The axis gives way to those of the indices.
template <class T, class Space>
array gather(const call& from) {
  const array &source = from.input(0), &indices = from.input(1);
  const index axis = front_axis(from.attributes.integer("axis", 0), source.rank());
  const auto x = lines_of<T, Space>(source, axis);
  const auto places = places_of<Space, 2>(indices);
  auto extents = source.extents;
  const auto replaced = extents.erase(extents.begin() + axis);
  extents.insert(replaced, indices.extents.begin(), indices.extents.end());
  return array_of(tn::tensor<T, tn::rank<4>, Space>(tn::take(x, places, middle_axis)), extents);
}

/// Along the other axes, the indices may leave out the end.
template <class T, class Space>
array gather_elements(const call& from) {
  const array &source = from.input(0), &indices = from.input(1);
  const index axis = from.attributes.integer("axis", 0);
  range_list ranges = whole(source.rank());
  for (int each = 0; each < source.rank(); ++each)
    along(ranges, each) = {0, indices.extents.at(static_cast<std::size_t>(each))};
  along(ranges, axis) = tn::all_of;
  const auto is_named = named_axes({axis}, source.rank());
  const auto x = tensor_of<T, Space>(source);
  const tensor<T, Space> read = sliced(x, ranges);
  const auto places = places_of<Space>(indices);
  tensor<T, Space> result(places.shape());
  split_axes(result, is_named) =
      tn::take_along_axis(split_axes(read, is_named), split_axes(places, is_named), tn::axis<kept_axes>);
  return array_of(result, source.rank());
}

/// A new axis of `depth` places, among which each number names one.
template <class T, class Space>
array one_hot(const call& from) {
  array indices = from.input(0);
  const index axis = front_axis(from.attributes.integer("axis", -1), indices.rank() + 1);
  const index depth = with_type(number_types, from.input(1).dtype,
                                [&]<class N>() { return static_cast<index>(*from.input(1).elements<N>()); });
  indices.extents.insert(indices.extents.begin() + axis, 1);
  const auto places = with_type(number_types, indices.dtype, [&]<class N>() {
    return tn::tensor<index, tn::rank<3>, Space>(tn::cast<index>(lines_of<N, Space>(indices, axis)));
  });  // [before, 1, behind]
  const auto positions = tn::where(places < 0, places + depth, places);
  const T* values = from.input(2).elements<T>();
  const auto hot = tn::where(tn::one_hot<bool>(positions, depth), values[1], values[0]);  // [before, 1, behind, depth]
  const tn::tensor<T, tn::rank<4>, Space> spread = tn::permute(hot, tn::axis<0, 3, 2, 1>);
  const tn::tensor<T, tn::rank<3>, Space> result =
      tn::reshape(spread, tn::rank<3>(spread.extent(0), depth, spread.extent(2)));
  return array_of_lines(result, indices.extents, axis);
}

}  // namespace

void add_indexing(device_tables& devices) {
  on_each_host_device(devices, []<class Space>(operation_table& table) {
    table["NonZero"] = [](const call& from) {
      return with_type(all_types, from.input(0).dtype, [&]<class T>() { return nonzero<T, Space>(from); });
    };
    table["Compress"] = moving(first_input, [](const call& from) {
      return with_type(bit_types, from.input(0).dtype, [&]<class T>() { return compress<T, Space>(from); });
    });
    table["ScatterElements"] = [](const call& from) {
      return with_type(ordered_types, from.input(0).dtype, [&]<class T>() { return scatter_elements<T, Space>(from); });
    };
    table["Scatter"] = table["ScatterElements"];
    table["ScatterND"] = [](const call& from) {
      return with_type(ordered_types, from.input(0).dtype, [&]<class T>() {
        return with_row_length(from, [&]<int Named>() { return scatter_nd<Named, T, Space>(from); });
      });
    };
    table["Unique"] = [](const call& from) {
      return with_type(ordered_types, from.input(0).dtype, [&]<class T>() { return unique<T, Space>(from); });
    };
    table["TopK"] = [](const call& from) {
      return with_type(number_types, from.input(0).dtype, [&]<class T>() { return top<T, Space>(from); });
    };
  });
  on_each_device(devices, []<class Space>(operation_table& table) {
    const auto add = [&table](const char* name, auto apply) {
      table[name] = moving(first_input, [apply](const call& from) {
        return with_type(bit_types, from.input(0).dtype, [&]<class T>() { return apply.template operator()<T>(from); });
      });
    };
    add("Gather", []<class T>(const call& from) { return gather<T, Space>(from); });
    add("GatherElements", []<class T>(const call& from) { return gather_elements<T, Space>(from); });
    add("GatherND", []<class T>(const call& from) {
      return with_row_length(from, [&]<int Named>() { return gather_nd<Named, T, Space>(from); });
    });
    table["OneHot"] = [](const call& from) {
      return with_type(ordered_types, from.input(2).dtype, [&]<class T>() { return one_hot<T, Space>(from); });
    };
  });
}

}  // namespace conformance
