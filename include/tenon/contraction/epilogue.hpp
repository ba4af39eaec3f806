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

/// A run of accumulators along a row; `origin` is the position of the first.
template <class Accumulator>
struct accumulator_run {
  const Accumulator* accumulators;
  index origin;

  template <int>
  TENON_HOST_DEVICE TENON_INLINE Accumulator value(index i) const {
    return accumulators[i - origin];
  }
  template <int, int Width, class Access>
  TENON_INLINE auto pack(index i, Access access) const {
    return load_wanted<Accumulator, Width>(accumulators + (i - origin), access);
  }
};

/// Where results go and what is done to them first; `map` unfolds rows and columns into the result's axes.
template <class Target, class Program, int Rank, class Axes>
struct contraction_epilogue {
  Target target;
  folded_matrix<Program, Rank, Axes> map;

  /// Stores one result.
  template <class Accumulator>
  TENON_HOST_DEVICE void store(index row, index column, Accumulator accumulator) const {
    const auto position = map.position(row, column);
    auto& element = *target.at(position);
    const auto value = map.program.at(position).value(0, accumulator_slot<Accumulator>{accumulator});
    element = static_cast<std::remove_reference_t<decltype(element)>>(value);
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
      write_run<reading::strided>(target_run{target.at(position), target.step()}, {{origin, origin + length}},
                                  map.program.at(position), accumulator_run<Accumulator>{accumulators, origin});
      column += length, accumulators += length, count -= length;
    }
  }
  TENON_HOST_DEVICE contraction_epilogue at_batch(const array<index, Rank>& batch) const {
    return {target, map.at_batch(batch)};
  }
};

/// Lowers what surrounds the contraction of `node` and merges the result's column axes.
template <class Product, class Target, class E>
auto make_epilogue(Target target, const E& node) {
  constexpr int rank = E::shape_type::rank;
  using result_axes = typename Product::result_axes;
  auto program = node.template lower<0>(identity_map<rank>());
  auto extents = node.shape().to_array();
  merge_columns<result_axes>(extents, [&](auto&& visitor) { target.visit(visitor), program.visit(visitor); });
  return contraction_epilogue<Target, decltype(program), rank, result_axes>{target, {program, extents, {}}};
}

/// The contraction within a statement of the form `contract`.
template <class E>
const auto& contraction_of(const E& node) {
  if constexpr (is_contraction<E>) {
    return node;
  } else {
    return contraction_of(get<detail::operand_to_split<E>()>(node.operands));
  }
}

}  // namespace tenon
