// tenon/contraction/wmma.hpp: a stage of a product multiplied by the matrix units, as fragments.
// The map from lanes to elements of a fragment is the unit's own, so results leave through a strip of shared memory.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/simt.hpp>

namespace tenon {

/// Where an operand's tile lies for fragments: runs a chunk further apart than they are long, so that the rows of a
/// fragment lie in different banks.
template <class T, int Lines, int Depth>
struct fragment_placement {
  static constexpr int lines = Lines, depth = Depth;
  static constexpr int pitch_along_depth = Depth + chunk_size<T>, pitch_along_lines = Lines + chunk_size<T>;
  static constexpr int elements =
      Lines * pitch_along_depth > Depth* pitch_along_lines ? Lines* pitch_along_depth : Depth* pitch_along_lines;

  TENON_HOST_DEVICE static constexpr int pitch(tile_layout layout) {
    return layout == tile_layout::along_depth ? pitch_along_depth : pitch_along_lines;
  }
  /// Where chunk `chunk` of run `run` begins.
  TENON_HOST_DEVICE static constexpr int offset(tile_layout layout, int run, int chunk) {
    return run * pitch(layout) + chunk * chunk_size<T>;
  }
};

/// Bytes: the rows of a fragment are a chunk long; they are aligned as fragments must be if those of neighbouring runs
/// are adjacent.
template <int Lines, int Depth>
struct fragment_placement<std::int8_t, Lines, Depth> {
  static constexpr int lines = Lines, depth = Depth, chunk = chunk_size<std::int8_t>;
  static constexpr int between = 2;  // chunks, which keep the banks of a line's chunks apart
  static constexpr int elements = greatest_size({(Lines + between) * Depth, (Depth + between) * Lines});

  TENON_HOST_DEVICE static constexpr int pitch(tile_layout) { return chunk; }
  TENON_HOST_DEVICE static constexpr int offset(tile_layout layout, int run, int number) {
    const int runs = layout == tile_layout::along_depth ? Lines : Depth;
    return (number * (runs + between) + run) * chunk;
  }
};

/// The extents of the fragments of an operand type.
template <class Element>
struct fragment_extents {
  static constexpr int m = 16, n = 16, k = 16;
};
template <>
struct fragment_extents<tf32> {
  static constexpr int m = 16, n = 16, k = 8;
};
template <>
struct fragment_extents<double> {
  static constexpr int m = 8, n = 8, k = 4;
};

/// The unit that multiplies tiles of Element by fragments; threads do it where a device has no unit for them.
template <class Element, class Policy>
struct wmma_unit {
  static constexpr const char* name = "wmma_product";
  using policy = Policy;
  using element = fragment_storage<Element>;
  using accumulator = fragment_accumulator<Element>;
  static constexpr int m = fragment_extents<Element>::m, n = fragment_extents<Element>::n,
                       k = fragment_extents<Element>::k;
  using left_placement = fragment_placement<element, Policy::rows, Policy::depth>;
  using right_placement = fragment_placement<element, Policy::columns, Policy::depth>;

  using fallback = lane_unit<element, accumulator, Policy, left_placement, right_placement>;
  template <class Device>
  TENON_HOST_DEVICE static constexpr bool is_available() {
    return Device::template has_matrix_unit<Element>();
  }

  // A warp hands over its results in strips of rows, `strip_pitch` elements apart in shared memory.
  static constexpr int strip_rows = m, strips = Policy::warp_rows / m;
  static constexpr int strip_pitch = Policy::warp_columns + chunk_size<accumulator>;

  /// The row of the warp's tile that is row `row` of strip `strip`.
  TENON_HOST_DEVICE static constexpr int row_of_strip(int strip, int row) { return strip * strip_rows + row; }

  /// The results of a warp.
  template <class Device>
  struct warp_tile {
    static constexpr int across = Policy::warp_columns / n;
    using result = typename Device::template fragment<tenon::accumulator, m, n, k, accumulator>;
    result sums[strips][across];

    TENON_HOST_DEVICE void clear(Device& device) {
      for (auto& row : sums) {
        for (auto& each : row) device.fill(each, accumulator(0));
      }
    }
    /// Adds the product of a stage.
    template <class Stage>
    TENON_HOST_DEVICE void multiply_add(Device& device, const Stage& left, tile_layout left_layout, const Stage& right,
                                        tile_layout right_layout) {
      if (left_layout == tile_layout::along_depth) {
        if (right_layout == tile_layout::along_depth) multiply<row_major, column_major>(device, left, right);
        else multiply<row_major, row_major>(device, left, right);
      } else {
        if (right_layout == tile_layout::along_depth) multiply<column_major, column_major>(device, left, right);
        else multiply<column_major, row_major>(device, left, right);
      }
    }
    /// Stores strip number `strip` of the results, from `First` on: registers have no number at run time.
    template <int First = 0, class Strip>
    TENON_HOST_DEVICE void store_strip(Device& device, const Strip& to, int strip) {
      if constexpr (First < strips) {
        if (strip != First) return store_strip<First + 1>(device, to, strip);
        for (int j = 0; j < across; ++j) device.store_fragment(to, j * n, sums[First][j], strip_pitch);
      }
    }

   private:
    template <class LeftMajor, class RightMajor, class Stage>
    TENON_HOST_DEVICE void multiply(Device& device, const Stage& left, const Stage& right) {
      constexpr tile_layout left_layout =
          std::is_same_v<LeftMajor, row_major> ? tile_layout::along_depth : tile_layout::along_lines;
      constexpr tile_layout right_layout =
          std::is_same_v<RightMajor, column_major> ? tile_layout::along_depth : tile_layout::along_lines;
      const int first_row = Policy::row_of_warp(device.warp()), first_column = Policy::column_of_warp(device.warp());
      for (int depth = 0; depth < Policy::depth; depth += k) {
        typename Device::template fragment<matrix_b, m, n, k, Element, RightMajor> b[across];
        for (int j = 0; j < across; ++j) {
          load<right_placement, right_layout>(device, b[j], right, first_column + j * n, depth);
        }
        for (int i = 0; i < strips; ++i) {
          typename Device::template fragment<matrix_a, m, n, k, Element, LeftMajor> a;
          load<left_placement, left_layout>(device, a, left, first_row + i * m, depth);
          for (int j = 0; j < across; ++j) device.multiply_add(sums[i][j], a, b[j]);
        }
      }
    }
    template <class Placement, tile_layout Layout, class Fragment, class Stage>
    TENON_HOST_DEVICE static void load(Device& device, Fragment& to, const Stage& from, int line, int depth) {
      constexpr bool along_depth = Layout == tile_layout::along_depth;
      const int run = along_depth ? line : depth, element = along_depth ? depth : line;
      device.load_fragment(to, from, Placement::offset(Layout, run, element / chunk_size<typename Fragment::storage>),
                           Placement::pitch(Layout));
    }
  };
};

}  // namespace tenon
