// tenon/contraction/mma.hpp: a stage of a product multiplied by the matrix units, operands and results in registers.
// Each warp loads the operands of a step while those of the one before are multiplied; results stay where they are.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/tile.hpp>
#include <tenon/contraction/wmma.hpp>
#include <tenon/device/lane_matrix.hpp>

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

/// Whether there is such a unit for an element type.
template <class Element>
inline constexpr bool mma_unit_exists = has_lane_products<Element>;

namespace detail {

inline constexpr int line_group = 16;  // lines that a warp loads at once: two blocks beside each other

/// Loads 16 lines x 32 bytes of depth of an operand. `Side` is the order of the four blocks: those of a left operand
/// follow each other along the lines first, those of a right one along the depth.
template <class Element, class Placement, class Side, tile_layout Layout>
struct line_group_loader {
  using storage = fragment_storage<Element>;
  static constexpr bool is_left = std::is_same_v<Side, matrix_a>;
  static constexpr int depth = lane_product_depth<Element>;

  template <class Device, class Stage>
  TENON_HOST_DEVICE static lane_words<4> load(Device& device, const Stage& from, int line, int step) {
    auto words = load_words(device, from, line, step);
    device.template round_words<Element>(words);
    return words;
  }

 private:
  /// Of block `block`, whether it is the second along the lines, and along the depth.
  TENON_HOST_DEVICE static constexpr int across(int block) { return is_left ? block % 2 : block / 2; }
  TENON_HOST_DEVICE static constexpr int along(int block) { return is_left ? block / 2 : block % 2; }

  template <class Device, class Stage>
  TENON_HOST_DEVICE static lane_words<4> load_words(Device& device, const Stage& from, int line, int step) {
    const int block = device.lane() / block_lines, own = device.lane() % block_lines;
    if constexpr (Layout == tile_layout::along_depth) {
      return device.load_blocks(
          from, Placement::offset_along_depth(line + own + across(block) * block_lines, 2 * step + along(block)));
    } else if constexpr (sizeof(storage) == 2) {
      const int run = step * depth + own + along(block) * block_lines;
      return device.template load_blocks<true>(from,
                                               Placement::offset_along_lines(run, line / block_lines + across(block)));
    } else if constexpr (sizeof(storage) == 1) {
      return load_bytes(device, from, line, step);
    } else {
      return load_pairs(device, from, line, step);
    }
  }
  /// Pairs of bytes are transposed as elements of 16 bits, then taken apart: of eight bytes, two lines at four depths,
  /// a lane makes two words, of the even bytes and of the odd ones. The blocks are depths 0, 1, 4, 5 ... and 2, 3, 6,
  /// 7 ... of each half of the step.
  template <class Device, class Stage>
  TENON_HOST_DEVICE static lane_words<4> load_bytes(Device& device, const Stage& from, int line, int step) {
    const int block = device.lane() / block_lines, own = device.lane() % block_lines;
    const int run = step * depth + block / 2 * (depth / 2) + own / 2 * 4 + block % 2 * 2 + own % 2;
    const int first = Placement::offset_along_lines(run, line / line_group);
    const auto pairs = device.template load_blocks<true>(from.template as<std::uint16_t>(), first / 2);
    lane_words<4> words;
    for (int i = 0; i < 4; ++i) {
      words[i] = device.select_bytes(pairs[along(i) * 2], pairs[along(i) * 2 + 1], across(i) == 0 ? 0x6420u : 0x7531u);
    }
    return words;
  }
  /// Every lane reads two neighbouring lines at its two depths.
  template <class Device, class Stage>
  TENON_HOST_DEVICE static lane_words<4> load_pairs(Device& device, const Stage& from, int line, int step) {
    constexpr int size = chunk_size<storage>;
    const int at = device.lane() / 4 * 2;
    lane_words<4> words;
    for (int half_step = 0; half_step < 2; ++half_step) {
      const int run = step * depth + half_step * (depth / 2) + device.lane() % 4;
      const auto pair =
          from.template load_vector<2>(Placement::offset_along_lines(run, line / size + at / size) + at % size);
      for (int i = 0; i < 4; ++i) {
        if (along(i) == half_step) __builtin_memcpy(&words[i], &pair[across(i)], sizeof(storage));
      }
    }
    return words;
  }
};

}  // namespace detail

/// The unit that multiplies tiles of Element in registers; fragments do where a device has none.
/// types     half, bfloat16, tf32, int8
template <class Element, class Policy>
struct mma_unit {
  static constexpr const char* name = "mma_product";
  using policy = Policy;
  using element = fragment_storage<Element>;
  using accumulator = fragment_accumulator<Element>;
  using left_placement = swizzled_placement<element, Policy::rows, Policy::depth>;
  using right_placement = swizzled_placement<element, Policy::columns, Policy::depth>;

  // What lacks this unit lacks asynchronous copies too, so two stages are as good as more.
  using fallback = wmma_unit<Element, tile_policy<Policy::rows, Policy::columns, Policy::depth, Policy::warp_rows,
                                                  Policy::warp_columns, 2, Policy::blocks>>;
  template <class Device>
  TENON_HOST_DEVICE static constexpr bool is_available() {
    return Device::template has_lane_products_of<Element>();
  }

  // Where a lane's results lie in the tile of its warp: in runs of neighbours along a row.
  static constexpr int run = pairs_lines<element> ? 4 : 2;
  static constexpr int runs_down = Policy::warp_rows / block_lines;
  static constexpr int runs_across = Policy::warp_columns / (4 * run);
  TENON_HOST_DEVICE static constexpr int row_of_run(int lane, int down) {
    const int line = lane_sum_row(lane, down % 2 * 2);
    return down / 2 * detail::line_group + line_in_tile<element>(line);
  }
  TENON_HOST_DEVICE static constexpr int column_of_run(int lane, int across) {
    return across * (4 * run) + lane % 4 * run;
  }

  /// A lane's runs in one row.
  using lane_row = array<array<accumulator, run>, runs_across>;

  /// The results of a warp.
  template <class Device>
  struct warp_tile {
    TENON_HOST_DEVICE void clear(Device&) {
      for (auto& row : sums) {
        for (auto& each : row) each = {};
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
    /// The runs of this lane's row `down`, from `First` on: registers have no number at run time.
    template <int First = 0>
    TENON_HOST_DEVICE lane_row results(int down) const {
      if constexpr (First + 1 < runs_down) {
        if (down != First) return results<First + 1>(down);
      }
      lane_row row;
      TENON_UNROLLED
      for (int i = 0; i < run * runs_across; ++i) row[i / run][i % run] = sum<First>(*this, i);
      return row;
    }
    /// Adds to them.
    template <int First = 0>
    TENON_HOST_DEVICE void add(int down, const lane_row& row) {
      if constexpr (First + 1 < runs_down) {
        if (down != First) return add<First + 1>(down, row);
      }
      TENON_UNROLLED
      for (int i = 0; i < run * runs_across; ++i) sum<First>(*this, i) += row[i / run][i % run];
    }

   private:
    static constexpr int groups_down = Policy::warp_rows / detail::line_group;
    static constexpr int groups_across = Policy::warp_columns / detail::line_group;
    static constexpr int steps = Policy::depth / lane_product_depth<Element>;
    static_assert(groups_down > 0 && groups_across > 0 && steps > 0,
                  "tenon: a warp multiplies 16 x 16 results or more");

    /// Element `i` of row `Down`: in a block of 16 x 8 of its two rows, the lane's slots of one row.
    template <int Down, class Tile>
    TENON_HOST_DEVICE static auto& sum(Tile& tile, int i) {
      const int block = run == 2 ? i / 2 : i / 4 * 2 + i % 2, column = run == 2 ? i % 2 : i % 4 / 2;
      return tile.sums[Down / 2][block][Down % 2 * 2 + column];
    }

    /// What one step multiplies.
    struct step_operands {
      lane_words<4> left[groups_down];
      lane_words<4> right[groups_across];
    };

    template <tile_layout LeftLayout, tile_layout RightLayout, class Stage>
    TENON_HOST_DEVICE void multiply(Device& device, const Stage& left, const Stage& right) {
      step_operands held[2];
      load<LeftLayout, RightLayout>(device, held[0], left, right, 0);
      TENON_UNROLLED
      for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) load<LeftLayout, RightLayout>(device, held[(step + 1) % 2], left, right, step + 1);
        multiply_step(device, held[step % 2]);
      }
    }
    template <tile_layout LeftLayout, tile_layout RightLayout, class Stage>
    TENON_HOST_DEVICE static void load(Device& device, step_operands& held, const Stage& left, const Stage& right,
                                       int step) {
      using left_loader = detail::line_group_loader<Element, left_placement, matrix_a, LeftLayout>;
      using right_loader = detail::line_group_loader<Element, right_placement, matrix_b, RightLayout>;
      const int row = Policy::row_of_warp(device.warp()), column = Policy::column_of_warp(device.warp());
      TENON_UNROLLED
      for (int i = 0; i < groups_down; ++i) {
        held.left[i] = left_loader::load(device, left, row + i * detail::line_group, step);
      }
      TENON_UNROLLED
      for (int j = 0; j < groups_across; ++j) {
        held.right[j] = right_loader::load(device, right, column + j * detail::line_group, step);
      }
    }
    TENON_HOST_DEVICE void multiply_step(Device& device, const step_operands& held) {
      TENON_UNROLLED
      for (int i = 0; i < groups_down; ++i) {
        TENON_UNROLLED
        for (int j = 0; j < groups_across; ++j) {
          const auto& words = held.right[j];
          device.template multiply_blocks<Element>(sums[i][2 * j], held.left[i], {{words[0], words[1]}});
          device.template multiply_blocks<Element>(sums[i][2 * j + 1], held.left[i], {{words[2], words[3]}});
        }
      }
    }

    lane_sums<Element> sums[groups_down][2 * groups_across];
  };
};

}  // namespace tenon
