// tests/golden/activation.cpp: activations and the softmax family.
// Arguments are PyTorch's, in its order.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

/// An activation of matrices whose arguments are the named attributes.
template <class Layer, class Space, class... Names>
layer pointwise(Names... names) {
  return [=](const golden_case& given) {
    if constexpr (sizeof...(Names) == 0) return run_layer<2, Space>(given, Layer{});
    else return run_layer<2, Space>(given, Layer{given.attributes.number(names, 0)...});
  };
}

/// The softmax family along the axes that there are cases of; `Function<Axis>` is a layer.
template <template <int> class Function, class Space>
result run_softmax(const golden_case& given) {
  const auto axis = given.attributes.integer("dim", 0);
  const bool is_matrix = given.inputs.at("input").rank() == 2;
  if (is_matrix && axis == -1) return run_layer<2, Space>(given, Function<-1>{});
  if (axis == 0) return run_layer<3, Space>(given, Function<0>{});
  if (axis == 1) return run_layer<3, Space>(given, Function<1>{});
  if (axis == -1) return run_layer<3, Space>(given, Function<-1>{});
  throw not_supported("another axis");
}

template <int Axis>
using softmax = nn::softmax<Axis>;
template <int Axis>
using log_softmax = nn::log_softmax<Axis>;
template <int Axis>
using softmin = nn::softmin<Axis>;

template <class Space>
result run_gelu(const golden_case& given) {
  if (given.attributes.text("approximate", "none") == "tanh") return run_layer<2, Space>(given, nn::gelu_tanh{});
  return run_layer<2, Space>(given, nn::gelu{});
}

template <class Space>
result run_prelu(const golden_case& given) {
  const auto count = given.attributes.integer("num_parameters", 1);
  if (count == 1) return run_layer<2, Space>(given, nn::prelu<1, Space>{});
  if (count == 4) return run_layer<3, Space>(given, nn::prelu<4, Space>{});
  throw not_supported("another number of weights");
}

template <class Space>
void fill_activations(layer_table& table) {
  table["CELU"] = pointwise<nn::celu, Space>("alpha");
  table["ELU"] = pointwise<nn::elu, Space>("alpha");
  table["GELU"] = run_gelu<Space>;
  table["GLU"] = [](const golden_case& given) { return run_layer<3, Space>(given, nn::glu<-1>{}); };
  table["Hardshrink"] = pointwise<nn::hardshrink, Space>("lambd");
  table["Hardsigmoid"] = pointwise<nn::hardsigmoid, Space>();
  table["Hardswish"] = pointwise<nn::hardswish, Space>();
  table["Hardtanh"] = pointwise<nn::hardtanh, Space>("min_val", "max_val");
  table["LeakyReLU"] = pointwise<nn::leaky_relu, Space>("negative_slope");
  table["LogSigmoid"] = pointwise<nn::log_sigmoid, Space>();
  table["Mish"] = pointwise<nn::mish, Space>();
  table["PReLU"] = run_prelu<Space>;
  table["ReLU"] = pointwise<nn::relu, Space>();
  table["ReLU6"] = pointwise<nn::relu6, Space>();
  table["SELU"] = pointwise<nn::selu, Space>();
  table["SiLU"] = pointwise<nn::silu, Space>();
  table["Sigmoid"] = pointwise<nn::sigmoid, Space>();
  table["Softplus"] = pointwise<nn::softplus, Space>("beta", "threshold");
  table["Softshrink"] = pointwise<nn::softshrink, Space>("lambd");
  table["Softsign"] = pointwise<nn::softsign, Space>();
  table["Tanh"] = pointwise<nn::tanh, Space>();
  table["Tanhshrink"] = pointwise<nn::tanhshrink, Space>();
  table["Threshold"] = pointwise<nn::threshold, Space>("threshold", "value");
  table["Softmax"] = run_softmax<softmax, Space>;
  table["LogSoftmax"] = run_softmax<log_softmax, Space>;
  table["Softmin"] = run_softmax<softmin, Space>;
}

}  // namespace

void add_activation(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) { fill_activations<Space>(table); });
}

}  // namespace golden
