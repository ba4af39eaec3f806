// tests/conformance/slices.hpp: ranges along axes that are data.
// One range for each of six axes; those that no one names take everything.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>
#include <utility>

#include "conformance/operations.hpp"

namespace conformance {

using range_list = std::vector<tn::range>;

/// Everything along the axes of an array of `rank`.
inline range_list whole(int rank) { return range_list(static_cast<std::size_t>(rank), tn::all_of); }

/// `axis` of the list, counted from the back when negative.
inline tn::range& along(range_list& ranges, index axis) {
  return ranges.at(static_cast<std::size_t>(front_axis(axis, static_cast<int>(ranges.size()))));
}

/// The slice of a tensor of six axes; ranges belong to its last axes.
template <class Tensor>
auto sliced(Tensor& x, const range_list& ranges) {
  range_list padded = whole(all_ranks);
  std::copy_backward(ranges.begin(), ranges.end(), padded.end());
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return tn::slice(x, padded[I]...);
  }(std::make_index_sequence<all_ranks>{});
}

}  // namespace conformance
