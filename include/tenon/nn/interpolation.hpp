// tenon/nn/interpolation.hpp: which elements make one of a resampled image, and how much each counts.
// A filter says how a share falls with distance; an element of the output is a window on elements of the input.
// Floor 7: may include base, core, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/core/extents.hpp>

namespace tenon::nn {

/// The nearest element alone.
struct nearest_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 0;  // as many elements on both sides count

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number) {
    return 1;
  }
};

/// The elements on both sides: less, the farther they are.
struct linear_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 1;

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number distance) {
    const Number near = 1 - (distance < 0 ? -distance : distance);
    return near > 0 ? near : Number(0);
  }
};

/// The piecewise cubic curve that is 1 at distance 0, falls by `slope` at 1, where it is 0, and ends at 2.
/// source    Keys 1981: Cubic convolution interpolation for digital image processing
template <class Number>
TENON_HOST_DEVICE Number cubic_convolution(Number distance, Number slope) {
  const Number x = distance < 0 ? -distance : distance;
  if (x < 1) return ((slope + 2) * x - (slope + 3)) * x * x + 1;
  return x < 2 ? slope * (((x - 5) * x + 8) * x - 4) : Number(0);
}

/// Two elements on both sides, under the cubic curve of slope -`Quarters` / 4.
template <int Quarters>
struct cubic_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 2;

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number distance) {
    return cubic_convolution(distance, -Number(Quarters) / 4);
  }
};

/// A filter as wide as the steps between elements of a smaller output, so that every element of the input counts.
template <class Filter>
struct antialiased : Filter {
  static constexpr bool is_antialiased = true;
};

/// An element of the output as a window on the elements of the input that count in it. Beside the input its border
/// repeats; for an antialiased filter there is nothing, and weights are to be divided by their sum.
/// Positions are products, rounded once and then down, so that all who compute one agree on the elements that it names.
template <class Number, int Rank, class Filter>
struct interpolated_places {
  static constexpr int rank = Rank;
  static constexpr index reach = Filter::reach;
  static constexpr index known_taps = Filter::is_antialiased ? dyn : reach == 0 ? 1 : 2 * reach;
  array<index, Rank> image, output;  // extents
  array<Number, Rank> step;          // from one element of the output to the next
  index shift;                       // 1 where positions are those of centres, which lie half an element inside

  /// How many elements a window names.
  TENON_HOST_DEVICE index taps(int axis) const {
    if constexpr (!Filter::is_antialiased) return known_taps;
    else return 2 * static_cast<index>(::ceil(radius(axis))) + 1;
  }
  TENON_HOST_DEVICE index element(int axis, index window, index tap) const {
    const index place = first(axis, window) + tap;
    return place < image[axis] ? place : -1;
  }
  /// What an element counts; that on the border also what those beside it would.
  TENON_HOST_DEVICE Number weight(int axis, index window, index tap) const {
    const index place = first(axis, window) + tap, last = image[axis] - 1;
    if constexpr (Filter::is_antialiased) {
      const Number distance = Number(place) - position(axis, window);
      return place < 0 || place > last ? Number(0) : Filter::value(distance / width(axis));
    } else {
      const Number beyond = position(axis, window) - Number(before(axis, window));
      const Number past = beyond < 0 ? Number(0) : beyond < 1 ? beyond : Number(1);
      const index begin = place == 0 ? 0 : tap, end = place == last ? known_taps : tap + 1;
      Number share = 0;
      for (index k = begin; k < end; ++k) share += Filter::value(Number(k + 1 - reach) - past);
      return share;
    }
  }
  /// Outputs that count an element lie together; `slack` more on both sides make up for rounding.
  index seers(int axis) const {
    if (step[axis] == 0) return output[axis];
    const Number span = reach == 0 ? Number(1) : 2 * radius(axis);
    return static_cast<index>(std::ceil(span / step[axis])) + 2 * slack(axis) + 1;
  }
  TENON_HOST_DEVICE index seer(int axis, index element, index k) const {
    const index window = first_seer(axis, element) + k;
    if (window < 0 || window >= output[axis]) return -1;
    const index place = tap(axis, element, window);
    return place >= 0 && place < taps(axis) ? window : -1;
  }
  TENON_HOST_DEVICE index tap(int axis, index element, index window) const { return element - first(axis, window); }

 private:
  TENON_HOST_DEVICE Number twice(int axis, index window) const { return step[axis] * Number(2 * window + shift); }
  TENON_HOST_DEVICE Number position(int axis, index window) const { return (twice(axis, window) - Number(shift)) / 2; }
  /// The element at a position or right before it.
  TENON_HOST_DEVICE index before(int axis, index window) const {
    const index place = (static_cast<index>(twice(axis, window)) - shift) >> 1, last = image[axis] - 1;
    return place < last ? place : last;
  }
  TENON_HOST_DEVICE index first(int axis, index window) const {
    if constexpr (Filter::is_antialiased) {
      return static_cast<index>(::floor(position(axis, window) - radius(axis))) + 1;
    } else {
      return before(axis, window) - (reach == 0 ? 0 : reach - 1);
    }
  }
  TENON_HOST_DEVICE Number width(int axis) const {
    return Filter::is_antialiased && step[axis] > 1 ? step[axis] : Number(1);
  }
  TENON_HOST_DEVICE Number radius(int axis) const { return Number(reach) * width(axis); }
  TENON_HOST_DEVICE index slack(int axis) const { return 1 + (output[axis] >> 21); }
  TENON_HOST_DEVICE index first_seer(int axis, index element) const {
    if (step[axis] == 0) return 0;
    const Number window = ((2 * (Number(element) - radius(axis)) + Number(shift)) / step[axis] - Number(shift)) / 2;
    return static_cast<index>(::floor(window)) - slack(axis);
  }
};

}  // namespace tenon::nn
