// tenon/contraction/host_byte_rows.hpp: products of a few rows of bytes with lines of bytes in memory.
// Each line is read once, where it lies: packed for tiles, it would be written and read again for a few sums.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/contraction/host_vector.hpp>

namespace tenon {

namespace detail {

/// Lanes of four bytes each.
using byte_units = simd::pack<std::uint32_t, simd::native_width<std::uint32_t>>;
inline constexpr index bytes_together = sizeof(byte_units);

template <class Byte>
TENON_INLINE byte_units load_byte_units(const Byte* from) {
  byte_units units;
  std::memcpy(&units, from, sizeof(units));
  return units;
}

/// results[i * pitch + line] = shift[i] + sum over k of few[i][k] * lines[line][k], for `Lines` lines. The last pack of
/// a line ends where the line does; that of a row begins with zeros in place of what the pack before it holds. Of the
/// two factors the instruction wants one unsigned: 128 is added to a line where rows are signed.
template <class Byte, int Few, int Lines>
void multiply_byte_lines(const Byte* few, index few_pitch, const std::uint32_t* shift, const std::int8_t* lines,
                         index line_step, index depth, std::uint32_t* results, index pitch) {
  byte_units sums[Lines][Few] = {};
  for (index k = 0; k < depth; k += bytes_together) {
    byte_units rows[Few];
    TENON_UNROLL(4)
    for (int i = 0; i < Few; ++i) rows[i] = load_byte_units(few + i * few_pitch + k);
    const std::int8_t* const first = lines + least(k, depth - bytes_together);
    TENON_UNROLL(4)
    for (int line = 0; line < Lines; ++line) {
      __builtin_prefetch(first + line * line_step + prefetched_bytes);
      const byte_units bytes = load_byte_units(first + line * line_step);
      TENON_UNROLL(4)
      for (int i = 0; i < Few; ++i) {
        if constexpr (std::is_signed_v<Byte>) {
          sums[line][i] = simd::add_byte_dot(sums[line][i], bytes ^ 0x80808080u, rows[i]);
        } else {
          sums[line][i] = simd::add_byte_dot(sums[line][i], rows[i], bytes);
        }
      }
    }
  }
  TENON_UNROLL(4)
  for (int i = 0; i < Few; ++i) {
    for (int line = 0; line < Lines; ++line) results[i * pitch + line] = shift[i] + simd::sum(sums[line][i]);
  }
}

}  // namespace detail

/// A product of a few rows of bytes with the columns of a matrix of signed bytes, each of which lies side by side.
/// Compiled once for all statements with such rows.
template <class Byte, class Rows>
struct byte_rows_product {
  const matrix_extents& extents;
  const Rows& rows;
  const matrix_memory<std::int8_t>& matrix;
  const host_results<std::uint32_t>& results;

  /// At most `most_few` rows of at least one pack.
  [[gnu::noinline]] void run() const { extents.rows == 1 ? multiply<1>() : multiply<detail::most_few>(); }

 private:
  static constexpr index columns_together = 64;

  template <int Few>
  TENON_INLINE void multiply() const {
    const index pitch = detail::round_up(extents.depth, detail::bytes_together);
    const detail::scratch memory;
    Byte* const few = memory.take<Byte>(Few * pitch);
    std::uint32_t shift[Few];
    for (int i = 0; i < Few; ++i) shift[i] = lay_out(i, few + i * pitch, few + (i + 1) * pitch);
    parallel_for(extents.columns, 1 + 262144 / extents.depth, [&](index first, index last) {
      std::uint32_t sums[Few * columns_together];
      for (index column = first; column < last; column += columns_together) {
        const index count = detail::least(columns_together, last - column);
        const auto multiply_some = [&]<int Lines>(std::integral_constant<int, Lines>, index line) {
          detail::multiply_byte_lines<Byte, Few, Lines>(few, pitch, shift, matrix.at(0, column + line),
                                                        matrix.column_step, extents.depth, sums + line,
                                                        columns_together);
        };
        index line = 0;
        for (; line + 4 <= count; line += 4) multiply_some(std::integral_constant<int, 4>{}, line);
        for (; line < count; ++line) multiply_some(std::integral_constant<int, 1>{}, line);
        results.store_tile(0, column, {{extents.rows, count}}, sums, columns_together);
      }
    });
  }
  /// Copies a row, zeros where there is none, and returns what its sums begin with.
  std::uint32_t lay_out(index row, Byte* begin, Byte* end) const {
    std::fill(begin, end, Byte{0});
    if (row >= extents.rows) return 0;
    detail::copy_row(rows, row, 0, extents.depth, begin);
    const index rest = extents.depth % detail::bytes_together;
    if (rest != 0) std::rotate(end - detail::bytes_together, begin + extents.depth, end);
    std::uint32_t total = 0;
    for (const Byte* at = begin; std::is_signed_v<Byte> && at != end; ++at) total += static_cast<std::uint32_t>(*at);
    return total * -128u;
  }
};

namespace on_host {

/// Few rows of bytes, and a right matrix of signed ones whose columns lie side by side, as weights of a layer do.
struct few_byte_rows {
  static constexpr const char* name = "few rows of bytes";
  template <class Problem>
  static constexpr bool can_take = Problem::takes_any_tile && Problem::products::group == 4 &&
                                   std::is_same_v<memory_element_of<typename Problem::right_type>, std::int8_t>;
  static bool takes(const auto& problem) {
    if (problem.extents.rows > detail::most_few || problem.extents.depth < detail::bytes_together) return false;
    const auto matrix = memory_of(problem.right);
    return matrix.data != nullptr && matrix.row_step == 1;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using byte = typename Problem::products::left_element;
    using rows = std::remove_cvref_t<typename Problem::plain_left_type>;
    byte_rows_product<byte, rows>{problem.extents, problem.plain_left(), memory_of(problem.right), problem.results()}
        .run();
  }
};

}  // namespace on_host

}  // namespace tenon
