// tests/conformance/indexing.cpp: elements chosen, ordered and placed by data.
// The axis is the middle one of three, unless positions have extents of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include "conformance/lines.hpp"

namespace conformance {

namespace {

template <class Space>
array nonzero(const call& from) {
  const auto x = tensor_of<bool, Space, 2>(from.input(0));
  const auto positions = tn::nonzero(x);
  return array_of(positions, 2);
}

/// Without an axis the elements are one line.
template <class Space>
array compress(const call& from) {
  array source = from.input(0);
  if (!from.attributes.has("axis")) source.extents = {source.size()};
  const index axis = from.attributes.integer("axis", 0);
  const auto x = lines_of<float, Space>(source, axis);
  const auto condition = tensor_of<bool, Space, 1>(from.input(1));
  return array_of_lines(tn::compress(x, condition, along), source.extents, axis);
}

template <class T, class Space>
array_list top(const call& from) {
  const array& source = from.input(0);
  const index axis = from.attributes.integer("axis", -1), count = integers_of(from.input(1)).at(0);
  const bool largest = from.attributes.integer("largest", 1) != 0;
  const auto found = tn::topk(lines_of<T, Space>(source, axis), count, along, {.largest = largest});
  return {array_of_lines(found.values, source.extents, axis), array_of_lines(found.indices, source.extents, axis)};
}

}  // namespace

void add_indexing(device_tables& devices) {
  on_each_host_device(devices, []<class Space>(operation_table& table) {
    table["NonZero"] = nonzero<Space>;
    table["Compress"] = compress<Space>;
    table["TopK"] = [](const call& from) {
      return with_type<std::int64_t, std::uint64_t>(from.input(0).dtype,
                                                    [&]<class T>() { return top<T, Space>(from); });
    };
  });
}

}  // namespace conformance
