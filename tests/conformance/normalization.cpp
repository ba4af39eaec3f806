// tests/conformance/normalization.cpp: elements less their mean, over their deviation.
// Rows, channels and lines are axes of two or three; where there is a layer for what ONNX asks, it answers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>

#include "conformance/axes.hpp"
#include "conformance/lines.hpp"

namespace conformance {

namespace {

namespace nn = tn::nn;

float epsilon_of(const call& from) { return static_cast<float>(from.attributes.number("epsilon", 1e-5)); }

/// Elements as rows of all axes from `axis` on.
template <class Space>
auto rows_of(array source, int axis) {
  index length = 1;
  for (int each = axis; each < source.rank(); ++each) length *= source.extents[static_cast<std::size_t>(each)];
  source.extents = {length == 0 ? 0 : source.size() / length, length};
  return tensor_of<float, Space, 2>(source);
}

/// Elements as one row.
template <class Space>
auto row_of(array source) {
  source.extents = {source.size()};
  return tensor_of<float, Space, 1>(source);
}

int first_normalised_axis(const call& from) {
  return front_axis(from.attributes.integer("axis", -1), from.input(0).rank());
}

template <class Space>
array_list layer_normalization(const call& from) {
  const array& source = from.input(0);
  const int axis = first_normalised_axis(from);
  const auto x = rows_of<Space>(source, axis);
  const auto scale = row_of<Space>(from.input(1)), bias = row_of<Space>(from.input(2));
  const tn::tensor<float, tn::rank<2>, Space> y = tn::layer_norm(x, tn::axis<1>, scale, bias, epsilon_of(from));
  const tn::tensor<float, tn::rank<2>, Space> average = tn::mean(x, tn::axis<1>);
  const tn::tensor<float, tn::rank<2>, Space> deviation = tn::rsqrt(tn::variance(x, tn::axis<1>) + epsilon_of(from));
  std::vector<index> reduced = source.extents;
  std::fill(reduced.begin() + axis, reduced.end(), 1);
  return {array_of(y, source.extents), array_of(average, reduced), array_of(deviation, reduced)};
}

template <class Space>
array rms_normalization(const call& from) {
  const auto x = rows_of<Space>(from.input(0), first_normalised_axis(from));
  const tn::tensor<float, tn::rank<2>, Space> y =
      tn::rms_norm(x, tn::axis<1>, row_of<Space>(from.input(1)), epsilon_of(from));
  return array_of(y, from.input(0).extents);
}

template <class Space>
array lp_normalization(const call& from) {
  const index axis = from.attributes.integer("axis", -1);
  const auto x = lines_of<float, Space>(from.input(0), axis);
  tn::tensor<float, tn::rank<3>, Space> norm;
  if (from.attributes.integer("p", 2) == 1) norm = tn::sum(tn::abs(x), middle_axis);
  else norm = tn::sqrt(tn::sum(tn::square(x), middle_axis));
  const tn::tensor<float, tn::rank<3>, Space> y = tn::where(norm == 0, 0.0f, x / norm);  // as ONNX: 0 / 0 is 0
  return array_of(y, from.input(0).extents);
}

/// What a layer makes of [batch, channels, elements].
template <class Layer>
array output_of(const call& from, Layer layer) {
  const auto x = lines_of<float, typename Layer::space>(from.input(0), 1);
  if constexpr (requires { layer.prepare(x); }) layer.prepare(x);
  const tn::tensor<float, tn::rank<3>, typename Layer::space> y = layer.forward(x);
  return array_of(y, from.input(0).extents);
}

/// A layer for the channels of the first input, with the weight and bias that follow it.
template <class Layer>
Layer layer_of_channels(const call& from) {
  Layer layer(from.input(0).extents.at(1));
  layer.initialise(0);
  layer.weight.value = row_of<typename Layer::space>(from.input(1));
  layer.bias.value = row_of<typename Layer::space>(from.input(2));
  return layer;
}

template <class Space>
array batch_normalization(const call& from) {
  auto layer = layer_of_channels<nn::batch_norm<tn::dyn, nn::affine::both, Space>>(from);
  layer.options.epsilon = epsilon_of(from);
  layer.running_mean = row_of<Space>(from.input(3)), layer.running_var = row_of<Space>(from.input(4));
  layer.is_training = false;
  return output_of(from, std::move(layer));
}

template <class Space>
array instance_normalization(const call& from) {
  auto layer = layer_of_channels<nn::instance_norm<tn::dyn, nn::affine::both, Space>>(from);
  layer.epsilon = epsilon_of(from);
  return output_of(from, std::move(layer));
}

/// Over the batches and every element of a channel.
template <class Space>
array mean_variance_normalization(const call& from) {
  const auto axes = from.attributes.integers("axes");
  const auto is_named = named_axes(axes.empty() ? std::vector<index>{0, 2, 3} : axes, from.input(0).rank());
  const auto x = tensor_of<float, Space>(from.input(0));
  tensor<float, Space> y(x.shape());
  split_axes(y, is_named) = tn::standardise(split_axes(x, is_named), named, 1e-18f);
  return array_of(y, from.input(0).rank());
}

/// A window of even size reaches one channel further back in the layer, one further forward in ONNX.
template <class Space>
array local_response_normalization(const call& from) {
  const nn::local_response_norm layer(from.attributes.integer("size", 1), from.attributes.number("alpha", 1e-4),
                                      from.attributes.number("beta", 0.75), from.attributes.number("bias", 1));
  const auto x = lines_of<float, Space>(from.input(0), 1);
  const tn::tensor<float, tn::rank<3>, Space> backwards = tn::flip(x, middle_axis);
  const tn::tensor<float, tn::rank<3>, Space> y = tn::flip(layer.forward(backwards), middle_axis);
  return array_of(y, from.input(0).extents);
}

}  // namespace

void add_normalization(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["LayerNormalization"] = layer_normalization<Space>;
    table["RMSNormalization"] = rms_normalization<Space>;
    table["LpNormalization"] = lp_normalization<Space>;
    table["BatchNormalization"] = batch_normalization<Space>;
    table["InstanceNormalization"] = instance_normalization<Space>;
    table["LRN"] = local_response_normalization<Space>;
    table["MeanVarianceNormalization"] = mean_variance_normalization<Space>;
  });
}

}  // namespace conformance
