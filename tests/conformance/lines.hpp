// tests/conformance/lines.hpp: lines along one axis that is data.
// The axes before and behind it are one each, so that the axis is always the middle one of three.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>

#include "conformance/operations.hpp"

namespace conformance {

/// The middle one of three axes.
inline constexpr auto middle_axis = tn::axis<1>;

/// Elements as [before, axis, behind].
template <class T, class Space>
tn::tensor<T, tn::rank<3>, Space> lines_of(array source, index axis) {
  const auto middle = source.extents.begin() + front_axis(axis, source.rank());
  index before = 1, behind = 1;
  for (auto extent = source.extents.begin(); extent != middle; ++extent) before *= *extent;
  for (auto extent = middle + 1; extent != source.extents.end(); ++extent) behind *= *extent;
  source.extents = {before, *middle, behind};
  return tensor_of<T, Space, 3>(source);
}

/// Lines as elements under `extents`, whose extent along `axis` is that of the lines.
template <class T, class Shape, class Space>
array array_of_lines(const tn::tensor<T, Shape, Space>& lines, std::vector<index> extents, index axis) {
  extents.at(static_cast<std::size_t>(front_axis(axis, static_cast<int>(extents.size())))) = lines.extent(1);
  return array_of(lines, extents);
}

}  // namespace conformance
