// tenon/expr/program.hpp: the trivially copyable form of an expression that loops and kernels evaluate.
// A tree of sources and operations; `at(position)` gives a cursor along the last axis, a cursor gives values or packs.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <tenon/base/dtype.hpp>
#include <tenon/base/tuple.hpp>
#include <tenon/device/simd_convert.hpp>
#include <tenon/device/simd_partial.hpp>
#include <tenon/expr/axis_map.hpp>
#include <tenon/expr/cursor.hpp>
#include <tenon/expr/packet.hpp>

#if defined(__clang__)
#pragma clang diagnostic push  // vectors pass between functions that are one by then, so no binary interface changes
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon {

/// Lanes of elements that lie side by side, as many as the access wants.
template <class T, int Width, class U, class Access>
TENON_INLINE constexpr auto load_wanted(const U* from, [[maybe_unused]] Access access) {
  if constexpr (Access::whole) {
    return simd::load<T, Width>(from);
  } else {
    return simd::load_part<T, Width>(from, access.count);
  }
}

/// Writes the values of a cursor from position i on, one by one.
template <class T, class Cursor, class Slots>
[[gnu::noinline]] constexpr void store_values(T* to, index i, index count, const Cursor& cursor, const Slots& slots) {
  for (index lane = 0; lane < count; ++lane) to[lane] = cursor.value(i + lane, slots);
}
/// A pack of values that are found one by one. That is out of line, so that loops in which it is rare stay small.
template <int Width, class Cursor, class Access, class Slots>
TENON_INLINE constexpr auto gather_values(const Cursor& cursor, index i, Access access, const Slots& slots) {
  using value_type = typename Cursor::value_type;
  value_type values[Width];
  store_values(values, i, wanted_count<Width>(access), cursor, slots);
  return load_wanted<value_type, Width>(values, access);
}

/// Elements in memory along one axis, `stride` apart. Sources of every rank share it, and with it their loops.
template <class T>
struct strided_cursor {
  using value_type = compute_type<T>;
  static constexpr int widest = simd::lane_bytes<value_type>;
  static constexpr bool takes_partial = true;
  const T* data;
  index stride;

  constexpr bool is_adjacent() const { return stride == 1; }
  /// Whether `count` adjacent positions lie apart from as many elements at `written`, or are those very elements.
  template <class U>
  TENON_INLINE constexpr bool reads_disjoint_from(const U* written, index count) const {
    if constexpr (std::is_same_v<T, U>) {  // few branches, as a statement asks this of each operand
      const auto from = reinterpret_cast<std::uintptr_t>(data), to = reinterpret_cast<std::uintptr_t>(written);
      const std::uintptr_t apart = from < to ? to - from : from - to;
      return apart == 0 || apart >= static_cast<std::uintptr_t>(count) * sizeof(T);
    } else {
      return static_cast<const void*>(data + count) <= written || static_cast<const void*>(written + count) <= data;
    }
  }
  template <class Slots>
  TENON_HOST_DEVICE TENON_INLINE constexpr value_type value(index i, const Slots&) const {
    return static_cast<value_type>(data[i * stride]);
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE constexpr auto pack(index i, Access access, const Slots&) const {
    if constexpr (Access::how == reading::adjacent) {
      return load_wanted<value_type, Width>(data + i, access);
    } else if constexpr (Access::how == reading::row) {
      return load_wanted<value_type, Width>(data + i * stride, access);  // the stride is 0 or 1
    } else {
      if (stride == 1) return load_wanted<value_type, Width>(data + i, access);
      if (stride == 0) return simd::broadcast<value_type, Width>(static_cast<value_type>(*data));
      if constexpr (Access::whole) {
        return simd::gather<value_type, Width>(data + i * stride, stride);
      } else {
        return simd::gather<value_type, Width>(data + i * stride, stride, access.count);
      }
    }
  }
  TENON_INLINE constexpr void prefetch(index i) const { __builtin_prefetch(data + i * stride); }
  template <int Size, class Reader>
  TENON_HOST_DEVICE TENON_INLINE constexpr packet<T, Size> fetch(Reader& reader) const {
    return reader.template read<Size>(data, stride);
  }
  template <int Size>
  TENON_HOST_DEVICE TENON_INLINE constexpr value_type value_from(const packet<T, Size>& fetched, index k) const {
    return static_cast<value_type>(element_of(fetched, k));
  }
  template <class Visitor>
  void visit(Visitor& visitor) {
    visitor(data, stride);
  }
};

/// Elements in memory, `stride` apart along each axis of the iteration space.
template <class T, int Rank>
struct strided_source {
  using value_type = compute_type<T>;
  static constexpr int source_count = 1, element_bytes = static_cast<int>(sizeof(T));
  static constexpr bool visits_all_reads = true;
  const T* data;
  array<index, Rank> stride;

  using cursor = strided_cursor<T>;

  TENON_HOST_DEVICE TENON_INLINE constexpr cursor at(const array<index, Rank>& position) const {
    index offset = 0;
    for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * stride[axis];
    return {data + offset, Rank == 0 ? 0 : stride[Rank - 1]};
  }
  constexpr bool is_flat(const array<index, Rank>& extents) const { return strides_are_flat(stride, extents); }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    visitor(stride, data);
  }
};

/// One number everywhere.
template <class T>
struct constant_source {
  using value_type = compute_type<T>;
  static constexpr bool visits_all_reads = true;
  T number;

  struct cursor {
    static constexpr int widest = simd::lane_bytes<value_type>;
    static constexpr bool takes_partial = true;
    using uniform = void;
    value_type number;

    bool is_adjacent() const { return true; }
    template <class U>
    TENON_INLINE constexpr bool reads_disjoint_from(const U*, index) const {
      return true;
    }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE constexpr value_type value(index, const Slots&) const {
      return number;
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE constexpr auto pack(index, Access, const Slots&) const {
      return simd::broadcast<value_type, Width>(number);
    }
  };

  template <int Rank>
  TENON_HOST_DEVICE TENON_INLINE constexpr cursor at(const array<index, Rank>&) const {
    return {static_cast<value_type>(number)};
  }
  template <int Rank>
  constexpr bool is_flat(const array<index, Rank>&) const {
    return true;
  }
  template <class Visitor>
  constexpr void visit(Visitor&&) {}
};

/// A value that the executor computes before or beside this program: a reduction of the row, an accumulator.
template <int Slot, class T>
struct slot_source {
  using value_type = T;
  static constexpr bool visits_all_reads = true;

  struct cursor {
    static constexpr int widest = simd::lane_bytes<T>;
    static constexpr bool takes_partial = true;

    bool is_adjacent() const { return true; }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE constexpr T value(index i, const Slots& slots) const {
      return static_cast<T>(slots.template value<Slot>(i));  // integers are accumulated wider
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE constexpr auto pack(index i, Access access, const Slots& slots) const {
      return slots.template pack<Slot, Width>(i, access);
    }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE constexpr auto with_slots(const Slots& slots) const {
      if constexpr (requires { slots.template cursor<Slot, T>(); }) return slots.template cursor<Slot, T>();
      else return typename constant_source<T>::cursor{value(0, slots)};
    }
  };

  template <int Rank>
  TENON_HOST_DEVICE TENON_INLINE constexpr cursor at(const array<index, Rank>&) const {
    return {};
  }
  template <class Visitor>
  constexpr void visit(Visitor&&) {}
};

/// The greatest of a few sizes.
constexpr int greatest_size(std::initializer_list<int> sizes) {
  int greatest = 0;
  for (const int size : sizes) greatest = size > greatest ? size : greatest;
  return greatest;
}

/// The types that an operation's operands are converted to.
template <class... Ts>
struct type_list {
  template <int I>
  using at =
      typename std::remove_reference_t<decltype(get<I>(std::declval<const tuple<std::type_identity<Ts>...>&>()))>::type;
};

/// How many sources a program has: elements in memory, or positions, that move as the iteration does. Its `visit` calls
/// `visitor(stride, data)` or `visitor(stride, position)` for each; that of its cursor does in the same order.
template <class Program>
inline constexpr int source_count = [] {
  if constexpr (requires { Program::source_count; }) return Program::source_count;
  else return 0;
}();

/// The size of the widest elements that a program reads of memory.
template <class Program>
inline constexpr int element_bytes = [] {
  if constexpr (requires { Program::element_bytes; }) return Program::element_bytes;
  else return 1;
}();

/// Whether all elements in memory that a program reads are among these sources.
template <class Program>
inline constexpr bool visits_all_reads = requires { requires Program::visits_all_reads; };

/// Whether a program computes values from positions, which loops cannot copy as they do elements.
template <class Program>
inline constexpr bool computes_from_positions = requires { requires Program::computes_from_positions; };

/// The values of an operation along one axis. `Values` are the types of its operands' values, `Computes` those that
/// they are converted to. `Positions` are the operands' numbers: members fold over them in place, as functions that
/// would deduce them were half of a statement's.
template <class Positions, class Op, class Result, class Computes, class Values, class... Cursors>
struct operation_cursor;
template <int... I, class Op, class Result, class... Computes, class... Values, class... Cursors>
struct operation_cursor<std::integer_sequence<int, I...>, Op, Result, type_list<Computes...>, type_list<Values...>,
                        Cursors...> {
  /// Complex numbers have no packs, but numbers that are made of them have. Those of double are too wide for the copies
  /// side by side that loops of packs make.
  static constexpr bool leaves_complex =
      !is_complex<Result> && ((is_complex<Values> && sizeof(Values) <= 8) || ...) && ((sizeof(Values) <= 8) && ...);
  static constexpr int widest =
      leaves_complex ? simd::lane_bytes<Result> : greatest_size({simd::lane_bytes<Result>, Cursors::widest...});
  static constexpr int cost = (requires { typename Op::costly; } ? 8 : 1) + (0 + ... + cost_of<Cursors>);
  static constexpr bool takes_partial =
      !requires { typename Op::of_elements_alone; } && (tenon::takes_partial<Cursors> && ...);
  static constexpr bool has_runs = (tenon::has_runs<Cursors> || ...);
  [[no_unique_address]] Op op;
  tuple<Cursors...> cursors;

  TENON_INLINE constexpr bool is_adjacent() const {
    return (static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value.is_adjacent() && ...);
  }
  template <class U>
  TENON_INLINE constexpr bool reads_disjoint_from(const U* written, index count) const {
    return (tenon::reads_disjoint_from(static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value, written,
                                       count) &&
            ...);
  }
  template <class Slots>
  TENON_HOST_DEVICE TENON_INLINE constexpr Result value(index i, const Slots& slots) const {
    return static_cast<Result>(op.value(converted_to<Computes>(
        static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value.value(i, slots))...));
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE constexpr auto pack(index i, [[maybe_unused]] Access access, const Slots& slots) const {
    if constexpr (leaves_complex && Width > 1) {
      if constexpr (Access::whole && requires { Op::template pack_of<Width>(get<0>(cursors), i); }) {
        if (Access::how == reading::adjacent || is_adjacent()) return Op::template pack_of<Width>(get<0>(cursors), i);
      }
      Result values[Width];
      for (index lane = 0; lane < wanted_count<Width>(access); ++lane) {
        simd::store<1>(values + lane, pack<1>(i + lane, whole_access<Access::how>{}, slots));
      }
      return load_wanted<Result, Width>(values, access);
    } else {
      return simd::as_lanes<Result>(op.value(simd::convert<Values, Computes>(
          static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value.template pack<Width>(i, access,
                                                                                                    slots))...));
    }
  }
  template <class Slots>
  TENON_HOST_DEVICE TENON_INLINE constexpr auto with_slots(const Slots& slots) const {
    if constexpr ((is_uniform<decltype(bind_slots(get<I>(cursors), slots))> && ...)) {
      return typename constant_source<Result>::cursor{value(0, slots)};
    } else {
      return operation_cursor<std::integer_sequence<int, I...>, Op, Result, type_list<Computes...>,
                              type_list<Values...>, decltype(bind_slots(get<I>(cursors), slots))...>{
          op, {{{bind_slots(get<I>(cursors), slots)}...}}};
    }
  }
  TENON_INLINE constexpr bool lies_in_runs() const {
    return (tenon::lies_in_runs(static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value) && ...);
  }
  TENON_INLINE constexpr index run_end(index i, index end) const {
    ((end = tenon::run_end(static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value, i, end)), ...);
    return end;
  }
  TENON_INLINE constexpr auto run_from(index i) const {
    return operation_cursor<std::integer_sequence<int, I...>, Op, Result, type_list<Computes...>, type_list<Values...>,
                            decltype(tenon::run_from(get<I>(cursors), i))...>{
        op, {{{tenon::run_from(get<I>(cursors), i)}...}}};
  }
  TENON_INLINE constexpr void prefetch(index i) const {
    (tenon::prefetch(static_cast<const detail::tuple_element<I, Cursors>&>(cursors).value, i), ...);
  }
  template <class Visitor>
  void visit(Visitor& visitor) {
    (tenon::visit_elements(static_cast<detail::tuple_element<I, Cursors>&>(cursors).value, visitor), ...);
  }
  template <int Size, class Reader>
  TENON_HOST_DEVICE TENON_INLINE constexpr auto fetch([[maybe_unused]] Reader& reader) const {
    return tuple<decltype(tenon::fetch<Size>(get<I>(cursors), reader))...>{
        {{tenon::fetch<Size>(get<I>(cursors), reader)}...}};  // in order, which arguments of a call are not
  }
  template <class Fetched>
  TENON_HOST_DEVICE TENON_INLINE constexpr Result value_from(const Fetched& fetched, index k) const {
    return static_cast<Result>(
        op.value(converted_to<Computes>(tenon::value_from(get<I>(cursors), get<I>(fetched), k))...));
  }
};

/// An operation on the values of other programs, each converted to the type the operation computes in.
template <class Positions, class Op, class Result, class Computes, class... Programs>
struct numbered_operation_program;
/// The same with its operands numbered in order.
template <class Op, class Result, class Computes, class... Programs>
using operation_program =
    numbered_operation_program<std::make_integer_sequence<int, static_cast<int>(sizeof...(Programs))>, Op, Result,
                               Computes, Programs...>;
template <int... I, class Op, class Result, class Computes, class... Programs>
struct numbered_operation_program<std::integer_sequence<int, I...>, Op, Result, Computes, Programs...> {
  using value_type = Result;
  static constexpr int source_count = (0 + ... + tenon::source_count<Programs>);
  static constexpr int element_bytes = greatest_size({1, tenon::element_bytes<Programs>...});
  static constexpr bool visits_all_reads = (tenon::visits_all_reads<Programs> && ...);
  static constexpr bool computes_from_positions = (tenon::computes_from_positions<Programs> || ...);
  template <class... Cursors>
  using cursor_of = operation_cursor<std::integer_sequence<int, I...>, Op, Result, Computes,
                                     type_list<typename Programs::value_type...>, Cursors...>;
  [[no_unique_address]] Op op;
  tuple<Programs...> programs;

  template <int Rank>
  TENON_HOST_DEVICE TENON_INLINE constexpr auto at(const array<index, Rank>& position) const {
    return cursor_of<decltype(static_cast<const detail::tuple_element<I, Programs>&>(programs).value.at(position))...>{
        op, {{{static_cast<const detail::tuple_element<I, Programs>&>(programs).value.at(position)}...}}};
  }
  template <int Rank>
  TENON_INLINE constexpr bool is_flat(const array<index, Rank>& extents) const {
    return (tenon::is_flat(static_cast<const detail::tuple_element<I, Programs>&>(programs).value, extents) && ...);
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    (static_cast<detail::tuple_element<I, Programs>&>(programs).value.visit(visitor), ...);
  }
};

}  // namespace tenon

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
