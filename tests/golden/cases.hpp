// tests/golden/cases.hpp: a layer's call as PyTorch made it, and the table of what can be compared with it.
// The format is that of the folder's own README.md; each family has a file that fills in its classes for every device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <tenon/device/emulated.hpp>

#include "golden/compare.hpp"

namespace golden {

/// The attributes of a case, by name; `fallback` is the default, also for null.
class attribute_table {
 public:
  explicit attribute_table(const nlohmann::json& attributes);
  bool has(const char* name) const;
  bool is_text(const char* name) const;
  double number(const char* name, double fallback) const;
  index integer(const char* name, index fallback) const;
  bool flag(const char* name, bool fallback) const;
  std::string text(const char* name, const char* fallback) const;
  /// Empty where absent.
  std::vector<index> integers(const char* name) const;
  std::vector<double> numbers(const char* name) const;

 private:
  std::shared_ptr<const nlohmann::json> values_;
};

/// A line of cases.json.
struct case_entry {
  std::string name, operation, family;
};
struct case_list {
  std::vector<case_entry> entries;
  tolerance_table tolerances;
};
/// throws    file_error when the file is missing or says nothing sensible
case_list read_case_list(const std::filesystem::path& folder);

/// Tensors by their names.
using array_table = std::map<std::string, array>;

/// What PyTorch was given, and what came out.
struct golden_case {
  std::string name, layer;
  attribute_table attributes;
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

/// Calls `fill.operator()<Space>(table)` for the table of every device of this program. Where `fill` is a lambda, it
/// captures by `[&]`: nvcc warns of lambdas whose pointers to functions would not tell their template argument.
template <class Fill>
void on_each_device(device_tables& devices, Fill fill) {
#if defined(__CUDACC__)
  fill.template operator()<tn::cuda>(devices[tn::cuda::name]);
#else
  fill.template operator()<tn::host>(devices[tn::host::name]);
#if defined(TENON_EMULATED_CASES)
  fill.template operator()<tn::emulated>(devices[tn::emulated::name]);
#endif
#endif
}

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
