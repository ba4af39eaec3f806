// tenon/expr/convolve.hpp: convolution, its two gradients and its transpose.
// One, two, three or more axes behind batch and channels; what does not fit is refused here, with both extents.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/convolution.hpp>

namespace tenon {

namespace detail {

/// How many axes of an operand lie behind batch and channels.
template <class Operand>
inline constexpr int spatial_axes =
    std::remove_cvref_t<Operand>::shape_type::rank < 3 ? 1 : std::remove_cvref_t<Operand>::shape_type::rank - 2;

/// What a convolution and its gradients are about, for checks and messages.
template <int Rank>
struct convolution_extents {
  const char* name;
  array<index, Rank + 2> image, weight, result;  // those that are not given are filled in
  const window_geometry<Rank>& geometry;

  /// throws    shape_error when a stride, dilation, padding or number of groups makes no sense
  void check_geometry() const {
    for (int i = 0; i < Rank; ++i) {
      const index stride = geometry.stride[i], dilation = geometry.dilation[i], padding = geometry.padding[i],
                  behind = (checked_extent(padding) + geometry.extra_padding[i]).value();
      if (stride < 1 || dilation < 1 || padding < 0 || behind < 0 || weight[2 + i] < 1) {
        throw shape_error(compose_text(name, ": axis ", 2 + i, ": stride ", stride, ", dilation ", dilation,
                                       ", padding ", padding, " and ", behind, ", kernel ", weight[2 + i],
                                       ", expected at least 1, 1, 0 and 0, 1"));
      }
    }
    if (geometry.groups < 1 || weight[0] % geometry.groups != 0) {
      throw shape_error(compose_text(name, ": weight axis 0: ", weight[0], " channels, expected a multiple of ",
                                     geometry.groups, " groups (weight ", weight, ")"));
    }
  }
  void check_channels(const char* operand, index channels, index expected) const {
    if (channels == expected) return;
    throw shape_error(compose_text(name, ": axis 1: ", channels, " channels, expected ", expected, " (", operand, " ",
                                   operand[0] == 'i' ? image : result, ", weight ", weight, ", ", geometry.groups,
                                   geometry.groups == 1 ? " group)" : " groups)"));
  }
  /// throws    shape_error when not even one window fits along an axis
  array<index, Rank> fitting_windows() const {
    const auto counts = window_counts(spatial(image), spatial(weight), geometry, name);
    for (int i = 0; i < Rank; ++i) {
      if (counts[i] != 0) continue;
      throw shape_error(compose_text(name, ": axis ", 2 + i, ": extent ", image[2 + i], " with padding ",
                                     geometry.padding[i], ", expected at least the kernel's ",
                                     geometry.dilation[i] * (weight[2 + i] - 1) + 1, " (image ", image, ", weight ",
                                     weight, ")"));
    }
    return counts;
  }
  /// throws    shape_error when the windows of the image are not as many as those of the gradient
  void check_windows() const {
    const auto counts = fitting_windows();
    for (int i = 0; i < Rank; ++i) {
      if (counts[i] == result[2 + i]) continue;
      throw shape_error(compose_text(name, ": axis ", 2 + i, ": extent ", result[2 + i], ", expected ", counts[i],
                                     " (gradient ", result, ", image ", image, ", weight ", weight, ")"));
    }
  }
};

template <bool Transposed, class Image, class Weight, int Rank>
auto make_convolution(const Image& image, const Weight& weight, index channels, const array<index, Rank>& windows,
                      const window_geometry<Rank>& geometry) {
  using node = convolution<Image, Weight, Transposed>;
  const typename node::shape_type extents(with_spatial(image.shape().extent(0), channels, windows));
  return node{{{{image}, {weight}}}, extents, geometry};
}
template <class Gradient, class Image, int Axes, int Rank>
auto make_weight_gradient(const Gradient& gradient, const Image& image, const array<index, Axes>& weight,
                          const window_geometry<Rank>& geometry) {
  using node = weight_gradient_product<Image, Gradient>;
  return node{{{{image}, {gradient}}}, typename node::shape_type(weight), geometry};
}

}  // namespace detail

/// Cross-correlation of images [n, c, h, w] with a weight [o, c / groups, r, s] (the `convolution` of neural networks);
/// behind the first two axes there may be one, two, three or more. Any strides: permute(x, axis<0, 3, 1, 2>) of images
/// [n, h, w, c] is read where it lies.
/// extents   [n, o, p, q] with p = (h + 2 padding - dilation (r - 1) - 1) / stride + 1, q likewise
/// throws    shape_error when channels differ, groups do not divide them, or the kernel does not fit
/// cost      one kernel, pointwise operands and a pointwise result included; no patch is stored
/// example   convolve(image, weight, {.stride = {{2, 2}}, .padding = {{1, 1}}})
template <tensor_operand ImageOperand, tensor_operand WeightOperand>
auto convolve(ImageOperand&& image_operand, WeightOperand&& weight_operand,
              const window_geometry<detail::spatial_axes<ImageOperand>>& geometry = {}) {
  using image_shape = typename std::remove_cvref_t<ImageOperand>::shape_type;
  using weight_shape = typename std::remove_cvref_t<WeightOperand>::shape_type;
  static_assert(image_shape::rank >= 3 && image_shape::rank == weight_shape::rank,
                "tenon: convolve takes images [n, c, ...] and a weight [o, c, ...] of as many axes");
  constexpr index given = image_shape::static_extent(1), taken = weight_shape::static_extent(1);
  constexpr bool fit = given == dyn || taken == dyn || given == taken || (taken != 0 && given % taken == 0);
  static_assert(fit || must_hold<left_extent<given>, right_extent<taken>>,
                "tenon: the channels of a convolution's image must be a multiple of its weight's");
  return [&geometry](const auto& image, const auto& weight) {
    const auto pixels = image.shape().to_array(), taps = weight.shape().to_array();
    const detail::convolution_extents<image_shape::rank - 2> extents{"convolve", pixels, taps, {}, geometry};
    extents.check_geometry();
    extents.check_channels("image", pixels[1], taps[1] * geometry.groups);
    return detail::make_convolution<false>(image, weight, taps[0], extents.fitting_windows(), geometry);
  }(as_node(std::forward<ImageOperand>(image_operand)), as_node(std::forward<WeightOperand>(weight_operand)));
}

/// The gradient of `convolve(image, weight)` with respect to the image, from the result's gradient [n, o, p, q].
/// extents   [n, c, h, w] with (h, w) = `image_extents`
/// throws    shape_error when the gradient does not have the extents of such a convolution
template <tensor_operand GradientOperand, tensor_operand WeightOperand>
auto convolve_image_gradient(GradientOperand&& gradient_operand, WeightOperand&& weight_operand,
                             const array<index, detail::spatial_axes<GradientOperand>>& image_extents,
                             const window_geometry<detail::spatial_axes<GradientOperand>>& geometry = {}) {
  return [&](const auto& gradient, const auto& weight) {
    const auto windows = gradient.shape().to_array(), taps = weight.shape().to_array();
    const index channels = taps[1] * geometry.groups;
    const detail::convolution_extents<detail::spatial_axes<GradientOperand>> extents{
        "convolve_image_gradient", detail::with_spatial(windows[0], channels, image_extents), taps, windows, geometry};
    extents.check_geometry();
    extents.check_channels("gradient", windows[1], taps[0]);
    extents.check_windows();
    return detail::make_convolution<true>(gradient, weight, channels, image_extents, geometry);
  }(as_node(std::forward<GradientOperand>(gradient_operand)), as_node(std::forward<WeightOperand>(weight_operand)));
}

/// The gradient of `convolve(image, weight)` with respect to the weight, from the result's gradient [n, o, p, q].
/// extents   [o, c / groups, r, s] with (r, s) = `kernel`
/// throws    shape_error when the gradient does not have the extents of such a convolution
template <tensor_operand GradientOperand, tensor_operand ImageOperand>
auto convolve_weight_gradient(GradientOperand&& gradient_operand, ImageOperand&& image_operand,
                              const array<index, detail::spatial_axes<GradientOperand>>& kernel,
                              const window_geometry<detail::spatial_axes<GradientOperand>>& geometry = {}) {
  return [&](const auto& gradient, const auto& image) {
    const auto windows = gradient.shape().to_array(), pixels = image.shape().to_array();
    const index channels = geometry.groups < 1 ? 0 : pixels[1] / geometry.groups;
    const auto taps = detail::with_spatial(windows[1], channels, kernel);
    const detail::convolution_extents<detail::spatial_axes<GradientOperand>> extents{"convolve_weight_gradient", pixels,
                                                                                     taps, windows, geometry};
    extents.check_geometry();
    extents.check_channels("image", pixels[1], channels * geometry.groups);
    extents.check_windows();
    if (pixels[0] != windows[0]) {
      throw shape_error(compose_text("convolve_weight_gradient: axis 0: extent ", windows[0], ", expected ", pixels[0],
                                     " (gradient ", windows, ", image ", pixels, ")"));
    }
    return detail::make_weight_gradient(gradient, image, taps, geometry);
  }(as_node(std::forward<GradientOperand>(gradient_operand)), as_node(std::forward<ImageOperand>(image_operand)));
}

/// Transposed convolution of images [n, c, h, w] with a weight [c, o / groups, r, s]: each element of the image adds
/// the weight times itself to a window of the result. It is the gradient of a convolution to its image.
/// extents   [n, o, p, q] with p = (h - 1) stride - 2 padding + dilation (r - 1) + output_padding + 1, q likewise
/// throws    shape_error when channels differ, groups do not divide them, or nothing is left of an axis
/// source    PyTorch ConvTranspose2d: `output_padding`, below stride or dilation, adds elements behind the last
/// example   y = convolve_transpose(images, weight, window_geometry<2>{.stride = {{2, 2}}});
template <tensor_operand ImageOperand, tensor_operand WeightOperand>
auto convolve_transpose(ImageOperand&& image_operand, WeightOperand&& weight_operand,
                        const window_geometry<detail::spatial_axes<ImageOperand>>& geometry = {},
                        const array<index, detail::spatial_axes<ImageOperand>>& output_padding = {}) {
  constexpr int rank = detail::spatial_axes<ImageOperand>;
  return [&](const auto& image, const auto& weight) {
    const auto pixels = image.shape().to_array(), taps = weight.shape().to_array();
    array<index, rank> output{};
    const detail::convolution_extents<rank> extents{"convolve_transpose", pixels, taps, {}, geometry};
    extents.check_geometry();
    extents.check_channels("image", pixels[1], taps[0]);
    for (int i = 0; i < rank; ++i) {
      const index stride = geometry.stride[i], dilation = geometry.dilation[i], more = output_padding[i];
      const checked_extent reach = (checked_extent(pixels[2 + i]) - 1) * stride + window_span(taps[2 + i], dilation),
                           extent = reach + more - checked_extent(geometry.padding[i]) * 2 - geometry.extra_padding[i];
      output[i] = extent.fits() ? extent.value() : -1;
      if (more < 0 || (more >= stride && more >= dilation) || output[i] < 1) {
        throw shape_error(compose_text("convolve_transpose: axis ", 2 + i, ": output padding ", more, " and ",
                                       output[i], " results, expected less than stride ", stride, " or dilation ",
                                       dilation, " and at least 1 (image ", pixels, ", weight ", taps, ")"));
      }
    }
    return detail::make_convolution<true>(image, weight, taps[1] * geometry.groups, output, geometry);
  }(as_node(std::forward<ImageOperand>(image_operand)), as_node(std::forward<WeightOperand>(weight_operand)));
}

}  // namespace tenon
