// tests/golden/convolution.cpp: convolution layers along one to three axes, and transposed ones.
// Sizes and options come from the case, at run time; the type says whether there is a bias, and what the border is.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/conv.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

template <int Rank>
nn::per_axis<Rank> per_axis_of(const golden_case& given, const char* name, index otherwise) {
  if (given.attributes.is_text(name)) return nn::same;  // the only word that options along axes know
  nn::per_axis<Rank> result(otherwise);
  const auto values = given.attributes.integers(name);
  for (std::size_t axis = 0; axis < values.size(); ++axis) result.values[axis] = values[axis];
  return result;
}

template <int Rank, bool Transposed, nn::conv_options<Rank> Options, class Space>
result run_conv(const golden_case& given) {
  const auto& attributes = given.attributes;
  nn::conv_options<Rank> options = Options;
  options.stride = per_axis_of<Rank>(given, "stride", 1);
  options.padding = per_axis_of<Rank>(given, "padding", 0);
  options.dilation = per_axis_of<Rank>(given, "dilation", 1);
  options.groups = attributes.integer("groups", 1);
  if (Transposed) options.output_padding = per_axis_of<Rank>(given, "output_padding", 0);
  using layer = nn::conv_layer<Rank, Transposed, tn::dyn, tn::dyn, nn::per_axis<Rank>(tn::dyn), Options, Space, float>;
  return run_layer<Rank + 2, Space>(given,
                                    layer(attributes.integer("in_channels", 0), attributes.integer("out_channels", 0),
                                          per_axis_of<Rank>(given, "kernel_size", 1), options));
}

/// As run_conv, of the bias and border that the case has.
template <bool Transposed, class Space>
result run_conv2d(const golden_case& given) {
  constexpr nn::conv_options<2> with_bias{.stride = tn::dyn}, without_bias{.stride = tn::dyn, .bias = false};
  if (!given.attributes.flag("bias", true)) return run_conv<2, Transposed, without_bias, Space>(given);
  if constexpr (!Transposed) {
    constexpr nn::conv_options<2> mirrored{.stride = tn::dyn, .padding_mode = nn::border::reflect};
    constexpr nn::conv_options<2> circular{.stride = tn::dyn, .padding_mode = nn::border::circular};
    const std::string mode = given.attributes.text("padding_mode", "zeros");
    if (mode == "reflect") return run_conv<2, false, mirrored, Space>(given);
    if (mode == "circular") return run_conv<2, false, circular, Space>(given);
  }
  return run_conv<2, Transposed, with_bias, Space>(given);
}

}  // namespace

void add_convolution(device_tables& devices) {
  on_each_device(devices, []<class Space>(layer_table& table) {
    table["Conv1d"] = run_conv<1, false, nn::conv1d_at_run_time, Space>;
    table["Conv2d"] = run_conv2d<false, Space>;
    table["Conv3d"] = run_conv<3, false, nn::conv3d_at_run_time, Space>;
    table["ConvTranspose1d"] = run_conv<1, true, nn::conv1d_at_run_time, Space>;
    table["ConvTranspose2d"] = run_conv2d<true, Space>;
    table["ConvTranspose3d"] = run_conv<3, true, nn::conv3d_at_run_time, Space>;
  });
}

}  // namespace golden
