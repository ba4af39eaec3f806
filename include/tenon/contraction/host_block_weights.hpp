// tenon/contraction/host_block_weights.hpp: products with weights in blocks, which are read as bytes.
// Few rows are multiplied with blocks in registers. For many rows, strips of weights become numbers for packed tiles.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_product.hpp>
#include <tenon/contraction/host_vector.hpp>
#include <tenon/device/simd_lookup.hpp>
#include <tenon/expr/block_values.hpp>

namespace tenon {

/// Rows of blocks in memory: the lines of a matrix of weights.
template <class Format>
struct weight_lines {
  const std::uint8_t* data;
  index step;  // bytes from line to line

  const std::uint8_t* at(index line) const { return data + line * step; }
  weight_lines from(index line) const { return {at(line), step}; }
};

namespace detail {

template <int Lanes>
using block_packs = simd::pack<float, Lanes>[32 / Lanes];

/// The scale of a block.
TENON_INLINE float scale_of_block(const std::uint8_t* block) {
  if constexpr (simd::converts_short_floats<half, 8>) {  // eight elements are within any block
    return simd::load_short_floats<8>(reinterpret_cast<const half*>(block))[0];
  } else {
    return half::from_bits(static_cast<std::uint16_t>(block[0] | block[1] << 8));
  }
}

/// Adjacent bytes as whole numbers of 32 bits.
template <class Byte, int Lanes>
TENON_INLINE simd::pack<std::int32_t, Lanes> load_bytes(const std::uint8_t* from) {
  simd::pack<Byte, Lanes> bytes;
  std::memcpy(&bytes, from, sizeof(bytes));
  if constexpr (simd::has_lookup && Lanes == 16) return simd::widened(bytes);
  else return __builtin_convertvector(bytes, simd::pack<std::int32_t, Lanes>);
}

/// The weights of a block, which lanes of float hold exactly.
template <class Format, int Lanes>
TENON_INLINE void decode_block(const std::uint8_t* block, block_packs<Lanes>& to) {
  using floats = simd::pack<float, Lanes>;
  const floats scale = scale_of_block(block) - floats{};
  if constexpr (std::is_same_v<Format, q8_0>) {
    TENON_UNROLL(8)
    for (int part = 0; part < 32 / Lanes; ++part) {
      to[part] = scale * __builtin_convertvector((load_bytes<std::int8_t, Lanes>(block + 2 + part * Lanes)), floats);
    }
  } else if constexpr (simd::has_lookup) {
    static_assert(std::is_same_v<Format, q4_0>);
    const floats numbers = scale * floats{-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
    const auto both = load_bytes<std::uint8_t, Lanes>(block + 2);
    to[0] = simd::look_up(numbers, both), to[1] = simd::look_up(numbers, both >> 4);
  } else {
    const floats shift = scale * -8.0f;
    TENON_UNROLL(4)
    for (int part = 0; part < 16 / Lanes; ++part) {
      const auto both = load_bytes<std::uint8_t, Lanes>(block + 2 + part * Lanes);
      to[part] = scale * __builtin_convertvector(both & 15, floats) + shift;
      to[part + 16 / Lanes] = scale * __builtin_convertvector(both >> 4, floats) + shift;
    }
  }
}

/// results[i * pitch + line] = sum over k of few[i][k] * weights[line][k], for `Lines` lines of `blocks`.
template <class Format, int Few, int Lines>
void multiply_blocks(const float* few, index few_pitch, const weight_lines<Format>& lines, index blocks, float* results,
                     index pitch) {
  constexpr int lanes = simd::native_width<float>, parts = 32 / lanes;
  using pack = simd::pack<float, lanes>;
  pack sums[Lines][Few] = {};
  const index ahead = Lines * lines.step;  // where the same lines of the next call lie
  for (index block = 0; block < blocks; ++block) {
    const float* const row = few + block * 32;
    TENON_UNROLL(8)
    for (int line = 0; line < Lines; ++line) {
      const std::uint8_t* const from = lines.at(line) + block * Format::bytes;
      __builtin_prefetch(from + ahead);
      block_packs<lanes> weights;
      decode_block<Format, lanes>(from, weights);
      TENON_UNROLL(8)
      for (int part = 0; part < parts; ++part) {
        TENON_UNROLL(8)
        for (int i = 0; i < Few; ++i) {
          sums[line][i] += weights[part] * simd::load<float, lanes>(row + i * few_pitch + part * lanes);
        }
      }
    }
  }
  pack kept[Lines * Few];  // apart from the sums, which stay in registers
  TENON_UNROLL(16)
  for (int place = 0; place < Lines * Few; ++place) kept[place] = sums[place / Few][place % Few];
  for (int place = 0; place < Lines * Few; ++place) {
    results[place % Few * pitch + place / Few] = simd::reduce(kept[place], [](auto x, auto y) { return x + y; });
  }
}

/// Lines of weights as numbers, rows of `blocks` * 32.
template <class Format>
void decode_lines(const weight_lines<Format>& lines, index count, index blocks, float* to) {
  constexpr int lanes = simd::native_width<float>, parts = 32 / lanes;
  for (index line = 0; line < count; ++line) {
    for (index block = 0; block < blocks; ++block, to += 32) {
      block_packs<lanes> weights;
      decode_block<Format, lanes>(lines.at(line) + block * Format::bytes, weights);
      TENON_UNROLL(8)
      for (int part = 0; part < parts; ++part) simd::store<lanes>(to + part * lanes, weights[part]);
    }
  }
}

}  // namespace detail

/// A product of rows of numbers with lines of weights. Compiled once for all statements with such rows.
template <class Format, class Rows>
struct block_product {
  static constexpr index most_rows = 32, columns_together = 64;
  const matrix_extents& extents;
  const Rows& rows;
  const weight_lines<Format>& lines;
  const host_results<float>& results;

  /// At most `most_rows` rows. Each line is read once; all rows are multiplied with it while it is in the first cache.
  [[gnu::noinline]] void run() const { extents.rows == 1 ? multiply<1>() : multiply<detail::most_few>(); }

 private:
  template <int Few>
  static constexpr index padded_to = Few == 1 ? 1 : 2 * Few;

  template <int Few>
  TENON_INLINE void multiply() const {
    const index pitch = detail::conflict_free_pitch<float>(extents.depth),
                padded = detail::round_up(extents.rows, padded_to<Few>);
    const detail::scratch memory;
    float* const few = memory.take<float>(padded * pitch);
    for (index first = 0; first < padded; first += Few) {
      const index count = detail::least(Few, std::max(index{0}, extents.rows - first));
      pack_left<number_products<float>>(rows, {first, count, 0, extents.depth}, Few, few + first * pitch, pitch);
    }
    parallel_for(extents.columns, 1 + 65536 / (extents.depth * padded + 1), [&](index first, index last) {
      float sums[(Few == 1 ? 1 : most_rows) * columns_together];
      for (index column = first; column < last; column += columns_together) {
        const index count = detail::least(columns_together, last - column);
        multiply_columns<Few>(few, pitch, column, count, sums);
        results.store_tile(0, column, {{extents.rows, count}}, sums, columns_together);
      }
    });
  }
  /// Sums of `count` columns. More than four rows meet two lines at a time: each block is decoded for eight of them.
  template <int Few>
  void multiply_columns(const float* few, index pitch, index column, index count, float* sums) const {
    const index blocks = extents.depth / Format::values;
    const auto multiply = [&]<int Some, int Lines>(std::integer_sequence<int, Some, Lines>, index row, index line) {
      detail::multiply_blocks<Format, Some, Lines>(few + row * pitch, pitch, lines.from(column + line), blocks,
                                                   sums + row * columns_together + line, columns_together);
    };
    index line = 0;
    for (; line + 4 <= count; line += 4) {
      index row = 0;
      for (; Few > 1 && extents.rows - row > Few; row += 2 * Few) {
        multiply(std::integer_sequence<int, 2 * Few, 2>{}, row, line);
        multiply(std::integer_sequence<int, 2 * Few, 2>{}, row, line + 2);
      }
      if (row < extents.rows) multiply(std::integer_sequence<int, Few, 4>{}, row, line);
    }
    for (; line < count; ++line) {
      for (index row = 0; row < extents.rows; row += Few) multiply(std::integer_sequence<int, Few, 1>{}, row, line);
    }
  }
};

namespace detail {

/// The columns of results from `first` on.
template <class Results>
struct later_columns {
  const Results& all;
  index first;

  template <class Sum>
  void store_tile(index row, index column, const array<index, 2>& extents, const Sum* sums, index pitch) const {
    all.store_tile(row, first + column, extents, sums, pitch);
  }
  template <class Sum>
  result_rows<Sum> plain_rows(index row, index column, index count) const {
    return all.template plain_rows<Sum>(row, first + column, count);
  }
};

/// A product of many rows. One strip of weights after the other becomes numbers, which packed tiles multiply.
template <class Format, class Problem>
void multiply_strips(const Problem& problem, const weight_lines<Format>& lines) {
  constexpr index strip = 256;
  const auto& [rows, columns, depth] = problem.extents;
  const index blocks = depth / Format::values;
  const scratch memory;
  float* const numbers = memory.take<float>(least(strip, columns) * depth);
  const auto results = problem.results();
  for (index column = 0; column < columns; column += strip) {
    const index count = least(strip, columns - column);
    parallel_for(count, 1 + 65536 / (depth + 1), [&](index first, index last) {
      decode_lines(lines.from(column + first), last - first, blocks, numbers + first * depth);
    });
    const plain_matrix<float> right{{numbers, {{1, depth}}}, {{depth, count}}, {}};
    const later_columns<host_results<float>> part{results, column};
    const matrix_extents extents{rows, count, depth};
    on_host::packed_tiles::run(host_problem_of<typename Problem::product_type>(extents, problem.left, right, part));
  }
}

}  // namespace detail

/// Rows of numbers times weights in blocks along the depth.
template <class Format, int Rank, class Axes>
struct product_of_right<folded_matrix<block_source<Format, Rank, strided_source<std::uint8_t, 2>>, Rank, Axes>> {
  template <class Problem>
  static constexpr bool can_take = Problem::takes_any_tile && Axes::rows.size() == 1 && Axes::columns.size() == 1 &&
                                   std::is_same_v<typename Problem::products, number_products<float>>;
  /// Whether lines of blocks run along the depth, in order from a whole block on.
  static bool takes(const auto& problem) {
    const auto& step = problem.right.program.positions.step;
    const auto& extents = problem.extents;
    const bool in_order = (step[0][column] == 1 || extents.columns == 1) && step[0][depth] == 0 &&
                          step[1][column] == 0 && step[1][depth] == 1;
    return in_order && first_weight(problem)[1] % Format::values == 0 && extents.depth % Format::values == 0 &&
           problem.right.program.bytes.stride[1] == 1;
  }
  static void run(const auto& problem) {
    const auto& bytes = problem.right.program.bytes;
    const auto start = first_weight(problem);
    const index first_byte = start[0] * bytes.stride[0] + start[1] / Format::values * Format::bytes;
    const weight_lines<Format> lines{bytes.data + first_byte, bytes.stride[0]};
    using product = block_product<Format, std::remove_cvref_t<decltype(problem.plain_left())>>;
    if (problem.extents.rows > product::most_rows) return detail::multiply_strips(problem, lines);
    product{problem.extents, problem.plain_left(), lines, problem.results()}.run();
  }

 private:
  static constexpr int depth = Axes::rows[0], column = Axes::columns[0];

  /// Row and column of the first weight of a batch.
  static array<index, 2> first_weight(const auto& problem) {
    return problem.right.program.positions.at(problem.right.batch);
  }
};

}  // namespace tenon
