// tenon/host/window_results.hpp: results of a row of small windows, folded pack by pack.
// Each from its few elements of a line.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_steps.hpp>
#include <tenon/expr/cursor.hpp>
#include <tenon/expr/node.hpp>

namespace tenon::detail {

#if !defined(__CUDACC__)

/// Results of a row, folded when they are read from their line, past whose end packs may read, as it has room.
template <class Fold>
class window_results {
 public:
  window_results() = default;
  window_results(const typename Fold::state* line, index step) : line_(line), step_(step) {}

  auto value(index i) const {
    auto total = line_[i * step_];
    for (index tap = 1; tap < Fold::in_line; ++tap) total = monoid::combine(total, line_[i * step_ + tap]);
    return finished(static_cast<result>(total));
  }
  template <int Width, class Access>
  TENON_INLINE auto pack(index i, Access) const {
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

  const state* line_ = nullptr;
  index step_ = 0;
};

#endif

}  // namespace tenon::detail
