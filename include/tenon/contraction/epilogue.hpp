// tenon/contraction/epilogue.hpp: what a statement does with the accumulators of a contraction.
// The rest of the expression is a program whose one slot is the accumulator; it runs before anything is stored.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix.hpp>
#include <tenon/plan/split.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// One accumulator.
template <class Accumulator>
struct accumulator_slot {
  Accumulator accumulator;

  template <int>
  TENON_HOST_DEVICE Accumulator value(index) const {
    return accumulator;
  }
};

/// A run of accumulators along a row, as the values that they are to the statement; `origin` is the position of the
/// first.
template <class Value, class Accumulator>
struct accumulator_run {
  const Accumulator* accumulators;
  index origin;

  template <int>
  TENON_HOST_DEVICE TENON_INLINE Value value(index i) const {
    return static_cast<Value>(accumulators[i - origin]);
  }
  template <int, int Width, class Access>
  TENON_INLINE auto pack(index i, Access access) const {
    return simd::convert<Accumulator, Value>(load_wanted<Accumulator, Width>(accumulators + (i - origin), access));
  }
};

/// A few accumulators along a row, as a kernel holds them in registers.
template <class Accumulator, int Size>
struct accumulator_packet {
  array<Accumulator, Size> accumulators;

  /// The accumulators as values of T.
  template <class T>
  struct cursor_of {
    static constexpr int widest = simd::lane_bytes<T>;
    array<Accumulator, Size> accumulators;

    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE T value(index i, const Slots&) const {
      return static_cast<T>(accumulators[static_cast<int>(i)]);
    }
  };
  template <int, class T>
  TENON_HOST_DEVICE TENON_INLINE cursor_of<T> cursor() const {
    return {accumulators};
  }
};

/// How many results of a row a kernel stores in one access: 16 bytes of them, at most eight.
template <class Target, class Program>
inline constexpr int result_packet = 1;
template <class T, int Rank, class Program>
inline constexpr int result_packet<strided_target<T, Rank>, Program> =
    !visits_all_reads<Program> || Rank == 0 || sizeof(T) >= 16 ? 1
    : sizeof(T) <= 2                                           ? 8
                                                               : 16 / static_cast<int>(sizeof(T));

/// Results that are so long a run go past the caches where the destination is large.
inline constexpr index streamed_run = 512;

/// Rows of results in memory, `pitch` elements apart.
template <class T>
struct result_rows {
  T* data;
  index pitch;
};

/// Where results go and what is done to them first; `map` unfolds rows and columns into the result's axes. `Value` is
/// what an accumulator is to the statement.
template <class Value, class Target, class Program, int Rank, class Axes>
struct contraction_epilogue {
  static constexpr int packet = result_packet<Target, Program>;

  static constexpr int rank = Rank, row_axis = Axes::rows.size() == 1 ? Axes::rows[0] : -1;
  static constexpr bool can_exchange =
      row_axis >= 0 && packet > 1 && visits_all_reads<Program>&& Axes::columns[Axes::columns.size() - 1] == Rank - 1;

  Target target;
  folded_matrix<Program, Rank, Axes> map;
  int usable_packet = 1;      // the neighbours in whose packets a kernel may store: at most `packet`
  bool is_exchanged = false;  // whether rows and columns are those of the transposed product

  /// The position of a result. Exchanged, a row's results are neighbours along the last axis as ever, since strides of
  /// the axis of rows and of the last one have changed places.
  TENON_HOST_DEVICE array<index, Rank> position(index row, index column) const {
    if constexpr (row_axis >= 0) {
      if (is_exchanged) return detail::exchanged(map.position(column, row), row_axis, Rank - 1);
    }
    return map.position(row, column);
  }
  /// Stores one result.
  template <class Accumulator>
  TENON_HOST_DEVICE void store(index row, index column, Accumulator accumulator) const {
    store_at(position(row, column), accumulator);
  }
  template <class Accumulator>
  TENON_HOST_DEVICE void store_at(const array<index, Rank>& position, Accumulator accumulator) const {
    auto& element = *target.at(position);
    const auto value = map.program.at(position).value(0, accumulator_slot<Accumulator>{accumulator});
    element = static_cast<std::remove_reference_t<decltype(element)>>(value);
  }
  /// Stores neighbours of a row in one access; `column` is a multiple of their number, at most `usable_packet`.
  template <class Accumulator, int Size>
  TENON_HOST_DEVICE void store_packet(index row, index column, const array<Accumulator, Size>& accumulators) const {
    store_packet_at(position(row, column), accumulators);
  }
  template <class Accumulator, int Size>
  TENON_HOST_DEVICE void store_packet_at(const array<index, Rank>& position,
                                         const array<Accumulator, Size>& accumulators) const {
    const auto cursor = bind_slots(map.program.at(position), accumulator_packet<Accumulator, Size>{accumulators});
    write_packet<Size>(target.at(position), cursor, fetch<Size>(cursor));
  }
  /// Stores `count` results of a row from `column` on.
  template <class Accumulator>
  void store_run(index row, index column, index count, const Accumulator* accumulators) const {
    if constexpr (Axes::columns[Axes::columns.size() - 1] != Rank - 1) {  // a batch or row axis comes last
      for (index i = 0; i < count; ++i) store(row, column + i, accumulators[i]);
      return;
    }
    while (count > 0) {
      const index run = map.run_from(column), length = run < count ? run : count;
      auto position = map.position(row, column);
      const index origin = position[Rank - 1];
      position[Rank - 1] = 0;
      const bool streaming = target.streaming && length >= streamed_run;
      write_run<reading::strided>(target_run{target.at(position), target.step(), streaming},
                                  {{origin, origin + length}}, map.program.at(position),
                                  accumulator_run<Value, Accumulator>{accumulators, origin});
      column += length, accumulators += length, count -= length;
    }
  }
  /// Stores the results of `extents` rows and columns, rows of accumulators lying `pitch` apart.
  template <class Accumulator>
  void store_tile(index row, index column, const array<index, 2>& extents, const Accumulator* accumulators,
                  index pitch) const {
    for (index i = 0; i < extents[0]; ++i, accumulators += pitch) {
      if (!store_adjacent(row + i, column, extents[1], accumulators))
        store_run(row + i, column, extents[1], accumulators);
    }
  }
  /// Where `count` accumulators of each row from `row` on may be written as they are; nowhere if something is done to
  /// them or they would not lie side by side.
  template <class Accumulator>
  result_rows<Accumulator> plain_rows(index row, index column, index count) const {
    using element = std::remove_cvref_t<decltype(*target.data)>;
    constexpr bool same_bits =
        std::is_same_v<element, Accumulator> ||
        (is_integer<element> && is_integer<Accumulator> && sizeof(element) == sizeof(Accumulator));
    if constexpr (same_bits && std::is_same_v<Program, slot_source<0, element>> && Axes::rows.size() <= 1 &&
                  Axes::columns[Axes::columns.size() - 1] == Rank - 1) {
      if (target.step() == 1 && map.run_from(column) >= count) {
        constexpr int across = Axes::rows.size() == 0 ? 0 : Axes::rows[0];
        return {reinterpret_cast<Accumulator*>(target.at(map.position(row, column))), target.stride[across]};
      }
    }
    return {nullptr, 0};
  }
  template <int ResultRank>
  TENON_HOST_DEVICE contraction_epilogue at_batch(const array<index, ResultRank>& batch) const {
    return {target, map.at_batch(batch), usable_packet, is_exchanged};
  }

 private:
  /// As `store_run`, in place and at once, where everything lies side by side; false where it does not.
  template <class Accumulator>
  TENON_INLINE bool store_adjacent(index row, index column, index count, const Accumulator* accumulators) const {
    using element = std::remove_cvref_t<decltype(*target.data)>;
    using cursor_type = decltype(map.program.at(map.batch));
    constexpr int width = write_width<element, cursor_type>;
    if constexpr (width == 1 || Axes::columns[Axes::columns.size() - 1] != Rank - 1) {
      return false;
    } else {
      constexpr bool takes_rest = simd::has_partial_packs && takes_partial<cursor_type>;
      if (target.step() != 1 || map.run_from(column) < count || (!takes_rest && count % width != 0)) return false;
      const auto position = map.position(row, column);
      const auto cursor = map.program.at(position);
      if (!cursor.is_adjacent()) return false;
      element* const to = target.at(position);
      const accumulator_run<Value, Accumulator> slots{accumulators, 0};
      index i = 0;
      for (; i + width <= count; i += width) {
        simd::store<width>(to + i, cursor.template pack<width>(i, whole_access<reading::adjacent>{}, slots));
      }
      if constexpr (takes_rest) {
        if (i < count) write_rest<reading::adjacent>(to, i, count, cursor, slots);
      }
      return true;
    }
  }
};

/// The contraction within a statement of the form `contract`.
template <class E>
const auto& contraction_of(const E& node) {
  if constexpr (is_contraction<E>) {
    return node;
  } else {
    return contraction_of(get<detail::operand_to_split<E>>(node.operands));
  }
}

namespace detail {

/// A target seen through a map of its axes.
template <class T, int Rank, int Outer>
strided_target<T, Outer> mapped_target(const strided_target<T, Rank>& target, const axis_map<Rank, Outer>& map) {
  return {target.data + map.offset(target.stride), map.strides(target.stride), target.streaming};
}

}  // namespace detail

/// Lowers what surrounds the contraction of `node` and merges the result's column axes. `order(extents, target,
/// program)` may change their order before.
template <class Product, class T, int Rank, class E, class Order>
auto make_epilogue(const strided_target<T, Rank>& whole, const E& node, const Order& order) {
  const auto& product = contraction_of(node);
  const auto map = result_map(product);
  using result_axes = typename Product::result_axes;
  using value = compute_type<typename Product::element>;
  using target = decltype(detail::mapped_target(whole, map));
  using program = decltype(node.template lower<0>(map));
  constexpr int rank = decltype(result_extents(product))::size();
  contraction_epilogue<value, target, program, rank, result_axes> result{
      detail::mapped_target(whole, map), {node.template lower<0>(map), result_extents(product), {}}};
  order(result.map.extents, result.target, result.map.program);
  merge_columns<result_axes>(result.map.extents,
                             [&](auto&& visitor) { result.target.visit(visitor), result.map.program.visit(visitor); });
  return result;
}
template <class Product, class T, int Rank, class E>
auto make_epilogue(const strided_target<T, Rank>& whole, const E& node) {
  return make_epilogue<Product>(whole, node, [](auto&&...) {});
}

namespace detail {

/// How many rows of windows an epilogue must get at once; rows left over go.
template <class Epilogue>
inline constexpr index rows_together = [] {
  if constexpr (requires { Epilogue::rows_together; }) return Epilogue::rows_together;
  else return index{1};
}();

/// The most neighbours, up to `Size`, in whose packets all lies that a statement writes and reads beside its results.
template <class Axes, int Size, int Rank, class Target, class Program>
int usable_packet_of(const array<index, Rank>& extents, Target target, Program program) {
  if constexpr (Size == 1 || Axes::columns[Axes::columns.size() - 1] != Rank - 1) {
    return 1;
  } else {
    packet_check<Rank, Size> check{extents};
    target.visit(check);
    program.visit(check);
    if (check.fits && extents[Rank - 1] % Size == 0) return Size;
    return usable_packet_of<Axes, Size / 2>(extents, target, program);
  }
}

}  // namespace detail

/// The same as kernels store results: in packets where all lies in them.
template <class Product, class Target, class E, class... Order>
auto make_kernel_epilogue(const Target& target, const E& node, const Order&... order) {
  auto epilogue = make_epilogue<Product>(target, node, order...);
  using result_axes = typename Product::result_axes;
  epilogue.usable_packet = detail::usable_packet_of<result_axes, epilogue.packet>(epilogue.map.extents, epilogue.target,
                                                                                  epilogue.map.program);
  return epilogue;
}

/// The same for kernels that can compute the transposed product instead. They do where results of a column, not those
/// of a row, lie side by side, as in images with channels last.
template <class Product, class Target, class E, class... Order>
auto make_exchangeable_epilogue(const Target& target, const E& node, const Order&... order) {
  auto epilogue = make_kernel_epilogue<Product>(target, node, order...);
  using type = decltype(epilogue);
  if constexpr (type::can_exchange) {
    constexpr int row_axis = type::row_axis, last = type::rank - 1;
    const auto& stride = epilogue.target.stride;
    if (stride[row_axis] != 1 || (stride[last] == 1 && epilogue.map.extents[last] != 1)) return epilogue;
    auto turned = epilogue;
    stride_list<type::rank> strides;
    turned.target.visit(strides), turned.map.program.visit(strides);
    if (strides.count > strides.capacity) return epilogue;
    strides.exchange(row_axis, last);
    turned.is_exchanged = true;
    turned.usable_packet = detail::usable_packet_of<typename Product::result_axes, epilogue.packet>(
        detail::exchanged(epilogue.map.extents, row_axis, last), turned.target, turned.map.program);
    if (turned.usable_packet > epilogue.usable_packet) return turned;
  }
  return epilogue;
}

}  // namespace tenon
