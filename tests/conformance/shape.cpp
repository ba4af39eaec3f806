// tests/conformance/shape.cpp: operations that give elements other extents, in the same order.
// All of them are a reshape to extents that their inputs tell.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <tenon/expressions.hpp>

#include "conformance/axes.hpp"

namespace conformance {

namespace {

using extents_list = std::vector<index>;

index product(const extents_list& extents, std::size_t first, std::size_t last) {
  index result = 1;
  for (std::size_t axis = first; axis < last; ++axis) result *= extents[axis];
  return result;
}

/// 0 keeps the extent, unless `allowzero`; -1 is what is left over.
extents_list reshaped_extents(const call& from) {
  const array& x = from.input(0);
  extents_list extents = from.integers(1, "shape");
  const bool keeps = from.attributes.integer("allowzero", 0) == 0;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (keeps && extents[axis] == 0) extents[axis] = x.extents.at(axis);
  }
  const auto open = std::find(extents.begin(), extents.end(), -1);
  if (open != extents.end()) {
    *open = 1;
    *open = x.size() / product(extents, 0, extents.size());
  }
  return extents;
}

extents_list flattened_extents(const call& from) {
  const extents_list& extents = from.input(0).extents;
  const auto axis = static_cast<std::size_t>(front_axis(from.attributes.integer("axis", 1), from.input(0).rank()));
  return {product(extents, 0, axis), product(extents, axis, extents.size())};
}

extents_list squeezed_extents(const call& from) {
  const array& x = from.input(0);
  return reduced_extents(x.extents, named_axes(from.integers(1, "axes"), x.rank()), false);
}

extents_list unsqueezed_extents(const call& from) {
  const array& x = from.input(0);
  const extents_list axes = from.integers(1, "axes");
  const std::vector<bool> is_new = named_axes(axes, x.rank() + static_cast<int>(axes.size()));
  extents_list extents(is_new.size(), 1);
  auto next = x.extents.begin();
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (!is_new[axis]) extents[axis] = *next++;
  }
  return extents;
}

/// Extents from `start` to `end`, clamped, as numbers.
array shape_part(const call& from) {
  const array& x = from.input(0);
  const auto bound = [&](const char* name, index fallback) {
    return std::clamp<index>(front_axis(from.attributes.integer(name, fallback), x.rank()), 0, x.rank());
  };
  const index start = bound("start", 0), end = std::max(start, bound("end", x.rank()));
  return array_of(extents_list(x.extents.begin() + start, x.extents.begin() + end));
}

template <class Space>
operation reshape_to(extents_list (*new_extents)(const call&)) {
  return moving(first_input, [new_extents](const call& from) {
    return with_type(bit_types, from.input(0).dtype, [&]<class T>() {
      const auto x = tensor_of<T, Space>(from.input(0));
      const extents_list extents = new_extents(from);
      const tensor<T, Space> result = tn::reshape(x, padded_extents(extents));
      return array_of(result, extents);
    });
  });
}

}  // namespace

void add_shape(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Reshape"] = reshape_to<Space>(reshaped_extents);
    table["Flatten"] = reshape_to<Space>(flattened_extents);
    table["Squeeze"] = reshape_to<Space>(squeezed_extents);
    table["Unsqueeze"] = reshape_to<Space>(unsqueezed_extents);
    table["Identity"] = reshape_to<Space>([](const call& from) { return from.input(0).extents; });
    table["Shape"] = shape_part;
    table["Size"] = [](const call& from) {
      array count = array_of({from.input(0).size()});
      count.extents = {};
      return count;
    };
  });
}

}  // namespace conformance
