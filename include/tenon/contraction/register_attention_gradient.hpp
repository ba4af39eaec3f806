// tenon/contraction/register_attention_gradient.hpp: the kernels of attention's gradients with scores in registers.
// Weights and gradients of scores are made again from what queries sum, and are operands of products at once.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_gradient.hpp>
#include <tenon/contraction/register_attention.hpp>

namespace tenon {

/// The operands of a pass, of all batches: a block has its own `rows`, which meet `columns`, and beside both the lines
/// whose products are gradients of weights. Rows and columns are queries and keys, or keys and queries.
template <class Rows, class Columns, class RowsBeside, class ColumnsBeside, class Bias, class Factor>
struct register_gradient_operands {
  Rows rows;
  Columns columns;
  RowsBeside rows_beside;
  ColumnsBeside columns_beside;
  Bias bias;
  Factor factor;
};

/// A pass over the scores of all queries and keys, of at most `Width` features and columns. For each query `sums` holds
/// two numbers, which the first pass leaves and the others read: the logarithm of its weights' sum to base 2, and the
/// sum of weights times their gradients.
/// source    Dao 2023, "FlashAttention-2"
template <class Element, int Width, attention_pass Pass, class Node, class Operands, class Target>
struct register_attention_gradient_kernel {
  static constexpr const char* name = "attention_gradient";
  static constexpr bool of_keys = Pass == attention_pass::keys, of_sums = Pass == attention_pass::sums;
  static constexpr int rank = Node::rank, warp_rows = of_keys ? 16 : 32, stages = 2;
  using tiles_type = register_tiles<Element, Width, 4 * warp_rows,
                                    (Width > 64 || Pass == attention_pass::queries ? 32 : 64), warp_rows>;
  static constexpr int tile_rows = tiles_type::rows, tile_columns = tiles_type::columns;
  static constexpr int max_threads = tiles_type::threads;
  static constexpr int shared_bytes = 2 * (shared_bytes_of<Element>(tiles_type::row_placement::elements) +
                                           stages * shared_bytes_of<Element>(tiles_type::column_placement::elements));

  product_extents<rank> extents;  // rows: queries; depth: keys
  index features;
  Operands operands;
  strided_target<Target, rank> of_rows, of_rows_beside;  // the gradient of what `rows` are, and beside
  float* sums;
  score_powers powers;

  TENON_HOST_DEVICE int row_tiles() const { return static_cast<int>((row_count() + tile_rows - 1) / tile_rows); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (Device::template has_lane_products_of<Element>()) run(device);
    else Device::refuse();
  }

 private:
  using line_sums = typename tiles_type::line_sums;
  using width_sums = typename tiles_type::width_sums;

  /// What a lane has of its rows: the softmax so far and sums of weights times gradients, or both numbers of `sums`.
  struct lane_state {
    detail::lane_rows_softmax<tiles_type::lane_rows> softmax;
    array<float, tiles_type::lane_rows> logarithm, product;
  };
  /// Gradients of rows, and of what is beside them: nothing where a pass has none.
  struct no_sums {};
  struct block_results {
    std::conditional_t<of_sums, no_sums, width_sums> rows{};
    std::conditional_t<of_keys, width_sums, no_sums> rows_beside{};
  };
  /// Where a block is: its batch, its first row, and the two numbers of its batch's first query.
  struct block_place {
    array<index, rank> batch;
    index row;
    float* sums;
  };

  TENON_HOST_DEVICE index row_count() const { return of_keys ? extents.depth : extents.rows; }
  TENON_HOST_DEVICE index column_count() const { return of_keys ? extents.rows : extents.depth; }

  /// The columns that the rows of a tile meet: the first, which begins a tile, and the end.
  TENON_HOST_DEVICE operand_lines columns_met(index row) const {
    operand_lines met{0, column_count()};
    if (!powers.options.is_causal) return met;
    if (of_keys) {
      const index first_query = row - powers.options.first_query;
      if (first_query > 0) met.first = first_query / tile_columns * tile_columns;
    } else if (const index end = row + tile_rows + powers.options.first_query; end < met.end) {
      met.end = end;
    }
    return met;
  }

  template <class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const int number = device.block().x / row_tiles();
    const auto batch = extents.batch_position(number);
    const block_place place{batch, static_cast<index>(device.block().x % row_tiles()) * tile_rows,
                            sums + 2 * number * extents.rows};
    const auto rows = operands.rows.at_batch(batch);
    const auto columns = operands.columns.at_batch(batch);
    const auto rows_beside = operands.rows_beside.at_batch(batch);
    const auto columns_beside = operands.columns_beside.at_batch(batch);
    constexpr int row_elements = tiles_type::row_placement::elements,
                  column_elements = tiles_type::column_placement::elements;
    const auto row_tile = device.template shared<Element>(row_elements);
    const auto beside_tile = device.template shared<Element>(row_elements);
    const auto ring = device.template shared<Element>(2 * stages * column_elements);
    const operand_lines met = columns_met(place.row);
    const auto fetch_columns = [&](index column, int at) {
      using placement = typename tiles_type::column_placement;
      columns.template fetch<placement, max_threads>(device, ring.part(2 * at * column_elements, column_elements),
                                                     {column, column_count(), 0, features});
      columns_beside.template fetch<placement, max_threads>(device,
                                                            ring.part((2 * at + 1) * column_elements, column_elements),
                                                            {column, column_count(), 0, extents.columns});
    };
    using row_placement = typename tiles_type::row_placement;
    rows.template fetch<row_placement, max_threads>(device, row_tile, {place.row, row_count(), 0, features});
    rows_beside.template fetch<row_placement, max_threads>(device, beside_tile,
                                                           {place.row, row_count(), 0, extents.columns});
    if (met.first < met.end) fetch_columns(met.first, 0);
    device.commit_copies();
    lane_state state = first_state(device, place);
    block_results results;
    int at = 0;
    for (index column = met.first; column < met.end; column += tile_columns, at = 1 - at) {
      device.template wait_copies<0>(), device.sync();
      if (column + tile_columns < met.end) fetch_columns(column + tile_columns, 1 - at);
      device.commit_copies();
      const auto tile = ring.part(2 * at * column_elements, column_elements);
      const auto tile_beside = ring.part((2 * at + 1) * column_elements, column_elements);
      line_sums scores{}, gradients{};
      tiles_type::multiply_lines(device, row_tile, tile, scores);
      tiles_type::multiply_lines(device, beside_tile, tile_beside, gradients);
      if constexpr (of_sums) {
        add_sums(device, place, column, scores, gradients, state);
      } else {
        weigh(device, place, column, state, scores, gradients);
        tiles_type::multiply_weights(device, gradients, tile, results.rows);
        if constexpr (of_keys) tiles_type::multiply_weights(device, scores, tile_beside, results.rows_beside);
      }
    }
    device.template wait_copies<0>();
    if constexpr (of_sums) finish_sums(device, place, state);
    else store(device, place, of_rows, features, results.rows, powers.rule.scale);
    if constexpr (of_keys) store(device, place, of_rows_beside, extents.columns, results.rows_beside, 1);
  }

  template <class Device>
  TENON_HOST_DEVICE lane_state first_state(Device& device, const block_place& place) const {
    lane_state state{};
    if constexpr (Pass == attention_pass::queries) {
      TENON_UNROLLED
      for (int row = 0; row < tiles_type::lane_rows; ++row) {
        const auto own = sums_of(place, place.row + tiles_type::row_of(device, row));
        state.logarithm[row] = own[0], state.product[row] = own[1];
      }
    }
    return state;
  }
  /// Both numbers of a query; of one that there is not, such that its weights are 0.
  TENON_HOST_DEVICE array<float, 2> sums_of(const block_place& place, index query) const {
    if (query >= extents.rows) return {{__builtin_inff(), 0}};
    return {{place.sums[2 * query], place.sums[2 * query + 1]}};
  }

  /// The softmax of a tile's scores, and the sums of weights times their gradients.
  template <class Device>
  TENON_HOST_DEVICE void add_sums(Device& device, const block_place& place, index column, line_sums& scores,
                                  const line_sums& gradients, lane_state& state) const {
    const index warp_row = place.row + device.warp() * warp_rows;
    if (powers.has_rule || powers.is_partial(warp_row, column, tile_columns, extents.depth)) {
      const auto bias = operands.bias.at_batch(place.batch);
      tiles_type::visit(device, scores, [&](float& score, int row, int at) {
        powers.apply(score, bias, place.row + row, column + at, extents);
      });
    }
    detail::weigh_scores<tiles_type>(device, powers.power(), scores, state.softmax);
    if constexpr (Node::has_factor) {
      const auto factor = operands.factor.at_batch(place.batch);
      tiles_type::visit(device, scores, [&](float& weight, int row, int at) {
        weight *= powers.value_at(factor, place.row + row, column + at, extents);
      });
    }
    TENON_UNROLLED
    for (int row = 0; row < tiles_type::lane_rows; ++row) {
      const int slot = row % 2 * 2;
      float added = 0;
      TENON_UNROLLED
      for (int j = 0; j < tiles_type::column_blocks; ++j) {
        added += scores[row / 2][j][slot] * gradients[row / 2][j][slot] +
                 scores[row / 2][j][slot + 1] * gradients[row / 2][j][slot + 1];
      }
      state.product[row] = state.product[row] * state.softmax.kept[row] + added;
    }
  }
  template <class Device>
  TENON_HOST_DEVICE void finish_sums(Device& device, const block_place& place, const lane_state& state) const {
    TENON_UNROLLED
    for (int row = 0; row < tiles_type::lane_rows; ++row) {
      const float total = detail::combine_row(device, state.softmax.sum[row], sum_monoid::combine<float>);
      const float weighted = detail::combine_row(device, state.product[row], sum_monoid::combine<float>);
      const index query = place.row + tiles_type::row_of(device, row);
      if (device.lane() % 4 != 0 || query >= extents.rows) continue;
      const bool sees_none = total == 0;
      const float logarithm = state.softmax.greatest[row] * powers.power() + simd::log(total) * score_powers::log2_e;
      place.sums[2 * query] = sees_none ? __builtin_inff() : logarithm;
      place.sums[2 * query + 1] = sees_none ? 0.0f : weighted / total;
    }
  }

  /// Makes weights of scores, and gradients of scores, but for their scale, of gradients of weights.
  template <class Device>
  TENON_HOST_DEVICE void weigh(Device& device, const block_place& place, index column, const lane_state& state,
                               line_sums& scores, line_sums& gradients) const {
    const auto beside = sums_of_columns(device, place, column);
    const auto sums_at = [&](int i, int j, int k) {
      if constexpr (of_keys) return beside[2 * j + k % 2];
      else return array<float, 2>{{state.logarithm[2 * i + k / 2], state.product[2 * i + k / 2]}};
    };
    if (powers.has_rule || Node::has_factor || is_partial(device, place, column)) {
      const auto bias = operands.bias.at_batch(place.batch);
      const auto factor = operands.factor.at_batch(place.batch);
      visit(device, place, column, [&](int i, int j, int k, index query, index key) {
        const float slope = powers.apply(scores[i][j][k], bias, query, key, extents);
        float share = 1;
        if constexpr (Node::has_factor) share = powers.value_at(factor, query, key, extents);
        gradients[i][j][k] = slope * (share * gradients[i][j][k] - sums_at(i, j, k)[1]);
      });
    } else {
      visit(device, place, column,
            [&](int i, int j, int k, index, index) { gradients[i][j][k] -= sums_at(i, j, k)[1]; });
    }
    visit(device, place, column, [&](int i, int j, int k, index, index) {
      scores[i][j][k] = device.power_of_two(scores[i][j][k] * powers.power() - sums_at(i, j, k)[0]);
      gradients[i][j][k] *= scores[i][j][k];
    });
    if constexpr (Node::has_factor && of_keys) {
      const auto factor = operands.factor.at_batch(place.batch);
      visit(device, place, column, [&](int i, int j, int k, index query, index key) {
        scores[i][j][k] *= powers.value_at(factor, query, key, extents);
      });
    }
  }
  /// Both numbers of each of a lane's columns, where these are queries.
  template <class Device>
  TENON_HOST_DEVICE auto sums_of_columns(Device& device, const block_place& place, index column) const {
    array<array<float, 2>, (of_keys ? 2 * tiles_type::column_blocks : 1)> result{};
    if constexpr (of_keys) {
      TENON_UNROLLED
      for (int i = 0; i < 2 * tiles_type::column_blocks; ++i) {
        result[i] = sums_of(place, column + tiles_type::column_of(device, i / 2) + i % 2);
      }
    }
    return result;
  }
  /// Calls `visitor(i, j, k, query, key)` for each of a lane's scores: slot `k` of a block.
  template <class Device, class Visitor>
  TENON_HOST_DEVICE static void visit(Device& device, const block_place& place, index column, const Visitor& visitor) {
    TENON_UNROLLED
    for (int i = 0; i < tiles_type::groups; ++i) {
      TENON_UNROLLED
      for (int j = 0; j < tiles_type::column_blocks; ++j) {
        TENON_UNROLLED
        for (int k = 0; k < 4; ++k) {
          const index row = place.row + tiles_type::row_of(device, 2 * i + k / 2);
          const index beside = column + tiles_type::column_of(device, j) + k % 2;
          visitor(i, j, k, of_keys ? beside : row, of_keys ? row : beside);
        }
      }
    }
  }
  /// Whether some query of the warp does not see some key of the tile.
  template <class Device>
  TENON_HOST_DEVICE bool is_partial(Device& device, const block_place& place, index column) const {
    const index row = place.row + device.warp() * warp_rows;
    return of_keys ? powers.is_partial(column, row, warp_rows, extents.depth)
                   : powers.is_partial(row, column, tile_columns, extents.depth);
  }

  template <class Device>
  TENON_HOST_DEVICE void store(Device& device, const block_place& place, const strided_target<Target, rank>& to,
                               index end, const width_sums& values, float scale) const {
    if (to.data == nullptr) return;
    TENON_UNROLLED
    for (int row = 0; row < tiles_type::lane_rows; ++row) {
      auto position = place.batch;
      position[rank - 2] = place.row + tiles_type::row_of(device, row);
      TENON_UNROLLED
      for (int i = 0; i < 2 * tiles_type::width_blocks; ++i) {
        position[rank - 1] = tiles_type::column_of(device, i / 2) + i % 2;
        if (position[rank - 2] >= row_count() || position[rank - 1] >= end) continue;
        to.store(position, values[row / 2][i / 2][row % 2 * 2 + i % 2] * scale);
      }
    }
  }
};

}  // namespace tenon
