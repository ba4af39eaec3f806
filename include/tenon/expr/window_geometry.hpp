// tenon/expr/window_geometry.hpp: how windows move over images, along any number of axes.
// What a user says of a convolution, and where the taps of each window then lie in the image.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/core/extents.hpp>

namespace tenon {

/// How windows move over images of `Rank` axes behind batch and channels. Names and defaults are PyTorch's.
template <int Rank>
struct window_geometry {
  array<index, Rank> stride = filled_array<Rank>(index{1});
  array<index, Rank> padding{};        // zeros before the first and behind the last element
  array<index, Rank> extra_padding{};  // how many more of them behind; fewer where negative
  array<index, Rank> dilation = filled_array<Rank>(index{1});
  index groups = 1;  // channels come in so many groups; windows of one see no other

  bool operator==(const window_geometry&) const = default;
};

/// From the first element that a window sees to its last: dilation (kernel - 1) + 1.
constexpr checked_extent window_span(index kernel, index dilation) {
  return checked_extent(dilation) * (checked_extent(kernel) - 1) + 1;
}

/// Number of windows of `kernel` that fit.
/// throws    shape_error, in the name of `operation`, when kernel, stride or dilation is below 1, padding below 0, or
///           the numbers do not fit 64 bits
/// source    PyTorch Conv2d: floor((extent + 2 padding - dilation (kernel - 1) - 1) / stride) + 1
constexpr index window_count(index extent, index kernel, index stride, index padding, index dilation = 1,
                             index extra_padding = 0, const char* operation = "window_count") {
  const checked_extent padded = checked_extent(padding) * 2 + extra_padding + extent;
  const checked_extent behind_first = padded - window_span(kernel, dilation);
  const bool makes_sense = kernel >= 1 && stride >= 1 && dilation >= 1 && padding >= 0;
  if (!makes_sense || !(behind_first + 1).fits()) {
    throw shape_error(
        compose_text(operation, ": kernel ", kernel, ", stride ", stride, ", dilation ", dilation, ", padding ",
                     padding, ", expected at least 1, 1, 1 and 0, and windows within 64 bits (extent ", extent, ")"));
  }
  return behind_first.value() < 0 ? 0 : behind_first.value() / stride + 1;
}

/// The numbers of windows along all axes.
template <int Rank>
constexpr array<index, Rank> window_counts(const array<index, Rank>& image, const array<index, Rank>& kernel,
                                           const window_geometry<Rank>& geometry,
                                           const char* operation = "window_count") {
  array<index, Rank> result{};
  for (int i = 0; i < Rank; ++i) {
    result[i] = window_count(image[i], kernel[i], geometry.stride[i], geometry.padding[i], geometry.dilation[i],
                             geometry.extra_padding[i], operation);
  }
  return result;
}

/// Which element of an image each tap of each window sees. The gradient of a convolution sees the image spread out,
/// with `image_step` - 1 zeros between its elements.
template <int Rank>
struct patch_geometry {
  static constexpr int rank = Rank;
  array<index, Rank> image, kernel, output;  // extents, and the number of windows
  array<index, Rank> stride, dilation, padding, image_step;

  /// The place along an axis of the image that tap `tap` of window `window` sees, or -1 where it is zero.
  TENON_HOST_DEVICE constexpr index place(int axis, index window, index tap) const {
    const index spread = window * stride[axis] + tap * dilation[axis] - padding[axis];
    if (spread < 0) return -1;
    const index step = image_step[axis];
    const index found = step == 1 ? spread : spread / step;
    return found < image[axis] && found * step == spread ? found : -1;
  }
  /// Whether the windows along an axis are the elements of the image.
  constexpr bool is_plain(int axis) const {
    return kernel[axis] == 1 && stride[axis] == 1 && padding[axis] == 0 && image_step[axis] == 1 &&
           output[axis] == image[axis];
  }
  TENON_HOST_DEVICE constexpr index taps() const { return product(kernel); }
  TENON_HOST_DEVICE constexpr index windows() const { return product(output); }

 private:
  TENON_HOST_DEVICE static constexpr index product(const array<index, Rank>& extents) {
    index result = 1;
    for (const index extent : extents) result *= extent;
    return result;
  }
};

/// The patches that a convolution multiplies its weight with.
template <int Rank>
constexpr patch_geometry<Rank> patches_of(const window_geometry<Rank>& geometry, const array<index, Rank>& image,
                                          const array<index, Rank>& kernel, const array<index, Rank>& output) {
  return {image, kernel, output, geometry.stride, geometry.dilation, geometry.padding, filled_array<Rank>(index{1})};
}

/// The patches of the result's gradient that the gradient of the image sums: windows are the elements of the image,
/// taps run backwards.
template <int Rank>
constexpr patch_geometry<Rank> transposed_patches_of(const window_geometry<Rank>& geometry,
                                                     const array<index, Rank>& gradient,
                                                     const array<index, Rank>& kernel,
                                                     const array<index, Rank>& image) {
  array<index, Rank> padding{};
  for (int i = 0; i < Rank; ++i) padding[i] = geometry.dilation[i] * (kernel[i] - 1) - geometry.padding[i];
  return {gradient, kernel, image, filled_array<Rank>(index{1}), geometry.dilation, padding, geometry.stride};
}

}  // namespace tenon
