// tenon/contraction/attention_gradient.hpp: the kernels of attention's gradients, some queries or keys for each block.
// Each makes tiles of weights again from scores and the sums of queries, and multiplies them with what they touched.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention.hpp>

namespace tenon {

/// What a kernel makes: the sums of queries, which the others read; gradients of queries; or those of keys and values.
enum class attention_pass { sums, queries, keys };

/// The matrices of a pass, of all batches or of one. A block has its own `rows` (lines of features); they meet
/// `columns` one tile after another. Rows and columns are queries and keys, or keys and queries. `rows_beside` and
/// `columns_beside` are gradients of results and values in the same order. The products of both pairs give weights and
/// gradients of scores: weights multiply `second`, gradients of scores `first`.
template <class Rows, class Columns, class RowsBeside, class ColumnsBeside, class First, class Second, class Bias,
          class Factor>
struct attention_matrices {
  Rows rows;
  Columns columns;
  RowsBeside rows_beside;
  ColumnsBeside columns_beside;
  First first;
  Second second;
  Bias bias;
  Factor factor;

  template <int Rank>
  TENON_HOST_DEVICE attention_matrices at_batch(const array<index, Rank>& batch) const {
    return {rows.at_batch(batch),  columns.at_batch(batch), rows_beside.at_batch(batch), columns_beside.at_batch(batch),
            first.at_batch(batch), second.at_batch(batch),  bias.at_batch(batch),        factor.at_batch(batch)};
  }
};

/// A pass over the scores of all queries and keys.
template <class Unit, attention_pass Pass, class Node, class Matrices, class Element>
struct attention_gradient_kernel {
  static constexpr const char* name = "attention_gradient";
  using tiles_type = weight_tiles<Unit>;
  using policy = typename Unit::policy;
  using element = typename Unit::element;
  using number = typename Unit::accumulator;
  static constexpr int rank = Node::rank;
  static constexpr int tile_rows = policy::rows, tile_columns = policy::columns, max_threads = policy::threads;
  static constexpr int gradient_pitch = tile_columns + chunk_size<number>;
  static constexpr bool of_keys = Pass == attention_pass::keys, of_sums = Pass == attention_pass::sums;

  product_extents<rank> extents;  // rows: queries; depth: keys
  index features;
  Matrices matrices;
  strided_target<Element, rank> of_first, of_second;
  number* sums;  // two for each query: the logarithm of its weights' sum, and that of weights times their gradients
  attention_options options;
  score_rule<number> rule;
  int tiles_of_block;

  TENON_HOST_DEVICE int first_tiles() const { return of_first.data == nullptr ? 0 : tiles_over(features); }
  TENON_HOST_DEVICE int second_tiles() const { return of_second.data == nullptr ? 0 : tiles_over(extents.columns); }
  TENON_HOST_DEVICE int row_tiles() const { return static_cast<int>((row_count() + tile_rows - 1) / tile_rows); }
  int shared_bytes() const {
    return tiles_type::ring_bytes + shared_bytes_of<number>(tile_rows * gradient_pitch) +
           shared_bytes_of<element>(weight_arrays() * tiles_type::weight_elements) +
           shared_bytes_of<number>(result_elements());
  }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    run<typename detail::unit_on<Device, Unit>::type>(device);
  }

 private:
  static constexpr int lane_columns = tile_columns / warp_size;

  TENON_HOST_DEVICE static int tiles_over(index count) {
    return static_cast<int>((count + tile_columns - 1) / tile_columns);
  }
  /// A block of one tile has one kind of weights.
  TENON_HOST_DEVICE int weight_arrays() const { return of_sums ? 0 : tiles_of_block == 1 ? 1 : 2; }
  TENON_HOST_DEVICE int result_elements() const { return of_sums ? 0 : tile_rows * result_pitch(); }
  TENON_HOST_DEVICE int result_pitch() const { return tiles_of_block * tile_columns + chunk_size<number>; }

  /// The operands of this block's batch, its first row, and the tiles of results that it makes: of `First`, then of
  /// `Second`.
  struct block_place {
    array<index, rank> batch;
    Matrices matrices;
    number* sums;
    index row;
    int tile, tile_end, first_tiles;
    int second_weights;  // where weights lie behind the gradients of scores
  };
  template <class Device>
  struct block_memory {
    decltype(std::declval<Device&>().template shared<unsigned char>(1)) ring;
    decltype(std::declval<Device&>().template shared<number>(1)) gradients;
    decltype(std::declval<Device&>().template shared<element>(1)) weights;
    decltype(std::declval<Device&>().template shared<number>(1)) results;
  };
  /// What a lane keeps of one of its warp's queries: the softmax so far, and the sum of weights times their gradients.
  struct lane_sums {
    detail::lane_softmax<number> softmax;
    number product;
  };

  TENON_HOST_DEVICE index row_count() const { return of_keys ? extents.depth : extents.rows; }
  TENON_HOST_DEVICE index column_count() const { return of_keys ? extents.rows : extents.depth; }
  /// The columns that the rows of a tile meet: the first, which begins a tile, and the end.
  TENON_HOST_DEVICE operand_lines columns_met(index row) const {
    operand_lines met{0, column_count()};
    if (!options.is_causal) return met;
    if (of_keys) {
      const index first_query = row - options.first_query;
      if (first_query > 0) met.first = first_query / tile_columns * tile_columns;
    } else {
      const index end = row + tile_rows + options.first_query;
      if (end < met.end) met.end = end;
    }
    return met;
  }

  TENON_HOST_DEVICE block_place place_of_block(const grid_position& block) const {
    const int tiles = row_tiles(), number_of_batch = block.x / tiles, first_count = first_tiles();
    const auto batch = extents.batch_position(number_of_batch);
    const int tile = block.y * tiles_of_block, end = tile + tiles_of_block, tile_count = first_count + second_tiles();
    return {batch,
            matrices.at_batch(batch),
            sums + 2 * number_of_batch * extents.rows,
            static_cast<index>(block.x % tiles) * tile_rows,
            tile,
            end < tile_count ? end : tile_count,
            first_count,
            tiles_of_block == 1 ? 0 : tiles_type::weight_elements};
  }

  template <class Used, class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const block_place place = place_of_block(device.block());
    const Matrices& own = place.matrices;
    const int result_count = result_elements();
    const block_memory<Device> memory{device.template shared<unsigned char>(tiles_type::ring_bytes),
                                      device.template shared<number>(tile_rows * gradient_pitch),
                                      device.template shared<element>(weight_arrays() * tiles_type::weight_elements),
                                      device.template shared<number>(result_count)};
    for (int i = device.thread(); i < result_count; i += policy::threads) memory.results.store(i, 0);
    lane_sums state{{-infinity(), 0, 1}, 0};
    const operand_lines met = columns_met(place.row);
    for (index column = met.first; column < met.end; column += tile_columns) {
      typename Used::template warp_tile<Device> products;
      if (of_sums || place.first_tiles > place.tile) {
        tiles_type::multiply(device, memory.ring, own.rows_beside, {place.row, row_count()}, own.columns_beside,
                             {column, column_count()}, extents.columns, products);
        device.sync();
        for (int strip = 0; strip < Used::strips; ++strip) keep_gradients<Used>(device, memory, strip, products);
      }
      tiles_type::multiply(device, memory.ring, own.rows, {place.row, row_count()}, own.columns,
                           {column, column_count()}, features, products);
      device.sync();
      for (int strip = 0; strip < Used::strips; ++strip) {
        if constexpr (of_sums) add_sums<Used>(device, memory, place, column, strip, products, state);
        else weigh<Used>(device, memory, place, column, strip, products);
      }
      if constexpr (!of_sums) multiply_weights<Used>(device, memory, place, {column, column_count()}, products);
    }
    device.sync();
    if constexpr (of_sums) finish_sums(device, place, state);
    else finish(device, memory, place);
  }

  TENON_HOST_DEVICE static constexpr number infinity() { return static_cast<number>(__builtin_inff()); }

  template <class Used, class Device, class Memory, class Products>
  TENON_HOST_DEVICE void keep_gradients(Device& device, const Memory& memory, int strip, Products& products) const {
    const auto values = tiles_type::template strip_of<Used>(device, memory.ring);
    products.store_strip(device, values, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      const int row = policy::row_of_warp(device.warp()) + Used::row_of_strip(strip, i);
      for (int j = device.lane(); j < tile_columns; j += warp_size) {
        memory.gradients.store(row * gradient_pitch + j, values.load(i * Used::strip_pitch + j));
      }
    }
    device.sync_warp();
  }

  /// A score within the tile: its exponent before and after the mask, and the factor of its weight.
  struct score_place {
    index query, key;
    bool is_seen;
    number exponent, masked;
  };
  TENON_HOST_DEVICE score_place score_at(const block_place& place, index row, index column, number product) const {
    score_place result{of_keys ? column : row, of_keys ? row : column, false, 0, -infinity()};
    result.is_seen = result.query < extents.rows && result.key < extents.depth &&
                     (!options.is_causal || result.key <= result.query + options.first_query);
    if (!result.is_seen) return result;
    result.exponent = result.masked = rule(product);
    if constexpr (Node::has_bias) {
      result.masked += static_cast<number>(place.matrices.bias.value(result.query, result.key));
    }
    return result;
  }
  TENON_HOST_DEVICE number factor_at(const block_place& place, const score_place& score) const {
    if constexpr (!Node::has_factor) return 1;
    else return score.is_seen ? static_cast<number>(place.matrices.factor.value(score.query, score.key)) : number(0);
  }

  /// The softmax of the scores in a strip, and the sums of weights times their gradients.
  template <class Used, class Device, class Memory, class Products>
  TENON_HOST_DEVICE void add_sums(Device& device, const Memory& memory, const block_place& place, index column,
                                  int strip, Products& products, lane_sums& state) const {
    const auto scores = tiles_type::template strip_of<Used>(device, memory.ring);
    products.store_strip(device, scores, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      const int own = Used::row_of_strip(strip, i), row = policy::row_of_warp(device.warp()) + own;
      score_place seen[lane_columns];
      const number before = device.shuffle(state.softmax.greatest, own);
      number greatest = before;
      for (int j = 0; j < lane_columns; ++j) {
        const int at = device.lane() + j * warp_size;
        seen[j] = score_at(place, place.row + row, column + at, scores.load(i * Used::strip_pitch + at));
        greatest = max_monoid::combine(greatest, seen[j].masked);
      }
      greatest = warp_reduce(device, greatest, max_monoid::combine<number>);
      const bool sees_none = greatest == -infinity();
      number added = 0, product = 0;
      for (int j = 0; j < lane_columns; ++j) {
        const number weight = sees_none ? number(0) : simd::exp(number(seen[j].masked - greatest));
        added += weight;
        if (!seen[j].is_seen) continue;
        product += weight * factor_at(place, seen[j]) *
                   memory.gradients.load(row * gradient_pitch + device.lane() + j * warp_size);
      }
      added = warp_reduce(device, added, sum_monoid::combine<number>);
      product = warp_reduce(device, product, sum_monoid::combine<number>);
      const number kept = sees_none ? number(1) : simd::exp(number(before - greatest));
      if (device.lane() == own) {
        state = {{greatest, state.softmax.sum * kept + added, kept}, state.product * kept + product};
      }
    }
    device.sync_warp();
  }
  template <class Device>
  TENON_HOST_DEVICE void finish_sums(Device& device, const block_place& place, const lane_sums& state) const {
    const index query = place.row + policy::row_of_warp(device.warp()) + device.lane();
    if (device.lane() >= policy::warp_rows || query >= extents.rows) return;
    const bool sees_none = state.softmax.sum == 0;
    place.sums[2 * query] = sees_none ? infinity() : state.softmax.greatest + simd::log(number(state.softmax.sum));
    place.sums[2 * query + 1] = sees_none ? number(0) : state.product / state.softmax.sum;
  }

  /// Makes weights of the scores in a strip, and gradients of the scores, as far as the block wants them.
  template <class Used, class Device, class Memory, class Products>
  TENON_HOST_DEVICE void weigh(Device& device, const Memory& memory, const block_place& place, index column, int strip,
                               Products& products) const {
    const auto scores = tiles_type::template strip_of<Used>(device, memory.ring);
    products.store_strip(device, scores, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      const int row = policy::row_of_warp(device.warp()) + Used::row_of_strip(strip, i);
      for (int j = device.lane(); j < tile_columns; j += warp_size) {
        const auto score = score_at(place, place.row + row, column + j, scores.load(i * Used::strip_pitch + j));
        number weight = 0, of_score = 0;
        if (score.is_seen) {
          const number* const of_query = place.sums + 2 * score.query;
          const number own_factor = factor_at(place, score), whole = simd::exp(number(score.masked - of_query[0]));
          weight = whole * own_factor;
          const number gradient = memory.gradients.load(row * gradient_pitch + j);
          if (place.first_tiles > place.tile) {
            of_score = whole * rule.slope(score.exponent) * (own_factor * gradient - of_query[1]);
          }
        }
        const int at = tiles_type::place_of(row, j);
        if (place.first_tiles > place.tile) memory.weights.store(at, static_cast<element>(of_score));
        if (place.tile_end > place.first_tiles) {
          memory.weights.store(place.second_weights + at, static_cast<element>(weight));
        }
      }
    }
    device.sync_warp();
  }
  /// Adds the products of a tile's weights to the block's tiles of results.
  template <class Used, class Device, class Memory, class Products>
  TENON_HOST_DEVICE void multiply_weights(Device& device, const Memory& memory, const block_place& place,
                                          operand_lines range, Products& products) const {
    for (int tile = place.tile; tile < place.tile_end; ++tile) {
      const bool is_first = tile < place.first_tiles;
      const index line = static_cast<index>(is_first ? tile : tile - place.first_tiles) * tile_columns;
      const auto weights = memory.weights.part(is_first ? 0 : place.second_weights, tiles_type::weight_elements);
      if (is_first) {
        tiles_type::multiply_weights(device, memory.ring, weights, place.matrices.first, {line, features}, range,
                                     products);
      } else {
        tiles_type::multiply_weights(device, memory.ring, weights, place.matrices.second, {line, extents.columns},
                                     range, products);
      }
      device.sync();
      for (int strip = 0; strip < Used::strips; ++strip) {
        add<Used>(device, memory, (tile - place.tile) * tile_columns, strip, products);
      }
    }
  }
  template <class Used, class Device, class Memory, class Products>
  TENON_HOST_DEVICE void add(Device& device, const Memory& memory, int column, int strip, Products& products) const {
    const auto values = tiles_type::template strip_of<Used>(device, memory.ring);
    products.store_strip(device, values, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      const int row = policy::row_of_warp(device.warp()) + Used::row_of_strip(strip, i);
      for (int j = device.lane(); j < tile_columns; j += warp_size) {
        const int at = row * result_pitch() + column + j;
        memory.results.store(at, memory.results.load(at) + values.load(i * Used::strip_pitch + j));
      }
    }
    device.sync_warp();
  }
  template <class Device, class Memory>
  TENON_HOST_DEVICE void finish(Device& device, const Memory& memory, const block_place& place) const {
    for (int tile = place.tile; tile < place.tile_end; ++tile) {
      const bool is_first = tile < place.first_tiles;
      const auto& to = is_first ? of_first : of_second;
      const index line = static_cast<index>(is_first ? tile : tile - place.first_tiles) * tile_columns;
      const index end = is_first ? features : extents.columns;
      for (int own = 0; own < policy::warp_rows; ++own) {
        const int row = policy::row_of_warp(device.warp()) + own;
        for (int j = device.lane(); j < tile_columns; j += warp_size) {
          if (place.row + row >= row_count() || line + j >= end) continue;
          auto position = place.batch;
          position[rank - 2] = place.row + row, position[rank - 1] = line + j;
          to.store(position, memory.results.load(row * result_pitch() + (tile - place.tile) * tile_columns + j));
        }
      }
    }
  }
};

}  // namespace tenon
