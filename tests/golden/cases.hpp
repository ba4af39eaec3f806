// tests/golden/cases.hpp: a layer's call as PyTorch made it, and the table of what can be compared with it.
// The format is that of the folder's own README.md; each family has a file that fills in its classes for every device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "conformance/cases.hpp"

namespace golden {

namespace tn = tenon;
using conformance::array;
using conformance::array_of;
using conformance::on_each_device;
using conformance::tensor_of;
using tn::index;

/// Tensors by their names.
using array_table = std::map<std::string, array>;

/// What PyTorch was given, and what came out.
struct golden_case {
  std::string name, layer;
  conformance::attribute_table attributes;
  array_table inputs, parameters, buffers, grad_outputs;
  array_table outputs, buffers_after, gradients;
  std::filesystem::path folder;
  std::string optimizer;                        // of training cases, whose layer is the network
  array_table parameters_after, outputs_after;  // of training cases; `losses` are among the latter
};

/// What came out here, to be compared with a case.
struct result {
  array_table outputs, buffers_after, gradients, parameters_after, outputs_after;
};

/// Thrown for a case that cannot be told here; its text says why.
struct not_supported : std::runtime_error {
  using runtime_error::runtime_error;
};

using layer = std::function<result(const golden_case&)>;
/// By PyTorch's names of classes.
using layer_table = std::map<std::string, layer>;
using device_tables = std::map<std::string, layer_table>;

/// throws    file_error
golden_case read_golden_case(const std::filesystem::path& folder);

void add_activation(device_tables&);
void add_attention(device_tables&);
void add_convolution(device_tables&);
void add_embedding(device_tables&);
void add_linear(device_tables&);
void add_loss(device_tables&);
void add_network(device_tables&);
void add_normalization(device_tables&);
void add_optimizer(device_tables&);
void add_padding(device_tables&);
void add_pooling(device_tables&);
void add_recurrent(device_tables&);
void add_resampling(device_tables&);

}  // namespace golden
