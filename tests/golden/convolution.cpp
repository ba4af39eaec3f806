// tests/golden/convolution.cpp: convolution layers along one to three axes, and transposed ones.
// Sizes and options come from the case, at run time; the type says whether there is a bias, and what the border is.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/conv.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

/// Runs a layer whose sizes and numbers are given at run time.
template <int Rank, class Layer>
result run_conv(const golden_case& given) {
  const auto& attributes = given.attributes;
  auto options = Layer().options;
  options.stride = per_axis_of<Rank>(given, "stride", 1);
  options.padding = per_axis_of<Rank>(given, "padding", 0);
  options.dilation = per_axis_of<Rank>(given, "dilation", 1);
  options.output_padding = per_axis_of<Rank>(given, "output_padding", 0);
  options.groups = attributes.integer("groups", 1);
  return run_layer<Rank + 2, typename Layer::space>(
      given, Layer(attributes.integer("in_channels", 0), attributes.integer("out_channels", 0),
                   per_axis_of<Rank>(given, "kernel_size", 1), options));
}

constexpr nn::conv2d_options without_bias{.stride = tn::dyn, .bias = false};
constexpr nn::conv2d_options mirrored{.stride = tn::dyn, .padding_mode = nn::border::reflect};
constexpr nn::conv2d_options circular{.stride = tn::dyn, .padding_mode = nn::border::circular};

/// Of the bias and border that the case has.
template <class Space>
result run_conv2d(const golden_case& given) {
  using tn::dyn;
  const std::string mode = given.attributes.text("padding_mode", "zeros");
  if (!given.attributes.flag("bias", true)) return run_conv<2, nn::conv2d<dyn, dyn, dyn, without_bias, Space>>(given);
  if (mode == "reflect") return run_conv<2, nn::conv2d<dyn, dyn, dyn, mirrored, Space>>(given);
  if (mode == "circular") return run_conv<2, nn::conv2d<dyn, dyn, dyn, circular, Space>>(given);
  return run_conv<2, nn::conv2d<dyn, dyn, dyn, nn::conv2d_at_run_time, Space>>(given);
}
template <class Space>
result run_conv_transpose2d(const golden_case& given) {
  using tn::dyn;
  if (!given.attributes.flag("bias", true)) {
    return run_conv<2, nn::conv_transpose2d<dyn, dyn, dyn, without_bias, Space>>(given);
  }
  return run_conv<2, nn::conv_transpose2d<dyn, dyn, dyn, nn::conv2d_at_run_time, Space>>(given);
}

}  // namespace

void add_convolution(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    using tn::dyn;
    table["Conv1d"] = run_conv<1, nn::conv1d<dyn, dyn, dyn, nn::conv1d_at_run_time, Space>>;
    table["Conv2d"] = run_conv2d<Space>;
    table["Conv3d"] = run_conv<3, nn::conv3d<dyn, dyn, dyn, nn::conv3d_at_run_time, Space>>;
    table["ConvTranspose1d"] = run_conv<1, nn::conv_transpose1d<dyn, dyn, dyn, nn::conv1d_at_run_time, Space>>;
    table["ConvTranspose2d"] = run_conv_transpose2d<Space>;
    table["ConvTranspose3d"] = run_conv<3, nn::conv_transpose3d<dyn, dyn, dyn, nn::conv3d_at_run_time, Space>>;
  });
}

}  // namespace golden
