// tenon/device/fragment.hpp: matrix fragments of emulated warps.
// Elements lie in the lanes by a scrambled map, since the hardware's is unspecified: a kernel that relies on one fails.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/shared_memory.hpp>

namespace tenon {

/// A lane's share of a matrix.
template <class Role, int M, int N, int K, class T, class Layout = row_major>
struct emulated_fragment {
  static_assert(fragment_is_legal<Role, T, M, N, K>,
                "tenon: no matrix unit has this fragment; see operand_is_legal for the element types and extents");
  using role = Role;
  using element = T;
  using storage = fragment_storage<T>;
  using layout = Layout;
  using extent = fragment_extent<Role, M, N, K>;
  static constexpr int m = M, n = N, k = K;
  static constexpr int count = extent::size / warp_size;

  storage elements[count];

  /// Replaces each element by `change(element)`; which elements a lane has is unspecified.
  template <class Change>
  TENON_HOST_DEVICE void map(Change change) {
    for (storage& value : elements) value = static_cast<storage>(change(value));
  }
};

namespace detail {

/// Which element of a matrix of `size` (a power of two) is slot `slot` of lane `lane`.
TENON_HOST_DEVICE inline int scrambled_element(std::uint64_t scramble, int size, int lane, int slot) {
  const auto position = static_cast<std::uint64_t>(slot * warp_size + lane);
  return static_cast<int>((position * (scramble | 1) + (scramble >> 32)) & static_cast<std::uint64_t>(size - 1));
}

/// Where element `element` of a fragment lies in a matrix in memory.
template <class Fragment>
TENON_HOST_DEVICE int position_in_memory(int element, int leading) {
  constexpr int columns = Fragment::extent::columns;
  const int row = element / columns, column = element % columns;
  return std::is_same_v<typename Fragment::layout, row_major> ? row * leading + column : column * leading + row;
}

/// The unit's own rounding of an operand.
template <class T>
TENON_HOST_DEVICE fragment_storage<T> rounded_operand(fragment_storage<T> value) {
  if constexpr (std::is_same_v<T, tf32>) {  // to nearest, ties away from zero
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    const bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (is_finite) bits = (bits + 0x1000u) & 0xffffe000u;
    __builtin_memcpy(&value, &bits, sizeof(bits));
  }
  return value;
}

/// The fragments of all lanes as one matrix of the accumulator's type.
template <class Fragment, class Number>
TENON_HOST_DEVICE void gather_fragment(Number* matrix, Fragment* const* lanes, std::uint64_t scramble) {
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int slot = 0; slot < Fragment::count; ++slot) {
      const int element = scrambled_element(scramble, Fragment::extent::size, lane, slot);
      matrix[element] = static_cast<Number>(lanes[lane]->elements[slot]);
    }
  }
}

/// The operands that one lane contributes to a product.
template <class Result, class Left, class Right>
struct product_operands {
  Result* result;
  const Left* left;
  const Right* right;
  std::uint64_t scramble;
};

/// result += left * right for whole matrices of `Result`'s element type.
template <class Result, class Left, class Right>
TENON_HOST_DEVICE void multiply_lanes(const product_operands<Result, Left, Right>* lanes) {
  using number = typename Result::storage;
  constexpr int m = Result::m, n = Result::n, k = Result::k;
  const Left* lefts[warp_size];
  const Right* rights[warp_size];
  for (int lane = 0; lane < warp_size; ++lane) {
    lefts[lane] = lanes[lane].left;
    rights[lane] = lanes[lane].right;
  }
  number left[m * k], right[k * n], product[m * n] = {};
  gather_fragment(left, lefts, lanes[0].scramble);
  gather_fragment(right, rights, lanes[0].scramble);
  for (int i = 0; i < m * k; ++i) {
    number* row = product + i / k * n;
    for (int column = 0; column < n; ++column) row[column] += left[i] * right[i % k * n + column];
  }
  for (int i = 0; i < warp_size * Result::count; ++i) {
    const int lane = i % warp_size, slot = i / warp_size;
    lanes[lane].result->elements[slot] += product[scrambled_element(lanes[0].scramble, m * n, lane, slot)];
  }
}

}  // namespace detail
}  // namespace tenon
