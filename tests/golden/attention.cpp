// tests/golden/attention.cpp: attention of several heads, and transformers' layers.
// Gradients come from those of the output and of the averaged weights together.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/transformer.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;
using tn::dyn;

constexpr nn::multihead_attention_options attention_batch_first{.batch_first = true};
constexpr nn::multihead_attention_options attention_without_bias{.bias = false, .batch_first = true};
constexpr nn::multihead_attention_options attention_of_features{.batch_first = true, .kdim_vdim = true};

/// The masks of a case as one expression, handed to `use`: none, of padding, bool or added.
template <class Space, class Use>
void with_mask(const golden_case& given, const Use& use) {
  if (given.inputs.count("key_padding_mask") != 0) {
    const auto padding = tensor_of<bool, Space, 2>(given.inputs.at("key_padding_mask"));
    return use(tn::new_axis<1>(tn::new_axis<1>(padding)));
  }
  if (given.inputs.count("attn_mask") == 0) return use(nn::no_mask);
  if (given.inputs.at("attn_mask").dtype == "bool") return use(tensor_of<bool, Space, 2>(given.inputs.at("attn_mask")));
  use(tensor_of<float, Space, 2>(given.inputs.at("attn_mask")));
}

template <class Layer>
result run_attention(const golden_case& given) {
  using space = typename Layer::space;
  using cube = tn::tensor<float, tn::rank<3>, space>;
  const auto& attributes = given.attributes;
  Layer called(attributes.integer("embed_dim", 0), attributes.integer("num_heads", 0), attributes.integer("kdim", 0),
               attributes.integer("vdim", 0));
  fill_parameters<space>(given, called);
  const bool is_self = given.inputs.count("key") == 0;
  const auto input = [&](const char* name) {
    return tensor_of<float, space, 3>(given.inputs.at(is_self ? "query" : name));
  };
  const cube query = input("query"), key = input("key"), value = input("value");
  result found;
  with_mask<space>(given, [&](const auto& mask) {
    cube query_gradient(query.shape()), key_gradient(key.shape()), value_gradient(value.shape());
    tn::tensor<float, tn::rank<2>, space> mask_gradient(tn::rank<2>(query.extent(1), key.extent(1)));
    found.outputs["attn_output"] = copied(tn::evaluated_tensor(called.forward(query, key, value, mask)));
    found.outputs["attn_output_weights"] = copied(tn::evaluated_tensor(called.average_weights(mask)));
    called.backward(query, key, value, mask, tensor_of<float, space, 3>(given.grad_outputs.at("attn_output")),
                    query_gradient.write_view(), key_gradient.write_view(), value_gradient.write_view(),
                    tensor_of<float, space, 3>(given.grad_outputs.at("attn_output_weights")),
                    mask_gradient.write_view());
    if (is_self) query_gradient = query_gradient + key_gradient + value_gradient;
    found.gradients = parameter_gradients(called);
    found.gradients["query"] = copied(query_gradient);
    if (!is_self) found.gradients["key"] = copied(key_gradient), found.gradients["value"] = copied(value_gradient);
    if (given.gradients.count("attn_mask") != 0) found.gradients["attn_mask"] = copied(mask_gradient);
  });
  return found;
}

template <class Layer>
result run_encoder(const golden_case& given) {
  using space = typename Layer::space;
  Layer called;
  fill_parameters<space>(given, called);
  const auto x = tensor_of<float, space, 3>(given.inputs.at("input"));
  const auto v = tn::variable(x);
  const tn::traced y = called(v);
  y.backward(tensor_of<float, space, 3>(given.grad_outputs.at("output")));
  result found;
  found.outputs["output"] = copied(y);
  found.gradients = parameter_gradients(called);
  found.gradients["input"] = copied(v.gradient());
  return found;
}

constexpr nn::transformer_options norms_last{.dropout = 0, .batch_first = true};
constexpr nn::transformer_options norms_first{.dropout = 0, .batch_first = true, .norm_first = true};

}  // namespace

void add_attention(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["MultiheadAttention"] = [](const golden_case& given) {
      if (given.attributes.integer("kdim", 0) != given.attributes.integer("embed_dim", 0)) {
        return run_attention<nn::multihead_attention<dyn, dyn, attention_of_features, Space>>(given);
      }
      if (!given.attributes.flag("bias", true)) {
        return run_attention<nn::multihead_attention<dyn, dyn, attention_without_bias, Space>>(given);
      }
      return run_attention<nn::multihead_attention<dyn, dyn, attention_batch_first, Space>>(given);
    };
    table["TransformerEncoderLayer"] = [](const golden_case& given) {
      if (given.attributes.flag("norm_first", false)) {
        return run_encoder<nn::transformer_encoder_layer<8, 2, 16, nn::gelu, norms_first, Space>>(given);
      }
      return run_encoder<nn::transformer_encoder_layer<8, 2, 16, nn::gelu, norms_last, Space>>(given);
    };
  });
}

}  // namespace golden
