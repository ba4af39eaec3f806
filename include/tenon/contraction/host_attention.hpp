// tenon/contraction/host_attention.hpp: attention on the host, a few queries at a time.
// Scores of a block of keys are made in cache, turned into weights and multiplied with values before the next block.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_operands.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/host_vector.hpp>
#include <tenon/device/simd_math.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

/// A matrix in panels of columns as wide as tiles, one behind the other.
template <class Products>
struct packed_panels {
  using unit = typename Products::unit;
  column_panels<Products> columns;
  index rows;
  unit* packed;

  /// Packs a matrix into scratch memory.
  template <class Matrix>
  static packed_panels of(const detail::scratch& memory, const Matrix& matrix, index rows, index columns) {
    const column_panels<Products> lines(columns);
    unit* const to = memory.take<unit>(lines.padded() * rows);
    parallel_for(lines.panels, 1 + 32768 / (host_tile<Products>::width * rows + 1), [&](index first, index last) {
      for (index panel = first; panel < last; ++panel) {
        const index column = lines.first_column(panel), width = lines.width(panel);
        pack_right<Products>(matrix, {0, rows, column, detail::least(width, columns - column)}, width,
                             to + column * rows);
      }
    });
    return {lines, rows, to};
  }
  const unit* at(index panel, index row) const {
    return packed + columns.first_column(panel) * rows + row * columns.width(panel);
  }
};

/// A left operand where it lies; `lines` is a multiple of a tile's step.
template <class Unit>
struct left_lines {
  const Unit* data;
  index line_step, step, lines;
};

/// Rows of a packed operand: `count` from `first` on.
struct packed_rows {
  index first, count;
};

/// Where sums go, and whether they are added to what is there.
template <class Sum>
struct sum_rows {
  Sum* data;
  index pitch;
  bool adds = false;
};

/// The products of lines with the panels `panels[0]` to `panels[1]` - 1 of a packed operand. The first of them begins
/// at column 0 of the sums.
template <class Products>
void multiply_panels(const packed_panels<Products>& right, const array<index, 2>& panels,
                     const left_lines<typename Products::unit>& left, const packed_rows& depth,
                     const sum_rows<typename Products::sum>& sums) {
  using tile = host_tile<Products>;
  const index begin = right.columns.first_column(panels[0]);
  for (index panel = panels[0]; panel < panels[1]; ++panel) {
    const index width = right.columns.width(panel);
    auto* to = sums.data + (right.columns.first_column(panel) - begin);
    tile_operands<Products> operands{left.data,  right.at(panel, depth.first), left.line_step, left.step, width,
                                     depth.count};
    operands.before_pitch = sums.pitch;
    for (index line = 0; line < left.lines; line += tile::height) {
      const index height = left.lines - line > tile::step ? tile::height : tile::step;
      if (sums.adds) operands.before = to;
      multiply_tile(operands, height, width, to, sums.pitch);
      operands.left += tile::height * operands.left_row, to += tile::height * sums.pitch;
    }
  }
}

/// The greatest exponent of a query and the sum of its weights, over the keys so far.
template <class T>
struct softmax_state {
  T greatest = -std::numeric_limits<T>::infinity(), sum = 0;
};

namespace detail {

/// The scores of one query become its weights, in place: `visible` of `count` are seen. There is memory behind `count`
/// up to a whole pack. `bias`, unless it is null, is added to scores. Returns the factor of earlier sums.
template <class T>
T weigh_scores(T* scores, const T* bias, index visible, index count, const score_rule<T>& rule,
               softmax_state<T>& state) {
  constexpr int lanes = simd::width_for(sizeof(T));
  constexpr T nothing = -std::numeric_limits<T>::infinity();
  using pack = simd::pack<T, lanes>;
  pack greatest = simd::broadcast<T, lanes>(state.greatest);
  for (index k = 0; k < visible; k += lanes) {
    pack exponents = rule(simd::load<T, lanes>(scores + k));
    if (bias != nullptr) exponents += simd::load<T, lanes>(bias + k);
    simd::store<lanes>(scores + k, exponents);
    if (k + lanes > visible) {
      std::fill(scores + visible, scores + k + lanes, nothing);
      exponents = simd::load<T, lanes>(scores + k);
    }
    greatest = simd::max(greatest, exponents);
  }
  const T before = state.greatest;
  state.greatest = simd::reduce(greatest, [](auto left, auto right) { return simd::max(left, right); });
  if (state.greatest == nothing) {
    std::fill(scores, scores + count, T(0));
    return 1;
  }
  pack sum{};
  index k = 0;
  for (; k < visible; k += lanes) {
    const pack weights = simd::exp(pack(simd::load<T, lanes>(scores + k) - state.greatest));
    simd::store<lanes>(scores + k, weights);
    sum += weights;
  }
  if (k < count) std::fill(scores + k, scores + count, T(0));
  const T kept = before == state.greatest ? T(1) : std::exp(before - state.greatest);
  state.sum = state.sum * kept + simd::reduce(sum, [](auto left, auto right) { return left + right; });
  return kept;
}

template <class T>
void multiply_elements(T* elements, index count, T factor) {
  constexpr int lanes = simd::width_for(sizeof(T));
  for (index k = 0; k < count; k += lanes) {
    simd::store<lanes>(elements + k, simd::load<T, lanes>(elements + k) * factor);
  }
}

template <class T>
void multiply_pairs(T* elements, const T* factors, index count) {
  constexpr int lanes = simd::width_for(sizeof(T));
  for (index k = 0; k < count; k += lanes) {
    simd::store<lanes>(elements + k, simd::load<T, lanes>(elements + k) * simd::load<T, lanes>(factors + k));
  }
}

}  // namespace detail

/// Attention of one batch: its operands as matrices, keys with features along the rows.
/// cost      2 queries keys (features + columns) operations; keys and values are packed once, in as much memory
/// source    Dao, Fu, Ermon, Rudra, Ré 2022, "FlashAttention"
template <class T, bool HasBias, bool HasFactor, class Query, class Key, class Value, class Bias, class Factor>
struct host_attention {
  using products = number_products<T>;
  using tile = host_tile<products>;
  using panels = column_panels<products>;
  using packed_matrix = packed_panels<products>;
  static constexpr index block_rows = 4 * tile::height, block_panels = 4, block_keys = block_panels * tile::width;
  static constexpr index few_keys = 2048, lines_together = 64;  // of a few queries, which wait for memory

  Query query;
  Key key;
  Value value;
  Bias bias;
  Factor factor;
  index queries, keys, features, columns;
  attention_options options;
  T scale;

  template <int Rank>
  host_attention at_batch(const array<index, Rank>& position) const {
    auto result = *this;
    result.query = query.at_batch(position), result.key = key.at_batch(position);
    result.value = value.at_batch(position), result.bias = bias.at_batch(position);
    result.factor = factor.at_batch(position);
    return result;
  }
  /// All results, to an epilogue.
  template <class Epilogue>
  void run(const Epilogue& epilogue) const {
    if constexpr (std::is_same_v<memory_element_of<Key>, T> && std::is_same_v<memory_element_of<Value>, T>) {
      const auto key_lines = memory_of(key), value_lines = memory_of(value);
      if (queries <= detail::most_few && key_lines.data != nullptr && key_lines.row_step == 1 &&
          value_lines.data != nullptr && value_lines.column_step == 1) {
        return queries == 1 ? run_few_queries<1>(key_lines, value_lines, epilogue)
                            : run_few_queries<detail::most_few>(key_lines, value_lines, epilogue);
      }
    }
    run_blocks(epilogue);
  }

 private:
  struct packed_operands {
    packed_matrix keys, values;
  };
  /// A block of queries: `count` from `first` on.
  struct query_block {
    index first, count, lines;            // lines: with those that fill the last tile
    T *queries, *scores, *beside, *sums;  // beside: what is added to scores, or multiplies weights
    index query_pitch, score_pitch, sum_pitch;
    softmax_state<T> states[block_rows];
  };

  /// Keys and values are packed once for all blocks of queries.
  template <class Epilogue>
  void run_blocks(const Epilogue& epilogue) const {
    const detail::scratch scratch;
    const packed_operands packed{packed_matrix::of(scratch, key, features, keys),
                                 packed_matrix::of(scratch, value, keys, columns)};
    const index blocks = (queries + block_rows - 1) / block_rows;
    const index work = block_rows * keys * (features + columns);
    const array<index, 2> lengths{{block_keys, packed.values.columns.padded()}};
    const index grain = 1 + (index{1} << 20) / (work + 1), parts = part_count(blocks, grain);
    const block_memory memory = memory_for(scratch, parts, detail::round_up(block_rows, tile::step), lengths);
    parallel_parts(blocks, grain, parts, [&](index first, index last, index part) {
      for (index item = first; item < last; ++item) {
        const index number = item % 2 == 0 ? item / 2 : blocks - 1 - item / 2;  // causal ones have less work before
        const index row = number * block_rows, count = detail::least(block_rows, queries - row);
        query_block block = make_block({{row, count, detail::round_up(count, tile::step)}}, lengths, memory.of(part));
        const index end = keys_seen(block);
        for (index panel = 0; panel < packed.keys.columns.panels; panel += block_panels) {
          if (packed.keys.columns.first_column(panel) >= end) break;
          add_keys(packed, block, panel);
        }
        finish(block, epilogue);
      }
    });
  }
  /// A few queries read keys and values where they lie.
  template <int Few, class Epilogue>
  void run_few_queries(const matrix_memory<T>& key_lines, const matrix_memory<T>& value_lines,
                       const Epilogue& epilogue) const {
    const array<index, 2> lengths{{few_keys, detail::round_up(columns, tile::lanes)}};
    const detail::scratch scratch;
    query_block block = make_block({{0, queries, Few}}, lengths, memory_for(scratch, 1, Few, lengths));
    const index end = keys_seen(block);
    for (index first = 0; first < end; first += few_keys) {
      const index count = detail::least(few_keys, keys - first);
      for (index k = 0; k < count; k += lines_together) {
        T scores[lines_together * Few];
        const index together = detail::least(lines_together, count - k);
        detail::multiply_all_lines<T, Few>(block.queries, block.query_pitch, key_lines.at(0, first + k),
                                           key_lines.column_step, together, features, 1, scores);
        for (index i = 0; i < Few; ++i) {
          for (index j = 0; j < together; ++j) block.scores[i * block.score_pitch + k + j] = scores[j * Few + i];
        }
      }
      weigh(block, first, count);
      detail::add_scaled_rows<T, Few>(block.scores, block.score_pitch, value_lines.at(first, 0), value_lines.row_step,
                                      count, columns, block.sums, block.sum_pitch);
    }
    finish(block, epilogue);
  }

  /// Scratch memory of all threads, and the share of a thread in each part of it.
  struct block_memory {
    T *queries, *scores, *beside, *sums;
    index query_size, score_size, sum_size;

    block_memory of(index part) const {
      block_memory own = *this;
      own.queries += part * query_size, own.scores += part * score_size, own.sums += part * sum_size;
      if constexpr (HasBias || HasFactor) own.beside += part * score_size;
      return own;
    }
  };
  /// Blocks have `lines` rows. `lengths` are the lengths of rows of scores and of sums.
  block_memory memory_for(const detail::scratch& scratch, index parts, index lines,
                          const array<index, 2>& lengths) const {
    block_memory memory{};
    memory.query_size = detail::conflict_free_pitch<T>(lines * detail::conflict_free_pitch<T>(features));
    memory.score_size = detail::conflict_free_pitch<T>(lines * (lengths[0] + tile::lanes));
    memory.sum_size = detail::conflict_free_pitch<T>(lines * lengths[1]);
    memory.queries = scratch.take<T>(parts * memory.query_size);
    memory.scores = scratch.take<T>(parts * memory.score_size);
    if constexpr (HasBias || HasFactor) memory.beside = scratch.take<T>(parts * memory.score_size);
    memory.sums = scratch.take<T>(parts * memory.sum_size);
    return memory;
  }
  /// Takes `rows[1]` queries from `rows[0]` on; their blocks have `rows[2]` rows.
  query_block make_block(const array<index, 3>& rows, const array<index, 2>& lengths,
                         const block_memory& memory) const {
    const index first = rows[0], count = rows[1], lines = rows[2];
    query_block block{};
    block.first = first, block.count = count, block.lines = lines;
    block.query_pitch = detail::conflict_free_pitch<T>(features), block.score_pitch = lengths[0] + tile::lanes;
    block.sum_pitch = lengths[1];
    block.queries = memory.queries, block.scores = memory.scores, block.beside = memory.beside;
    block.sums = memory.sums;
    pack_left<products>(query, {first, count, 0, features}, lines, block.queries, block.query_pitch);
    std::fill(block.sums, block.sums + lines * block.sum_pitch, T(0));
    return block;
  }
  /// The queries of a block see keys before this one alone.
  index keys_seen(const query_block& block) const {
    return options.is_causal ? detail::least(keys, block.first + block.count + options.first_query) : keys;
  }
  template <class Epilogue>
  void finish(const query_block& block, const Epilogue& epilogue) const {
    for (index row = 0; row < block.count; ++row) {
      const T weights = block.states[row].sum;
      detail::multiply_elements(block.sums + row * block.sum_pitch, columns, weights == 0 ? T(0) : 1 / weights);
    }
    epilogue.store_tile(block.first, 0, {{block.count, columns}}, block.sums, block.sum_pitch);
  }

  /// Adds the values of the keys in `block_panels` panels from `panel` on.
  void add_keys(const packed_operands& packed, query_block& block, index panel) const {
    const panels& lines = packed.keys.columns;
    const index last = detail::least(panel + block_panels, lines.panels), first = lines.first_column(panel);
    multiply_panels(packed.keys, {{panel, last}}, {block.queries, block.query_pitch, 1, block.lines}, {0, features},
                    {block.scores, block.score_pitch});
    const index end = last == lines.panels ? keys : lines.first_column(last), count = end - first;
    weigh(block, first, count);
    multiply_panels(packed.values, {{0, packed.values.columns.panels}},
                    {block.scores, block.score_pitch, 1, block.lines}, {first, count},
                    {block.sums, block.sum_pitch, true});
  }
  /// Makes weights of the scores of `count` keys from `first` on.
  void weigh(query_block& block, index first, index count) const {
    const matrix_part part{block.first, block.count, first, count};
    if constexpr (HasBias) pack_left<products>(bias, part, block.count, block.beside, block.score_pitch);
    const score_rule<T> rule{scale, static_cast<T>(options.softcap)};
    for (index row = 0; row < block.count; ++row) {
      index visible = count;
      if (options.is_causal) {
        visible = std::clamp<index>(block.first + row + options.first_query + 1 - first, 0, count);
      }
      const T* const added = HasBias ? block.beside + row * block.score_pitch : nullptr;
      const T kept =
          detail::weigh_scores(block.scores + row * block.score_pitch, added, visible, count, rule, block.states[row]);
      if (kept != 1) detail::multiply_elements(block.sums + row * block.sum_pitch, block.sum_pitch, kept);
    }
    if constexpr (HasFactor) {
      pack_left<products>(factor, part, block.count, block.beside, block.score_pitch);
      for (index row = 0; row < block.count; ++row) {
        detail::multiply_pairs(block.scores + row * block.score_pitch, block.beside + row * block.score_pitch, count);
      }
    }
  }
};

/// The operands of an attention node, as those of batch 0.
template <class Node>
auto host_attention_of(const Node& node) {
  const auto make = [&](const auto&... operands) {
    using number = typename Node::accumulator;
    const auto extents = extents_of_product(node);
    return host_attention<number, Node::has_bias, Node::has_factor, std::remove_cvref_t<decltype(operands)>...>{
        operands...,
        extents.rows,
        extents.depth,
        node.features(),
        extents.columns,
        node.options,
        static_cast<number>(node.scale())};
  };
  return make(operand_matrix<0>(node), operand_matrix<1>(node), operand_matrix<2>(node), operand_matrix<3>(node),
              operand_matrix<4>(node));
}

}  // namespace tenon
