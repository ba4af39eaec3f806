// tenon/contraction/weight_tiles.hpp: products around tiles of weights, which the kernels of attention share.
// Scores are a product of lines in memory; weights made of them lie in shared memory and are multiplied again.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/operand.hpp>
#include <tenon/contraction/wmma.hpp>
#include <tenon/expr/attention.hpp>

namespace tenon {

/// The unit that multiplies elements of T for attention. A warp has whole rows of scores, so that it makes their
/// softmax alone, and at most a row for each lane.
template <class T>
struct attention_units {
  using unit = simt_unit<T, tile_policy<64, 64, 8, 16, 64, 2>>;
};
template <>
struct attention_units<double> {
  using unit = simt_unit<double, tile_policy<32, 32, 8, 16, 32, 2>>;
};
template <class T>
  requires is_short_float<T>
struct attention_units<T> {
  using unit = wmma_unit<std::conditional_t<is_float8<T>, half, T>, tile_policy<64, 64, 32, 16, 64, 2>>;
};

namespace detail {

/// The unit, or what stands in for it where `Device` has none.
template <class Device, class Unit>
struct unit_on {
  using type = Unit;
};
template <class Device, class Unit>
  requires(!Unit::template is_available<Device>())
struct unit_on<Device, Unit> {
  using type = typename Unit::fallback;
};

}  // namespace detail

/// Lines of an operand from `first` on, before `end`.
struct operand_lines {
  index first, end;
};

/// Tiles of weights, `rows` lines of one operand by `columns` of another, and the memory that they take.
template <class Unit>
struct weight_tiles {
  using policy = typename Unit::policy;
  using element = typename Unit::element;
  using number = typename Unit::accumulator;
  static constexpr int rows = policy::rows, columns = policy::columns, depth = policy::depth, stages = policy::stages;
  static constexpr int left_elements = Unit::left_placement::elements, right_elements = Unit::right_placement::elements;
  static constexpr int stage_elements = left_elements + right_elements, steps = columns / depth;
  static constexpr int weight_elements = steps * left_elements;
  static_assert(policy::warp_columns == columns && policy::warp_rows <= warp_size);

  /// Shared memory that stages, and later strips of results, have.
  static constexpr int ring_bytes = [] {
    constexpr int strips = policy::warps * Unit::strip_rows * Unit::strip_pitch;
    return greatest_size({shared_bytes_of<element>(stages * stage_elements), shared_bytes_of<number>(strips)});
  }();

  /// The products of lines of two operands, which are `length` long.
  template <class Device, class Ring, class Left, class Right, class Sums>
  TENON_HOST_DEVICE static void multiply(Device& device, const Ring& bytes, const Left& left, operand_lines left_lines,
                                         const Right& right, operand_lines right_lines, index length, Sums& sums) {
    const auto ring = bytes.template as<element>();
    const int count = static_cast<int>((length + depth - 1) / depth);
    sums.clear(device);
    device.sync();
    for (int step = 1 - stages; step < count; ++step) {
      if (step >= 0) device.template wait_copies<stages - 2>(), device.sync();
      if (const int next = step + stages - 1; next < count) {
        const index first = static_cast<index>(next) * depth;
        const int at = next % stages * stage_elements;
        left.template fetch<typename Unit::left_placement, policy::threads>(
            device, ring.part(at, left_elements), {left_lines.first, left_lines.end, first, length});
        right.template fetch<typename Unit::right_placement, policy::threads>(
            device, ring.part(at + left_elements, right_elements), {right_lines.first, right_lines.end, first, length});
      }
      device.commit_copies();
      if (step < 0) continue;
      const int at = step % stages * stage_elements;
      sums.multiply_add(device, ring.part(at, left_elements), left.layout,
                        ring.part(at + left_elements, right_elements), right.layout);
    }
    device.template wait_copies<0>();
  }
  /// The weights of a tile times lines of an operand; the weights' columns are its depths `range`.
  template <class Device, class Ring, class Weights, class Right, class Sums>
  TENON_HOST_DEVICE static void multiply_weights(Device& device, const Ring& bytes, const Weights& weights,
                                                 const Right& right, operand_lines lines, operand_lines range,
                                                 Sums& sums) {
    const auto ring = bytes.template as<element>();
    sums.clear(device);
    device.sync();
    for (int step = 1 - stages; step < steps; ++step) {
      if (step >= 0) device.template wait_copies<stages - 2>(), device.sync();
      if (const int next = step + stages - 1; next < steps) {
        right.template fetch<typename Unit::right_placement, policy::threads>(
            device, ring.part(next % stages * stage_elements, right_elements),
            {lines.first, lines.end, range.first + static_cast<index>(next) * depth, range.end});
      }
      device.commit_copies();
      if (step < 0) continue;
      sums.multiply_add(device, weights.part(step * left_elements, left_elements), tile_layout::along_depth,
                        ring.part(step % stages * stage_elements, right_elements), right.layout);
    }
    device.template wait_copies<0>();
  }
  /// Where the weight of a row and a column of the tile lies.
  TENON_HOST_DEVICE static constexpr int place_of(int row, int column) {
    const int inner = column % depth;
    return column / depth * left_elements +
           Unit::left_placement::offset(tile_layout::along_depth, row, inner / chunk_size<element>) +
           inner % chunk_size<element>;
  }
  /// Where the calling warp's strip of results lies.
  template <class Used, class Device, class Ring>
  TENON_HOST_DEVICE static auto strip_of(Device& device, const Ring& bytes) {
    constexpr int size = Used::strip_rows * Used::strip_pitch;
    return bytes.template as<number>().part(device.warp() * size, size);
  }
};

}  // namespace tenon
