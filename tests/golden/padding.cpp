// tests/golden/padding.cpp: layers that pad their input.
// Widths come from the case, at run time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/padding.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

/// Runs a layer whose widths are given at run time, and what it is given behind them.
template <class Layer, class Space, class... Border>
result run_padding(const golden_case& given, const Border&... border) {
  nn::per_axis<Layer::end_count> widths(0);
  const auto values = given.attributes.integers("padding");
  for (std::size_t end = 0; end < values.size(); ++end) widths.values[end] = values[end];
  return run_layer<Layer::rank + 2, Space>(given, Layer(widths, border...));
}

template <class Layer, class Space>
result run_constant_padding(const golden_case& given) {
  return run_padding<Layer, Space>(given, nn::constant_border(given.attributes.number("value", 0)));
}

}  // namespace

void add_padding(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["ConstantPad2d"] = run_constant_padding<nn::constant_pad2d<>, Space>;
    table["ReflectionPad1d"] = run_padding<nn::reflection_pad1d<>, Space>;
    table["ReflectionPad2d"] = run_padding<nn::reflection_pad2d<>, Space>;
    table["ReplicationPad2d"] = run_padding<nn::replication_pad2d<>, Space>;
    table["ZeroPad2d"] = run_padding<nn::zero_pad2d<>, Space>;
  });
}

}  // namespace golden
