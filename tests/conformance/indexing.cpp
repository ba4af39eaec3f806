// tests/conformance/indexing.cpp: elements chosen, ordered and placed by data.
// The axis is the middle one of three, unless positions have extents of their own.
// SPDX-License-Identifier: Apache-2.0

#include "conformance/axes.hpp"
#include "conformance/lines.hpp"

namespace conformance {

namespace {

template <class Space>
array nonzero(const call& from) {
  const auto x = tensor_of<bool, Space, 2>(from.input(0));
  const auto positions = tn::nonzero(x);
  return array_of(positions, 2);
}

template <class Space>
array compress(const call& from) {
  const array& source = from.input(0);
  const auto condition = tensor_of<bool, Space, 1>(from.input(1));
  if (!from.attributes.has("axis")) return array_of(tn::compress(tensor_of<float, Space>(source), condition), 1);
  const index axis = from.attributes.integer("axis", 0);
  return array_of_lines(tn::compress(lines_of<float, Space>(source, axis), condition, middle_axis), source.extents,
                        axis);
}

template <class T, class Space>
array_list top(const call& from) {
  const array& source = from.input(0);
  const index axis = from.attributes.integer("axis", -1), count = integers_of(from.input(1)).at(0);
  const bool largest = from.attributes.integer("largest", 1) != 0;
  const auto found = tn::topk(lines_of<T, Space>(source, axis), count, middle_axis, {.largest = largest});
  return {array_of_lines(found.values, source.extents, axis), array_of_lines(found.indices, source.extents, axis)};
}

template <class Space>
array_list unique(const call& from) {
  const array& source = from.input(0);
  const auto outputs = [&](const auto& found, const array& values) -> array_list {
    return {values, array_of(found.indices, 1), array_of(found.inverse, std::vector<index>{found.inverse.size()}),
            array_of(found.counts, 1)};
  };
  if (!from.attributes.has("axis")) {
    const auto found = tn::unique(tensor_of<float, Space>(source));
    return outputs(found, array_of(found.values, 1));
  }
  const index axis = from.attributes.integer("axis", 0);
  const auto found = tn::unique(lines_of<float, Space>(source, axis), middle_axis);
  return outputs(found, array_of_lines(found.values, source.extents, axis));
}

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
template <class Space>
array scatter_elements(const call& from) {
  const array& source = from.input(0);
  const auto is_named = named_axes({from.attributes.integer("axis", 0)}, source.rank());
  auto result = tensor_of<float, Space>(source);
  const auto places = tensor_of<index, Space>(from.input(1));
  const auto updates = tensor_of<float, Space>(from.input(2));
  with_reduction(from, [&](auto operation) {
    tn::scatter(split_axes(result, is_named), tn::axis<kept_axes>, split_axes(places, is_named),
                split_axes(updates, is_named), operation);
  });
  return array_of(result, source.rank());
}

/// Slices along the first axis alone.
template <class Space>
array scatter_nd(const call& from) {
  array source = from.input(0), updates = from.input(2);
  const auto count = static_cast<index>(from.input(1).size());
  if (from.input(1).extents.back() != 1) throw tn::shape_error("ScatterND: only one axis is compiled in");
  source.extents = {source.extents.at(0), source.size() / source.extents.at(0)};
  updates.extents = {count, updates.size() / count};
  auto result = tensor_of<float, Space, 2>(source);
  const auto places = tensor_of<index, Space, 2>(from.input(1));
  const auto slices = tensor_of<float, Space, 2>(updates);
  with_reduction(from, [&](auto operation) { tn::scatter_nd(result, places, slices, operation); });
  return array_of(result, from.input(0).extents);
}

/// The axis gives way to those of the indices.
template <class Space>
array gather(const call& from) {
  const array &source = from.input(0), &indices = from.input(1);
  const index axis = front_axis(from.attributes.integer("axis", 0), source.rank());
  const auto x = lines_of<float, Space>(source, axis);
  const auto places = tensor_of<index, Space, 2>(indices);
  auto extents = source.extents;
  const auto replaced = extents.erase(extents.begin() + axis);
  extents.insert(replaced, indices.extents.begin(), indices.extents.end());
  return array_of(tn::tensor<float, tn::rank<4>, Space>(tn::take(x, places, middle_axis)), extents);
}

template <class Space>
array gather_elements(const call& from) {
  const auto is_named = named_axes({from.attributes.integer("axis", 0)}, from.input(0).rank());
  const auto x = tensor_of<float, Space>(from.input(0));
  const auto places = tensor_of<index, Space>(from.input(1));
  tensor<float, Space> result(places.shape());
  split_axes(result, is_named) =
      tn::take_along_axis(split_axes(x, is_named), split_axes(places, is_named), tn::axis<kept_axes>);
  return array_of(result, from.input(0).rank());
}

/// A new axis of `depth` places, among which each number names one.
template <class T, class Number, class Space>
array one_hot(const call& from) {
  array indices = from.input(0);
  const index axis = front_axis(from.attributes.integer("axis", -1), indices.rank() + 1);
  const auto depth = static_cast<index>(*from.input(1).elements<float>());
  indices.extents.insert(indices.extents.begin() + axis, 1);
  const auto given = lines_of<Number, Space>(indices, axis);  // [before, 1, behind]
  const auto places = tn::cast<index>(given), positions = tn::where(places < 0, places + depth, places);
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
    table["NonZero"] = nonzero<Space>;
    table["Compress"] = compress<Space>;
    table["ScatterElements"] = scatter_elements<Space>;
    table["ScatterND"] = scatter_nd<Space>;
    table["Unique"] = unique<Space>;
    table["TopK"] = [](const call& from) {
      return with_type<std::int64_t, std::uint64_t>(from.input(0).dtype,
                                                    [&]<class T>() { return top<T, Space>(from); });
    };
  });
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Gather"] = gather<Space>;
    table["GatherElements"] = gather_elements<Space>;
    table["OneHot"] = [](const call& from) {
      return from.input(2).dtype == "float32" ? one_hot<float, float, Space>(from)
                                              : one_hot<std::int32_t, index, Space>(from);
    };
  });
}

}  // namespace conformance
