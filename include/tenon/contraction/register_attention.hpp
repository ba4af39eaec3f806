// tenon/contraction/register_attention.hpp: the kernel of attention of 16-bit elements, with scores in registers.
// While keys are multiplied values come, while values are multiplied the next keys do.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_operands.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/operand.hpp>
#include <tenon/contraction/register_tiles.hpp>

namespace tenon {

namespace detail {

/// What a lane keeps of some queries: the greatest score, the sum of its own weights, and the factor of sums before the
/// latest tile.
template <int Rows>
struct lane_rows_softmax {
  array<float, Rows> greatest, sum, kept;

  TENON_HOST_DEVICE lane_rows_softmax() : greatest{}, sum{}, kept{} {
    for (float& each : greatest.values) each = -__builtin_inff();
  }
};

/// The values of four lanes that have the same rows, combined.
template <class Device, class Combine>
TENON_HOST_DEVICE float combine_row(Device& device, float value, Combine combine) {
  value = combine(value, device.shuffle_xor(value, 1));
  return combine(value, device.shuffle_xor(value, 2));
}

/// Makes weights of the scores of a tile, as far as the greatest scores so far are known.
template <class Tiles, class Device>
TENON_HOST_DEVICE void weigh_scores(Device& device, float power, typename Tiles::line_sums& scores,
                                    lane_rows_softmax<Tiles::lane_rows>& state) {
  TENON_UNROLLED
  for (int row = 0; row < Tiles::lane_rows; ++row) {
    auto& blocks = scores[row / 2];
    const int slot = row % 2 * 2;
    float greatest = state.greatest[row];
    TENON_UNROLLED
    for (int j = 0; j < Tiles::column_blocks; ++j) {
      greatest = max_monoid::combine(greatest, max_monoid::combine(blocks[j][slot], blocks[j][slot + 1]));
    }
    greatest = combine_row(device, greatest, max_monoid::combine<float>);
    const float origin = greatest == -__builtin_inff() ? 0.0f : greatest * power;
    float added = 0;
    TENON_UNROLLED
    for (int j = 0; j < Tiles::column_blocks; ++j) {
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
}

}  // namespace detail

/// How scores become exponents of two, whose powers are weights: times `power()`, after a rule where they have one.
struct score_powers {
  score_rule<float> rule;
  attention_options options;
  bool has_rule;  // a cap, a bias, or a scale that would turn the order of scores round

  static constexpr float log2_e = 1.44269504f;

  TENON_HOST_DEVICE float power() const { return has_rule ? log2_e : rule.scale * log2_e; }
  /// Whether a query from `query` on does not see some of the keys from `key` on.
  TENON_HOST_DEVICE bool is_partial(index query, index key, index count, index keys) const {
    return key + count > keys || (options.is_causal && key + count - 1 > query + options.first_query);
  }
  /// Applies the rule, adds what a bias has there, and hides a key that the query does not see. Returns by what more
  /// than the scale a score's gradient is multiplied.
  template <class Bias, class Extents>
  TENON_HOST_DEVICE float apply(float& score, const Bias& bias, index query, index key, const Extents& extents) const {
    float slope = 1;
    if (has_rule) {
      score = rule(score);
      if (rule.softcap != 0) slope = 1 - (score / rule.softcap) * (score / rule.softcap);
      score += value_at(bias, query, key, extents);
    }
    const bool is_seen = key < extents.depth && (!options.is_causal || key <= query + options.first_query);
    if (!is_seen) score = -__builtin_inff();
    return slope;
  }
  /// What a matrix of queries and keys has there, or 0 beyond its end.
  template <class Matrix, class Extents>
  TENON_HOST_DEVICE static float value_at(const Matrix& matrix, index query, index key, const Extents& extents) {
    return query < extents.rows && key < extents.depth ? static_cast<float>(matrix.value(query, key)) : 0.0f;
  }
};

/// Attention of queries, keys and values with at most `Width` features and columns, 128 queries a block. Queries and
/// keys have their features side by side, values their columns.
/// source    Dao 2023, "FlashAttention-2"
template <class Element, int Width, bool HasFactor, int Rank, class Query, class Key, class Value, class Bias,
          class Factor, class Epilogue>
struct register_attention_kernel {
  static constexpr const char* name = "attention";
  using tiles_type = register_tiles<Element, Width, 128, (Width > 64 ? 32 : 64), 32>;  // columns: what registers hold
  static constexpr int tile_rows = tiles_type::rows, tile_columns = tiles_type::columns;
  static constexpr int max_threads = tiles_type::threads;
  static constexpr int shared_bytes = shared_bytes_of<Element>(tiles_type::row_placement::elements) +
                                      2 * shared_bytes_of<Element>(tiles_type::column_placement::elements);

  product_extents<Rank> extents;  // rows: queries; depth: keys
  index features;
  Query query;
  Key key;
  Value value;
  Bias bias;
  Factor factor;
  Epilogue epilogue;
  score_powers powers;

  TENON_HOST_DEVICE int query_tiles() const { return static_cast<int>((extents.rows + tile_rows - 1) / tile_rows); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (Device::template has_lane_products_of<Element>()) run(device);
    else Device::refuse();
  }

 private:
  using line_sums = typename tiles_type::line_sums;
  using width_sums = typename tiles_type::width_sums;
  using softmax_state = detail::lane_rows_softmax<tiles_type::lane_rows>;

  template <class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const auto batch = extents.batch_position(device.block().x / query_tiles());
    // Of a causal product the last queries see most keys, so they begin first.
    const index row = static_cast<index>(query_tiles() - 1 - device.block().x % query_tiles()) * tile_rows;
    const auto queries = query.at_batch(batch);
    const auto keys = key.at_batch(batch);
    const auto values = value.at_batch(batch);
    const auto query_tile = device.template shared<Element>(tiles_type::row_placement::elements);
    const auto key_tile = device.template shared<Element>(tiles_type::column_placement::elements);
    const auto value_tile = device.template shared<Element>(tiles_type::column_placement::elements);
    const auto fetch_keys = [&](index first) {
      keys.template fetch<typename tiles_type::column_placement, max_threads>(device, key_tile,
                                                                              {first, extents.depth, 0, features});
    };
    queries.template fetch<typename tiles_type::row_placement, max_threads>(device, query_tile,
                                                                            {row, extents.rows, 0, features});
    const index end = keys_seen(row);
    if (end > 0) fetch_keys(0);
    device.commit_copies();
    width_sums sums{};
    softmax_state state;
    for (index first = 0; first < end; first += tile_columns) {
      device.template wait_copies<0>(), device.sync();
      values.template fetch<typename tiles_type::across_placement, max_threads>(
          device, value_tile, {0, extents.columns, first, extents.depth});
      device.commit_copies();
      line_sums scores{};
      tiles_type::multiply_lines(device, query_tile, key_tile, scores);
      device.template wait_copies<0>(), device.sync();
      if (first + tile_columns < end) fetch_keys(first + tile_columns);
      device.commit_copies();
      weigh(device, batch, row, first, scores, state);
      keep(sums, state);
      tiles_type::multiply_weights(device, scores, value_tile, sums);
    }
    device.template wait_copies<0>();
    store(device, row, epilogue.at_batch(batch), sums, state);
  }

  /// How many keys the queries of the tile from `row` on see at most.
  TENON_HOST_DEVICE index keys_seen(index row) const {
    const index beyond = row + tile_rows + powers.options.first_query;
    return powers.options.is_causal && beyond < extents.depth ? beyond : extents.depth;
  }

  /// Makes weights of scores.
  template <class Device>
  TENON_HOST_DEVICE void weigh(Device& device, const array<index, Rank>& batch, index first_row, index first,
                               line_sums& scores, softmax_state& state) const {
    const index warp_row = first_row + device.warp() * tiles_type::warp_rows;
    if (powers.has_rule || powers.is_partial(warp_row, first, tile_columns, extents.depth)) {
      const auto own_bias = bias.at_batch(batch);
      tiles_type::visit(device, scores, [&](float& score, int row, int column) {
        powers.apply(score, own_bias, first_row + row, first + column, extents);
      });
    }
    detail::weigh_scores<tiles_type>(device, powers.power(), scores, state);
    if constexpr (HasFactor) {
      const auto own_factor = factor.at_batch(batch);
      tiles_type::visit(device, scores, [&](float& weight, int row, int column) {
        weight *= powers.value_at(own_factor, first_row + row, first + column, extents);
      });
    }
  }
  /// Multiplies sums by what is kept of them.
  TENON_HOST_DEVICE static void keep(width_sums& sums, const softmax_state& state) {
    TENON_UNROLLED
    for (int i = 0; i < tiles_type::groups; ++i) {
      TENON_UNROLLED
      for (int j = 0; j < tiles_type::width_blocks; ++j) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) sums[i][j][k] *= state.kept[2 * i + k / 2];
      }
    }
  }
  /// Divides by the sums of weights and stores.
  template <class Device, class Finish>
  TENON_HOST_DEVICE void store(Device& device, index first_row, const Finish& last, const width_sums& sums,
                               const softmax_state& state) const {
    TENON_UNROLLED
    for (int row = 0; row < tiles_type::lane_rows; ++row) {
      const float weights = detail::combine_row(device, state.sum[row], sum_monoid::combine<float>);
      const float inverse = weights == 0 ? 0.0f : 1 / weights;
      const index line = first_row + tiles_type::row_of(device, row);
      TENON_UNROLLED
      for (int j = 0; j < tiles_type::width_blocks; ++j) {
        const auto& block = sums[row / 2][j];
        const array<float, 2> pair{{block[row % 2 * 2] * inverse, block[row % 2 * 2 + 1] * inverse}};
        if (line < extents.rows) store_pair(last, line, tiles_type::column_of(device, j), pair);
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
