// tenon/contraction/swizzle.hpp: where chunks of an operand's tile lie for lanes that load blocks of it.
// Chunks of a run change places by the run's number, so that a warp finds what it loads at once in different banks.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/tile.hpp>

namespace tenon {

/// Elements of 16 bits are transposed as they are loaded. Others are not, so lanes take two neighbouring lines at once:
/// line 8 * b + i of 16 in a block of registers is line 2 * i + b of the tile.
template <class T>
inline constexpr bool pairs_lines = sizeof(T) != 2;

/// The place among 16 lines in a tile of the line that registers hold as `line`, and back.
template <class T>
TENON_HOST_DEVICE constexpr int line_in_tile(int line) {
  return pairs_lines<T> ? line % 8 * 2 + line / 8 : line;
}
template <class T>
TENON_HOST_DEVICE constexpr int line_in_registers(int line) {
  return pairs_lines<T> ? line / 2 + line % 2 * 8 : line;
}

/// A tile of `Lines` lines of `Depth` elements.
template <class T, int Lines, int Depth>
struct swizzled_placement {
  static constexpr int lines = Lines, depth = Depth, elements = Lines * Depth;

  /// Where chunk `chunk` of run `run` begins.
  TENON_HOST_DEVICE static constexpr int offset(tile_layout layout, int run, int chunk) {
    return layout == tile_layout::along_depth
               ? offset_along_depth(run / 16 * 16 + line_in_registers<T>(run % 16), chunk)
               : offset_along_lines(run, chunk);
  }
  /// The same for line `line` as registers hold it. Eight of them one after the other lie in different banks.
  TENON_HOST_DEVICE static constexpr int offset_along_depth(int line, int chunk) {
    return swizzled<Depth / chunk_size<T>>(line, chunk, line);
  }
  /// The runs that lanes load at once are 0 to 7, 0 to 3, or 0, 1, 4, 5, 8, 9, 12, 13 for elements of 2, 4 and 1 bytes.
  TENON_HOST_DEVICE static constexpr int offset_along_lines(int run, int chunk) {
    constexpr int chunks = Lines / chunk_size<T>;
    if constexpr (sizeof(T) == 2) return swizzled<chunks>(run, chunk, run);
    else if constexpr (sizeof(T) == 4) return swizzled<chunks>(run, chunk, run * 2);
    else return swizzled<chunks>(run, chunk, run % 2 + run / 4 * 2);
  }

 private:
  static constexpr int banks = 8;  // of a chunk each

  /// Runs of fewer chunks than there are banks share the banks, and change chunks as often.
  template <int Chunks>
  TENON_HOST_DEVICE static constexpr int swizzled(int run, int chunk, int turn) {
    static_assert((Chunks & (Chunks - 1)) == 0, "tenon: chunks change places among a power of two of them");
    constexpr int turning = Chunks < banks ? Chunks : banks, runs_in_banks = banks / turning;
    return (run * Chunks + (chunk ^ (turn / runs_in_banks % turning))) * chunk_size<T>;
  }
};

}  // namespace tenon
