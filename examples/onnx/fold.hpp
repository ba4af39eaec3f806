// examples/onnx/fold.hpp: operators of elements that are all known, computed when a model is converted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.hpp"

namespace onnx_in {

/// Computes a node whose inputs are all known; false where it is none of these or there is no rule for it.
bool fold_elements(const call& now);
/// The same of operators that compute with numbers: whole ones exactly, others in double.
std::optional<constant> fold_numbers(const call& now);

/// Known elements, repeated to other extents.
/// throws    error that names the node, where they do not fit
constant expanded(const call& now, const constant& from, const lengths& to);

/// Calls `body(place, position)` for every position, in order.
template <class Body>
void for_each_position(const lengths& all, const Body& body) {
  const std::int64_t count = size_of(all);
  lengths position(all.size());
  for (std::int64_t place = 0; place < count; ++place) {
    body(static_cast<std::size_t>(place), position);
    for (std::size_t axis = all.size(); axis-- > 0;) {
      if (++position[axis] < all[axis]) break;
      position[axis] = 0;
    }
  }
}

/// Where a position lies; axes are aligned at the back, and those of extent 1 repeat.
inline std::size_t place_of(const lengths& all, const lengths& position) {
  std::int64_t place = 0;
  const std::size_t more = position.size() - all.size();
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    place = place * all[axis] + (all[axis] == 1 ? 0 : position[axis + more]);
  }
  return static_cast<std::size_t>(place);
}

}  // namespace onnx_in
