// tenon/nn/resampling.hpp: layers that give images another size: interpolation, and pixels out of channels.
// Names, options and shapes are those of torch.nn.Upsample, torch.nn.PixelShuffle and torch.nn.PixelUnshuffle.
// Floor 7: may include base, core, expr, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/placed_windows.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/nn/max_windows.hpp>

namespace tenon::nn {

/// Options of interpolation along `Rank` axes, with PyTorch's names: either `size`, the extents of the output, or
/// `scale_factor`, by which those of the input are multiplied and rounded down.
template <int Rank>
struct upsample_options {
  per_axis<Rank> size = 0;
  per_axis<Rank, double> scale_factor = 0.0;
  bool align_corners = false;  // of linear interpolation: whether the corners' centres, not their edges, coincide
};

/// An element of the output as a window on `Taps` elements of the input: the nearest, or those on both sides.
/// Positions are products, rounded once and then down, so that all who compute one agree on the elements that it names.
template <class Number, int Rank, index Taps>
struct interpolated_places {
  static constexpr int rank = Rank;
  array<index, Rank> image, output;  // extents
  array<Number, Rank> step;          // from one element of the output to the next
  index shift;                       // 1 where positions are those of centres, which lie half an element inside

  TENON_HOST_DEVICE index element(int axis, index window, index tap) const {
    const index place = first(axis, window) + tap;
    return place < image[axis] ? place : -1;
  }
  /// What an element counts: less, the farther it is.
  TENON_HOST_DEVICE Number weight(int axis, index window, index tap) const {
    const index before = first(axis, window);
    const Number beyond = (twice(axis, window) - Number(shift)) / 2 - Number(before);
    const Number behind = before + 1 < image[axis] && beyond > 0 ? beyond : Number(0);
    return tap == 0 ? 1 - behind : behind;
  }
  /// Outputs that count an element lie together; `slack` more on both sides make up for rounding.
  index seers(int axis) const {
    if (step[axis] == 0) return output[axis];
    return static_cast<index>(std::ceil(Number(Taps) / step[axis])) + 2 * slack(axis) + 1;
  }
  TENON_HOST_DEVICE index seer(int axis, index element, index k) const {
    const index window = first_seer(axis, element) + k;
    if (window < 0 || window >= output[axis]) return -1;
    const index place = tap(axis, element, window);
    return place >= 0 && place < Taps ? window : -1;
  }
  TENON_HOST_DEVICE index tap(int axis, index element, index window) const { return element - first(axis, window); }

 private:
  TENON_HOST_DEVICE Number twice(int axis, index window) const { return step[axis] * Number(2 * window + shift); }
  TENON_HOST_DEVICE index first(int axis, index window) const {
    const index place = (static_cast<index>(twice(axis, window)) - shift) >> 1, last = image[axis] - 1;
    return place < 0 ? 0 : place < last ? place : last;
  }
  TENON_HOST_DEVICE index slack(int axis) const { return 1 + (output[axis] >> 21); }
  TENON_HOST_DEVICE index first_seer(int axis, index element) const {
    if (step[axis] == 0) return 0;
    const Number window = (Number(2 * (element + 1 - Taps) + shift) / step[axis] - Number(shift)) / 2;
    return static_cast<index>(::floor(window)) - slack(axis);
  }
};

namespace detail {

/// The weights of an axis, to be mapped over numbers of windows and taps.
template <class Places>
struct weight_of_tap {
  Places places;
  int axis;

  TENON_HOST_DEVICE auto operator()(index window, index tap) const { return places.weight(axis, window, tap); }
};

template <index Taps>
struct tap_extents {
  static constexpr index at(int) { return Taps; }
};

}  // namespace detail

/// Images [batch, channels, ...] of another size: each element takes the nearest of the input, or the mean of those
/// beside it, weighted by nearness. A type may say the factor, one for all axes or one for each.
/// extents   [batch, channels, ...]: the size, or extent * scale_factor; static where the type says the factor
/// throws    shape_error when neither a size nor a scale is given, or both, or an image has no elements
/// example   nn::upsample_nearest2d<2>{}, nn::upsample_bilinear2d<>{{.size = {9, 8}, .align_corners = true}}
template <index Taps, int Rank, index... Factors>
struct upsample_layer : stateless, expression_layer<upsample_layer<Taps, Rank, Factors...>> {
  static constexpr const char* name = "upsample";
  static constexpr int rank = Rank;
  static constexpr bool is_static = sizeof...(Factors) != 0;
  static_assert(sizeof...(Factors) <= 1 || sizeof...(Factors) == Rank,
                "tenon: upsampling has one factor for all axes, or one for each");
  static_assert(((Factors > 0) && ...), "tenon: factors of upsampling are at least 1");
  upsample_options<Rank> options;

  explicit upsample_layer(const upsample_options<Rank>& given = upsample_options<Rank>{}) : options(given) {
    if constexpr (is_static) options.scale_factor = per_axis<Rank, double>(static_cast<double>(Factors)...);
    for (int axis = 0; axis < Rank; ++axis) {
      if ((options.size[axis] > 0) == (options.scale_factor[axis] > 0)) {
        throw shape_error(compose_text("upsample: axis ", 2 + axis, ": size ", options.size[axis], " and scale_factor ",
                                       options.scale_factor[axis], ", expected one of both"));
      }
    }
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<upsample_layer, Rank + 2, Input>();
    array<index, Rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < Rank; ++axis) {
      const double scaled = static_cast<double>(input.extent(2 + axis)) * options.scale_factor[axis];
      extents[2 + axis] = options.size[axis] > 0 ? options.size[axis] : static_cast<index>(scaled);
    }
    return shape_of<detail::output_extents<upsample_layer, Input>, Rank + 2>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    const index extent = Input::static_extent(axis);
    if (axis < 2) return extent;
    if constexpr (!is_static) return dyn;
    else return extent == dyn ? dyn : extent * per_axis<Rank>(Factors...)[axis - 2];
  }
  template <class Input>
  auto expression(const Input& x) const {
    using element = typename Input::element;
    constexpr bool is_exact = Taps > 1 && std::is_same_v<element, double>;  // as in PyTorch, the nearest are not
    const auto places = places_of<std::conditional_t<is_exact, double, float>>(x.shape());
    const shape_of<detail::tap_extents<Taps>, Rank> taps(filled_array<Rank>(Taps));
    const auto seen = placed_windows(x, places, taps, element(0.0f));
    if constexpr (Taps == 1) return squeeze(seen, detail::shifted_axes<2 + Rank, axes>::kept);
    else return sum(seen * weights(places, axes{}), detail::tap_axes<Rank>);
  }

 private:
  using axes = std::make_integer_sequence<int, Rank>;

  template <class Number, class Shape>
  auto places_of(const Shape& input) const {
    const auto output = output_shape(input);
    const bool aligns = Taps > 1 && options.align_corners;
    interpolated_places<Number, Rank, Taps> places{{}, {}, {}, Taps > 1 && !aligns ? 1 : 0};
    for (int axis = 0; axis < Rank; ++axis) {
      const index from = input.extent(2 + axis), to = output.extent(2 + axis);
      if (from < 1 || to < 1) {
        throw shape_error(compose_text("upsample: axis ", 2 + axis, ": ", to, " elements from ", from,
                                       ", expected at least 1 (input ", input.to_array(), ")"));
      }
      const double scale = options.scale_factor[axis];
      places.image[axis] = from;
      places.output[axis] = to;
      if (aligns) places.step[axis] = to > 1 ? Number(from - 1) / Number(to - 1) : Number(0);
      else places.step[axis] = scale > 0 ? Number(1 / scale) : Number(from) / Number(to);
    }
    return places;
  }
  template <class Places, int... Axes>
  static auto weights(const Places& places, std::integer_sequence<int, Axes...>) {
    array<index, 2 * Rank> lengths = filled_array<2 * Rank>(Taps);
    for (int place = 0; place < Rank; ++place) lengths[place] = places.output[place];
    const tenon::rank<2 * Rank> extents(lengths);
    return (map(detail::weight_of_tap<Places>{places, Axes}, index_grid<index>(extents, axis<Axes>),
                index_grid<index>(extents, axis<Rank + Axes>)) *
            ...);
  }
};

template <index... Factors>
using upsample_nearest1d = upsample_layer<1, 1, Factors...>;
template <index... Factors>
using upsample_nearest2d = upsample_layer<1, 2, Factors...>;
template <index... Factors>
using upsample_nearest3d = upsample_layer<1, 3, Factors...>;
template <index... Factors>
using upsample_linear1d = upsample_layer<2, 1, Factors...>;
template <index... Factors>
using upsample_bilinear2d = upsample_layer<2, 2, Factors...>;
template <index... Factors>
using upsample_trilinear3d = upsample_layer<2, 3, Factors...>;

/// From a pixel to the channel, and the pixel of the smaller image, that it was.
struct pixel_shuffle_map {
  static constexpr const char* name = "pixel_shuffle";
  static constexpr bool enlarges = true;
  index factor;

  template <int Rank>
  TENON_HOST_DEVICE array<index, Rank> operator()(array<index, Rank> position) const {
    index &channel = position[Rank - 3], &row = position[Rank - 2], &column = position[Rank - 1];
    channel = (channel * factor + row % factor) * factor + column % factor;
    row /= factor, column /= factor;
    return position;
  }
};
/// The way back.
struct pixel_unshuffle_map {
  static constexpr const char* name = "pixel_unshuffle";
  static constexpr bool enlarges = false;
  index factor;

  template <int Rank>
  TENON_HOST_DEVICE array<index, Rank> operator()(array<index, Rank> position) const {
    index &channel = position[Rank - 3], &row = position[Rank - 2], &column = position[Rank - 1];
    row = row * factor + channel / factor % factor, column = column * factor + channel % factor;
    channel /= factor * factor;
    return position;
  }
};

/// Makes Factor x Factor blocks of pixels out of as many channels, or channels out of blocks. `Factor` is a template
/// argument or given to the constructor.
/// extents   [..., channels Factor^2, height, width] to [..., channels, height Factor, width Factor], or the reverse
/// throws    shape_error when the factor does not divide channels, or height and width
/// source    Shi and others 2016: Real-time single image and video super-resolution using an efficient sub-pixel
///           convolutional neural network
template <class Map, class Inverse, index Factor>
struct pixel_layer : stateless {
  static constexpr const char* name = Map::name;
  index factor = Factor;

  pixel_layer()
    requires(Factor != dyn)
  = default;
  explicit pixel_layer(index given)
    requires(Factor == dyn)
      : factor(given) {}

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    static_assert(Input::rank >= 3, "tenon: pixels lie in images [..., channels, height, width]");
    array<index, Input::rank> extents = input.to_array();
    for (int axis = Input::rank - 3; axis < Input::rank; ++axis) {
      const index divisor = divisor_of(factor, axis - Input::rank);
      if (divisor < 1 || extents[axis] % divisor != 0) {
        throw shape_error(compose_text(name, ": axis ", axis, ": extent ", extents[axis], ", expected a multiple of ",
                                       divisor, " (input ", input.to_array(), ")"));
      }
      extents[axis] = resized(extents[axis], factor, axis - Input::rank);
    }
    return shape_of<detail::output_extents<pixel_layer, Input>, Input::rank>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    const index extent = Input::static_extent(axis);
    if (axis < Input::rank - 3) return extent;
    return extent == dyn || Factor == dyn ? dyn : resized(extent, Factor, axis - Input::rank);
  }
  template <class Input>
  auto forward(const Input& input) const {
    return make_remap(Map{factor}, output_shape(input.shape()), as_node(input));
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    if constexpr (is_wanted<Destination>) destination = make_remap(Inverse{factor}, input.shape(), as_node(gradient));
  }

 private:
  /// Axis -3 is that of the channels.
  static constexpr index divisor_of(index by, int from_end) {
    if (from_end == -3) return Map::enlarges ? by * by : 1;
    return Map::enlarges ? 1 : by;
  }
  static constexpr index resized(index extent, index by, int from_end) {
    if (from_end == -3) return Map::enlarges ? extent / (by * by) : extent * by * by;
    return Map::enlarges ? extent * by : extent / by;
  }
};
template <index Factor = dyn>
using pixel_shuffle = pixel_layer<pixel_shuffle_map, pixel_unshuffle_map, Factor>;
template <index Factor = dyn>
using pixel_unshuffle = pixel_layer<pixel_unshuffle_map, pixel_shuffle_map, Factor>;

}  // namespace tenon::nn
