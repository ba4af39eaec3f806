// tenon/contraction/attention.hpp: the kernel of attention, some queries for each block.
// Scores of a tile of keys become weights in shared memory, which the same unit multiplies with values.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_operands.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/operand.hpp>
#include <tenon/contraction/wmma.hpp>
#include <tenon/device/collective.hpp>
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

namespace detail {

/// What a lane keeps of one of its warp's queries: the greatest exponent, the sum of the weights so far, and the factor
/// of sums before the latest tile.
template <class Number>
struct lane_softmax {
  Number greatest, sum, kept;
};

}  // namespace detail

/// Attention: tiles of `rows` queries with `columns` keys at a time. Sums of up to `most_columns` values a query stay
/// in shared memory; for more of them, several blocks make the same scores.
/// source    Dao, Fu, Ermon, Rudra, Ré 2022, "FlashAttention"
template <class Unit, bool HasBias, bool HasFactor, int Rank, class Query, class Key, class Value, class Bias,
          class Factor, class Epilogue>
struct attention_kernel {
  static constexpr const char* name = "attention";
  using tiles_type = weight_tiles<Unit>;
  using policy = typename Unit::policy;
  using element = typename Unit::element;
  using number = typename Unit::accumulator;
  static constexpr int tile_rows = policy::rows, tile_columns = policy::columns, max_threads = policy::threads;
  static constexpr int most_columns = 256;

  product_extents<Rank> extents;  // rows: queries; depth: keys
  index features;
  Query query;
  Key key;
  Value value;
  Bias bias;
  Factor factor;
  Epilogue epilogue;
  attention_options options;
  score_rule<number> rule;
  int value_columns;  // of a block, whole tiles

  int shared_bytes() const {
    return tiles_type::ring_bytes + shared_bytes_of<element>(tiles_type::weight_elements) +
           shared_bytes_of<number>(tile_rows * result_pitch());
  }
  int query_tiles() const { return static_cast<int>((extents.rows + tile_rows - 1) / tile_rows); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    run<typename detail::unit_on<Device, Unit>::type>(device);
  }

 private:
  TENON_HOST_DEVICE int result_pitch() const { return value_columns + chunk_size<number>; }

  /// The matrices of this block's batch, and where its queries and values begin.
  struct block_place {
    Query query;
    Key key;
    Value value;
    Bias bias;
    Factor factor;
    index row, column;
  };
  template <class Device>
  struct block_memory {
    decltype(std::declval<Device&>().template shared<unsigned char>(1)) ring;
    decltype(std::declval<Device&>().template shared<element>(1)) weights;
    decltype(std::declval<Device&>().template shared<number>(1)) results;
  };

  template <class Used, class Device>
  TENON_HOST_DEVICE void run(Device& device) const {
    const int tiles = static_cast<int>((extents.rows + tile_rows - 1) / tile_rows);
    const auto batch = extents.batch_position(device.block().x / tiles);
    const block_place place{query.at_batch(batch),
                            key.at_batch(batch),
                            value.at_batch(batch),
                            bias.at_batch(batch),
                            factor.at_batch(batch),
                            static_cast<index>(device.block().x % tiles) * tile_rows,
                            static_cast<index>(device.block().y) * value_columns};
    const block_memory<Device> memory{device.template shared<unsigned char>(tiles_type::ring_bytes),
                                      device.template shared<element>(tiles_type::weight_elements),
                                      device.template shared<number>(tile_rows * result_pitch())};
    detail::lane_softmax<number> state{-infinity<number>(), 0, 1};
    for (int i = device.thread(); i < tile_rows * result_pitch(); i += policy::threads) memory.results.store(i, 0);
    const index end = keys_seen(place.row);
    for (index first = 0; first < end; first += tile_columns) {
      typename Used::template warp_tile<Device> sums;
      tiles_type::multiply(device, memory.ring, place.query, {place.row, extents.rows}, place.key,
                           {first, extents.depth}, features, sums);
      device.sync();  // the ring becomes strips
      for (int strip = 0; strip < Used::strips; ++strip) weigh<Used>(device, memory, place, first, strip, sums, state);
      for (int column = 0; column < value_columns; column += tile_columns) {
        tiles_type::multiply_weights(device, memory.ring, memory.weights, place.value,
                                     {place.column + column, extents.columns}, {first, extents.depth}, sums);
        device.sync();
        for (int strip = 0; strip < Used::strips; ++strip) add<Used>(device, memory, column, strip, sums, state);
      }
    }
    device.sync();
    finish(device, memory, place, epilogue.at_batch(batch), state);
  }

  template <class T>
  TENON_HOST_DEVICE static constexpr T infinity() {
    return static_cast<T>(__builtin_inff());
  }
  /// How many keys the queries of the tile from `row` on see at most.
  TENON_HOST_DEVICE index keys_seen(index row) const {
    const index beyond = row + tile_rows + options.first_query;
    return options.is_causal && beyond < extents.depth ? beyond : extents.depth;
  }

  /// Makes weights of the scores in a strip.
  template <class Used, class Device, class Memory, class Sums>
  TENON_HOST_DEVICE void weigh(Device& device, const Memory& memory, const block_place& place, index first, int strip,
                               Sums& sums, detail::lane_softmax<number>& state) const {
    const auto scores = tiles_type::template strip_of<Used>(device, memory.ring);
    sums.store_strip(device, scores, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      constexpr int count = tile_columns / warp_size;
      const int own = Used::row_of_strip(strip, i), row = policy::row_of_warp(device.warp()) + own;
      number exponents[count], greatest = device.shuffle(state.greatest, own);
      const number before = greatest;
      for (int j = 0; j < count; ++j) {
        const int column = device.lane() + j * warp_size;
        exponents[j] = exponent(place, place.row + row, first + column, scores.load(i * Used::strip_pitch + column));
        greatest = max_monoid::combine(greatest, exponents[j]);
      }
      greatest = warp_reduce(device, greatest, max_monoid::combine<number>);
      const bool sees_none = greatest == -infinity<number>();
      number added = 0;
      for (int j = 0; j < count; ++j) {
        number weight = sees_none ? number(0) : simd::exp(number(exponents[j] - greatest));
        added += weight;
        if constexpr (HasFactor) weight *= factor_at(place, place.row + row, first + device.lane() + j * warp_size);
        memory.weights.store(tiles_type::place_of(row, device.lane() + j * warp_size), static_cast<element>(weight));
      }
      added = warp_reduce(device, added, sum_monoid::combine<number>);
      const number kept = sees_none ? number(1) : simd::exp(number(before - greatest));
      if (device.lane() == own) state = {greatest, state.sum * kept + added, kept};
    }
    device.sync_warp();
  }
  TENON_HOST_DEVICE number exponent(const block_place& place, index row, index key_number, number score) const {
    const bool is_seen = row < extents.rows && key_number < extents.depth &&
                         (!options.is_causal || key_number <= row + options.first_query);
    if (!is_seen) return -infinity<number>();
    score = rule(score);
    if constexpr (HasBias) score += static_cast<number>(place.bias.value(row, key_number));
    return score;
  }

  TENON_HOST_DEVICE number factor_at(const block_place& place, index row, index key_number) const {
    const bool exists = row < extents.rows && key_number < extents.depth;
    return exists ? static_cast<number>(place.factor.value(row, key_number)) : number(0);
  }

  /// Adds a strip of weighted values to the results, from `column` on.
  template <class Used, class Device, class Memory, class Sums>
  TENON_HOST_DEVICE void add(Device& device, const Memory& memory, int column, int strip, Sums& sums,
                             const detail::lane_softmax<number>& state) const {
    const auto values = tiles_type::template strip_of<Used>(device, memory.ring);
    sums.store_strip(device, values, strip);
    device.sync_warp();
    for (int i = 0; i < Used::strip_rows; ++i) {
      const int own = Used::row_of_strip(strip, i);
      const number kept = device.shuffle(state.kept, own);
      for (int j = device.lane(); j < tile_columns; j += warp_size) {
        const int at = (policy::row_of_warp(device.warp()) + own) * result_pitch() + column + j;
        memory.results.store(at, memory.results.load(at) * kept + values.load(i * Used::strip_pitch + j));
      }
    }
    device.sync_warp();
  }
  /// Divides by the sums of weights and stores.
  template <class Device, class Memory, class Finish>
  TENON_HOST_DEVICE void finish(Device& device, const Memory& memory, const block_place& place, const Finish& last,
                                const detail::lane_softmax<number>& state) const {
    const index left = extents.columns - place.column;
    const int columns = left < value_columns ? static_cast<int>(left) : value_columns;
    for (int own = 0; own < policy::warp_rows; ++own) {
      const number weights = device.shuffle(state.sum, own), inverse = weights == 0 ? number(0) : 1 / weights;
      const int row = policy::row_of_warp(device.warp()) + own;
      if (place.row + row >= extents.rows) continue;
      for (int column = device.lane(); column < columns; column += warp_size) {
        last.store(place.row + row, place.column + column,
                   memory.results.load(row * result_pitch() + column) * inverse);
      }
    }
  }
};

}  // namespace tenon
