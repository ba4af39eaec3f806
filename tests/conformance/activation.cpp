// tests/conformance/activation.cpp: activations of ONNX's pointwise family.
// Attributes have ONNX's defaults; what Tenon names by other constants is composed.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

float number(const call& from, const char* name, double fallback) {
  return static_cast<float>(from.attributes.number(name, fallback));
}
float alpha_of(const call& from, double fallback) { return number(from, "alpha", fallback); }

template <class Tensor>
auto shrunk(const Tensor& x, const call& from) {
  const float limit = number(from, "lambd", 0.5), bias = number(from, "bias", 0);
  return tn::where(x < -limit, x + bias, tn::where(x > limit, x - bias, 0.0f));
}

bool wants_tanh(const call& from) { return from.attributes.text("approximate", "none") == "tanh"; }

/// Until version 6 a slope of one axis belongs to the channels, axis 1.
array slope_of(const call& from) {
  array slope = from.input(1);
  if (from.opset < 7 && slope.rank() == 1) slope.extents.resize(static_cast<std::size_t>(from.input(0).rank() - 1), 1);
  return slope;
}

template <class Space>
array sloped(const call& from) {
  return with_type(float_types, from.input(0).dtype, [&]<class T>() {
    const auto x = tensor_of<T, Space>(from.input(0)), slope = tensor_of<T, Space>(slope_of(from));
    return evaluated<Space>(tn::leaky_relu(x, slope), from.input(0).rank());
  });
}

}  // namespace

void add_activation(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    const auto add = [&table](const char* name, auto function) {
      table[name] = pointwise<Space, 1>(float_types, function);
    };
    table["Relu"] = pointwise<Space, 1>(number_types, tn::relu);
    table["PRelu"] = sloped<Space>;
    add("Sigmoid", tn::sigmoid);
    add("Softplus", tn::softplus);
    add("Softsign", tn::softsign);
    add("Mish", tn::mish);
    add("HardSwish", tn::hard_swish);
    add("Shrink", [](const auto& x, const call& from) { return shrunk(x, from); });
    table["Gelu"] =
        either(wants_tanh, pointwise<Space, 1>(float_types, tn::gelu_tanh), pointwise<Space, 1>(float_types, tn::gelu));
    add("Elu", [](const auto& x, const call& from) { return tn::elu(x, alpha_of(from, 1)); });
    add("Celu", [](const auto& x, const call& from) { return tn::celu(x, alpha_of(from, 1)); });
    add("Selu", [](const auto& x, const call& from) {
      return number(from, "gamma", 1.05070102214813232421875) * tn::elu(x, alpha_of(from, 1.67326319217681884765625));
    });
    add("HardSigmoid", [](const auto& x, const call& from) {
      return tn::clamp(alpha_of(from, 0.2) * x + number(from, "beta", 0.5), 0.0f, 1.0f);
    });
    add("LeakyRelu", [](const auto& x, const call& from) { return tn::leaky_relu(x, alpha_of(from, 0.01)); });
    add("ThresholdedRelu", [](const auto& x, const call& from) { return tn::threshold(x, alpha_of(from, 1), 0.0f); });
    add("Swish", [](const auto& x, const call& from) { return x * tn::sigmoid(alpha_of(from, 1) * x); });
    table["SwiGLU"] = pointwise<Space, 2>(float_types, [](const auto& x, const auto& y, const call& from) {
      return x * tn::sigmoid(alpha_of(from, 1) * x) * y;
    });
  });
}

}  // namespace conformance
