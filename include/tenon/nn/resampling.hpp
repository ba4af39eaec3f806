// tenon/nn/resampling.hpp: layers that give images another size: interpolation, and pixels out of channels.
// Names, options and shapes are those of torch.nn.Upsample, torch.nn.PixelShuffle and torch.nn.PixelUnshuffle.
// Floor 7: may include base, core, expr, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/interpolation.hpp>
#include <tenon/nn/max_windows.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// Options of interpolation along `Rank` axes, with PyTorch's names: either `size`, the extents of the output, or
/// `scale_factor`, by which those of the input are multiplied and rounded down.
template <int Rank>
struct upsample_options {
  per_axis<Rank> size = 0;
  per_axis<Rank, double> scale_factor = 0.0;
  bool align_corners = false;  // of linear and cubic interpolation: whether the corners' centres, not edges, coincide
};

/// Images [batch, channels, ...] of another size: each element is the mean of those of the input near it, weighted by
/// `Filter`. A type may say the factor, one for all axes or one for each.
/// extents   [batch, channels, ...]: the size, or extent * scale_factor; static where the type says the factor
/// throws    shape_error when neither a size nor a scale is given, or both, or an image has no elements; for aligned
///           corners of an antialiased image
/// cost      as `interpolate`
/// source    torch.nn.functional.interpolate; where antialias is true, the cubic filter is Pillow's
/// example   nn::upsample_nearest2d<2>{}, nn::upsample_bilinear2d<>{{.size = {9, 8}, .align_corners = true}}
template <class Filter, int Rank, index... Factors>
struct upsample_layer : stateless, expression_layer<upsample_layer<Filter, Rank, Factors...>> {
  static constexpr const char* name = "upsample";
  static constexpr int rank = Rank;
  static constexpr bool is_static = sizeof...(Factors) != 0;
  static_assert(sizeof...(Factors) <= 1 || sizeof...(Factors) == Rank,
                "tenon: upsampling has one factor for all axes, or one for each");
  static_assert(((Factors > 0) && ...), "tenon: factors of upsampling are at least 1");
  upsample_options<Rank> options;

  upsample_layer() : upsample_layer(upsample_options<Rank>{}) {}  // not explicit: a member is made from {}
  explicit upsample_layer(const upsample_options<Rank>& given) : options(given) {
    if constexpr (is_static) options.scale_factor = per_axis<Rank, double>(static_cast<double>(Factors)...);
    for (int axis = 0; axis < Rank; ++axis) {
      if ((options.size[axis] > 0) == (options.scale_factor[axis] > 0)) {
        throw shape_error(compose_text("upsample: axis ", 2 + axis, ": size ", options.size[axis], " and scale_factor ",
                                       options.scale_factor[axis], ", expected one of both"));
      }
    }
    if (Filter::is_antialiased && options.align_corners) {
      throw shape_error("upsample: align_corners of an antialiased image, whose elements lie within its edges");
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
    constexpr bool is_exact = interpolates && std::is_same_v<element, double>;  // as in PyTorch, the nearest are not
    return interpolate(x, places_of<std::conditional_t<is_exact, double, float>>(x.shape()));
  }

 private:
  static constexpr bool interpolates = Filter::reach > 0;

  template <class Number, class Shape>
  auto places_of(const Shape& input) const {
    const auto output = output_shape(input);
    const bool aligns = interpolates && options.align_corners;
    interpolated_places<Number, Rank, Filter> places{{}, {}, {}, interpolates && !aligns ? 1 : 0};
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
};

template <index... Factors>
using upsample_nearest1d = upsample_layer<nearest_filter, 1, Factors...>;
template <index... Factors>
using upsample_nearest2d = upsample_layer<nearest_filter, 2, Factors...>;
template <index... Factors>
using upsample_nearest3d = upsample_layer<nearest_filter, 3, Factors...>;
template <index... Factors>
using upsample_linear1d = upsample_layer<linear_filter, 1, Factors...>;
template <index... Factors>
using upsample_bilinear2d = upsample_layer<linear_filter, 2, Factors...>;
template <index... Factors>
using upsample_trilinear3d = upsample_layer<linear_filter, 3, Factors...>;
template <index... Factors>
using upsample_bicubic2d = upsample_layer<cubic_filter<3>, 2, Factors...>;
template <index... Factors>
using upsample_bilinear2d_antialias = upsample_layer<antialiased<linear_filter>, 2, Factors...>;
template <index... Factors>
using upsample_bicubic2d_antialias = upsample_layer<antialiased<cubic_filter<2>>, 2, Factors...>;

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
struct pixel_layer : stateless, callable<pixel_layer<Map, Inverse, Factor>> {
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
