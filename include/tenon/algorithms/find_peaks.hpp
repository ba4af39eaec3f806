// tenon/algorithms/find_peaks.hpp: the peaks of a signal, by their height, distance and prominence.
// One walk finds peaks and, by the elements that are still the greatest so far, how far each stands out to the left.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <tenon/algorithms/lines.hpp>
#include <vector>

namespace tenon {

/// Options of find_peaks: `find_peaks(x, {.height = 0.5, .distance = 20})`
struct peak_options {
  double height = -std::numeric_limits<double>::infinity();  ///< the least height
  index distance = 1;                                        ///< the least number of elements from peak to peak
  double prominence = 0;                                     ///< the least prominence
};

/// Peaks in order: their places, their heights, and how far they stand out of what surrounds them.
template <class T>
struct found_peaks {
  tensor<index, rank<1>> indices;
  tensor<T, rank<1>> heights;
  tensor<double, rank<1>> prominences;
};

namespace detail {

/// Places whose neighbours are lower, of plateaus the middle one, rounded down.
template <class T>
std::vector<index> local_maxima(const std::vector<T>& x) {
  std::vector<index> found;
  const auto count = x.size();
  for (std::size_t i = 1; i + 1 < count; ++i) {
    if (!(x[i - 1] < x[i])) continue;
    std::size_t behind = i + 1;
    while (behind + 1 < count && x[behind] == x[i]) ++behind;
    if (x[behind] < x[i]) found.push_back(static_cast<index>((i + behind - 1) / 2));
    i = behind - 1;
  }
  return found;
}

/// Leaves, from the highest down, no peak nearer than `distance` to one that stays; of equal ones the later stays.
template <class T>
void keep_apart(std::vector<index>& peaks, const std::vector<T>& x, index distance) {
  std::vector<std::size_t> order(peaks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto height = [&](std::size_t peak) { return x[static_cast<std::size_t>(peaks[peak])]; };
  std::sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
    return height(right) < height(left) || (height(right) == height(left) && right < left);
  });
  std::vector<char> stays(peaks.size(), 1);
  for (const std::size_t highest : order) {
    if (stays[highest] == 0) continue;
    const auto is_near = [&](std::size_t peak) { return std::abs(peaks[peak] - peaks[highest]) < distance; };
    for (std::size_t k = highest; k-- > 0 && is_near(k);) stays[k] = 0;
    for (std::size_t k = highest + 1; k < peaks.size() && is_near(k); ++k) stays[k] = 0;
  }
  std::size_t kept = 0;
  for (std::size_t k = 0; k < peaks.size(); ++k) {
    if (stays[k] != 0) peaks[kept++] = peaks[k];
  }
  peaks.resize(kept);
}

/// The least element from each one back to the last one that is greater, or to the begin.
template <class Iterator>
auto least_before(Iterator begin, Iterator end) {
  using element = typename std::iterator_traits<Iterator>::value_type;
  struct summit {
    element height, least;
  };
  std::vector<summit> summits;
  std::vector<element> result;
  for (; begin != end; ++begin) {
    summit own{*begin, *begin};
    for (; !summits.empty() && summits.back().height <= own.height; summits.pop_back()) {
      own.least = std::min(own.least, summits.back().least);
    }
    summits.push_back(own), result.push_back(own.least);
  }
  return result;
}

}  // namespace detail

/// The peaks of a signal, as scipy.signal.find_peaks: elements above both neighbours, of plateaus the middle. Of these
/// stay those that are high enough; then of near ones the highest, of equal ones the last; then those that are
/// prominent enough. A peak's prominence is its height above the higher of two saddles, the least elements between it
/// and a higher element, or the end, on either side. Beside NaN there is no peak.
/// extents   [peaks] each, of a signal of one axis
/// types     places int64, heights those of the signal, prominences double
/// throws    shape_error where the distance is below 1
/// cost      O(n) on one thread, and O(peaks log peaks) for a distance
/// example   const auto [places, heights, prominences] = find_peaks(x, {.height = 0.5, .distance = 20});
template <tensor_operand Operand>
auto find_peaks(Operand&& x, peak_options options = {}) {
  using node = node_of<Operand>;
  using element = typename node::element;
  static_assert(node::shape_type::rank == 1 || must_hold<node>, "tenon: find_peaks takes a signal of one axis");
  static_assert(!is_complex<element> || must_hold<element>, "tenon: find_peaks takes real numbers");
  static_assert(algorithm_space<Operand>::host_accessible || must_hold<node>,
                "tenon: find_peaks runs on the host: copy the signal first, x.to<tenon::host>()");
  must_be_constant<node>();
  if (options.distance < 1) {
    throw shape_error(compose_text("find_peaks: a distance of ", options.distance, ", expected at least 1"));
  }
  using number = compute_type<element>;
  std::vector<number> signal;
  const auto source = in_memory("find_peaks", std::forward<Operand>(x));
  visit_elements(source.view(), 0, source.shape().count(),
                 [&](index, element each) { signal.push_back(static_cast<number>(each)); });
  auto peaks = detail::local_maxima(signal);
  const auto at = [&](index place) { return signal[static_cast<std::size_t>(place)]; };
  std::erase_if(peaks, [&](index place) { return !(static_cast<double>(at(place)) >= options.height); });
  if (options.distance > 1) detail::keep_apart(peaks, signal, options.distance);
  const auto left = detail::least_before(signal.begin(), signal.end());
  const auto right = detail::least_before(signal.rbegin(), signal.rend());
  const auto prominence = [&](index place) {
    const auto own = static_cast<std::size_t>(place);
    return static_cast<double>(at(place)) - static_cast<double>(std::max(left[own], right[signal.size() - 1 - own]));
  };
  std::erase_if(peaks, [&](index place) { return !(prominence(place) >= options.prominence); });
  const rank<1> extents(static_cast<index>(peaks.size()));
  found_peaks<element> result{tensor<index, rank<1>>(extents), tensor<element, rank<1>>(extents),
                              tensor<double, rank<1>>(extents)};
  for (std::size_t k = 0; k < peaks.size(); ++k) {
    result.indices.data()[k] = peaks[k], result.heights.data()[k] = static_cast<element>(at(peaks[k]));
    result.prominences.data()[k] = prominence(peaks[k]);
  }
  return result;
}

}  // namespace tenon
