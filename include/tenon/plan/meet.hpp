// tenon/plan/meet.hpp: whether two strided blocks have a byte in common.
// Offsets are sums of strides times positions; the largest stride leaves few positions, so the search is short.
// Floor 3: may include base, core, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/layout.hpp>

namespace tenon {

namespace detail {

/// Sums of `stride[i]` times 0 to `most[i]`, of which the greatest stride comes first.
template <int Most>
struct stride_sums {
  array<index, Most> stride{}, most{};
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
    for (int i = first; i < Most; ++i) total += stride[i] * most[i];  // 0 beyond `count`
    return total;
  }

  /// Whether a sum of the strides from `first` on lies in [low, high].
  bool reach_into(index low, index high, int first = 0) {
    if (high < low) return false;
    if (first >= Most || first >= count) return low <= 0 && high >= 0;  // Most: for compilers that unroll the search
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
/// but contrived strides only there.
template <int Left, int Right>
bool share_bytes(const strided_block<Left>& left, const strided_block<Right>& right) {
  const auto left_bytes = addresses(left), right_bytes = addresses(right);
  if (!overlap(left_bytes, right_bytes)) return false;
  detail::stride_sums<Left + Right> sums;
  const auto append = [&sums](const auto& block) {
    for (int axis = 0; axis < block.extents.size(); ++axis) {
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
