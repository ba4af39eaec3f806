// tenon/host/pointwise.hpp: the loop of pointwise statements.
// Rows of the merged iteration space are shared among threads; along a row the programs yield packs of lanes.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/staging.hpp>

namespace tenon {

/// Evaluates a program over `extents` into its target.
template <int Rank, class Target, class Program>
void run_pointwise_host(const array<index, Rank>& extents, const Target& target, const Program& program) {
  struct statement {
    Target target;
    Program program;
    void visit(detail::source_list<Rank>& list) { target.visit(list), program.visit(list); }
    void write(const detail::row_block<Rank>& rows) const {
      rows.for_each([&](const array<index, Rank>& position) __attribute__((always_inline)) {
        write_run(target.run_at(position), rows.part, program.at(position), no_slots{});
      });
    }
  };
  statement whole{target, program};
  detail::run_statement(extents, whole);
}

/// A short statement over elements that all lie in index order: no axes to merge, nothing to share among threads.
/// Returns false, and has done nothing, for any other; it is part of every statement, so it holds one loop alone.
template <class T, int Rank, class Program>
TENON_INLINE bool run_short_host(T* data, const array<index, Rank>& extents, const Program& program) {
  const index count = count_between(extents, 0, Rank);
  const auto cursor = program.at(array<index, Rank>{});
  if (count > detail::pointwise_chunk || !cursor.is_adjacent() || !reads_beside(cursor, data, count)) return false;
  if constexpr (Rank > 1) {
    if (!is_flat(program, extents)) return false;
  }
  constexpr int width = simd::width_for(greatest_size({static_cast<int>(sizeof(T)), decltype(cursor)::widest}));
  count_launch("pointwise");
  index i = 0;
  for (; i + width <= count; i += width) {
    simd::store<width>(data + i, cursor.template pack<width>(i, adjacent_access{}, no_slots{}));
  }
  for (; i < count; ++i) data[i] = static_cast<T>(cursor.value(i, no_slots{}));
  return true;
}

}  // namespace tenon
