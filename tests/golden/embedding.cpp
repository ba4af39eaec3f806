// tests/golden/embedding.cpp: embeddings, and bags of them.
// Indices have no gradient; those of the weight are compared.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cuda.hpp>
#include <tenon/nn/embedding_bag.hpp>

#include "golden/layers.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;
using tn::dyn;

std::optional<index> padding_of(const golden_case& given) {
  if (!given.attributes.has("padding_idx")) return std::nullopt;
  return given.attributes.integer("padding_idx", 0);
}

template <class Space>
result run_embedding(const golden_case& given) {
  const auto& attributes = given.attributes;
  nn::embedding<dyn, dyn, Space> called(attributes.integer("num_embeddings", 0), attributes.integer("embedding_dim", 0),
                                        {.padding_idx = padding_of(given)});
  fill_parameters<Space>(given, called);
  const auto indices = tensor_of<std::int64_t, Space, 2>(given.inputs.at("input"));
  const auto y = tn::evaluated_tensor(called.forward(indices));
  called.backward(indices, y, tensor_of<float, Space, 3>(given.grad_outputs.at("output")), nn::not_wanted{});
  result found;
  found.outputs["output"] = copied(y);
  found.gradients = parameter_gradients(called);
  return found;
}

nn::bag_mode mode_of(const golden_case& given) {
  const std::string mode = given.attributes.text("mode", "mean");
  for (const auto each : {nn::bag_mode::sum, nn::bag_mode::mean, nn::bag_mode::max}) {
    if (mode == nn::name_of(each)) return each;
  }
  throw not_supported("mode " + mode);
}

template <class Space>
result run_embedding_bag(const golden_case& given) {
  const auto& attributes = given.attributes;
  nn::embedding_bag<dyn, dyn, Space> called(attributes.integer("num_embeddings", 0),
                                            attributes.integer("embedding_dim", 0),
                                            {.mode = mode_of(given),
                                             .include_last_offset = attributes.flag("include_last_offset", false),
                                             .padding_idx = padding_of(given)});
  fill_parameters<Space>(given, called);
  const auto indices = tensor_of<std::int64_t, Space, 1>(given.inputs.at("input"));
  const auto offsets = tensor_of<std::int64_t, Space, 1>(given.inputs.at("offsets"));
  const auto y = called.forward(indices, offsets);
  called.backward(indices, offsets, y, tensor_of<float, Space, 2>(given.grad_outputs.at("output")));
  result found;
  found.outputs["output"] = copied(y);
  found.gradients = parameter_gradients(called);
  return found;
}

}  // namespace

void add_embedding(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    table["Embedding"] = run_embedding<Space>;
    table["EmbeddingBag"] = run_embedding_bag<Space>;
  });
}

}  // namespace golden
