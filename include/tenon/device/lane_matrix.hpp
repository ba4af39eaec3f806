// tenon/device/lane_matrix.hpp: matrices in the registers of a warp, by the layout that PTX documents.
// Unlike fragments they may be taken apart: a kernel knows which row and column each of its registers holds.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/primitives.hpp>

// A warp loads its matrices as blocks of 8 rows of 16 bytes. Of each block lane l holds the word l % 4 of row l / 4, or
// of a block that is transposed on the way, which must have elements of 16 bits, elements 2 * (l % 4) and the next of
// column l / 4. A product takes
//   the left operand, 16 rows x 32 bytes along k, as four blocks: rows 0-7, rows 8-15, then both 16 bytes further in k;
//   the right operand, 8 columns x 32 bytes along k, as two blocks, the second 16 bytes further in k;
//   sums, 16 rows x 8 columns: see `lane_sum_row` and `lane_sum_column`.

namespace tenon {

/// Words of blocks, a lane's share.
template <int Blocks>
using lane_words = array<std::uint32_t, Blocks>;

/// A lane's share of 16 x 8 sums of products of `T`.
template <class T>
using lane_sums = array<fragment_accumulator<T>, 4>;

inline constexpr int block_lines = 8;         ///< rows of a block
inline constexpr int block_line_bytes = 16;   ///< bytes of such a row
inline constexpr int lane_product_rows = 16;  ///< rows of the sums
inline constexpr int lane_product_columns = 8;

/// Elements along k that one product of `T` multiplies.
template <class T>
inline constexpr int lane_product_depth = 2 * block_line_bytes / static_cast<int>(sizeof(fragment_storage<T>));

/// The row of sum `slot` of `lane`; slots 0 and 1 are neighbours in a row, and so are 2 and 3.
TENON_HOST_DEVICE constexpr int lane_sum_row(int lane, int slot) { return lane / 4 + slot / 2 * block_lines; }
/// The column of sum `slot` of `lane`.
TENON_HOST_DEVICE constexpr int lane_sum_column(int lane, int slot) { return lane % 4 * 2 + slot % 2; }

/// True for element types of which lanes multiply matrices.
template <class T>
inline constexpr bool has_lane_products =
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || std::is_same_v<T, tf32> || std::is_same_v<T, std::int8_t>;

/// True where blocks of elements of `T` may be loaded.
template <bool Transposed, class T>
inline constexpr bool block_load_is_legal = Transposed ? sizeof(T) == 2 : sizeof(T) <= 4;

}  // namespace tenon
