// tenon/expr/convolve.hpp: convolution and its two gradients as contractions of index-mapped images.
// The patches of an image are never stored: the contraction core reads them through their geometry.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/contract.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/slice.hpp>

namespace tenon {

/// How windows move over an image, for rows and columns. `image_step` > 1 spreads the image out with zeros between its
/// elements, which is what the gradient of a strided convolution sees.
struct window_geometry {
  array<index, 2> stride{{1, 1}};
  array<index, 2> padding{{0, 0}};
  array<index, 2> image_step{{1, 1}};

  bool operator==(const window_geometry&) const = default;
};

/// Names the operation in messages.
struct convolve_operation {
  static constexpr const char* name = "convolve";
};

/// [n, c, h, w] with weight [o, c, r, s]: a product of [o, (c, r, s)] and the patches [(c, r, s), (n, p, q)].
template <class Image, class Weight>
struct convolution {
  using kind = contraction_kind;
  using element = promoted_element<Image, Weight>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Image::space, typename Weight::space>::type;
  using shape_type = tenon::shape<Image::shape_type::static_extent(0), Weight::shape_type::static_extent(0), dyn, dyn>;
  using left_axes = matrix_axes<0, 1, 2, 3>;
  using result_axes = matrix_axes<1, 0, 2, 3>;
  static constexpr bool patches_transposed = false;

  tuple<Image, Weight> operands;
  shape_type extents;
  window_geometry geometry;

  const shape_type& shape() const { return extents; }
  index depth() const { return get<1>(operands).shape().count() / get<1>(operands).shape().extent(0); }
  /// This node on other operands of the same extents.
  template <class NewImage, class NewWeight>
  auto with_operands(const tuple<NewImage, NewWeight>& others) const {
    using node = convolution<NewImage, NewWeight>;
    return node{others, typename node::shape_type(extents), geometry};
  }
  array<index, 2> kernel() const { return {{get<1>(operands).shape().extent(2), get<1>(operands).shape().extent(3)}}; }
  array<index, 2> output() const { return {{extents.extent(2), extents.extent(3)}}; }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<4, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Image> + slot_count<Weight>, compute_type<element>>{};
  }
  auto lower_left() const { return get<1>(operands).template lower<0>(identity_map<4>()); }
  auto left_extents() const { return get<1>(operands).shape().to_array(); }
  auto lower_image() const { return get<0>(operands).template lower<0>(identity_map<4>()); }
  auto image_extents() const { return get<0>(operands).shape().to_array(); }
};

/// The gradient of a convolution's weight: [o, (n, p, q)] of the output's gradient times the patches [(n, p, q), (c, r,
/// s)].
template <class Image, class Gradient>
struct weight_gradient_product {
  using kind = contraction_kind;
  using element = promoted_element<Image, Gradient>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Image::space, typename Gradient::space>::type;
  using shape_type = rank<4>;
  using left_axes = matrix_axes<1, 0, 2, 3>;
  using result_axes = matrix_axes<0, 1, 2, 3>;
  static constexpr bool patches_transposed = true;

  tuple<Image, Gradient> operands;
  shape_type extents;
  window_geometry geometry;

  const shape_type& shape() const { return extents; }
  index depth() const { return left_extents()[0] * left_extents()[2] * left_extents()[3]; }
  /// This node on other operands of the same extents.
  template <class NewImage, class NewGradient>
  auto with_operands(const tuple<NewImage, NewGradient>& others) const {
    return weight_gradient_product<NewImage, NewGradient>{others, extents, geometry};
  }
  array<index, 2> kernel() const { return {{extents.extent(2), extents.extent(3)}}; }
  array<index, 2> output() const { return {{left_extents()[2], left_extents()[3]}}; }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<4, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Image> + slot_count<Gradient>, compute_type<element>>{};
  }
  auto lower_left() const { return get<1>(operands).template lower<0>(identity_map<4>()); }
  array<index, 4> left_extents() const { return get<1>(operands).shape().to_array(); }
  auto lower_image() const { return get<0>(operands).template lower<0>(identity_map<4>()); }
  auto image_extents() const { return get<0>(operands).shape().to_array(); }
};

/// Number of windows of `kernel` that fit.
/// source    PyTorch Conv2d: floor((extent + 2 padding - kernel) / stride) + 1
constexpr index window_count(index extent, index kernel, index stride, index padding) {
  return extent + 2 * padding < kernel ? 0 : (extent + 2 * padding - kernel) / stride + 1;
}

namespace detail {

template <class Image, class Weight>
auto make_convolution(const Image& image, const Weight& weight, const array<index, 2>& output,
                      const window_geometry& geometry) {
  if (image.shape().extent(1) != weight.shape().extent(1)) {
    throw shape_error(compose_text("convolve: axis 1: ", image.shape().extent(1), " channels, expected ",
                                   weight.shape().extent(1), " (image ", image.shape().to_array(), ", weight ",
                                   weight.shape().to_array(), ")"));
  }
  using node = convolution<Image, Weight>;
  const array<index, 4> extents{{image.shape().extent(0), weight.shape().extent(0), output[0], output[1]}};
  return node{{{{image}, {weight}}}, typename node::shape_type(extents), geometry};
}

inline void check_windows(const array<index, 4>& image, const array<index, 4>& weight,
                          const window_geometry& geometry) {
  for (int i = 0; i < 2; ++i) {
    if (geometry.stride[i] < 1 || geometry.padding[i] < 0) {
      throw shape_error(compose_text("convolve: stride ", geometry.stride[i], " and padding ", geometry.padding[i],
                                     ", expected at least 1 and at least 0"));
    }
    if (image[2 + i] + 2 * geometry.padding[i] < weight[2 + i]) {
      throw shape_error(compose_text("convolve: axis ", 2 + i, ": extent ", image[2 + i], " with padding ",
                                     geometry.padding[i], ", expected at least the kernel's ", weight[2 + i],
                                     " (image ", image, ", weight ", weight, ")"));
    }
  }
}

}  // namespace detail

/// Cross-correlation of images [n, c, h, w] with a weight [o, c, r, s] (the `convolution` of neural networks).
/// extents   [n, o, p, q] with p = (h + 2 padding - r) / stride + 1, q likewise
/// throws    shape_error when channels differ or the kernel does not fit
/// cost      one kernel, pointwise operands and a pointwise result included; no patch is stored
template <tensor_operand ImageOperand, tensor_operand WeightOperand>
auto convolve(ImageOperand&& image_operand, WeightOperand&& weight_operand, const window_geometry& geometry = {}) {
  using image_shape = typename std::remove_cvref_t<ImageOperand>::shape_type;
  using weight_shape = typename std::remove_cvref_t<WeightOperand>::shape_type;
  static_assert(image_shape::rank == 4 && weight_shape::rank == 4, "tenon: convolve takes images [n, c, h, w]");
  constexpr index given = image_shape::static_extent(1), taken = weight_shape::static_extent(1);
  static_assert(given == dyn || taken == dyn || given == taken || must_hold<left_extent<given>, right_extent<taken>>,
                "tenon: image and weight of a convolution must have equal channels");
  return [&geometry](const auto& image, const auto& weight) {
    const auto pixels = image.shape().to_array(), taps = weight.shape().to_array();
    detail::check_windows(pixels, taps, geometry);
    const array<index, 2> output{{window_count(pixels[2], taps[2], geometry.stride[0], geometry.padding[0]),
                                  window_count(pixels[3], taps[3], geometry.stride[1], geometry.padding[1])}};
    return detail::make_convolution(image, weight, output, geometry);
  }(as_node(std::forward<ImageOperand>(image_operand)), as_node(std::forward<WeightOperand>(weight_operand)));
}

/// The gradient of `convolve(image, weight)` with respect to the image, from the result's gradient [n, o, p, q].
/// extents   [n, c, h, w] with (h, w) = `image_extents`
template <tensor_operand GradientOperand, tensor_operand WeightOperand>
auto convolve_image_gradient(GradientOperand&& gradient, WeightOperand&& weight, const array<index, 2>& image_extents,
                             const window_geometry& geometry = {}) {
  const auto taps = weight.shape().to_array();
  const range whole, reversed(open_end, open_end, -1);
  const auto flipped =
      permute(slice(as_node(std::forward<WeightOperand>(weight)), whole, whole, reversed, reversed), axis<1, 0, 2, 3>);
  const array<index, 2> padding{{taps[2] - 1 - geometry.padding[0], taps[3] - 1 - geometry.padding[1]}};
  return detail::make_convolution(as_node(std::forward<GradientOperand>(gradient)), flipped, image_extents,
                                  {.stride = {{1, 1}}, .padding = padding, .image_step = geometry.stride});
}

/// The gradient of `convolve(image, weight)` with respect to the weight, from the result's gradient [n, o, p, q].
/// extents   [o, c, r, s] with (r, s) = `kernel`
template <tensor_operand GradientOperand, tensor_operand ImageOperand>
auto convolve_weight_gradient(GradientOperand&& gradient_operand, ImageOperand&& image_operand,
                              const array<index, 2>& kernel, const window_geometry& geometry = {}) {
  return [&](const auto& gradient, const auto& image) {
    using node = weight_gradient_product<std::remove_cvref_t<decltype(image)>, std::remove_cvref_t<decltype(gradient)>>;
    const rank<4> extents(gradient.shape().extent(1), image.shape().extent(1), kernel[0], kernel[1]);
    return node{{{{image}, {gradient}}}, extents, geometry};
  }(as_node(std::forward<GradientOperand>(gradient_operand)), as_node(std::forward<ImageOperand>(image_operand)));
}

}  // namespace tenon
