// tenon/contraction/register_attention.hpp: the kernel of attention of 16-bit elements, with scores in registers.
// Each warp has 32 queries. What the first product leaves in its lanes is, as weights, the left operand of the second.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_operands.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/mma.hpp>
#include <tenon/contraction/operand.hpp>

namespace tenon {

namespace detail {

/// What a lane keeps of its four rows of queries: the greatest score, the sum of its own weights, and the factor of
/// sums before the latest tile.
struct lane_rows_softmax {
  array<float, 4> greatest, sum, kept;
};

}  // namespace detail

/// Attention of queries, keys and values with at most `Width` features and columns: 128 queries a block, 64 keys at a
/// time. Queries and keys have their features side by side, values their columns. While keys are multiplied values
/// come, while values are multiplied the next keys do.
/// source    Dao 2023, "FlashAttention-2"
template <class Element, int Width, bool HasBias, bool HasFactor, int Rank, class Query, class Key, class Value,
          class Bias, class Factor, class Epilogue>
struct register_attention_kernel {
  static constexpr const char* name = "attention";
  static constexpr int tile_rows = 128, tile_columns = 64, warp_rows = 32, max_threads = tile_rows / warp_rows * 32;
  using query_placement = swizzled_placement<Element, tile_rows, Width>;
  using key_placement = swizzled_placement<Element, tile_columns, Width>;
  using value_placement = swizzled_placement<Element, Width, tile_columns>;
  static constexpr int shared_bytes =
      shared_bytes_of<Element>(query_placement::elements) + 2 * shared_bytes_of<Element>(key_placement::elements);

  product_extents<Rank> extents;  // rows: queries; depth: keys
  index features;
  Query query;
  Key key;
  Value value;
  Bias bias;
  Factor factor;
  Epilogue epilogue;
  attention_options options;
  float scale;

  int query_tiles() const { return static_cast<int>((extents.rows + tile_rows - 1) / tile_rows); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (Device::template has_lane_products_of<Element>()) run(device);
  }

 private:
  static constexpr int depth_of_step = lane_product_depth<Element>;
  static constexpr int groups = warp_rows / lane_product_rows;
  static constexpr int key_blocks = tile_columns / lane_product_columns, value_blocks = Width / lane_product_columns;
  static constexpr float log2_e = 1.44269504f;
  using query_loader = detail::line_group_loader<Element, query_placement, matrix_a, tile_layout::along_depth>;
  using key_loader = detail::line_group_loader<Element, key_placement, matrix_b, tile_layout::along_depth>;
  using value_loader = detail::line_group_loader<Element, value_placement, matrix_b, tile_layout::along_lines>;
  using score_sums = array<array<lane_sums<Element>, key_blocks>, groups>;
  using value_sums = array<array<lane_sums<Element>, value_blocks>, groups>;

  /// The matrices of a block's batch, and where the warp's queries begin.
  struct warp_place {
    Bias bias;
    Factor factor;
    index row;
  };

  template <class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const int tiles = static_cast<int>((extents.rows + tile_rows - 1) / tile_rows);
    const auto batch = extents.batch_position(device.block().x / tiles);
    // Of a causal product the last queries see most keys, so they begin first.
    const index first_row = static_cast<index>(tiles - 1 - device.block().x % tiles) * tile_rows;
    const auto queries = query.at_batch(batch);
    const auto keys = key.at_batch(batch);
    const auto values = value.at_batch(batch);
    const warp_place place{bias.at_batch(batch), factor.at_batch(batch), first_row + device.warp() * warp_rows};
    const auto query_tile = device.template shared<Element>(query_placement::elements);
    const auto key_tile = device.template shared<Element>(key_placement::elements);
    const auto value_tile = device.template shared<Element>(value_placement::elements);
    queries.template fetch<query_placement, max_threads>(device, query_tile, {first_row, extents.rows, 0, features});
    keys.template fetch<key_placement, max_threads>(device, key_tile, {0, extents.depth, 0, features});
    device.commit_copies();
    value_sums sums{};
    constexpr float none = -__builtin_inff();
    detail::lane_rows_softmax state{{{none, none, none, none}}, {}, {}};
    const index end = keys_seen(first_row);
    for (index first = 0; first < end; first += tile_columns) {
      device.template wait_copies<0>(), device.sync();
      values.template fetch<value_placement, max_threads>(device, value_tile,
                                                          {0, extents.columns, first, extents.depth});
      device.commit_copies();
      score_sums scores{};
      multiply_keys(device, query_tile, key_tile, scores);
      device.template wait_copies<0>(), device.sync();
      if (const index next = first + tile_columns; next < end) {
        keys.template fetch<key_placement, max_threads>(device, key_tile, {next, extents.depth, 0, features});
      }
      device.commit_copies();
      weigh(device, place, first, scores, state);
      keep(sums, state);
      multiply_values(device, scores, value_tile, sums);
    }
    device.template wait_copies<0>();
    store(device, place, epilogue.at_batch(batch), sums, state);
  }

  /// How many keys the queries of the tile from `row` on see at most.
  TENON_HOST_DEVICE index keys_seen(index row) const {
    const index beyond = row + tile_rows + options.first_query;
    return options.is_causal && beyond < extents.depth ? beyond : extents.depth;
  }

  template <class Device, class Tile>
  TENON_HOST_DEVICE void multiply_keys(Device& device, const Tile& queries, const Tile& keys,
                                       score_sums& scores) const {
    const int row = device.warp() * warp_rows;
    TENON_UNROLLED
    for (int step = 0; step < Width / depth_of_step; ++step) {
      lane_words<4> left[groups];
      TENON_UNROLLED
      for (int i = 0; i < groups; ++i) {
        left[i] = query_loader::load(device, queries, row + i * lane_product_rows, step);
      }
      TENON_UNROLLED
      for (int j = 0; j < key_blocks; j += 2) {
        const auto right = key_loader::load(device, keys, j * lane_product_columns, step);
        multiply_pair(device, left, right, scores, j);
      }
    }
  }
  template <class Device, class Tile>
  TENON_HOST_DEVICE void multiply_values(Device& device, const score_sums& weights, const Tile& values,
                                         value_sums& sums) const {
    TENON_UNROLLED
    for (int step = 0; step < tile_columns / depth_of_step; ++step) {
      lane_words<4> left[groups];
      TENON_UNROLLED
      for (int i = 0; i < groups; ++i) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) {
          const auto& block = weights[i][2 * step + k / 2];
          left[i][k] = device.template pack_pair<Element>(block[k % 2 * 2], block[k % 2 * 2 + 1]);
        }
      }
      TENON_UNROLLED
      for (int j = 0; j < value_blocks; j += 2) {
        const auto right = value_loader::load(device, values, j * lane_product_columns, step);
        multiply_pair(device, left, right, sums, j);
      }
    }
  }
  /// Adds products with two blocks of columns.
  template <class Device, class Sums>
  TENON_HOST_DEVICE static void multiply_pair(Device& device, const lane_words<4> (&left)[groups],
                                              const lane_words<4>& right, Sums& sums, int block) {
    TENON_UNROLLED
    for (int i = 0; i < groups; ++i) {
      device.template multiply_blocks<Element>(sums[i][block], left[i], {{right[0], right[1]}});
      device.template multiply_blocks<Element>(sums[i][block + 1], left[i], {{right[2], right[3]}});
    }
  }

  /// Whether scores are more than products to be scaled: then they become exponents of e first.
  TENON_HOST_DEVICE bool has_rule() const { return HasBias || options.softcap != 0 || scale < 0; }

  /// Makes weights of scores.
  template <class Device>
  TENON_HOST_DEVICE void weigh(Device& device, const warp_place& place, index first, score_sums& scores,
                               detail::lane_rows_softmax& state) const {
    const bool is_partial = first + tile_columns > extents.depth ||
                            (options.is_causal && first + tile_columns - 1 > place.row + options.first_query);
    if (is_partial || has_rule()) apply_rule(device, place, first, scores);
    const float power = has_rule() ? log2_e : scale * log2_e;  // a weight is 2^(power * (score - greatest))
    TENON_UNROLLED
    for (int row = 0; row < 4; ++row) {
      auto& blocks = scores[row / 2];
      const int slot = row % 2 * 2;
      float greatest = state.greatest[row];
      TENON_UNROLLED
      for (int j = 0; j < key_blocks; ++j) {
        greatest = max_monoid::combine(greatest, max_monoid::combine(blocks[j][slot], blocks[j][slot + 1]));
      }
      greatest = max_monoid::combine(greatest, device.shuffle_xor(greatest, 1));
      greatest = max_monoid::combine(greatest, device.shuffle_xor(greatest, 2));
      const float origin = greatest == -__builtin_inff() ? 0.0f : greatest * power;
      float added = 0;
      TENON_UNROLLED
      for (int j = 0; j < key_blocks; ++j) {
        TENON_UNROLLED
        for (int k = slot; k < slot + 2; ++k) {
          blocks[j][k] = device.power_of_two(blocks[j][k] * power - origin);
          added += blocks[j][k];
        }
      }
      state.kept[row] = device.power_of_two(state.greatest[row] * power - origin);
      state.sum[row] = state.sum[row] * state.kept[row] + added;
      state.greatest[row] = greatest;
    }
    if constexpr (HasFactor) apply_factor(device, place, first, scores);
  }
  /// Calls `visitor(score, query, key)` for each of a lane's scores.
  template <class Device, class Visitor>
  TENON_HOST_DEVICE static void visit(Device& device, index row, index first, score_sums& scores,
                                      const Visitor& visitor) {
    TENON_UNROLLED
    for (int i = 0; i < groups; ++i) {
      TENON_UNROLLED
      for (int j = 0; j < key_blocks; ++j) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) {
          visitor(scores[i][j][k], row + i * lane_product_rows + lane_sum_row(device.lane(), k),
                  first + j * lane_product_columns + lane_sum_column(device.lane(), k));
        }
      }
    }
  }
  template <class Device>
  TENON_HOST_DEVICE void apply_rule(Device& device, const warp_place& place, index first, score_sums& scores) const {
    visit(device, place.row, first, scores, [&](float& score, index row, index key_number) {
      const bool is_seen =
          key_number < extents.depth && (!options.is_causal || key_number <= row + options.first_query);
      if (has_rule()) score = score_rule<float>{scale, options.softcap}(score);
      if constexpr (HasBias) {
        if (is_seen && row < extents.rows) score += static_cast<float>(place.bias.value(row, key_number));
      }
      if (!is_seen) score = -__builtin_inff();
    });
  }
  template <class Device>
  TENON_HOST_DEVICE void apply_factor(Device& device, const warp_place& place, index first, score_sums& scores) const {
    visit(device, place.row, first, scores, [&](float& weight, index row, index key_number) {
      const bool exists = row < extents.rows && key_number < extents.depth;
      weight *= exists ? static_cast<float>(place.factor.value(row, key_number)) : 0.0f;
    });
  }
  /// Multiplies sums by what is kept of them.
  TENON_HOST_DEVICE static void keep(value_sums& sums, const detail::lane_rows_softmax& state) {
    TENON_UNROLLED
    for (int i = 0; i < groups; ++i) {
      TENON_UNROLLED
      for (int j = 0; j < value_blocks; ++j) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) sums[i][j][k] *= state.kept[2 * i + k / 2];
      }
    }
  }
  /// Divides by the sums of weights and stores.
  template <class Device, class Finish>
  TENON_HOST_DEVICE void store(Device& device, const warp_place& place, const Finish& last, const value_sums& sums,
                               const detail::lane_rows_softmax& state) const {
    TENON_UNROLLED
    for (int row = 0; row < 4; ++row) {
      float weights = state.sum[row];
      weights += device.shuffle_xor(weights, 1);
      weights += device.shuffle_xor(weights, 2);
      const float inverse = weights == 0 ? 0.0f : 1 / weights;
      const index line = place.row + row / 2 * lane_product_rows + lane_sum_row(device.lane(), row % 2 * 2);
      TENON_UNROLLED
      for (int j = 0; j < value_blocks; ++j) {
        const auto& block = sums[row / 2][j];
        const int column = j * lane_product_columns + lane_sum_column(device.lane(), 0), slot = row % 2 * 2;
        const array<float, 2> pair{{block[slot] * inverse, block[slot + 1] * inverse}};
        if (line < extents.rows) store_pair(last, line, column, pair);
      }
    }
  }
  template <class Finish>
  TENON_HOST_DEVICE void store_pair(const Finish& last, index row, index column, const array<float, 2>& pair) const {
    if constexpr (Finish::packet >= 2) {
      if (last.usable_packet >= 2) {
        if (column < extents.columns) last.store_packet(row, column, pair);
        return;
      }
    }
    if (column < extents.columns) last.store(row, column, pair[0]);
    if (column + 1 < extents.columns) last.store(row, column + 1, pair[1]);
  }
};

}  // namespace tenon
