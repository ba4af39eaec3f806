// tenon/contraction/simt.hpp: a stage of a product multiplied by threads, in full precision.
// The 32 lanes of a warp are 8 x 4; each has a few results, in groups of up to four neighbours that it reads together.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/tile.hpp>

namespace tenon {

/// Where an operand's tile lies for lanes. Along the depth, chunks of the lines that the lanes of a warp read together,
/// which are every fourth line, follow each other.
template <class T, int Lines, int Depth>
struct lane_placement {
  static constexpr int lines = Lines, depth = Depth, quarter = Lines / 4 + 1;  // the chunk more keeps banks apart
  static constexpr int elements = 4 * quarter * Depth;

  TENON_HOST_DEVICE static constexpr int offset(tile_layout layout, int run, int chunk) {
    if (layout == tile_layout::along_lines) return run * Lines + chunk * chunk_size<T>;
    return ((chunk * 4 + run % 4) * quarter + run / 4) * chunk_size<T>;
  }
};

namespace detail {

/// The part of a tile's `Lines` lines that one of `Lanes` lanes has.
template <int Lines, int Lanes>
struct lane_lines {
  static constexpr int count = Lines / Lanes, group = count < 4 ? count : 4;
  static_assert(count % group == 0, "tenon: lanes have whole groups of lines");

  /// Line number `i` of lane `lane`.
  TENON_HOST_DEVICE static constexpr int line(int lane, int i) {
    return (i / group * Lanes + lane) * group + i % group;
  }
};

/// What a lane reads of a stage at once: its lines at a few neighbouring depths, in accesses along the layout.
template <class T, class Number, class Lines, class Placement, int Depths>
struct lane_operand {
  static constexpr int chunk = chunk_size<T>, width = chunk < Lines::group ? chunk : Lines::group;
  Number values[Depths][Lines::count];

  template <tile_layout Layout, class Stage>
  TENON_HOST_DEVICE TENON_INLINE void load(const Stage& from, int first_line, int lane, int depth) {
    if constexpr (Layout == tile_layout::along_depth) {
      TENON_UNROLLED
      for (int i = 0; i < Lines::count; ++i) {
        const auto read = from.template load_vector<Depths>(at<Layout>(first_line + Lines::line(lane, i), depth));
        TENON_UNROLLED
        for (int k = 0; k < Depths; ++k) values[k][i] = static_cast<Number>(read[k]);
      }
    } else {
      TENON_UNROLLED
      for (int k = 0; k < Depths; ++k) {
        TENON_UNROLLED
        for (int i = 0; i < Lines::count; i += width) {
          const auto read = from.template load_vector<width>(at<Layout>(depth + k, first_line + Lines::line(lane, i)));
          TENON_UNROLLED
          for (int j = 0; j < width; ++j) values[k][i + j] = static_cast<Number>(read[j]);
        }
      }
    }
  }

 private:
  template <tile_layout Layout>
  TENON_HOST_DEVICE static constexpr int at(int run, int element) {
    return Placement::offset(Layout, run, element / chunk) + element % chunk;
  }
};

}  // namespace detail

/// The unit of elements of T that are multiplied and added as `Accumulator` by threads, wherever stages are placed.
template <class T, class Accumulator, class Policy, class LeftPlacement, class RightPlacement>
struct lane_unit {
  static constexpr const char* name = "simt_product";
  using policy = Policy;
  using element = T;
  using accumulator = Accumulator;
  using left_placement = LeftPlacement;
  using right_placement = RightPlacement;
  template <class Device>
  TENON_HOST_DEVICE static constexpr bool is_available() {
    return true;
  }

  static constexpr int lanes_down = 8, lanes_across = 4;
  using rows = detail::lane_lines<Policy::warp_rows, lanes_down>;
  using columns = detail::lane_lines<Policy::warp_columns, lanes_across>;

  // A strip is one row of each lane.
  static constexpr int strip_rows = lanes_down, strips = rows::count;
  static constexpr int strip_pitch = Policy::warp_columns + chunk_size<accumulator>;

  TENON_HOST_DEVICE static constexpr int row_of_strip(int strip, int row) { return rows::line(row, strip); }

  /// The results of a warp.
  template <class Device>
  struct warp_tile {
    Accumulator sums[rows::count][columns::count];

    TENON_HOST_DEVICE void clear(Device&) {
      for (auto& row : sums) {
        for (auto& each : row) each = Accumulator(0);
      }
    }
    /// Adds the product of a stage.
    template <class Stage>
    TENON_HOST_DEVICE void multiply_add(Device& device, const Stage& left, tile_layout left_layout, const Stage& right,
                                        tile_layout right_layout) {
      constexpr auto along_depth = tile_layout::along_depth, along_lines = tile_layout::along_lines;
      if (left_layout == along_depth) {
        if (right_layout == along_depth) multiply<along_depth, along_depth>(device, left, right);
        else multiply<along_depth, along_lines>(device, left, right);
      } else {
        if (right_layout == along_depth) multiply<along_lines, along_depth>(device, left, right);
        else multiply<along_lines, along_lines>(device, left, right);
      }
    }
    /// Stores strip number `strip` of the results, from `First` on: registers have no number at run time.
    template <int First = 0, class Strip>
    TENON_HOST_DEVICE void store_strip(Device& device, const Strip& to, int strip) {
      if constexpr (First < strips) {
        if (strip != First) return store_strip<First + 1>(device, to, strip);
        constexpr int width = chunk_size<Accumulator> < columns::group ? chunk_size<Accumulator> : columns::group;
        const int row = device.lane() / lanes_across, column = device.lane() % lanes_across;
        for (int j = 0; j < columns::count; j += width) {
          array<Accumulator, width> values;
          for (int k = 0; k < width; ++k) values[k] = sums[First][j + k];
          to.template store_vector<width>(row * strip_pitch + columns::line(column, j), values);
        }
      }
    }

   private:
    // That are loaded at once: four of short elements would not fit into registers as numbers.
    static constexpr int depths = sizeof(T) < 4 ? 1 : chunk_size<T> < 4 ? chunk_size<T> : 4;

    template <tile_layout LeftLayout, tile_layout RightLayout, class Stage>
    TENON_HOST_DEVICE void multiply(Device& device, const Stage& left, const Stage& right) {
      const int row = device.lane() / lanes_across, column = device.lane() % lanes_across;
      const int first_row = Policy::row_of_warp(device.warp()), first_column = Policy::column_of_warp(device.warp());
      TENON_UNROLLED
      for (int depth = 0; depth < Policy::depth; depth += depths) {
        detail::lane_operand<T, Accumulator, rows, LeftPlacement, depths> a;
        detail::lane_operand<T, Accumulator, columns, RightPlacement, depths> b;
        a.template load<LeftLayout>(left, first_row, row, depth);
        b.template load<RightLayout>(right, first_column, column, depth);
        TENON_UNROLLED
        for (int k = 0; k < depths; ++k) add_products(a.values[k], b.values[k]);
      }
    }
    TENON_HOST_DEVICE TENON_INLINE void add_products(const Accumulator (&a)[rows::count],
                                                     const Accumulator (&b)[columns::count]) {
      TENON_UNROLLED
      for (int i = 0; i < rows::count; ++i) {
        TENON_UNROLLED
        for (int j = 0; j < columns::count; ++j) sums[i][j] += a[i] * b[j];
      }
    }
  };
};

/// The same with stages as lanes read them fastest.
template <class Number, class Policy>
using simt_unit = lane_unit<Number, Number, Policy, lane_placement<Number, Policy::rows, Policy::depth>,
                            lane_placement<Number, Policy::columns, Policy::depth>>;

}  // namespace tenon
