// tests/golden/linear.cpp: linear and bilinear layers.
// Sizes come from the case, at run time; the type says whether there is a bias.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/bilinear.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;
using tn::dyn;

constexpr nn::linear_options linear_without_bias{.bias = false};

template <class Layer>
result run_linear(const golden_case& given) {
  const auto& attributes = given.attributes;
  return run_layer_of_rank<1, 3, typename Layer::space>(
      given, Layer(attributes.integer("in_features", 0), attributes.integer("out_features", 0)));
}

/// Two inputs, forward and backward.
template <class Space>
result run_bilinear(const golden_case& given) {
  using layer_type = nn::bilinear<dyn, dyn, dyn, nn::linear_options{}, Space>;
  const auto& attributes = given.attributes;
  layer_type called(attributes.integer("in1_features", 0), attributes.integer("in2_features", 0),
                    attributes.integer("out_features", 0));
  fill_parameters<Space>(given, called);
  const auto x1 = tensor_of<float, Space, 2>(given.inputs.at("input1"));
  const auto x2 = tensor_of<float, Space, 2>(given.inputs.at("input2"));
  const auto y = tn::evaluated_tensor(called.forward(x1, x2));
  tn::tensor<float, tn::rank<2>, Space> gradient1(x1.shape()), gradient2(x2.shape());
  called.backward(x1, x2, y, tensor_of<float, Space, 2>(given.grad_outputs.at("output")), gradient1.write_view(),
                  gradient2.write_view());
  result found;
  found.outputs["output"] = copied(y);
  found.gradients = parameter_gradients(called);
  found.gradients["input1"] = copied(gradient1);
  found.gradients["input2"] = copied(gradient2);
  return found;
}

}  // namespace

void add_linear(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["Linear"] = [](const golden_case& given) {
      if (given.attributes.flag("bias", true)) {
        return run_linear<nn::linear<dyn, dyn, nn::linear_options{}, Space>>(given);
      }
      return run_linear<nn::linear<dyn, dyn, linear_without_bias, Space>>(given);
    };
    table["Bilinear"] = run_bilinear<Space>;
  });
}

}  // namespace golden
