// tenon/algorithms/grid_places.hpp: what a number of a grid names on an axis of an image.
// A place is the first element that counts there and a share of the way to the next one.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/rounding.hpp>
#include <tenon/expr/views/interpolation.hpp>

namespace tenon {

/// Of `grid_sample`: the mean of the four elements around a place, or the nearest one, ties to even, or cubic curves
/// through the sixteen around it.
enum class grid_mode { bilinear, nearest, bicubic };
/// Of `grid_sample`: what lies beside the image, zeros or the nearest element of its border, or the image as in mirrors
/// along its border.
enum class grid_padding { zeros, border, reflection };

/// Options of grid_sample: `grid_sample(x, grid, {.padding_mode = grid_padding::border})`
struct grid_sample_options {
  grid_mode mode = grid_mode::bilinear;
  grid_padding padding_mode = grid_padding::zeros;
  bool align_corners = false;  ///< whether -1 and 1 are the centres of the first and last elements, or their far sides

  bool operator==(const grid_sample_options&) const = default;
};

namespace detail {

/// An element as a number that is computed with.
template <class Number, class T>
TENON_HOST_DEVICE Number as_number(T element) {
  return static_cast<Number>(static_cast<compute_type<T>>(element));
}

/// A place along one axis: the first element that counts there, the share of the way to the next one, and how far the
/// place moves with the number of the grid.
template <class Number, int Taps>
struct axis_place {
  index first;
  Number share, slope;

  /// What the element itself (0), or the next one (1), counts; and what that grows by when the place moves on.
  TENON_HOST_DEVICE Number weight(index k) const { return k == 0 ? 1 - share : share; }
  TENON_HOST_DEVICE Number growth(index k) const { return k == 0 ? -slope : slope; }
};
/// Of cubic curves: the place lies between elements 1 and 2.
template <class Number>
struct axis_place<Number, 4> {
  index first;
  Number share, slope;

  TENON_HOST_DEVICE Number weight(index k) const {
    return share == share ? cubic_filter<3>::value(distance(k)) : share;
  }
  TENON_HOST_DEVICE Number growth(index k) const {
    const Number x = distance(k), bend = Number(-0.75);
    const Number steepness = x < 1 ? (3 * (bend + 2) * x - 2 * (bend + 3)) * x : bend * ((3 * x - 10) * x + 8);
    return k < 2 ? steepness * slope : -steepness * slope;
  }

 private:
  TENON_HOST_DEVICE Number distance(index k) const {
    const Number ahead = share - static_cast<Number>(k - 1);
    return k < 2 ? ahead : -ahead;
  }
};

/// An axis of the image, and how numbers of the grid become places on it.
template <class Number>
struct sampled_axis {
  index extent;
  Number scale, shift, low, high;  // places are kept between the last two
  grid_padding padding;
  bool is_nearest, aligns;

  sampled_axis(const grid_sample_options& options, index elements)
      : extent(elements),
        low(-1),
        high(static_cast<Number>(elements)),
        padding(options.padding_mode),
        is_nearest(options.mode == grid_mode::nearest),
        aligns(options.align_corners) {
    const Number last = high - 1;
    scale = (aligns ? last : high) / 2, shift = aligns ? scale : last / 2;
    if (padding != grid_padding::zeros) low = 0, high = last;
  }
  TENON_HOST_DEVICE TENON_INLINE bool holds(index element) const { return element >= 0 && element < extent; }
  template <int Taps>
  TENON_HOST_DEVICE TENON_INLINE axis_place<Number, Taps> place(Number at) const {
    const Number plain = at * scale + shift;
    if constexpr (Taps == 4) {
      return cubic_place(plain);
    } else {
      const bool turns = padding == grid_padding::reflection && !(plain >= low && plain <= high);
      const Number place = turns ? reflected(plain) : plain, within = place < low ? low : place > high ? high : place;
      const Number first = is_nearest ? round_op::value(within) : floor_op::value(within);
      const Number slope = turns && goes_back(plain) ? -scale : scale;
      return {within == within ? static_cast<index>(first) : 0,  // what is NaN keeps a share of NaN
              within - (is_nearest ? within : first), !is_nearest && place > low && place < high ? slope : Number(0)};
    }
  }
  /// The element that stands for one beside the image, if any; those of straight lines are kept within it.
  template <int Taps>
  TENON_HOST_DEVICE TENON_INLINE index element(index number) const {
    if (Taps != 4 || padding == grid_padding::zeros || holds(number)) return number;
    if (padding == grid_padding::border) return number < 0 ? 0 : extent - 1;
    const index turn = aligns ? 2 * (extent - 1) : 2 * extent;
    if (turn == 0) return 0;
    const index rest = number % turn, forward = rest < 0 ? rest + turn : rest;
    return forward < extent ? forward : (aligns ? turn : turn - 1) - forward;
  }

 private:
  /// From one mirror to the other, and where the first one stands.
  TENON_HOST_DEVICE Number span() const { return static_cast<Number>(aligns ? extent - 1 : extent); }
  TENON_HOST_DEVICE Number mirror() const { return aligns ? Number(0) : Number(-0.5); }
  TENON_HOST_DEVICE Number turns_of(Number place) const { return floor_op::value((place - mirror()) / span()); }
  /// Whether an odd number of mirrors stands between a place and the image.
  TENON_HOST_DEVICE bool goes_back(Number place) const {
    const Number turns = turns_of(place);
    return turns - 2 * floor_op::value(turns / 2) != 0;
  }
  TENON_HOST_DEVICE Number reflected(Number place) const {
    if (span() == 0) return place == place ? Number(0) : place;
    const Number rest = place - mirror() - turns_of(place) * span();
    return mirror() + (goes_back(place) ? span() - rest : rest);
  }
  /// Far from the image, where all is zero, or the border, or the image again, a nearer place stands for this one.
  TENON_HOST_DEVICE axis_place<Number, 4> cubic_place(Number place) const {
    const Number least = -2, most = static_cast<Number>(extent + 1);
    Number near = place < least ? least : place > most ? most : place;
    if (padding == grid_padding::reflection && near != place && span() > 0)
      near = place - 2 * span() * floor_op::value((place - mirror()) / (2 * span()));
    const Number first = floor_op::value(near);
    return {near == near ? static_cast<index>(first) - 1 : 0, near - first, near == near ? scale : near};
  }
};

}  // namespace detail

}  // namespace tenon
