// tenon/core/layout.hpp: where elements lie: strides, contiguity, address ranges.
// Strides count elements and may be zero (broadcast) or negative (flipped).
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/core/extents.hpp>

namespace tenon {

/// Strides of elements stored one after another, the last axis fastest. Extents are countable, as those of a shape.
template <int Rank>
constexpr array<index, Rank> row_major_strides(const array<index, Rank>& extents) {
  array<index, Rank> strides{};
  index step = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

/// Strides of elements stored one after another, the first axis fastest. Extents are countable, as those of a shape.
template <int Rank>
constexpr array<index, Rank> column_major_strides(const array<index, Rank>& extents) {
  array<index, Rank> strides{};
  index step = 1;
  for (int axis = 0; axis < Rank; ++axis) {
    strides[axis] = step;
    step *= extents[axis];
  }
  return strides;
}

/// Whether elements in index order are adjacent in memory; axes of extent 1 do not matter.
template <int Rank>
constexpr bool is_contiguous(const array<index, Rank>& extents, const array<index, Rank>& strides) {
  index step = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    if (extents[axis] != 1 && strides[axis] != step) return false;
    step *= extents[axis];
  }
  return true;
}

/// Elements of `size` bytes in memory, of which `start` is the address of the first; `type` differs between types.
struct any_block {
  std::uintptr_t start;
  extents_view extents;
  const index* strides;
  index size;
  const void* type;
};

/// The same, with extents and strides of its own.
template <int Rank>
struct strided_block {
  std::uintptr_t start;
  array<index, Rank> extents, strides;
  index size;
  const void* type = nullptr;

  TENON_INLINE operator any_block() const { return {start, {extents.begin(), Rank}, strides.begin(), size, type}; }
};

namespace detail {
template <class T>
inline constexpr char type_mark = 0;
}

/// The block that a view describes.
template <class View>
strided_block<View::rank> block_of(const View& elements) {
  using element = std::remove_cv_t<typename View::element>;
  return {reinterpret_cast<std::uintptr_t>(elements.data()), elements.shape().to_array(), elements.strides(),
          sizeof(element), &detail::type_mark<element>};
}

/// The half-open range of addresses that a strided block touches; empty when it has no elements.
struct address_range {
  std::uintptr_t begin = 0, end = 0;
};

/// The addresses that a block touches, whatever the signs of its strides.
TENON_INLINE address_range addresses(const any_block& block) {
  index lowest = 0, highest = 0;
  for (int axis = 0; axis < block.extents.rank; ++axis) {
    if (block.extents[axis] == 0) return {};
    const index reach = (block.extents[axis] - 1) * block.strides[axis];
    (reach < 0 ? lowest : highest) += reach;
  }
  return {block.start + static_cast<std::uintptr_t>(lowest * block.size),
          block.start + static_cast<std::uintptr_t>((highest + 1) * block.size)};
}

/// Whether two ranges have an address in common.
constexpr bool overlap(const address_range& left, const address_range& right) {
  return left.begin < right.end && right.begin < left.end;
}

}  // namespace tenon
