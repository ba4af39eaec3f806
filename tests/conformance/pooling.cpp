// tests/conformance/pooling.cpp: the greatest, the mean and the norm of windows, of whole images, and back.
// ONNX pads each side by itself, as wide as it likes, and dilates all windows: more than the layers of pools take.
// SPDX-License-Identifier: Apache-2.0
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>
#endif
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/max_unpool.hpp>

#include "conformance/windows.hpp"

namespace conformance {

namespace {

namespace nn = tn::nn;

template <int Rank>
constexpr auto pooled_axes = []<int... I>(std::integer_sequence<int, I...>) {
  return tn::drop<(-1 - I)...>;
}(std::make_integer_sequence<int, Rank>{});

/// How many windows there are: those that overhang behind count in ceil_mode, unless they begin behind the image.
template <int Rank>
axis_numbers<Rank> pooled_extents(const call& from, const axis_numbers<Rank>& image, const axis_numbers<Rank>& kernel,
                                  tn::window_geometry<Rank> geometry) {
  if (from.attributes.integer("ceil_mode", 0) == 0) return tn::window_counts(image, kernel, geometry);
  for (int i = 0; i < Rank; ++i) geometry.extra_padding[i] += geometry.stride[i] - 1;
  axis_numbers<Rank> counts = tn::window_counts(image, kernel, geometry);
  for (int i = 0; i < Rank; ++i) {
    if ((counts[i] - 1) * geometry.stride[i] >= image[i] + geometry.padding[i]) --counts[i];
  }
  return counts;
}

/// The windows of a pool over an image, and how much padding lies around it.
template <int Rank>
struct pool {
  tn::even_windows<Rank> windows;
  axis_numbers<Rank> padding;

  explicit pool(const call& from) {
    const auto kernel = numbers_or<Rank>(from, "kernel_shape", 1);
    auto geometry = geometry_of<Rank>(from);
    axis_numbers<Rank> image{}, whole{};
    for (int i = 0; i < Rank; ++i) {
      image[i] = from.input(0).extents[static_cast<std::size_t>(2 + i)];
      const index count = (image[i] + geometry.stride[i] - 1) / geometry.stride[i];
      whole[i] = (count - 1) * geometry.stride[i] + geometry.dilation[i] * (kernel[i] - 1) + 1;
    }
    const std::string automatic = from.attributes.text("auto_pad", "NOTSET");
    if (automatic.starts_with("SAME")) fit_padding(geometry, whole, image, automatic == "SAME_UPPER");
    windows = {image,           kernel,           pooled_extents(from, image, kernel, geometry),
               geometry.stride, geometry.padding, geometry.dilation};
    for (int i = 0; i < Rank; ++i) padding[i] = 2 * geometry.padding[i] + geometry.extra_padding[i];
  }
  template <class Image>
  auto seen(const Image& image, typename Image::element outside) const {
    return tn::placed_windows(image, windows, tn::rank<Rank>(windows.kernel), outside);
  }
  /// How many elements each window sees, with or without padding.
  auto counts(bool with_padding) const {
    pool counted = *this;
    auto extents = tn::filled_array<Rank + 2>(index{1});
    for (int i = 0; i < Rank; ++i) {
      if (with_padding) counted.windows.image[i] += padding[i], counted.windows.padding[i] = 0;
      extents[2 + i] = counted.windows.image[i];
    }
    return tn::sum(counted.seen(tn::constants(tn::rank<Rank + 2>(extents), 1.0f), 0.0f), pooled_axes<Rank>);
  }
};

template <int Rank, class Space>
array max_pool(const call& from) {
  return with_type<float, std::uint8_t>(from.input(0).dtype, [&]<class T>() {
    const auto x = tensor_of<T, Space, Rank + 2>(from.input(0));
    return evaluated<Space>(tn::max(pool<Rank>(from).seen(x, least<T>()), pooled_axes<Rank>), Rank + 2);
  });
}

template <int Rank, class Space>
array average_pool(const call& from) {
  const pool<Rank> given(from);
  const auto x = tensor_of<float, Space, Rank + 2>(from.input(0));
  const auto counts = given.counts(from.attributes.integer("count_include_pad", 0) != 0);
  return evaluated<Space>(tn::sum(given.seen(x, 0.0f), pooled_axes<Rank>) / counts, Rank + 2);
}

template <int Rank, class Space>
array lp_pool(const call& from) {
  const auto x = tensor_of<float, Space, Rank + 2>(from.input(0));
  const double p = from.attributes.number("p", 2);
  return evaluated<Space>(tn::norm(pool<Rank>(from).seen(x, 0.0f), p, pooled_axes<Rank>), Rank + 2);
}

/// A pool of one window, or what else a layer without parameters makes of an image.
template <int Rank, class Space, class Layer>
array global_pool(const call& from) {
  return evaluated<Space>(Layer().forward(tensor_of<float, Space, Rank + 2>(from.input(0))), Rank + 2);
}

/// Indices count in the image that the pool fills; where more is asked for, zeros follow.
template <class Space>
array max_unpool(const call& from) {
  const auto per_axis = [&](const char* name, index fallback) {
    const auto numbers = numbers_or<2>(from, name, fallback);
    return nn::per_axis<2>(numbers[0], numbers[1]);
  };
  const nn::max_unpool<2> layer(per_axis("kernel_shape", 1), per_axis("strides", 1), per_axis("pads", 0));
  const auto image =
      layer.forward(tensor_of<float, Space, 4>(from.input(0)), tensor_of<std::int64_t, Space, 4>(from.input(1)));
  if (!from.has(2)) return array_of(image, 4);
  const std::vector<index> wanted = integers_of(from.input(2));
  tn::array<tn::padding, 4> widths{};
  for (int axis = 0; axis < 4; ++axis) widths[axis].after = wanted[static_cast<std::size_t>(axis)] - image.extent(axis);
  return evaluated<Space>(tn::pad(image, widths), 4);
}

}  // namespace

void add_pooling(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["MaxPool"] = of_rank<max_pool<1, Space>, max_pool<2, Space>, max_pool<3, Space>>;
    table["AveragePool"] = of_rank<average_pool<1, Space>, average_pool<2, Space>, average_pool<3, Space>>;
    table["LpPool"] = of_rank<lp_pool<1, Space>, lp_pool<2, Space>, lp_pool<3, Space>>;
    table["GlobalMaxPool"] =
        of_rank<global_pool<1, Space, nn::adaptive_max_pool1d<1>>, global_pool<2, Space, nn::adaptive_max_pool2d<1>>,
                global_pool<3, Space, nn::adaptive_max_pool3d<1>>>;
    table["GlobalAveragePool"] =
        of_rank<global_pool<1, Space, nn::adaptive_avg_pool1d<1>>, global_pool<2, Space, nn::adaptive_avg_pool2d<1>>,
                global_pool<3, Space, nn::adaptive_avg_pool3d<1>>>;
    table["MaxUnpool"] = max_unpool<Space>;
  });
}

}  // namespace conformance
