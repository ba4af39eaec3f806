// tests/conformance/view.cpp: slices, permutations, repetitions.
// Elements move by strided views; what a view writes to is a slice of the result.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "conformance/lines.hpp"
#include "conformance/slices.hpp"

namespace conformance {

namespace {

/// ONNX bounds what lies outside; Tenon refuses a begin that does.
tn::range bounded(index begin, index end, index step, index extent) {
  return {std::clamp(begin, -extent, step > 0 ? extent : extent - 1), end, step};
}

template <class T, class Space>
array slice(const call& from) {
  const array& source = from.input(0);
  const auto starts = integers_of(from.input(1)), ends = integers_of(from.input(2));
  range_list ranges = whole(source.rank());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const index axis = from.has(3) ? integers_of(from.input(3))[i] : static_cast<index>(i);
    const index step = from.has(4) ? integers_of(from.input(4))[i] : 1;
    const auto front = static_cast<std::size_t>(front_axis(axis, source.rank()));
    ranges[front] = bounded(starts[i], ends[i], step, source.extents[front]);
  }
  const auto x = tensor_of<T, Space>(source);
  return evaluated<Space>(sliced(x, ranges), source.rank());
}

/// The inputs behind each other, two after two.
template <class T, class Space>
array concatenate(const call& from) {
  const index axis = from.attributes.integer("axis", 0);
  array result = from.input(0);
  for (std::size_t i = 1; i < from.inputs.size(); ++i) {
    const auto front = lines_of<T, Space>(result, axis), back = lines_of<T, Space>(from.input(i), axis);
    const tn::tensor<T, tn::rank<3>, Space> joined = tn::concatenate(middle_axis, front, back);
    result = array_of_lines(joined, result.extents, axis);
  }
  return result;
}

template <class T, class Space>
array tile(const call& from) {
  const std::vector<index> told = integers_of(from.input(1));
  auto counts = tn::filled_array<all_ranks>(index{1});
  std::copy_backward(told.begin(), told.end(), counts.begin() + all_ranks);
  return evaluated<Space>(tn::tile(tensor_of<T, Space>(from.input(0)), counts), from.input(0).rank());
}

/// Extents of the parts: told, or equal with a smaller last one.
std::vector<index> part_extents(const call& from, index extent) {
  const std::vector<index> told = from.integers(1, "split");
  if (!told.empty()) return told;
  const auto parts = static_cast<index>(from.outputs), each = (extent + parts - 1) / parts;
  std::vector<index> result(from.outputs, each);
  result.back() = extent - each * (parts - 1);
  return result;
}

template <class T, class Space>
array_list split(const call& from) {
  const array& source = from.input(0);
  const index axis = from.attributes.integer("axis", 0);
  const index extent = source.extents.at(static_cast<std::size_t>(front_axis(axis, source.rank())));
  const auto x = tensor_of<T, Space>(source);
  array_list parts;
  index begin = 0;
  for (const index part : part_extents(from, extent)) {
    range_list ranges = whole(source.rank());
    along(ranges, axis) = {begin, begin + part};
    parts.push_back(evaluated<Space>(sliced(x, ranges), source.rank()));
    begin += part;
  }
  return parts;
}

/// The named axes, all where none is named.
std::vector<index> axes_or_all(std::vector<index> axes, int rank) {
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), index{0});
  }
  return axes;
}

/// The middle of `extent` elements that `other` has room for, one less in front when it does not divide.
tn::range middle(index extent, index other) {
  const index begin = extent > other ? (extent - other) / 2 : 0;
  return {begin, begin + std::min(extent, other)};
}

template <class T, class Space>
array center_crop_pad(const call& from) {
  const array& source = from.input(0);
  const auto wanted = integers_of(from.input(1));
  const auto axes = axes_or_all(from.attributes.integers("axes"), source.rank());
  range_list crop = whole(source.rank()), room = crop;
  std::vector<index> extents = source.extents;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const index axis = front_axis(axes.at(i), source.rank()), extent = extents[static_cast<std::size_t>(axis)];
    along(crop, axis) = middle(extent, wanted[i]);
    along(room, axis) = middle(wanted[i], extent);
    extents[static_cast<std::size_t>(axis)] = wanted[i];
  }
  const auto x = tensor_of<T, Space>(source);
  auto result = tn::zeros<T, Space>(padded_extents(extents));
  sliced(result, room) = sliced(x, crop);
  return array_of(result, extents);
}

/// Elements to add before and behind, for each of six axes; an attribute until version 10.
tn::array<tn::padding, all_ranks> paddings(const call& from) {
  const std::vector<index> counts = from.integers(1, "pads");
  const int rank = from.input(0).rank();
  const auto axes = axes_or_all(from.has(3) ? integers_of(from.input(3)) : std::vector<index>{}, rank);
  tn::array<tn::padding, all_ranks> widths{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    widths[all_ranks - rank + front_axis(axes[i], rank)] = {counts[i], counts[i + axes.size()]};
  }
  return widths;
}

template <class T, class Space>
array pad(const call& from) {
  const int rank = from.input(0).rank();
  const auto x = tensor_of<T, Space>(from.input(0));
  const auto mode = from.attributes.text("mode", "constant");
  if (mode == "edge") return evaluated<Space>(tn::pad(x, paddings(from), tn::replicate), rank);
  if (mode == "reflect") return evaluated<Space>(tn::pad(x, paddings(from), tn::reflect), rank);
  if (mode == "wrap") return evaluated<Space>(tn::pad(x, paddings(from), tn::circular), rank);
  const T told = static_cast<T>(static_cast<float>(from.attributes.number("value", 0)));
  return evaluated<Space>(tn::pad(x, paddings(from), from.has(2) ? *from.input(2).elements<T>() : told), rank);
}

/// Along `time_axis` the first elements of each batch are reversed, as many as an input tells.
template <class T, class Space>
array reverse_sequence(const call& from) {
  const array& source = from.input(0);
  const index time = from.attributes.integer("time_axis", 0), batch = from.attributes.integer("batch_axis", 1);
  const auto x = tensor_of<T, Space>(source);
  tensor<T, Space> result = x;
  index position = 0;
  for (const index length : integers_of(from.input(1))) {
    range_list forward = whole(source.rank());
    along(forward, batch) = tn::only(position++);
    range_list backward = forward;
    along(forward, time) = {0, length};
    along(backward, time) = {length - 1, tn::open_end, -1};
    sliced(result, forward) = sliced(x, backward);
  }
  return array_of(result, source.rank());
}

/// A permutation of the last `rank` of six axes; none given reverses them.
std::vector<index> padded_permutation(const std::vector<index>& given, int rank) {
  std::vector<index> axes(all_ranks);
  std::iota(axes.begin(), axes.end(), index{0});
  const auto own = axes.end() - rank;
  if (given.empty()) std::reverse(own, axes.end());
  else std::transform(given.begin(), given.end(), own, [&](index axis) { return all_ranks - rank + axis; });
  return axes;
}

template <class T, class Space>
array transpose(const call& from) {
  const array& source = from.input(0);
  const auto axes = padded_permutation(from.attributes.integers("perm"), source.rank());
  const auto x = tensor_of<T, Space>(source);
  const auto elements = x.view();
  auto extents = tn::filled_array<all_ranks>(index{1});
  tn::array<index, all_ranks> strides{};
  for (int axis = 0; axis < all_ranks; ++axis) {
    const auto from_axis = static_cast<int>(axes[static_cast<std::size_t>(axis)]);
    extents[axis] = elements.extent(from_axis);
    strides[axis] = elements.strides()[from_axis];
  }
  const std::remove_const_t<decltype(elements)> permuted(elements.data(), extents_type(extents), strides);
  return array_of(tensor<T, Space>(permuted), source.rank());
}

/// Blocks of rows and columns become channels.
template <class T, class Space>
array space_to_depth(const call& from) {
  const std::vector<index>& extents = from.input(0).extents;
  const index batches = extents.at(0), channels = extents.at(1), size = from.attributes.integer("blocksize", 1);
  const index rows = extents.at(2) / size, columns = extents.at(3) / size;
  const auto x = tensor_of<T, Space>(from.input(0));
  const auto blocks = tn::reshape(x, extents_type(batches, channels, rows, size, columns, size));
  return array_of(tensor<T, Space>(tn::permute(blocks, tn::axis<0, 3, 5, 1, 2, 4>)),
                  {batches, channels * size * size, rows, columns});
}

template <class T, class Space>
array expand(const call& from) {
  const auto x = tensor_of<T, Space>(from.input(0));
  const auto extents =
      tn::broadcast_extents<tn::broadcast_to_operation>(x.shape(), padded_extents(integers_of(from.input(1))));
  const int rank = std::max(from.input(0).rank(), static_cast<int>(from.input(1).size()));
  return evaluated<Space>(tn::broadcast_to(x, extents), rank);
}

/// The opposite; channels are numbered blocks first, or last where the mode is CRD.
template <class T, class Space>
array depth_to_space(const call& from) {
  const std::vector<index>& extents = from.input(0).extents;
  const index size = from.attributes.integer("blocksize", 1);
  const index batches = extents.at(0), channels = extents.at(1) / (size * size), rows = extents.at(2),
              columns = extents.at(3);
  const auto x = tensor_of<T, Space>(from.input(0));
  const std::vector<index> result{batches, channels, rows * size, columns * size};
  if (from.attributes.text("mode", "DCR") == "DCR") {
    const auto blocks = tn::reshape(x, extents_type(batches, size, size, channels, rows, columns));
    return array_of(tensor<T, Space>(tn::permute(blocks, tn::axis<0, 3, 4, 1, 5, 2>)), result);
  }
  const auto blocks = tn::reshape(x, extents_type(batches, channels, size, size, rows, columns));
  return array_of(tensor<T, Space>(tn::permute(blocks, tn::axis<0, 1, 4, 2, 5, 3>)), result);
}

/// Zeros on one side of a diagonal of the last two axes.
template <class T, class Space>
array triangle(const call& from) {
  const auto x = tensor_of<T, Space>(from.input(0));
  const index offset = from.has(1) ? integers_of(from.input(1)).at(0) : 0;
  const int rank = from.input(0).rank();
  return from.attributes.integer("upper", 1) != 0 ? evaluated<Space>(tn::triu(x, offset), rank)
                                                  : evaluated<Space>(tn::tril(x, offset), rank);
}

}  // namespace

void add_view(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    const auto add = [&table](const char* name, bool (*is_moved)(std::size_t), auto apply) {
      table[name] = moving(is_moved, [apply](const call& from) {
        return with_type(bit_types, from.input(0).dtype,
                         [&]<class T>() { return array_list(apply.template operator()<T>(from)); });
      });
    };
    add("Split", first_input, []<class T>(const call& from) { return split<T, Space>(from); });
    add("Concat", every_input, []<class T>(const call& from) { return concatenate<T, Space>(from); });
    add("Tile", first_input, []<class T>(const call& from) { return tile<T, Space>(from); });
    add("Slice", first_input, []<class T>(const call& from) { return slice<T, Space>(from); });
    add("CenterCropPad", first_input, []<class T>(const call& from) { return center_crop_pad<T, Space>(from); });
    add("ReverseSequence", first_input, []<class T>(const call& from) { return reverse_sequence<T, Space>(from); });
    add("Transpose", first_input, []<class T>(const call& from) { return transpose<T, Space>(from); });
    add("SpaceToDepth", first_input, []<class T>(const call& from) { return space_to_depth<T, Space>(from); });
    add("DepthToSpace", first_input, []<class T>(const call& from) { return depth_to_space<T, Space>(from); });
    add("Expand", first_input, []<class T>(const call& from) { return expand<T, Space>(from); });
    add("Trilu", first_input, []<class T>(const call& from) { return triangle<T, Space>(from); });
    table["Pad"] = [](const call& from) {
      return with_type<float, double, tn::half, std::int32_t, std::int64_t, std::uint8_t, bool>(
          from.input(0).dtype, [&]<class T>() { return pad<T, Space>(from); });
    };
  });
}

}  // namespace conformance
