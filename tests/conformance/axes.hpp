// tests/conformance/axes.hpp: axes that are data, brought to places that a type can name.
// A view with permuted strides has the axes to keep in front and the others behind; no element moves.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>

#include "conformance/operations.hpp"

namespace conformance {

/// Which axes an operation names.
inline std::vector<bool> named_axes(const std::vector<index>& axes, int rank) {
  std::vector<bool> named(static_cast<std::size_t>(rank), false);
  for (const index axis : axes) named.at(static_cast<std::size_t>(front_axis(axis, rank))) = true;
  return named;
}

/// How many axes of each kind a split view has.
inline constexpr int kept_axes = 3;

/// The axes of six that `axes<3, 4, 5>` names after `split_axes`.
inline constexpr auto named = tn::axis<3, 4, 5>;

/// The elements of `source` under [kept, kept, kept, named, named, named]; absent axes have extent 1.
template <class Tensor>
auto split_axes(Tensor& source, const std::vector<bool>& is_named) {
  auto extents = tn::filled_array<all_ranks>(index{1});
  tn::array<index, all_ranks> strides{};
  const int rank = static_cast<int>(is_named.size());
  int next_kept = 0, next_named = kept_axes;
  for (int axis = 0; axis < rank; ++axis) {
    int& next = is_named[static_cast<std::size_t>(axis)] ? next_named : next_kept;
    const int from = all_ranks - rank + axis;
    if (next == kept_axes + (&next == &next_named ? kept_axes : 0)) throw tn::shape_error("too many axes to split");
    extents[next] = source.extent(from);
    strides[next] = source.view().strides()[from];
    ++next;
  }
  const auto elements = source.view();
  return std::remove_const_t<decltype(elements)>(elements.data(), extents_type(extents), strides);
}

/// What is left of `extents` when the named axes are reduced.
inline std::vector<index> reduced_extents(const std::vector<index>& extents, const std::vector<bool>& is_named,
                                          bool keeps_axes) {
  std::vector<index> result;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (!is_named[axis]) result.push_back(extents[axis]);
    else if (keeps_axes) result.push_back(1);
  }
  return result;
}

}  // namespace conformance
