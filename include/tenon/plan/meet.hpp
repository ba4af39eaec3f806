// tenon/plan/meet.hpp: whether two strided blocks have a byte in common.
// Offsets are sums of strides times positions; the largest stride leaves few positions, so the search is short.
// Floor 3: may include base, core, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/layout.hpp>

namespace tenon {

namespace detail {

/// The sums of `stride[i]` times 0 to `most[i]`. The greatest stride comes first.
struct stride_sums {
  static constexpr int capacity = 32;
  array<index, capacity> stride{}, most{};
  int count = 0;
  int tries = 1000;  ///< then the answer is the safe one; nested strides take two or three an axis

  /// Adds an axis; equal strides are one.
  void add(index step, index steps) {
    if (step == 0 || steps == 0) return;
    int place = 0;
    while (place < count && stride[place] > step) ++place;
    if (place == count || stride[place] != step) {
      for (int later = count++; later > place; --later) {
        stride[later] = stride[later - 1];
        most[later] = most[later - 1];
      }
      stride[place] = step;
      most[place] = 0;
    }
    most[place] += steps;
  }

  /// The greatest sum of the strides from `first` on.
  index reach(int first) const {
    index total = 0;
    for (int i = first; i < count; ++i) total += stride[i] * most[i];
    return total;
  }

  /// Whether a sum of the strides from `first` on lies in [low, high].
  [[gnu::cold, gnu::noinline]] bool reach_into(index low, index high, int first = 0) {
    if (high < low) return false;
    if (first >= count) return low <= 0 && high >= 0;
    if (high < 0 || low > reach(first)) return false;
    if (--tries < 0) return true;
    const index step = stride[first], lacking = low - reach(first + 1);
    const index last = high / step < most[first] ? high / step : most[first];
    for (index i = lacking <= 0 ? 0 : (lacking + step - 1) / step; i <= last; ++i) {
      if (reach_into(low - i * step, high - i * step, first + 1)) return true;
    }
    return false;
  }
};

}  // namespace detail

/// Whether an element of `left` and one of `right` have a byte in common; sure to be said where it is so, and for all
/// but contrived strides, or more axes than there is room for, only there.
[[gnu::cold]] inline bool share_bytes(const any_block& left, const any_block& right) {
  const auto left_bytes = addresses(left), right_bytes = addresses(right);
  if (!overlap(left_bytes, right_bytes)) return false;
  if (left.extents.rank + right.extents.rank > detail::stride_sums::capacity) return true;
  detail::stride_sums sums;
  const auto append = [&sums](const any_block& block) {
    for (int axis = 0; axis < block.extents.rank; ++axis) {
      const index step = block.strides[axis] * block.size;
      sums.add(step < 0 ? -step : step, block.extents[axis] - 1);
    }
  };
  append(left), append(right);
  // From the first element of `left` upwards and from the last of `right` downwards, elements must come to lie less
  // than their size apart.
  const auto distance = static_cast<index>(right_bytes.end - left_bytes.begin) - right.size;
  return sums.reach_into(distance - left.size + 1, distance + right.size - 1);
}

}  // namespace tenon
