// tenon/host/small.hpp: statements that reduce few elements, without anything around the arithmetic.
// Types know all extents: a scalar product, a norm or the softmax of a short vector stays in registers.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/host/rows.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// Whether a reduction folds all axes of few elements.
template <class Reduction>
constexpr bool is_small_fold() {
  using shape = typename std::remove_cvref_t<decltype(std::declval<const Reduction&>().operand())>::shape_type;
  bool folds_all = is_small_shape<shape>();
  for (const bool reduced : reduced_axes<shape::rank>(typename Reduction::axes{})) folds_all = folds_all && reduced;
  return folds_all;
}

/// Whether the host may run a statement so, as far as types know.
template <class E>
constexpr bool is_small_statement() {
  if constexpr (compiled_by_nvcc || TENON_CHECKED != 0 || !is_small_shape<typename E::shape_type>()) {
    return false;
  } else if constexpr (stage_of<E>() != stage::reduce && stage_of<E>() != stage::rows) {
    return false;
  } else {
    return []<class... Reductions>(std::type_identity<tuple<const Reductions*...>>) {
      return (is_small_fold<Reductions>() && ...);
    }(std::type_identity<reduction_pointers<E>>{});
  }
}

/// Rows of a shape along its last axis, and the position of each.
template <class Shape>
struct known_rows {
  static constexpr int length = Shape::rank == 0 ? 1 : static_cast<int>(Shape::static_extent(Shape::rank - 1));
  static constexpr int count = static_cast<int>(Shape{}.count()) / length;

  TENON_INLINE static array<index, Shape::rank> position(index row) {
    array<index, Shape::rank> result{};
    set_position(result, Shape{}.to_array(), 0, Shape::rank - 1, row);
    return result;
  }
};

/// The first `Length` values of a cursor, combined with `result`; `first` is the position of the row's start.
template <class Monoid, int Length, class State, class Cursor, class Slots>
TENON_INLINE State fold_known(State result, const Cursor& cursor, index first, const Slots& slots) {
  int i = 0;
  if constexpr (is_lanewise<Monoid> && computes_in_lanes<State, Cursor, Length>) {
    constexpr int lanes = lanes_within<State>(Length);
    constexpr whole_access<reading::adjacent> access;
    if (cursor.is_adjacent()) {
      auto packs = cursor.template pack<lanes>(0, access, slots);
      TENON_UNROLL(8)
      for (i = lanes; i + lanes <= Length; i += lanes) {
        packs = Monoid::combine(packs, cursor.template pack<lanes>(i, access, slots));
      }
      result = Monoid::combine(result, simd::reduce(packs, combination<Monoid>{}));
    }
  }
  TENON_UNROLL(8)
  for (; i < Length; ++i) {
    result = Monoid::combine(result, Monoid::template lift<State>(cursor.value(i, slots), first + i));
  }
  return result;
}

/// The result of a reduction; `slots` holds those of the reductions within it.
template <class Reduction, int FirstSlot, class Value, class Slots>
TENON_INLINE Value fold_small(const Reduction& reduction, const Slots& slots) {
  using monoid = typename Reduction::monoid;
  using state = typename monoid::template state<typename Reduction::operand_element>;
  using shape = typename std::remove_cvref_t<decltype(reduction.operand())>::shape_type;
  using rows = known_rows<shape>;
  const auto program = reduction.operand().template lower<FirstSlot>(identity_map<shape::rank>());
  state result = monoid::template identity<state>();
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) {
    const auto cursor = bind_slots(program.at(rows::position(row)), slots);
    result = fold_known<monoid, rows::length>(result, cursor, index{row} * rows::length, no_slots{});
  }
  return monoid::template finish<Value>(result, index{rows::count} * rows::length);
}

/// Folds the reductions in order; each sees those before.
template <class Slots, int... I, class... Reductions>
TENON_INLINE void fold_small_slots(Slots& slots,
                                   const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& nodes) {
  ((get<I>(slots.results) =
        fold_small<Reductions, I + 1 - slot_count<Reductions>, std::remove_cvref_t<decltype(get<I>(slots.results))>>(
            *get<I>(nodes), slots)),
   ...);
}

/// The types of the results of some reductions.
template <class Pointers>
struct small_slots;
template <class... Reductions>
struct small_slots<tuple<const Reductions*...>> {
  using type = row_slots<void, compute_type<typename Reductions::element>...>;
};

}  // namespace detail

/// Whether the host may run a statement over few elements by `run_small_host`.
template <class E>
inline constexpr bool runs_small = detail::is_small_statement<E>();

/// Evaluates such a statement. All values are known before one is written, so it may read what it writes. Returns
/// false, and has done nothing, where an observer wants to see the launch.
template <class T, class Shape, class E>
TENON_INLINE bool run_small_host(const view<T, Shape, host>& destination, const E& node) {
  if (current_launch_observer() != nullptr) return false;
  using shape = typename E::shape_type;
  using rows = detail::known_rows<shape>;
  count_launch(stage_of<E>() == stage::rows ? "rows" : "reduce");
  typename detail::small_slots<reduction_pointers<E>>::type slots{{}, nullptr};
  detail::fold_small_slots(slots, reductions_of(node));
  const auto program = node.template lower<0>(identity_map<shape::rank>());
  T values[rows::count * rows::length];
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) {
    write_known<rows::length>(values + row * rows::length, bind_slots(program.at(rows::position(row)), slots),
                              no_slots{});
  }
  const auto target = detail::make_target(destination);
  TENON_UNROLL(8)
  for (int row = 0; row < rows::count; ++row) {
    T* const to = target.at(rows::position(row));
    for (int i = 0; i < rows::length; ++i) to[i * target.step()] = values[row * rows::length + i];
  }
  return true;
}

}  // namespace tenon
