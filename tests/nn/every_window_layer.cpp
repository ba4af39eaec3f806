// tests/nn/every_window_layer.cpp: both passes of every layer over windows, borders and sizes of images.
// Backward passes against central differences in double, for options that are drawn.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include "nn/passes.hpp"
#include "support/gradient_rows.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::check_rows;
using tenon_test::drawn_options;
using tenon_test::in_draws;
using tenon_test::layer_difference;

namespace {

/// The extents of a few images with these channels, of `least` elements along each axis or some more.
template <int Rank>
rank<Rank + 2> drawn_images(drawn_options& draw, tenon::index channels, const nn::per_axis<Rank>& least) {
  tenon::array<tenon::index, Rank + 2> extents{{draw.between(1, 2), channels}};
  for (int axis = 0; axis < Rank; ++axis) extents[2 + axis] = least[axis] + draw.between(0, Rank == 3 ? 1 : 3);
  return rank<Rank + 2>(extents);
}

/// How many elements windows reach over.
template <int Rank>
nn::per_axis<Rank> reach_of(const nn::per_axis<Rank>& kernel, const nn::per_axis<Rank>& dilation) {
  nn::per_axis<Rank> reach = kernel;
  for (int axis = 0; axis < Rank; ++axis) reach.values[axis] = dilation[axis] * (kernel[axis] - 1) + 1;
  return reach;
}

template <int Rank, class Layer>
std::string of_convolution(drawn_options& draw) {
  const tenon::index groups = draw.between(1, 2), in = groups * draw.between(1, 2), out = groups * draw.between(1, 2);
  const auto kernel = draw.axes_between<Rank>(1, 3);
  nn::conv_options<Rank> options{.stride = dyn};
  options.stride = draw.axes_between<Rank>(1, 2), options.dilation = draw.axes_between<Rank>(1, 2);
  for (int axis = 0; axis < Rank; ++axis) options.padding.values[axis] = draw.between(0, kernel[axis] / 2);
  options.groups = groups;
  return layer_difference(drawn_images<Rank>(draw, in, reach_of<Rank>(kernel, options.dilation)),
                          Layer(in, out, kernel, options));
}

template <int Rank, class Layer, class... Norm>
std::string of_pool(drawn_options& draw, Norm... norm) {
  const auto kernel = draw.axes_between<Rank>(2, 3);
  nn::pool_options<Rank> options{.stride = draw.axes_between<Rank>(1, 3)};
  if (Layer::takes_padding) options.padding = draw.axes_between<Rank>(0, 1);
  if (Layer::takes_dilation) options.dilation = draw.axes_between<Rank>(1, 2);
  options.ceil_mode = draw.flag(), options.count_include_pad = draw.flag();
  return layer_difference(drawn_images<Rank>(draw, 2, reach_of<Rank>(kernel, options.dilation)),
                          Layer(norm..., kernel, options));
}

template <int Rank, class Layer>
std::string of_adaptive_pool(drawn_options& draw) {
  const auto extents = drawn_images<Rank>(draw, 2, 2);
  return layer_difference(extents, Layer(draw.axes_between<Rank>(1, 5)));
}

template <int Rank, class Layer>
std::string of_border(drawn_options& draw) {
  const auto extents = drawn_images<Rank>(draw, 1, 3);
  return layer_difference(extents, Layer(draw.axes_between<2 * Rank>(0, 2)));
}

template <int Rank, class Layer>
std::string of_upsampling(drawn_options& draw, bool may_align) {
  const auto extents = drawn_images<Rank>(draw, 2, 1);
  nn::upsample_options<Rank> options{.size = draw.axes_between<Rank>(1, Rank == 3 ? 4 : 7)};
  options.align_corners = may_align && draw.flag();
  return layer_difference(extents, Layer(options));
}

/// Functions of what is drawn, to be handed over by name.
template <int Rank, class Layer>
std::string convolved() {
  return in_draws([](drawn_options& draw) { return of_convolution<Rank, Layer>(draw); });
}
template <int Rank, class Layer, class... Norm>
std::string of_pools(Norm... norm) {
  return in_draws([=](drawn_options& draw) { return of_pool<Rank, Layer>(draw, norm...); });
}
template <int Rank, class Layer>
std::string shared() {
  return in_draws([](drawn_options& draw) { return of_adaptive_pool<Rank, Layer>(draw); });
}
template <int Rank, class Layer>
std::string bordered() {
  return in_draws([](drawn_options& draw) { return of_border<Rank, Layer>(draw); });
}
template <int Rank, class Layer>
std::string upsampled(bool may_align = false) {
  return in_draws([=](drawn_options& draw) { return of_upsampling<Rank, Layer>(draw, may_align); });
}

}  // namespace

TEST_CASE("gradients of convolution layers", "[every_window_layer]") {
  constexpr nn::conv1d_options line{.stride = dyn};
  constexpr nn::conv2d_options plane{.stride = dyn};
  constexpr nn::conv3d_options body{.stride = dyn};
  using tenon::host;
  check_rows({
      {"conv1d", convolved<1, nn::conv1d<dyn, dyn, dyn, line, host, double>>()},
      {"conv2d", convolved<2, nn::conv2d<dyn, dyn, dyn, plane, host, double>>()},
      {"conv3d", convolved<3, nn::conv3d<dyn, dyn, dyn, body, host, double>>()},
      {"conv_transpose1d", convolved<1, nn::conv_transpose1d<dyn, dyn, dyn, line, host, double>>()},
      {"conv_transpose2d", convolved<2, nn::conv_transpose2d<dyn, dyn, dyn, plane, host, double>>()},
      {"conv_transpose3d", convolved<3, nn::conv_transpose3d<dyn, dyn, dyn, body, host, double>>()},
  });
}

TEST_CASE("gradients of pools", "[every_window_layer]") {
  check_rows({
      {"max_pool1d", of_pools<1, nn::max_pool1d<dyn>>()},
      {"max_pool2d", of_pools<2, nn::max_pool2d<dyn>>()},
      {"max_pool3d", of_pools<3, nn::max_pool3d<dyn>>()},
      {"avg_pool1d", of_pools<1, nn::avg_pool1d<dyn>>()},
      {"avg_pool2d", of_pools<2, nn::avg_pool2d<dyn>>()},
      {"avg_pool3d", of_pools<3, nn::avg_pool3d<dyn>>()},
      {"lp_pool1d", of_pools<1, nn::lp_pool1d<dyn>>(2.0f)},
      {"lp_pool2d", of_pools<2, nn::lp_pool2d<dyn>>(4.0f)},
      {"lp_pool3d", of_pools<3, nn::lp_pool3d<dyn>>(2.0f)},
      {"adaptive_max_pool1d", shared<1, nn::adaptive_max_pool1d<dyn>>()},
      {"adaptive_max_pool2d", shared<2, nn::adaptive_max_pool2d<dyn>>()},
      {"adaptive_max_pool3d", shared<3, nn::adaptive_max_pool3d<dyn>>()},
      {"adaptive_avg_pool1d", shared<1, nn::adaptive_avg_pool1d<dyn>>()},
      {"adaptive_avg_pool2d", shared<2, nn::adaptive_avg_pool2d<dyn>>()},
      {"adaptive_avg_pool3d", shared<3, nn::adaptive_avg_pool3d<dyn>>()},
  });
}

TEST_CASE("gradients of borders", "[every_window_layer]") {
  check_rows({
      {"zero_pad1d constant_pad1d", bordered<1, nn::zero_pad1d<>>()},
      {"zero_pad2d constant_pad2d", bordered<2, nn::zero_pad2d<>>()},
      {"zero_pad3d constant_pad3d", bordered<3, nn::zero_pad3d<>>()},
      {"reflection_pad1d", bordered<1, nn::reflection_pad1d<>>()},
      {"reflection_pad2d", bordered<2, nn::reflection_pad2d<>>()},
      {"reflection_pad3d", bordered<3, nn::reflection_pad3d<>>()},
      {"replication_pad1d", bordered<1, nn::replication_pad1d<>>()},
      {"replication_pad2d", bordered<2, nn::replication_pad2d<>>()},
      {"replication_pad3d", bordered<3, nn::replication_pad3d<>>()},
      {"circular_pad1d", bordered<1, nn::circular_pad1d<>>()},
      {"circular_pad2d", bordered<2, nn::circular_pad2d<>>()},
      {"circular_pad3d", bordered<3, nn::circular_pad3d<>>()},
  });
}

TEST_CASE("gradients of layers that change the sizes of images", "[every_window_layer]") {
  const auto shuffled = [](drawn_options& draw) {
    const tenon::index factor = draw.between(2, 3), channels = factor * factor * draw.between(1, 2);
    return layer_difference(drawn_images<2>(draw, channels, 1), nn::pixel_shuffle<>(factor));
  };
  const auto unshuffled = [](drawn_options& draw) {
    const tenon::index factor = draw.between(2, 3);
    const rank<4> extents(2, draw.between(1, 2), factor * draw.between(1, 2), factor * draw.between(1, 3));
    return layer_difference(extents, nn::pixel_unshuffle<>(factor));
  };
  check_rows({
      {"upsample_nearest1d", upsampled<1, nn::upsample_nearest1d<>>()},
      {"upsample_nearest2d", upsampled<2, nn::upsample_nearest2d<>>()},
      {"upsample_nearest3d", upsampled<3, nn::upsample_nearest3d<>>()},
      {"upsample_linear1d", upsampled<1, nn::upsample_linear1d<>>(true)},
      {"upsample_bilinear2d", upsampled<2, nn::upsample_bilinear2d<>>(true)},
      {"upsample_trilinear3d", upsampled<3, nn::upsample_trilinear3d<>>(true)},
      {"upsample_bicubic2d", upsampled<2, nn::upsample_bicubic2d<>>(true)},
      {"upsample_bilinear2d_antialias", upsampled<2, nn::upsample_bilinear2d_antialias<>>()},
      {"upsample_bicubic2d_antialias", upsampled<2, nn::upsample_bicubic2d_antialias<>>()},
      {"pixel_shuffle", in_draws(shuffled)},
      {"pixel_unshuffle", in_draws(unshuffled)},
  });
}
