// tenon/contraction/host_vector.hpp: products of a few rows or columns with a matrix in memory.
// Each element of the matrix is used a few times only, so it is read once, in the order in which it lies.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/host_problem.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

/// How many vectors are multiplied at once with the elements of a matrix. Fewer, but for a single one, are padded with
/// 0.
inline constexpr int most_few = 4;
/// As many rows as are multiplied with columns in memory, a few at a time while a column stays in the first cache. They
/// pay where columns are so long that adding up packs of sums is little beside them.
inline constexpr index most_rows_of_lines = 16, least_line_packs = 16;
/// How many products are added one behind another. Sums of that many are added up in their turn, as what rounding adds
/// grows with the length of a sum: one of a million floats would be 1 % off.
inline constexpr index longest_sum = 2048;
/// How far ahead memory is asked for along a line.
inline constexpr index prefetched_bytes = 1536;

/// results[i][j] += sum over k of few[i][k] * matrix[k][j], for `columns` j and `depth` k. Rows of the matrix lie
/// `row_step` apart and are read side by side, eight at a time. Results have room for whole packs.
template <class T, int Few, class Element>
[[gnu::noinline]] void add_scaled_rows(const T* few, index few_pitch, const Element* matrix, index row_step,
                                       index depth, index columns, T* results, index pitch) {
  constexpr int lanes = simd::native_width<T>, together = 8;
  for (index first = 0; first < depth; first += together) {
    const int count = static_cast<int>(least(together, depth - first));
    T factors[Few][together] = {};
    for (int i = 0; i < Few; ++i) {
      for (int k = 0; k < count; ++k) factors[i][k] = few[i * few_pitch + first + k];
    }
    const auto add = [&](index j, auto rows, const auto& load) {
      simd::pack<T, lanes> sums[Few];
      for (int i = 0; i < Few; ++i) sums[i] = simd::load<T, lanes>(results + i * pitch + j);
      for (int k = 0; k < rows; ++k) {
        __builtin_prefetch(matrix + (first + together + k) * row_step + j);
        const auto row = load(matrix + (first + k) * row_step + j);
        TENON_UNROLL(4)
        for (int i = 0; i < Few; ++i) sums[i] += factors[i][k] * row;
      }
      for (int i = 0; i < Few; ++i) simd::store<lanes>(results + i * pitch + j, sums[i]);
    };
    const auto whole = [](const Element* from) { return simd::load<T, lanes>(from); };
    index j = 0;
    if (count == together) {
      for (; j + lanes <= columns; j += lanes) add(j, std::integral_constant<int, together>{}, whole);
    } else {
      for (; j + lanes <= columns; j += lanes) add(j, count, whole);
    }
    if (j < columns) add(j, count, [&](const Element* from) { return simd::load_part<T, lanes>(from, columns - j); });
  }
}

/// The same of any depth, with results that need not hold anything before. `part` has room for as many.
template <class T, int Few, class Element>
void sum_scaled_rows(const T* few, index few_pitch, const Element* matrix, index row_step, index depth, index columns,
                     T* results, index pitch, T* part) {
  std::fill(results, results + Few * pitch, T(0));
  for (index first = 0; first < depth; first += longest_sum) {
    T* const sums = first == 0 ? results : part;
    if (first > 0) std::fill(part, part + Few * pitch, T(0));
    add_scaled_rows<T, Few>(few + first, few_pitch, matrix + first * row_step, row_step,
                            least(longest_sum, depth - first), columns, sums, pitch);
    for (index place = 0; first > 0 && place < Few * pitch; ++place) results[place] += part[place];
  }
}

/// results[line][i] = sum over k of few[i][k] * lines[line][k], for `Lines` lines.
template <class T, int Few, int Lines, class Element>
void multiply_lines(const T* few, index few_pitch, const Element* lines, index line_step, index depth, T* results) {
  constexpr int lanes = simd::native_width<T>;
  constexpr index prefetched = prefetched_bytes / static_cast<index>(sizeof(Element));
  using pack = simd::pack<T, lanes>;
  pack sums[Lines][Few] = {};
  index k = 0;
  for (; k + lanes <= depth; k += lanes) {
    pack few_rows[Few];
    TENON_UNROLL(4)
    for (int i = 0; i < Few; ++i) few_rows[i] = simd::load<T, lanes>(few + i * few_pitch + k);
    TENON_UNROLL(4)
    for (int line = 0; line < Lines; ++line) {
      __builtin_prefetch(lines + line * line_step + k + prefetched);
      const pack row = simd::load<T, lanes>(lines + line * line_step + k);
      TENON_UNROLL(4)
      for (int i = 0; i < Few; ++i) sums[line][i] += row * few_rows[i];
    }
  }
  if (simd::has_partial_packs && k < depth) {
    pack few_rest[Few];
    TENON_UNROLL(4)
    for (int i = 0; i < Few; ++i) few_rest[i] = simd::load_part<T, lanes>(few + i * few_pitch + k, depth - k);
    TENON_UNROLL(4)
    for (int line = 0; line < Lines; ++line) {
      const pack rest = simd::load_part<T, lanes>(lines + line * line_step + k, depth - k);
      TENON_UNROLL(4)
      for (int i = 0; i < Few; ++i) sums[line][i] += rest * few_rest[i];
    }
    k = depth;
  }
  if constexpr (Few == 1 && Lines == 4 && lanes >= 4) {
    const pack of_lines[4] = {sums[0][0], sums[1][0], sums[2][0], sums[3][0]};
    simd::store<4>(results, simd::sums(of_lines));
  } else {
    pack kept[Lines * Few];  // apart from the sums, which stay in registers
    TENON_UNROLL(16)
    for (int place = 0; place < Lines * Few; ++place) kept[place] = sums[place / Few][place % Few];
    for (int place = 0; place < Lines * Few; ++place) results[place] = simd::sum(kept[place]);
  }
  for (int place = 0; k < depth && place < Lines * Few; ++place) {
    const T* const number = few + place % Few * few_pitch;
    const Element* const line = lines + place / Few * line_step;
    for (index rest = k; rest < depth; ++rest) results[place] += number[rest] * static_cast<T>(line[rest]);
  }
}

/// The same where lines are too short for sums in packs: a pack holds results of one line.
template <class T, int Few, int Lines, class Element>
TENON_INLINE void multiply_short_lines(const T* few, index few_pitch, const Element* lines, index line_step,
                                       index depth, T* results) {
  constexpr int lanes = Few < simd::native_width<T> ? Few : simd::native_width<T>, packs = Few / lanes;
  using pack = simd::pack<T, lanes>;
  pack sums[Lines][packs] = {};
  for (index k = 0; k < depth; ++k) {
    T numbers[Few];
    TENON_UNROLL(4)
    for (int i = 0; i < Few; ++i) numbers[i] = few[i * few_pitch + k];
    TENON_UNROLL(4)
    for (int i = 0; i < packs; ++i) {
      const pack row = simd::load<T, lanes>(numbers + i * lanes);
      TENON_UNROLL(4)
      for (int line = 0; line < Lines; ++line) sums[line][i] += static_cast<T>(lines[line * line_step + k]) * row;
    }
  }
  TENON_UNROLL(4)
  for (int line = 0; line < Lines; ++line) {
    TENON_UNROLL(4)
    for (int i = 0; i < packs; ++i) simd::store<lanes>(results + line * Few + i * lanes, sums[line][i]);
  }
}

/// As `multiply_lines`, of any depth.
template <class T, int Few, int Lines, class Element>
void multiply_long_lines(const T* few, index few_pitch, const Element* lines, index line_step, index depth,
                         T* results) {
  constexpr index block = longest_sum * simd::native_width<T>;
  for (index first = 0; first == 0 || first < depth; first += block) {
    T part[Lines * Few];
    multiply_lines<T, Few, Lines>(few + first, few_pitch, lines + first, line_step, least(block, depth - first),
                                  first == 0 ? results : part);
    for (int place = 0; first > 0 && place < Lines * Few; ++place) results[place] += part[place];
  }
}

/// How many lines are multiplied before their results are stored.
inline constexpr index lines_together = 64;

/// `count` lines times `groups` times as many vectors. Results of a group lie behind those of the group before.
template <class T, int Few, class Element>
void multiply_all_lines(const T* few, index few_pitch, const Element* lines, index line_step, index count, index depth,
                        index groups, T* results) {
  constexpr index lanes = simd::native_width<T>, short_line = Few > 1 ? 2 * lanes : simd::has_partial_packs ? 0 : lanes;
  const auto for_each_group = [&](index line, const auto& multiply) {
    for (index group = 0; group < groups; ++group) {
      multiply(few + group * Few * few_pitch, lines + line * line_step,
               results + (group * lines_together + line) * Few);
    }
  };
  index line = 0;
  if (depth < short_line) {
    for (; line + 4 <= count; line += 4) {
      for_each_group(line, [&](const T* vectors, const Element* from, T* to) {
        multiply_short_lines<T, Few, 4>(vectors, few_pitch, from, line_step, depth, to);
      });
    }
  }
  for (; line + 4 <= count; line += 4) {
    for_each_group(line, [&](const T* vectors, const Element* from, T* to) {
      multiply_long_lines<T, Few, 4>(vectors, few_pitch, from, line_step, depth, to);
    });
  }
  for (; line < count; ++line) {
    for_each_group(line, [&](const T* vectors, const Element* from, T* to) {
      multiply_long_lines<T, Few, 1>(vectors, few_pitch, from, line_step, depth, to);
    });
  }
}

}  // namespace detail

/// A product of a few vectors, rows on the left or columns on the right, with a matrix in memory, whose elements are
/// converted to T where they are read. Compiled once for all statements with such vectors.
template <class T, class Vectors, class Element>
struct vector_product {
  const matrix_extents& extents;
  const Vectors& vectors;
  const matrix_memory<Element>& matrix;
  const host_results<T>& epilogue;

  /// At most `most_few` rows, or `most_rows_of_lines` where columns of the matrix lie side by side; else its rows do.
  [[gnu::noinline]] void run_rows() const {
    extents.rows == 1 ? multiply_rows<1>() : multiply_rows<detail::most_few>();
  }
  /// At most `most_few` columns; rows or columns of the matrix lie side by side.
  [[gnu::noinline]] void run_columns() const {
    extents.columns == 1 ? multiply_columns<1>() : multiply_columns<detail::most_few>();
  }

 private:
  static constexpr index lines_together = detail::lines_together;
  static index pitch_of(index depth) { return detail::round_up(depth, 16); }

  /// A single vector where it lies, if its elements, which are `step` of its matrix apart, lie side by side; null where
  /// vectors have to be copied.
  template <int Few, class Step>
  const T* vector_in_place([[maybe_unused]] const Step& step) const {
    if constexpr (Few == 1 && std::is_same_v<memory_element_of<Vectors>, T>) {
      const auto vector = memory_of(vectors);
      if (step(vector) == 1) return vector.data;
    }
    return nullptr;
  }

  template <int Few>
  TENON_INLINE void multiply_rows() const {
    const auto& [rows, columns, depth] = extents;
    const index groups = (rows + Few - 1) / Few;
    const detail::scratch memory;
    const T* few = vector_in_place<Few>([](const auto& vector) { return vector.column_step; });
    if (few == nullptr) {
      T* const copy = memory.take<T>(groups * Few * pitch_of(depth));
      pack_left<number_products<T>>(vectors, {0, rows, 0, depth}, groups * Few, copy, pitch_of(depth));
      few = copy;
    }
    if (matrix.column_step == 1) return add_lines<Few>(few, true);
    const auto store = [this](index column, index count, const T* results) {
      if constexpr (Few == 1) {
        epilogue.store_tile(0, column, {{1, count}}, results, count);
      } else {
        T row[lines_together];
        for (index i = 0; i < extents.rows; ++i) {
          const T* const group = results + i / Few * lines_together * Few;
          for (index j = 0; j < count; ++j) row[j] = group[j * Few + i % Few];
          epilogue.store_tile(i, column, {{1, count}}, row, count);
        }
      }
    };
    multiply_lines<Few>(few, groups, matrix.data, matrix.column_step, columns, depth, store);
  }

  template <int Few>
  TENON_INLINE void multiply_columns() const {
    const auto& [rows, columns, depth] = extents;
    const detail::scratch memory;
    const T* few = vector_in_place<Few>([](const auto& vector) { return vector.row_step; });
    if (few == nullptr) {
      T* const copy = memory.take<T>(Few * pitch_of(depth));
      for (index j = 0; j < Few; ++j) {
        for (index k = 0; k < depth; ++k) {
          copy[j * pitch_of(depth) + k] = j < columns ? static_cast<T>(vectors.value(k, j)) : T(0);
        }
      }
      few = copy;
    }
    if (matrix.column_step != 1) return add_lines<Few>(few, false);
    const auto store = [this](index row, index count, const T* results) {
      epilogue.store_tile(row, 0, {{count, extents.columns}}, results, Few);
    };
    multiply_lines<Few>(few, 1, matrix.data, matrix.row_step, rows, depth, store);
  }

  /// Each result is the product of two lines in memory. Calls `store(line, count, results)` for a few lines at a time.
  template <int Few, class Store>
  static void multiply_lines(const T* few, index groups, const Element* lines, index line_step, index count,
                             index depth, const Store& store) {
    parallel_for(count, 1 + 65536 / (depth * groups + 1), [&](index first, index last) {
      for (index line = first; line < last; line += lines_together) {
        T results[lines_together * (Few == 1 ? 1 : detail::most_rows_of_lines)];
        const index together = detail::least(lines_together, last - line);
        detail::multiply_all_lines<T, Few>(few, pitch_of(depth), lines + line * line_step, line_step, together, depth,
                                           groups, results);
        store(line, together, results);
      }
    });
  }

  /// Lines of the matrix are added up, its rows for `rows` of results, its columns for columns of them: each thread
  /// takes a part of every line, in blocks whose results stay in the first cache.
  template <int Few>
  void add_lines(const T* few, bool rows) const {
    const index length = rows ? extents.columns : extents.rows, depth = extents.depth;
    constexpr index block = 4096 / Few, unit = 64;
    const index units = (length + unit - 1) / unit, grain = 1 + 65536 / (depth * unit + 1);
    const index parts = part_count(units, grain), size = detail::conflict_free_pitch<T>(Few * block);
    const detail::scratch memory;
    const index both = depth > detail::longest_sum ? 2 * size : size;  // results, and those of a part of the depth
    T* const all_results = memory.take<T>(parts * both);
    parallel_parts(units, grain, parts, [&](index first, index last, index part) {
      const index end = detail::least(length, last * unit);
      T* const results = all_results + part * both;
      for (index begin = first * unit; begin < end; begin += block) {
        const index count = detail::least(block, end - begin);
        const index pitch = pitch_of(count);
        const Element* const lines = rows ? matrix.at(0, begin) : matrix.at(begin, 0);
        detail::sum_scaled_rows<T, Few>(few, pitch_of(depth), lines, rows ? matrix.row_step : matrix.column_step, depth,
                                        count, results, pitch, results + size);
        if (rows) epilogue.store_tile(0, begin, {{extents.rows, count}}, results, pitch);
        else store_columns<Few>(begin, count, results, pitch);
      }
    });
  }

  /// Columns of results that lie one behind another, `pitch` apart, from row `begin` on.
  template <int Few>
  void store_columns(index begin, index count, const T* results, index pitch) const {
    for (index done = 0; done < count; done += lines_together) {
      T rows[lines_together * Few];
      const index together = detail::least(lines_together, count - done);
      for (index i = 0; i < together; ++i) {
        for (index j = 0; j < Few; ++j) rows[i * Few + j] = results[j * pitch + done + i];
      }
      epilogue.store_tile(begin + done, 0, {{together, extents.columns}}, rows, Few);
    }
  }
};

namespace detail {

/// Whether few vectors of a problem may be multiplied with `Matrix`, as far as types know.
template <class Problem, class Matrix>
inline constexpr bool takes_vectors_with = [] {
  using element = memory_element_of<Matrix>;
  using sum = typename Problem::products::sum;
  constexpr bool is_short = std::is_same_v<element, half> || std::is_same_v<element, bfloat16>;
  return Problem::takes_any_tile && std::is_floating_point_v<sum> &&
         (std::is_same_v<element, sum> || (is_short && std::is_same_v<sum, float>));
}();

}  // namespace detail

namespace on_host {

/// Few rows, and a right matrix in memory that can be read in order.
struct few_rows {
  static constexpr const char* name = "few rows";
  template <class Problem>
  static constexpr bool can_take = detail::takes_vectors_with<Problem, typename Problem::right_type>;
  static bool takes(const auto& problem) {
    const auto& extents = problem.extents;
    if (extents.rows > detail::most_rows_of_lines) return false;
    const auto matrix = memory_of(problem.right);
    if (matrix.data == nullptr || (matrix.row_step != 1 && matrix.column_step != 1)) return false;
    constexpr index lanes = simd::native_width<typename std::remove_cvref_t<decltype(problem)>::products::sum>;
    const bool are_long = matrix.column_step != 1 && extents.depth >= detail::least_line_packs * lanes;
    return extents.rows <= detail::most_few || are_long;
  }
  static void run(const auto& problem) {
    vector_product(problem.extents, problem.plain_left(), memory_of(problem.right), problem.results()).run_rows();
  }
};

/// Few columns, and a left matrix in memory that can be read in order.
struct few_columns {
  static constexpr const char* name = "few columns";
  template <class Problem>
  static constexpr bool can_take = detail::takes_vectors_with<Problem, typename Problem::left_type>;
  static bool takes(const auto& problem) {
    if (problem.extents.columns > detail::most_few) return false;
    const auto matrix = memory_of(problem.left);
    return matrix.data != nullptr && (matrix.row_step == 1 || matrix.column_step == 1);
  }
  static void run(const auto& problem) {
    vector_product(problem.extents, problem.plain_right(), memory_of(problem.left), problem.results()).run_columns();
  }
};

}  // namespace on_host

}  // namespace tenon
