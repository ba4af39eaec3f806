// tests/golden/pooling.cpp: pools of windows, adaptive pools, and back.
// Windows and options come from the case, at run time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cuda.hpp>
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/max_unpool.hpp>
#include <tenon/nn/pool.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

template <int Rank>
nn::pool_options<Rank> pool_options_of(const golden_case& given) {
  const auto& attributes = given.attributes;
  nn::pool_options<Rank> options;
  options.stride = per_axis_of<Rank>(given, "stride", 0);
  options.padding = per_axis_of<Rank>(given, "padding", 0);
  options.dilation = per_axis_of<Rank>(given, "dilation", 1);
  options.ceil_mode = attributes.flag("ceil_mode", false);
  options.count_include_pad = attributes.flag("count_include_pad", true);
  options.divisor_override = attributes.integer("divisor_override", 0);
  return options;
}

template <int Rank, class Space, class Layer>
result run_pool(const golden_case& given) {
  const Layer layer(per_axis_of<Rank>(given, "kernel_size", 1), pool_options_of<Rank>(given));
  result found = run_layer<Rank + 2, Space>(given, layer);
  if constexpr (requires(const tn::tensor<float, tn::rank<Rank + 2>, Space>& x) { layer.indices(x); }) {
    const auto x = tensor_of<float, Space, Rank + 2>(given.inputs.at("input"));
    found.outputs["indices"] = copied(tn::evaluated_tensor(layer.indices(x)));
  }
  return found;
}
template <int Rank, class Space, class Layer>
result run_lp_pool(const golden_case& given) {
  return run_layer<Rank + 2, Space>(given,
                                    Layer(static_cast<float>(given.attributes.number("norm_type", 2)),
                                          per_axis_of<Rank>(given, "kernel_size", 1), pool_options_of<Rank>(given)));
}
template <int Rank, class Space, class Layer>
result run_adaptive_pool(const golden_case& given) {
  return run_layer<Rank + 2, Space>(given, Layer(per_axis_of<Rank>(given, "output_size", 1)));
}
template <class Space>
result run_max_unpool2d(const golden_case& given) {
  const nn::max_unpool<2> layer(per_axis_of<2>(given, "kernel_size", 1), per_axis_of<2>(given, "stride", 0),
                                per_axis_of<2>(given, "padding", 0));
  const auto x = tensor_of<float, Space, 4>(given.inputs.at("input"));
  const auto places = tensor_of<std::int64_t, Space, 4>(given.inputs.at("indices"));
  const auto gradient = tensor_of<float, Space, 4>(given.grad_outputs.at("output"));
  result found;
  found.outputs["output"] = copied(layer.forward(x, places));
  found.gradients["input"] = copied(tn::evaluated_tensor(layer.input_gradient(places, gradient)));
  return found;
}

}  // namespace

void add_pooling(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    using tn::dyn;
    table["MaxPool1d"] = run_pool<1, Space, nn::max_pool1d<dyn>>;
    table["MaxPool2d"] = run_pool<2, Space, nn::max_pool2d<dyn>>;
    table["MaxPool3d"] = run_pool<3, Space, nn::max_pool3d<dyn>>;
    table["AvgPool1d"] = run_pool<1, Space, nn::avg_pool1d<dyn>>;
    table["AvgPool2d"] = run_pool<2, Space, nn::avg_pool2d<dyn>>;
    table["AvgPool3d"] = run_pool<3, Space, nn::avg_pool3d<dyn>>;
    table["LPPool2d"] = run_lp_pool<2, Space, nn::lp_pool2d<dyn>>;
    table["AdaptiveAvgPool1d"] = run_adaptive_pool<1, Space, nn::adaptive_avg_pool1d<dyn>>;
    table["AdaptiveAvgPool2d"] = run_adaptive_pool<2, Space, nn::adaptive_avg_pool2d<dyn>>;
    table["AdaptiveAvgPool3d"] = run_adaptive_pool<3, Space, nn::adaptive_avg_pool3d<dyn>>;
    table["AdaptiveMaxPool2d"] = run_adaptive_pool<2, Space, nn::adaptive_max_pool2d<dyn>>;
    table["MaxUnpool2d"] = run_max_unpool2d<Space>;
  });
}

}  // namespace golden
