// tenon/host/window_results.hpp: results of a row of small windows, folded pack by pack.
// Each from its few elements of a line, or, where windows lie side by side, from the rows of values themselves.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_steps.hpp>
#include <tenon/expr/cursor.hpp>
#include <tenon/expr/node.hpp>

namespace tenon::detail {

#if !defined(__CUDACC__)

/// Whether windows that lie side by side may be folded where they lie, without a line.
template <class Fold>
inline constexpr bool may_lie_side_by_side = [] {
  constexpr bool reaches_beside = requires(const typename Fold::cursor& cursor) { cursor.seen(index{0}, index{0}); };
  return !reaches_beside && takes_partial<typename Fold::cursor> && Fold::in_line <= simd::longest_step;
}();

/// Results of a row, folded when they are read: from their line, past whose end packs may read, as it has room; or, if
/// their windows lie side by side, from the rows of values themselves.
template <class Fold>
class window_results {
 public:
  window_results() = default;
  window_results(const typename Fold::state* line, index step) : line_(line), step_(step) {}
  explicit window_results(const array<typename Fold::cursor, Fold::rows>& rows) : rows_(&rows) {}

  auto value(index i) const {
    if (rows_ != nullptr) {
      auto total = of_window(0, i);
      for (int row = 1; row < Fold::rows; ++row) total = monoid::combine(total, of_window(row, i));
      return finished(static_cast<result>(total));
    }
    auto total = line_[i * step_];
    for (index tap = 1; tap < Fold::in_line; ++tap) total = monoid::combine(total, line_[i * step_ + tap]);
    return finished(static_cast<result>(total));
  }
  template <int Width, class Access>
  TENON_INLINE auto pack(index i, Access access) const {
    if constexpr (may_lie_side_by_side<Fold>) {
      if (rows_ != nullptr) return pack_of_windows<Width>(i * Fold::in_line, access);
    }
    return pack_of<1, Width>(line_ + i * step_);
  }

 private:
  using monoid = typename Fold::monoid;
  using state = typename Fold::state;
  using result = typename Fold::value_type;

  template <class V>
  TENON_INLINE static V finished(V total) {
    return monoid::template finish<V>(total, index{Fold::rows} * Fold::in_line);
  }
  state of_window(int row, index i) const {
    const auto& values = (*rows_)[row];
    const index first = i * Fold::in_line;
    state total = values.value(first, no_slots{});
    for (index tap = 1; tap < Fold::in_line; ++tap) {
      total = monoid::combine(total, static_cast<state>(values.value(first + tap, no_slots{})));
    }
    return total;
  }
  template <int Step, int Width>
  TENON_INLINE auto pack_of(const state* from) const {
    if constexpr (Step < simd::longest_step && Step < Fold::in_line) {
      if (step_ != Step) return pack_of<Step + 1, Width>(from);
    }
    auto total = simd::load_steps<state, Width, Step, 0>(from);
    for_each_index<Fold::in_line - 1>([&](auto tap) __attribute__((always_inline)) {
      total = monoid::combine(total, simd::load_steps<state, Width, Step, tap.value + 1>(from));
    });
    return finished(simd::convert<state, result>(total));
  }
  /// What a pack of elements further on is read with, where results are `access`.
  template <int Width, class Access>
  TENON_INLINE static auto access_of(Access access, [[maybe_unused]] index place) {
    if constexpr (Access::whole) {
      return whole_access<reading::adjacent>{};
    } else {
      const index rest = access.count * Fold::in_line - place;
      return partial_access<reading::adjacent>{rest < 0 ? 0 : rest < Width ? rest : Width};
    }
  }
  template <int Width, class Access>
  TENON_INLINE auto pack_of_windows(index first, Access access) const {
    constexpr int step = Fold::in_line;
    array<simd::pack<state, Width>, step> folded;
    for_each_index<step>([&](auto k) __attribute__((always_inline)) {
      const auto wanted = access_of<Width>(access, k.value * Width);
      const auto at = [&](int row) __attribute__((always_inline)) {
        prefetch((*rows_)[row], first + k.value * Width + elements_ahead<state>);
        return (*rows_)[row].template pack<Width>(first + k.value * Width, wanted, no_slots{});
      };
      folded[k.value] = at(0);
      for (int row = 1; row < Fold::rows; ++row) folded[k.value] = monoid::combine(folded[k.value], at(row));
    });
    auto total = simd::pick_steps<step, 0>(folded);
    for_each_index<step - 1>([&](auto tap) __attribute__((always_inline)) {
      total = monoid::combine(total, simd::pick_steps<step, tap.value + 1>(folded));
    });
    return finished(simd::convert<state, result>(total));
  }

  const state* line_ = nullptr;
  const array<typename Fold::cursor, Fold::rows>* rows_ = nullptr;
  index step_ = 0;
};

#endif

}  // namespace tenon::detail
