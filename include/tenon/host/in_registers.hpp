// tenon/host/in_registers.hpp: rows, folds and products of few values whose number types know.
// Loops are unrolled, and all values are known before one is written. Constant expressions take numbers for packs.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_reduce.hpp>
#include <tenon/plan/few_elements.hpp>
#include <tenon/plan/write.hpp>

namespace tenon::detail {

/// Rows of a shape along its last axis, and the position of each.
template <class Shape>
struct known_rows {
  static constexpr int length = Shape::rank == 0 ? 1 : static_cast<int>(Shape::static_extent(Shape::rank - 1));
  static constexpr int count = static_cast<int>(Shape{}.count()) / length;

  TENON_INLINE static constexpr array<index, Shape::rank> position(index row) {
    array<index, Shape::rank> result{};
    set_position(result, Shape{}.to_array(), 0, Shape::rank - 1, row);
    return result;
  }
};

/// `Count` values of type T side by side: as many packs as they fill, and single ones.
template <class T, int Count, bool InPacks>
struct values_in_registers {
  static constexpr int lanes = InPacks && Count * sizeof(T) >= 16 ? lanes_within<T>(Count) : Count + 1;
  static constexpr int pack_count = Count / lanes, rest = Count - pack_count * (pack_count == 0 ? 0 : lanes);
  simd::pack<T, pack_count == 0 ? 1 : lanes> packs[pack_count + 1];
  T numbers[rest + 1];

  /// Reads the values of a cursor.
  template <class Cursor>
  TENON_INLINE void read(const Cursor& cursor) {
    if constexpr (pack_count != 0) {
      TENON_UNROLL(8)
      for (int j = 0; j < pack_count; ++j) {
        if (cursor.is_adjacent()) {
          packs[j] = cursor.template pack<lanes>(j * lanes, whole_access<reading::adjacent>{}, no_slots{});
        } else {
          simd::pack<T, pack_count == 0 ? 1 : lanes> gathered{};
          TENON_UNROLL(16)
          for (int lane = 0; lane < lanes; ++lane) gathered[lane] = cursor.value(j * lanes + lane, no_slots{});
          packs[j] = gathered;
        }
      }
    }
    TENON_UNROLL(8)
    for (int i = 0; i < rest; ++i) numbers[i] = static_cast<T>(cursor.value(Count - rest + i, no_slots{}));
  }
  TENON_INLINE void write(T* to) const {
    if constexpr (pack_count != 0) {
      TENON_UNROLL(8)
      for (int j = 0; j < pack_count; ++j) simd::store<lanes>(to + j * lanes, packs[j]);
    }
    TENON_UNROLL(8)
    for (int i = 0; i < rest; ++i) to[Count - rest + i] = numbers[i];
  }
  /// Sets the values to those of another row, multiplied by a number.
  TENON_INLINE void set_product(T factor, const values_in_registers& row) {
    TENON_UNROLL(8)
    for (int j = 0; j < pack_count; ++j) packs[j] = factor * row.packs[j];
    TENON_UNROLL(8)
    for (int i = 0; i < rest; ++i) numbers[i] = factor * row.numbers[i];
  }
  /// Adds the values of another row, multiplied by a number.
  TENON_INLINE void add_product(T factor, const values_in_registers& row) {
    TENON_UNROLL(8)
    for (int j = 0; j < pack_count; ++j) packs[j] += factor * row.packs[j];
    TENON_UNROLL(8)
    for (int i = 0; i < rest; ++i) numbers[i] += factor * row.numbers[i];
  }
};

/// Whether values of type T are computed in packs: floats of a cursor that computes in no wider type. For nvcc, packs
/// have one lane.
template <class T, class Cursor>
inline constexpr bool fills_packs = [] {
  using value_type = decltype(std::declval<const Cursor&>().value(index{}, no_slots{}));
  return std::is_floating_point_v<T> && std::is_same_v<value_type, T> && !compiled_by_nvcc &&
         Cursor::widest == static_cast<int>(sizeof(T));
}();

/// The first `Count` values of a cursor.
template <class T, int Count, class Cursor>
TENON_INLINE auto values_of(const Cursor& cursor) {
  values_in_registers<T, Count, fills_packs<T, Cursor>> values;
  values.read(cursor);
  return values;
}

/// Whether types say that a node is one row: each operand has as many elements in the same order, or a single one.
template <class E>
constexpr bool is_one_row() {
  if constexpr (std::is_same_v<typename E::kind, pointwise_kind>) {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      constexpr index count = typename E::shape_type{}.count();
      return ((typename Operands::shape_type{}.count() == 1 ||
               (typename Operands::shape_type{}.count() == count && is_one_row<Operands>())) &&
              ...);
    }(std::type_identity<operands_of<E>>{});
  } else {
    return !std::is_same_v<typename E::kind, index_map_kind>;
  }
}

/// Writes the values of a program over `Shape` to adjacent elements, which it may read. `InRows`: along the last axis,
/// as a product has written what the program reads; else as one row where strides allow it.
template <bool InRows, class Shape, class T, class Program>
TENON_INLINE void write_from_registers(T* to, const Program& program) {
  using rows = known_rows<Shape>;
  [[maybe_unused]] constexpr int count = rows::count * rows::length;
  if constexpr (!InRows) {
    if (is_flat(program, Shape{}.to_array())) return values_of<T, count>(program.at(rows::position(0))).write(to);
  }
  std::remove_cvref_t<decltype(values_of<T, rows::length>(program.at(rows::position(0))))> values[rows::count];
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) values[row].read(program.at(rows::position(row)));
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) values[row].write(to + row * rows::length);
}

/// Writes the values of a node without reductions and products to adjacent elements, which it may read: all values are
/// known before one is written.
template <bool InRows, class T, class E>
TENON_INLINE constexpr void write_in_place(T* to, const E& node) {
  using shape = typename E::shape_type;
  using rows = known_rows<shape>;
  constexpr int count = rows::count * rows::length;
  const auto program = node.template lower<0>(identity_map<shape::rank>());
  if constexpr (!compiled_by_nvcc) {
    if (!std::is_constant_evaluated()) return write_from_registers < InRows || !is_one_row<E>(), shape > (to, program);
  }
  T values[count];
  TENON_UNROLLED
  for (int i = 0; i < count; ++i) {
    values[i] = static_cast<T>(program.at(rows::position(i / rows::length)).value(i % rows::length, no_slots{}));
  }
  TENON_UNROLLED
  for (int i = 0; i < count; ++i) to[i] = values[i];
}

/// Where the results of a reduction of `Shape` go: positions of the operand along the axes that stay, and along those
/// that are folded, as numbers in index order.
template <class Reduction, class Shape>
struct known_folds {
  static constexpr int rank = Shape::rank;
  static constexpr bool folds_rows = [] {
    constexpr auto reduced = reduced_axes<rank>(typename Reduction::axes{});
    if constexpr (rank == 0) return true;
    else return reduced[rank - 1];
  }();

  static constexpr int number(const array<index, rank>& position, bool folded) {
    constexpr auto reduced = reduced_axes<rank>(typename Reduction::axes{});
    index result = 0;
    for (int axis = 0; axis < rank; ++axis) {
      if (reduced[axis] == folded) result = result * Shape::static_extent(axis) + position[axis];
    }
    return static_cast<int>(result);
  }
};

/// The first `Length` values of a cursor as one state; `first` is the position of the first among the folded ones.
template <class Monoid, class State, int Length, class Cursor>
TENON_INLINE constexpr State fold_row_in_place(const Cursor& cursor, int first) {
  using row = values_in_registers<State, Length, fills_packs<State, Cursor>>;
  if constexpr (is_lanewise<Monoid> && row::pack_count != 0) {
    if (!std::is_constant_evaluated()) {
      row values;
      values.read(cursor);
      auto packs = values.packs[0];
      TENON_UNROLL(8)
      for (int j = 1; j < row::pack_count; ++j) packs = Monoid::combine(packs, values.packs[j]);
      const State result = simd::reduce(packs, combination<Monoid>{});
      if constexpr (row::rest == 0) {
        return result;
      } else {
        State rest = values.numbers[0];
        TENON_UNROLL(8)
        for (int i = 1; i < row::rest; ++i) rest = Monoid::combine(rest, values.numbers[i]);
        return Monoid::combine(result, rest);
      }
    }
  }
  State result = Monoid::template lift<State>(cursor.value(0, no_slots{}), first);
  TENON_UNROLL(8)
  for (int i = 1; i < Length; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, no_slots{}), first + i));
  }
  return result;
}

/// Writes the results of a reduction of a node without reductions and products to adjacent elements.
template <class Reduction, class Operand>
TENON_INLINE constexpr void fold_in_place(typename Reduction::element* to, const Operand& operand) {
  using monoid = typename Reduction::monoid;
  using state = typename Reduction::state;
  using element = typename Reduction::element;
  using result_shape = typename Reduction::shape_type;
  using shape = typename Operand::shape_type;
  using rows = known_rows<shape>;
  using folds = known_folds<Reduction, shape>;
  constexpr int results = static_cast<int>(result_shape{}.count());
  constexpr int row_results = folds::folds_rows ? 1 : rows::length;
  const auto program = operand.template lower<0>(identity_map<shape::rank>());
  state states[results]{};
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) {
    const auto cursor = program.at(rows::position(row));
    const int first = folds::number(rows::position(row), false), place = folds::number(rows::position(row), true);
    TENON_UNROLL(8)
    for (int i = 0; i < row_results; ++i) {
      state& found = states[first + i];
      const state value = [&]() __attribute__((always_inline)) {
        if constexpr (row_results == 1)
          return fold_row_in_place<monoid, state, rows::length / row_results>(cursor, place);
        else return monoid::template lift<state>(cursor.value(i, no_slots{}), place);
      }();
      found = place == 0 ? value : monoid::combine(found, value);
    }
  }
  TENON_UNROLL(8)
  for (int i = 0; i < results; ++i) to[i] = monoid::template finish<element>(states[i], shape{}.count() / results);
}

/// The products of two rows, lane by lane, and of the numbers behind their packs, added up.
template <class T, int Count>
struct row_products {
  using row = values_in_registers<T, Count, true>;

  std::remove_cvref_t<decltype(row::packs[0])> lanes{};
  T rest{};

  TENON_INLINE row_products(const row& left, const row& right) {
    if constexpr (row::pack_count != 0) lanes = left.packs[0] * right.packs[0];
    TENON_UNROLL(8)
    for (int j = 1; j < row::pack_count; ++j) lanes += left.packs[j] * right.packs[j];
    if constexpr (row::rest != 0) rest = left.numbers[0] * right.numbers[0];
    TENON_UNROLL(8)
    for (int i = 1; i < row::rest; ++i) rest += left.numbers[i] * right.numbers[i];
  }
  TENON_INLINE T sum() const {
    if constexpr (row::pack_count == 0) return rest;
    else if constexpr (row::rest == 0) return simd::sum(lanes);
    else return simd::sum(lanes) + rest;
  }
};

/// Writes the products of a vector with the columns of a matrix, each of which lies side by side.
template <class Known, class T, class Vector, class Columns>
TENON_INLINE void multiply_columns(T* to, const Vector& vector, const Columns& matrix) {
  using products = row_products<T, Known::depth>;
  const auto left = values_of<T, Known::depth>(vector);
  const auto column = [&](int j) __attribute__((always_inline)) {
    return products(left, values_of<T, Known::depth>(strided_cursor<T>{matrix.data + j * matrix.stride[1], 1}));
  };
  constexpr int lanes = static_cast<int>(16 / sizeof(T));
  constexpr int groups = products::row::pack_count == 0 ? 0 : Known::columns / lanes, grouped = groups * lanes;
  simd::pack<T, lanes> packs[groups + 1];
  T numbers[Known::columns - grouped + 1];
  if constexpr (groups != 0) {
    TENON_UNROLL(8)
    for (int group = 0; group < groups; ++group) {
      std::remove_cvref_t<decltype(products::lanes)> each[lanes];
      simd::pack<T, lanes> rests{};
      TENON_UNROLL(4)
      for (int lane = 0; lane < lanes; ++lane) {
        const auto found = column(group * lanes + lane);
        each[lane] = found.lanes;
        rests[lane] = found.rest;
      }
      packs[group] = simd::sums(each);
      if constexpr (products::row::rest != 0) packs[group] += rests;
    }
  }
  for (int j = grouped; j < Known::columns; ++j) numbers[j - grouped] = column(j).sum();
  TENON_UNROLL(8)
  for (int group = 0; group < groups; ++group) simd::store<lanes>(to + group * lanes, packs[group]);
  for (int j = grouped; j < Known::columns; ++j) to[j] = numbers[j - grouped];
}

/// Writes the results of a plain product of floats, whose rows are computed in packs.
template <class Known, class T, class Left, class Right>
TENON_INLINE void multiply_in_packs(T* to, const Left& left, const Right& right) {
  if constexpr (Known::rows == 1 && std::is_same_v<Right, strided_source<T, 2>>) {
    if (right.stride[0] == 1 && right.stride[1] != 1) {
      return multiply_columns<Known>(to, left.at(Known::left_position(0)), right);
    }
  }
  const auto left_value = [&](int i, int k) __attribute__((always_inline)) {
    return static_cast<T>(left.at(Known::left_position(i)).value(k, no_slots{}));
  };
  values_in_registers<T, Known::columns, true> sums[Known::rows], right_row;
  right_row.read(right.at(array<index, 2>{}));
  TENON_UNROLL(8)
  for (int i = 0; i < Known::rows; ++i) sums[i].set_product(left_value(i, 0), right_row);
  TENON_UNROLL(8)
  for (int k = 1; k < Known::depth; ++k) {
    right_row.read(right.at(array<index, 2>{{k, 0}}));
    TENON_UNROLL(8)
    for (int i = 0; i < Known::rows; ++i) sums[i].add_product(left_value(i, k), right_row);
  }
  TENON_UNROLL(8)
  for (int i = 0; i < Known::rows; ++i) sums[i].write(to + i * Known::columns);
}

/// Writes the results of a plain product of nodes without reductions and products to adjacent elements, which it may
/// read.
template <class T, class Product>
TENON_INLINE constexpr void multiply_in_place(T* to, const Product& product) {
  using known = known_product<Product>;
  using sum = typename Product::accumulator;
  const auto left = product.lower_left();
  const auto right = product.lower_right();
  using row_cursor = std::remove_const_t<decltype(right.at(array<index, 2>{}))>;
  constexpr bool in_packs = fills_packs<T, row_cursor> && std::is_same_v<T, sum>;
  if constexpr (in_packs) {
    if (!std::is_constant_evaluated()) return multiply_in_packs<known>(to, left, right);
  }
  sum sums[known::rows][known::columns]{};
  TENON_UNROLLED
  for (int k = 0; k < known::depth; ++k) {
    const auto right_row = right.at(array<index, 2>{{k, 0}});
    TENON_UNROLLED
    for (int i = 0; i < known::rows; ++i) {
      const auto factor = static_cast<sum>(left.at(known::left_position(i)).value(k, no_slots{}));
      TENON_UNROLLED
      for (int j = 0; j < known::columns; ++j) {
        sums[i][j] += factor * static_cast<sum>(right_row.value(j, no_slots{}));
      }
    }
  }
  TENON_UNROLLED
  for (int i = 0; i < known::rows; ++i) {
    TENON_UNROLLED
    for (int j = 0; j < known::columns; ++j) to[i * known::columns + j] = static_cast<T>(sums[i][j]);
  }
}

}  // namespace tenon::detail
