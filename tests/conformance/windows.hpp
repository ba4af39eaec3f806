// tests/conformance/windows.hpp: windows along the axes behind batch and channels.
// Attributes become a geometry of as many axes as a case has: one, two or three.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>

#include "conformance/operations.hpp"

namespace conformance {

template <int Rank>
using axis_numbers = tn::array<index, Rank>;

template <int Rank>
axis_numbers<Rank> numbers_or(const call& from, const char* name, index fallback) {
  const std::vector<index> given = from.attributes.integers(name);
  axis_numbers<Rank> result = tn::filled_array<Rank>(fallback);
  if (!given.empty()) std::copy_n(given.begin(), Rank, result.begin());
  return result;
}

/// Strides, dilations, groups, and pads in front of and behind each axis.
template <int Rank>
tn::window_geometry<Rank> geometry_of(const call& from) {
  tn::window_geometry<Rank> geometry{.stride = numbers_or<Rank>(from, "strides", 1),
                                     .dilation = numbers_or<Rank>(from, "dilations", 1),
                                     .groups = from.attributes.integer("group", 1)};
  const std::vector<index> pads = from.attributes.integers("pads");
  for (int i = 0; i < Rank && !pads.empty(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    geometry.padding[i] = pads[axis], geometry.extra_padding[i] = pads[axis + Rank] - pads[axis];
  }
  return geometry;
}

/// Padding that gives results of the wanted extents: the odd one behind for SAME_UPPER, else in front.
template <int Rank>
void fit_padding(tn::window_geometry<Rank>& geometry, const axis_numbers<Rank>& whole, const axis_numbers<Rank>& wanted,
                 bool more_behind) {
  for (int i = 0; i < Rank; ++i) {
    const index total = std::max<index>(whole[i] - wanted[i], 0), front = more_behind ? total / 2 : total - total / 2;
    geometry.padding[i] = front, geometry.extra_padding[i] = total - 2 * front;
  }
}

/// One of three, by the axes behind batch and channels.
template <array (*One)(const call&), array (*Two)(const call&), array (*Three)(const call&)>
array of_rank(const call& from) {
  const int axes = from.input(0).rank() - 2;
  return axes == 1 ? One(from) : axes == 2 ? Two(from) : Three(from);
}

}  // namespace conformance
