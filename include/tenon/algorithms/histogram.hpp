// tenon/algorithms/histogram.hpp: how many elements fall where.
// Each thread counts for itself and then adds whole numbers, so any number of threads agrees.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/reduce.hpp>
#include <vector>

namespace tenon {

namespace detail {

/// Calls `bin_of(element)` for all elements and counts the bins that it names; a negative one counts nowhere.
template <class Space, class View, class BinOf>
tensor<index, rank<1>, Space> count_bins(const View& elements, index bins, const BinOf& bin_of) {
  auto counts = zeros<index, Space>(rank<1>(bins));
  parallel_for(elements.size(), line_grain + bins, [&](index first, index last) {
    std::vector<index> found(static_cast<std::size_t>(bins));
    visit_elements(elements, first, last, [&](index, auto element) {
      const index bin = bin_of(element);
      if (bin >= 0) ++found[static_cast<std::size_t>(bin)];
    });
    for (index bin = 0; bin < bins; ++bin) {
      __atomic_fetch_add(counts.data() + bin, found[static_cast<std::size_t>(bin)], __ATOMIC_RELAXED);
    }
  });
  return counts;
}

/// Bins of equal width, whose edges are the rounded multiples of the width, as NumPy has them.
struct equal_bins {
  index count;
  double low, high;

  double edge(index bin) const {
    return bin == count ? high : low + static_cast<double>(bin) * ((high - low) / static_cast<double>(count));
  }
  index operator()(double value) const {
    if (!(value >= low && value <= high)) return -1;  // NaN too
    const double place = (value - low) / (high - low) * static_cast<double>(count);
    index bin = place < static_cast<double>(count) ? static_cast<index>(place) : count - 1;
    if (value < edge(bin)) --bin;
    else if (bin + 1 < count && value >= edge(bin + 1)) ++bin;
    return bin;
  }
};

}  // namespace detail

/// How many elements lie in each of `bins` intervals of equal width from `low` to `high`. An interval has its lower end
/// and not its upper, but for the last, which has both; elements outside, and NaN, are not counted. As in NumPy.
/// extents   [bins], int64
/// throws    shape_error unless there is a bin, and low < high, both finite
/// cost      one pass, shared among threads
template <tensor_operand Operand>
auto histogram(Operand&& operand, index bins, double low, double high) {
  if (bins < 1) throw shape_error(compose_text("histogram: ", bins, " bins, expected at least 1"));
  if (!(high - low > 0 && high - low < highest_value<double>())) {
    throw shape_error(compose_text("histogram: from ", low, " to ", high, ", expected finite ends in ascending order"));
  }
  const auto source = in_memory(std::forward<Operand>(operand));
  using value_type = compute_type<typename std::remove_cvref_t<decltype(source)>::element>;
  const detail::equal_bins bin_of{bins, low, high};
  return detail::count_bins<algorithm_space<Operand>>(source.elements, bins, [&](auto element) {
    return bin_of(static_cast<double>(static_cast<value_type>(element)));
  });
}

/// How often each of 0, 1, ... occurs, up to the greatest element, and `least_count` numbers at least.
/// extents   [max(greatest element + 1, least_count)], int64
/// throws    index_error when an element is negative
/// cost      two passes, shared among threads
template <tensor_operand Operand>
auto bincount(Operand&& operand, index least_count = 0) {
  const auto source = in_memory(std::forward<Operand>(operand));
  using element = typename std::remove_cvref_t<decltype(source)>::element;
  static_assert(is_integer<element>, "tenon: bincount counts integers");
  index bins = least_count < 0 ? 0 : least_count;
  if (source.shape().count() != 0) {
    const element least = min(source), greatest = max(source);
    if (std::is_signed_v<element> && static_cast<index>(least) < 0) {
      throw index_error(compose_text("bincount: element ", least, ", expected at least 0"));
    }
    if (static_cast<index>(greatest) >= bins) bins = static_cast<index>(greatest) + 1;
  }
  return detail::count_bins<algorithm_space<Operand>>(source.elements, bins,
                                                      [](element each) { return static_cast<index>(each); });
}

}  // namespace tenon
