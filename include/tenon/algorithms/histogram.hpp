// tenon/algorithms/histogram.hpp: how many elements fall where.
// Each thread counts for itself and then adds whole numbers, so any number of threads agrees.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/reduce.hpp>
#include <vector>

namespace tenon {

namespace detail {

/// Counts the bins that `bin_of(element)` names, each thread for itself. Those of a block are found first, by vectors
/// where the bins are; what has none is counted in front of them, without a branch.
template <class View, class BinOf>
void count_bins_on_host(const View& elements, index bins, const BinOf& bin_of, index* counts) {
  constexpr index block = 256;
  parallel_for(elements.size(), line_grain + bins, [&](index first, index last) {
    std::vector<index> found(static_cast<std::size_t>(bins) + 1);
    index* const tally = found.data();
    index places[block];
    visit_runs(elements, first, last, [&](index, const auto* row, index step, index run) {
      for (index begin = 0; begin < run; begin += block) {
        const index count = run - begin < block ? run - begin : block;
        for (index i = 0; i < count; ++i) places[i] = bin_of(row[(begin + i) * step]) + 1;
        for (index i = 0; i < count; ++i) ++tally[places[i]];
      }
    });
    for (index bin = 0; bin < bins; ++bin) __atomic_fetch_add(counts + bin, tally[bin + 1], __ATOMIC_RELAXED);
  });
}

template <class Source, class BinOf>
struct bin_of_number {
  Source source;
  BinOf bin_of;
  TENON_HOST_DEVICE index operator()(index number) const { return bin_of(source[number]); }
};

/// Calls `bin_of(element)` for all elements and counts the bins that it returns; negative ones are left out.
template <class View, class BinOf>
auto count_bins(const View& elements, index bins, const BinOf& bin_of) {
  using space = typename View::space;
  auto counts = zeros<index, space>(rank<1>(bins));
  if constexpr (space::host_accessible) {
    count_bins_on_host(elements, bins, bin_of, counts.data());
  } else if (elements.size() != 0) {
    const auto source = in_order(elements);
    device_passes<space>::count_bins(elements.size(), bins,
                                     bin_of_number<std::remove_const_t<decltype(source)>, BinOf>{source, bin_of},
                                     counts.data());
  }
  return counts;
}

/// Bins of equal width. Their edges are the rounded multiples of the width, as in NumPy.
struct equal_bins {
  index count;
  double low, high;

  /// The lower end of a bin.
  TENON_HOST_DEVICE double edge(index bin) const {
    return low + static_cast<double>(bin) * ((high - low) / static_cast<double>(count));
  }
  /// The bin of an element, -1 for none; without branches.
  template <class T>
  TENON_HOST_DEVICE index operator()(T element) const {
    const auto value = static_cast<double>(static_cast<compute_type<T>>(element));
    const bool is_inside = (value >= low) & (value <= high);  // NaN is not
    const double quotient = (value - low) / (high - low) * static_cast<double>(count);
    const double place = is_inside ? quotient : 0, last = static_cast<double>(count - 1);
    const auto bin = static_cast<index>(place < last ? place : last);
    const index below = value < edge(bin) ? 1 : 0;
    const bool is_above = (below == 0) & (bin + 1 < count) & (value >= edge(bin + 1));
    return is_inside ? bin - below + (is_above ? 1 : 0) : -1;
  }
};

/// A bin for each number from 0 on.
struct own_bin {
  template <class T>
  TENON_HOST_DEVICE index operator()(T element) const {
    return static_cast<index>(element);
  }
};

}  // namespace detail

/// How many elements lie in each of `bins` intervals of equal width from `low` to `high`. An interval has its lower end
/// and not its upper, but for the last, which has both; elements outside, and NaN, are not counted. As in NumPy.
/// extents   [bins], int64
/// throws    shape_error unless there is a bin, and low < high, both finite
/// cost      one pass, shared among threads; on a device, CUB's histogram, of fewer than 2^31 bins, which evaluates
///           pointwise operands as it reads them
/// example   const auto counts = histogram(x, 10, 0.0f, 1.0f);
template <tensor_operand Operand>
auto histogram(Operand&& operand, index bins, double low, double high) {
  if (bins < 1) throw shape_error(compose_text("histogram: ", bins, " bins, expected at least 1"));
  if (!(high - low > 0 && high - low < highest_value<double>())) {
    throw shape_error(compose_text("histogram: from ", low, " to ", high, ", expected finite ends in ascending order"));
  }
  const auto source = as_read("histogram", std::forward<Operand>(operand));
  return detail::count_bins(source.view(), bins, detail::equal_bins{bins, low, high});
}

/// How often each of 0, 1, ... occurs, up to the greatest element, and at least up to `least_count` - 1.
/// extents   [max(greatest element + 1, least_count)], int64
/// throws    index_error when an element is negative or no count of elements reaches it; shape_error for a negative
///           `least_count`
/// cost      two passes, shared among threads
/// example   const auto counts = bincount(labels, 10);
template <tensor_operand Operand>
auto bincount(Operand&& operand, index least_count = 0) {
  const auto source = in_memory("bincount", std::forward<Operand>(operand));
  using element = typename std::remove_cvref_t<decltype(source)>::element;
  static_assert(is_integer<element>, "tenon: bincount counts integers");
  if (least_count < 0) {
    throw shape_error(compose_text("bincount: a least count of ", least_count, ", expected at least 0"));
  }
  index bins = least_count;
  if (source.shape().count() != 0) {
    if constexpr (std::is_signed_v<element>) {
      const element least = min(source);
      if (least < element(0)) throw index_error(compose_text("bincount: element ", least, ", expected at least 0"));
    }
    const element greatest = max(source);
    constexpr index limit = highest_value<index>();
    if (static_cast<std::uint64_t>(greatest) >= std::uint64_t{limit}) {
      throw index_error(compose_text("bincount: element ", greatest, ", expected below ", limit));
    }
    if (static_cast<index>(greatest) >= bins) bins = static_cast<index>(greatest) + 1;
  }
  return detail::count_bins(source.view(), bins, detail::own_bin{});
}

}  // namespace tenon
