// tests/golden/resampling.cpp: interpolation to another size, and pixels out of channels.
// Sizes and factors come from the case, at run time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/resampling.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

template <class Layer, class Space>
result run_upsample_layer(const golden_case& given) {
  nn::upsample_options<Layer::rank> options;
  const auto size = given.attributes.integers("size");
  for (std::size_t axis = 0; axis < size.size(); ++axis) options.size.values[axis] = size[axis];
  options.scale_factor = given.attributes.number("scale_factor", 0);
  options.align_corners = given.attributes.flag("align_corners", false);
  return run_layer<Layer::rank + 2, Space>(given, Layer(options));
}

template <class Space>
result run_upsample(const golden_case& given) {
  const std::string mode = given.attributes.text("mode", "nearest");
  if (mode == "nearest") return run_upsample_layer<nn::upsample_nearest2d<>, Space>(given);
  if (mode == "bilinear") return run_upsample_layer<nn::upsample_bilinear2d<>, Space>(given);
  throw not_supported("another mode");
}

template <class Space>
result run_pixel_shuffle(const golden_case& given) {
  return run_layer<4, Space>(given, nn::pixel_shuffle<>(given.attributes.integer("upscale_factor", 0)));
}

}  // namespace

void add_resampling(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["PixelShuffle"] = run_pixel_shuffle<Space>;
    table["Upsample"] = run_upsample<Space>;
  });
}

}  // namespace golden
