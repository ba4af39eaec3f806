// tenon/contraction/host_tile.hpp: the register tile of the host product.
// A few rows of three vectors of sums stay in registers for a whole block of k; lower and narrower ones serve edges.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_arithmetic.hpp>

namespace tenon {

/// The register tile: `height` rows of three vectors, chosen so that sums, operands and a broadcast fit the registers:
/// the fewer rows, the fewer broadcasts. Edges have half the height, or two vectors, or one.
template <class Products>
struct host_tile {
  static constexpr bool has_many_registers =
#if defined(__AVX512F__) || defined(__aarch64__)
      true;
#else
      false;
#endif
  static constexpr int lanes = Products::lanes, vectors = 3, width = vectors * lanes;
  static constexpr int height = has_many_registers ? 8 : 4, step = height / 2;
};

/// The operands of one tile: element (i, k) on the left is `left[i * left_row + k * left_step]`; row k on the right
/// begins at `right[k * right_step]`; where rows are listed, at `right[right_offsets[k]]`, and `listed_ahead` more
/// offsets are read. `before` holds the sums of former blocks of k in rows `before_pitch` apart, or is null. Where rows
/// on the right `are_apart`, a tile of full height asks for them ahead. It copies them side by side to `copied`, unless
/// that is null. Otherwise each step asks for memory that later tiles read, `later_step` bytes further on: what lies in
/// the last cache comes while a tile is multiplied.
template <class Products>
struct tile_operands {
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  const unit *left, *right;
  index left_row, left_step, right_step, steps;
  const sum* before = nullptr;
  bool are_apart = false;
  unit* copied = nullptr;
  const index* right_offsets = nullptr;
  index before_pitch = 0;
  const unit* later = nullptr;
  index later_step = 0;
};

namespace detail {

/// How far ahead memory is asked for, as hardware does not look ahead from row to row.
inline constexpr index prefetched_rows = 32, listed_ahead = 8;

/// How a tile finds the rows of its right operand: at equal steps; at equal steps that are long; or by a list.
enum class right_rows { stepping, apart, listed };

/// Writes the sums of a tile to rows `pitch` apart. Where the left operand is shifted, sums begin with row `steps` of
/// the right operand.
template <class Products, int Height, int Vectors, right_rows Rows = right_rows::stepping>
[[gnu::noinline]] void multiply_tile(const tile_operands<Products>& operands, typename Products::sum* to, index pitch) {
  using sum = typename Products::sum;
  using unit = typename Products::unit;
  constexpr int lanes = Products::lanes;
  const unit *left = operands.left, *right = operands.right;
  const index left_row = operands.left_row, left_step = operands.left_step, right_step = operands.right_step;
  [[maybe_unused]] unit* copied = operands.copied;
  [[maybe_unused]] auto later = reinterpret_cast<const char*>(operands.later == nullptr ? left : operands.later);
  typename Products::pack sums[Height][Vectors] = {};
  if constexpr (Products::shifts_left) {
    for (int i = 0; i < Height; ++i) {
      for (int j = 0; j < Vectors; ++j) {
        sums[i][j] = simd::load<sum, lanes>(right + operands.steps * right_step + j * lanes);
      }
    }
  }
  for (index k = 0; k < operands.steps; ++k, left += left_step) {
    simd::pack<unit, lanes> row[Vectors];
    if constexpr (Rows == right_rows::listed) {
      right = operands.right + operands.right_offsets[k];
      const unit* listed = operands.right + operands.right_offsets[k + listed_ahead];
      TENON_UNROLL(3)
      for (int j = 0; j < Vectors; ++j) __builtin_prefetch(listed + j * lanes);
    }
    if constexpr (Rows == right_rows::apart) {
      TENON_UNROLL(3)
      for (int j = 0; j < Vectors; ++j) __builtin_prefetch(right + prefetched_rows * right_step + j * lanes);
    }
    if constexpr (Rows == right_rows::stepping) {
      __builtin_prefetch(later, 0, 2);
      later += operands.later_step;
    }
    TENON_UNROLL(3)
    for (int j = 0; j < Vectors; ++j) row[j] = simd::load<unit, lanes>(right + j * lanes);
    if (Rows == right_rows::apart && copied != nullptr) {
      TENON_UNROLL(3)
      for (int j = 0; j < Vectors; ++j) simd::store<lanes>(copied + (k * Vectors + j) * lanes, row[j]);
    }
    TENON_UNROLL(8)
    for (int i = 0; i < Height; ++i) {
      const unit number = left[i * left_row];
      TENON_UNROLL(3)
      for (int j = 0; j < Vectors; ++j) sums[i][j] = Products::add(sums[i][j], number, row[j]);
    }
    if constexpr (Rows != right_rows::listed) right += right_step;
  }
  const sum* before = operands.before;
  TENON_UNROLL(8)
  for (int i = 0; i < Height; ++i, to += pitch) {
    TENON_UNROLL(3)
    for (int j = 0; j < Vectors; ++j) {
      if (before != nullptr) sums[i][j] += simd::load<sum, lanes>(before + i * operands.before_pitch + j * lanes);
      simd::store<lanes>(to + j * lanes, sums[i][j]);
    }
  }
}

}  // namespace detail

/// Writes the sums of a tile of `height` rows and `width` columns, which may be lower or narrower than host_tile, to
/// rows `pitch` apart.
template <class Products>
void multiply_tile(const tile_operands<Products>& operands, index height, index width, typename Products::sum* to,
                   index pitch) {
  using tile = host_tile<Products>;
  using function = void (*)(const tile_operands<Products>&, typename Products::sum*, index);
  constexpr auto apart = detail::right_rows::apart;
  static constexpr function functions[3][3] = {
      {detail::multiply_tile<Products, tile::step, 1>, detail::multiply_tile<Products, tile::step, 2>,
       detail::multiply_tile<Products, tile::step, 3>},
      {detail::multiply_tile<Products, tile::height, 1>, detail::multiply_tile<Products, tile::height, 2>,
       detail::multiply_tile<Products, tile::height, 3>},
      {detail::multiply_tile<Products, tile::height, 1, apart>, detail::multiply_tile<Products, tile::height, 2, apart>,
       detail::multiply_tile<Products, tile::height, 3, apart>}};
  functions[operands.are_apart ? 2 : height / tile::height][width / tile::lanes - 1](operands, to, pitch);
}

}  // namespace tenon
