// tenon/expr/block_values.hpp: the weights that bytes in blocks stand for, as a node.
// Each value is computed where it is read; contraction/block_matrix.hpp is the matrix that users hold.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/block_format.hpp>
#include <tenon/expr/views/remap.hpp>

namespace tenon {

/// Weights [row, column] of a program `Bytes` over [row, byte].
template <class Format, int Outer, class Bytes>
struct block_source {
  using value_type = float;
  static constexpr int source_count = 2;
  affine_positions<2, Outer> positions;
  Bytes bytes;

  struct cursor {
    static constexpr int cost = 8, widest = simd::lane_bytes<float>;
    position_run<2> run;
    Bytes bytes;

    bool is_adjacent() const { return true; }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE float value(index i, const Slots& slots) const {
      const auto place = run.at(i);
      const index block = place[1] / Format::values;
      return block_value<Format>(place[1] % Format::values, [&](index byte) {
        return bytes.at(array<index, 2>{{place[0], block * Format::bytes + byte}}).value(0, slots);
      });
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE auto pack(index i, Access, const Slots& slots) const {
      return simd::generate<float, Width>([&](index lane) { return value(i + lane, slots); });
    }
    template <class Visitor>
    void visit(Visitor& visitor) {
      run.visit(visitor);
    }
  };

  TENON_HOST_DEVICE TENON_INLINE cursor at(const array<index, Outer>& position) const {
    return {{positions.at(position), positions.last_step()}, bytes};
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    positions.visit(visitor);
  }
};

/// The node: `Shape` weights in blocks along the last axis, of rows of bytes.
template <block_format Format, shape_type Shape, class Bytes>
struct block_values {
  using kind = index_map_kind;
  using element = float;
  using space = typename Bytes::space;
  using shape_type = Shape;

  tuple<Bytes> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  /// This node on other operands of the same extents.
  template <class Other>
  constexpr auto with_operands(const tuple<Other>& other) const {
    return block_values<Format, Shape, Other>{other, extents};
  }
  template <int, int Outer>
  constexpr auto lower(const axis_map<2, Outer>& outer) const {
    const auto bytes = get<0>(operands).template lower<0>(identity_map<2>());
    return block_source<Format, Outer, std::remove_const_t<decltype(bytes)>>{affine_positions<2, Outer>(outer), bytes};
  }
};

}  // namespace tenon
