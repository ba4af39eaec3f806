// tenon/contraction/host_attention_gradient.hpp: gradients of attention on the host, a few queries at a time.
// Weights of a block of keys are made again in cache, from scores and the sums of each query, and used up at once.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_operands.hpp>
#include <tenon/contraction/host.hpp>
#include <tenon/device/simd_reduce.hpp>

namespace tenon {

namespace detail {

/// What it takes to make the weights of a query again: the logarithm of the sum of its exponentials, and the sum of its
/// weights times their gradients.
template <class T>
struct query_sums {
  T logarithm = std::numeric_limits<T>::infinity(), product = 0;  // of a query that sees no key, all weights are 0
};

/// The sum of the products of two rows, or of three where there is a third.
template <class T>
T dot_of_rows(const T* left, const T* right, const T* third, index count) {
  constexpr int lanes = simd::width_for(sizeof(T));
  simd::pack<T, lanes> sum{};
  for (index k = 0; k < count; k += lanes) {
    const auto product =
        simd::load_part<T, lanes>(left + k, count - k) * simd::load_part<T, lanes>(right + k, count - k);
    sum += third == nullptr ? product : product * simd::load_part<T, lanes>(third + k, count - k);
  }
  return simd::reduce(sum, [](auto first, auto second) { return first + second; });
}

/// Rows that belong to the scores of a query; null where there are none.
template <class T>
struct beside_scores {
  const T *bias, *factor;
};

/// The scores of one query become the weights that multiply values; the gradients of its weights become gradients of
/// scores. `visible` of `padded` are seen.
template <class T>
void pull_scores(T* scores, T* gradients, const array<index, 2>& visible_of_padded, const beside_scores<T>& beside,
                 const score_rule<T>& rule, const query_sums<T>& sums) {
  constexpr int lanes = simd::width_for(sizeof(T));
  using pack = simd::pack<T, lanes>;
  const index visible = visible_of_padded[0], padded = visible_of_padded[1];
  for (index k = 0; k < visible; k += lanes) {
    const pack capped = rule(simd::load<T, lanes>(scores + k));
    pack weights = capped, of_weights = simd::load<T, lanes>(gradients + k);
    if (beside.bias != nullptr) weights += simd::load<T, lanes>(beside.bias + k);
    weights = simd::exp(pack(weights - sums.logarithm));
    const pack scaled = weights * rule.slope(capped);
    if (beside.factor != nullptr) {
      const pack factor = simd::load<T, lanes>(beside.factor + k);
      of_weights *= factor, weights *= factor;
    }
    simd::store<lanes>(scores + k, weights);
    simd::store<lanes>(gradients + k, scaled * (of_weights - sums.product));
  }
  std::fill(scores + visible, scores + padded, T(0));
  std::fill(gradients + visible, gradients + padded, T(0));
}

}  // namespace detail

/// Gradients of attention of one batch. Blocks of queries meet blocks of keys in the same order, whatever the number of
/// threads. One thread takes all gradients of a meeting at once; several make those of queries first, then of keys.
/// cost      a pass for the sums of queries, then ten operations for each query, key and feature; operands are packed
///           once, in as much memory
/// source    Dao 2023, "FlashAttention-2"
template <class T, class Node, class Gradient>
struct host_attention_gradient {
  using operands_type = attention_operands<Node, Gradient>;
  using products = number_products<T>;
  using tile = host_tile<products>;
  using panels = packed_panels<products>;
  static constexpr index block_rows = 8 * tile::height, block_panels = 4;
  static constexpr bool has_bias = Node::has_bias, has_factor = Node::has_factor;

  operands_type operands;
  index queries, keys, features, columns;
  attention_options options;
  score_rule<T> rule;

  /// Gradients of the batch at `position` to where they are wanted.
  template <class Element>
  void run(const array<index, Node::rank>& position, const attention_targets<Element, Node::rank>& to) const {
    const auto own = operands.at_batch(position);
    const bool pulls_queries = to.query.data != nullptr;
    const detail::scratch scratch;
    meetings common{panels::of(scratch, own.key.exchanged, features, keys),
                    panels::of(scratch, own.value.exchanged, columns, keys),
                    panels::of(scratch, own.key.own, keys, pulls_queries ? features : 0),
                    panels::of(scratch, own.query.own, queries, to.key.data != nullptr ? features : 0),
                    panels::of(scratch, own.gradient.own, queries, to.value.data != nullptr ? columns : 0),
                    scratch.take<detail::query_sums<T>>(queries)};
    common.of_keys = sums_of(scratch, common.queries), common.of_values = sums_of(scratch, common.gradients);
    const bool is_alone = thread_count() == 1, pulls_keys = to.key.data != nullptr || to.value.data != nullptr;
    const index key_blocks = (common.across_keys.columns.panels + block_panels - 1) / block_panels;
    const index blocks = (queries + block_rows - 1) / block_rows;
    const index work = block_rows * keys * (features + columns);
    parallel_for(blocks, 1 + (index{1} << 20) / (work + 1), [&](index first, index last) {
      for (index item = first; item < last; ++item) {
        const detail::scratch memory;
        query_block block = make_block(memory, own, item * block_rows, common.of_queries.columns.padded());
        sum_weights(own, common, block);
        for (index number = 0; number < key_blocks; ++number) {
          meet(own, common, block, key_block_of(common, number), {pulls_queries, is_alone && pulls_keys});
        }
        store(to.query, position, {block.first, block.count, 0, features}, {block.sums, block.sum_pitch});
      }
    });
    if (!pulls_keys) return;
    if (!is_alone) {
      parallel_for(key_blocks, 1, [&](index first, index last) {
        for (index number = first; number < last; ++number) {
          for (index item = 0; item < blocks; ++item) {
            const detail::scratch memory;
            query_block block = make_block(memory, own, item * block_rows, 0);
            meet(own, common, block, key_block_of(common, number), {false, true});
          }
        }
      });
    }
    store(to.key, position, {0, keys, 0, features}, common.of_keys);
    store(to.value, position, {0, keys, 0, columns}, common.of_values);
  }

 private:
  /// What all blocks share: packed operands, the sums of queries, and the gradients of keys and values so far.
  struct meetings {
    panels across_keys, across_values, of_queries, queries, gradients;
    detail::query_sums<T>* sums;
    sum_rows<T> of_keys{}, of_values{};
  };
  struct key_block {
    index first_panel, last_panel, first, count, padded;
  };
  struct query_block {
    index first, count, lines;  // lines: with those that fill the last tile
    T *queries, *gradients;
    index query_pitch, gradient_pitch;
    T *scores, *of_weights, *bias, *factor;
    index pitch;
    T* sums;
    index sum_pitch;
  };
  struct wanted {
    bool queries, keys;
  };

  sum_rows<T> sums_of(const detail::scratch& memory, const panels& lines) const {
    const index pitch = lines.columns.padded(), count = detail::round_up(keys, tile::width) + tile::height;
    T* const data = memory.take<T>(count * pitch);
    std::fill(data, data + count * pitch, T(0));
    return {data, pitch, true};
  }
  key_block key_block_of(const meetings& common, index number) const {
    const auto& lines = common.across_keys.columns;
    const index first_panel = number * block_panels, last = detail::least(first_panel + block_panels, lines.panels);
    const index first = lines.first_column(first_panel);
    const index padded = (last == lines.panels ? lines.padded() : lines.first_column(last)) - first;
    return {first_panel, last, first, detail::least(padded, keys - first), padded};
  }
  /// The block of queries from `first` on, and sums of `length` for each, all 0.
  query_block make_block(const detail::scratch& memory, const operands_type& own, index first, index length) const {
    query_block block{};
    block.first = first, block.count = detail::least(block_rows, queries - first);
    block.lines = detail::round_up(block.count, tile::step);
    const auto rows = [&](index pitch) { return memory.take<T>((block.lines + tile::height) * pitch); };
    block.query_pitch = detail::conflict_free_pitch<T>(features),
    block.gradient_pitch = detail::conflict_free_pitch<T>(columns);
    block.pitch = block_panels * tile::width + tile::lanes, block.sum_pitch = length;
    block.queries = rows(block.query_pitch), block.gradients = rows(block.gradient_pitch);
    block.scores = rows(block.pitch), block.of_weights = rows(block.pitch);
    if constexpr (has_bias) block.bias = rows(block.pitch);
    if constexpr (has_factor) block.factor = rows(block.pitch);
    block.sums = rows(length);
    std::fill(block.sums, block.sums + block.lines * length, T(0));
    pack_left<products>(own.query.own, {first, block.count, 0, features}, block.lines, block.queries,
                        block.query_pitch);
    pack_left<products>(own.gradient.own, {first, block.count, 0, columns}, block.lines, block.gradients,
                        block.gradient_pitch);
    return block;
  }

  /// How many of `count` keys from `first` on query `row` sees.
  index visible(index row, const key_block& to) const {
    if (!options.is_causal) return to.count;
    return std::clamp<index>(row + options.first_query + 1 - to.first, 0, to.count);
  }
  bool see_none(const query_block& block, const key_block& to) const {
    return visible(block.first + block.count - 1, to) == 0;
  }
  /// Scores, gradients of weights, and the rows that belong to them.
  void multiply(const operands_type& own, const meetings& common, const query_block& block, const key_block& to) const {
    const array<index, 2> across{{to.first_panel, to.last_panel}};
    multiply_panels(common.across_keys, across, {block.queries, block.query_pitch, 1, block.lines}, {0, features},
                    {block.scores, block.pitch});
    multiply_panels(common.across_values, across, {block.gradients, block.gradient_pitch, 1, block.lines}, {0, columns},
                    {block.of_weights, block.pitch});
    const matrix_part part{block.first, block.count, to.first, to.count};
    if constexpr (has_bias) pack_left<products>(own.bias, part, block.count, block.bias, block.pitch);
    if constexpr (has_factor) pack_left<products>(own.factor, part, block.count, block.factor, block.pitch);
  }
  detail::beside_scores<T> beside(const query_block& block, index row) const {
    return {has_bias ? block.bias + row * block.pitch : nullptr,
            has_factor ? block.factor + row * block.pitch : nullptr};
  }

  void sum_weights(const operands_type& own, const meetings& common, const query_block& block) const {
    softmax_state<T> states[block_rows];
    T totals[block_rows] = {};
    for (index number = 0; number * block_panels < common.across_keys.columns.panels; ++number) {
      const key_block to = key_block_of(common, number);
      if (see_none(block, to)) break;
      multiply(own, common, block, to);
      for (index row = 0; row < block.count; ++row) {
        T* const scores = block.scores + row * block.pitch;
        const index seen = visible(block.first + row, to);
        const auto added = beside(block, row);
        const T kept = detail::weigh_scores(scores, added.bias, seen, to.count, rule, states[row]);
        totals[row] =
            totals[row] * kept + detail::dot_of_rows(scores, block.of_weights + row * block.pitch, added.factor, seen);
      }
    }
    for (index row = 0; row < block.count; ++row) {
      const auto& state = states[row];
      auto& sums = common.sums[block.first + row];
      sums = {};
      if (state.sum != 0) sums = {state.greatest + std::log(state.sum), totals[row] / state.sum};
    }
  }
  /// Adds the gradients that a block of queries and a block of keys give each other.
  void meet(const operands_type& own, const meetings& common, const query_block& block, const key_block& to,
            const wanted& pulls) const {
    if (see_none(block, to)) return;
    multiply(own, common, block, to);
    for (index row = 0; row < block.count; ++row) {
      detail::pull_scores(block.scores + row * block.pitch, block.of_weights + row * block.pitch,
                          {{visible(block.first + row, to), to.padded}}, beside(block, row), rule,
                          common.sums[block.first + row]);
    }
    if (pulls.queries) {
      multiply_panels(common.of_queries, {{0, common.of_queries.columns.panels}},
                      {block.of_weights, block.pitch, 1, block.lines}, {to.first, to.count},
                      {block.sums, block.sum_pitch, true});
    }
    if (!pulls.keys) return;
    const auto leave = [&](const panels& from, const T* left, const sum_rows<T>& sums) {
      multiply_panels(from, {{0, from.columns.panels}}, {left, 1, block.pitch, detail::round_up(to.count, tile::step)},
                      {block.first, block.count}, {sums.data + to.first * sums.pitch, sums.pitch, true});
    };
    leave(common.queries, block.of_weights, common.of_keys);
    leave(common.gradients, block.scores, common.of_values);
  }

  template <class Element>
  static void store(const strided_target<Element, Node::rank>& to, array<index, Node::rank> position,
                    const matrix_part& part, const sum_rows<T>& sums) {
    if (to.data == nullptr) return;
    for (index row = 0; row < part.rows; ++row) {
      position[Node::rank - 2] = part.row + row;
      Element* const elements = to.at(position);
      for (index column = 0; column < part.columns; ++column) {
        elements[column * to.step()] = static_cast<Element>(sums.data[row * sums.pitch + column]);
      }
    }
  }
};

/// The gradients of an attention node's operands, as one loop of the host.
template <class Node, class Gradient, class Element>
void run_attention_gradient_host(const Node& node, const Gradient& gradient,
                                 const attention_targets<Element, Node::rank>& to) {
  using number = typename Node::accumulator;
  const auto extents = extents_of_product(node);
  const counted_launch counted("attention_gradient");
  const host_attention_gradient<number, Node, Gradient> pass{
      attention_operands<Node, Gradient>(node, gradient, extents),
      extents.rows,
      extents.depth,
      node.features(),
      extents.columns,
      node.options,
      {static_cast<number>(node.scale()), static_cast<number>(node.options.softcap)}};
  detail::run_batches(extents, [&](const auto& position) { pass.run(position, to); });
}

}  // namespace tenon
