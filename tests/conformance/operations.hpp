// tests/conformance/operations.hpp: what an operation of ONNX is to the runner, and the table of those it knows.
// Each family has a file that fills in its entries for every device; an operation is one entry.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <tenon/device/emulated.hpp>
#include <vector>

#include "conformance/array.hpp"

namespace conformance {

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
  std::optional<array> tensor(const char* name) const;

 private:
  std::shared_ptr<const nlohmann::json> values_;
};

/// One application of an operation.
struct call {
  attribute_table attributes;
  int opset;
  std::vector<std::optional<array>> inputs;
  std::size_t outputs;

  bool has(std::size_t i) const { return i < inputs.size() && inputs[i].has_value(); }
  /// throws    shape_error when the input is absent
  const array& input(std::size_t i) const {
    if (!has(i)) throw tn::shape_error(tn::compose_text("input ", i, " is absent"));
    return *inputs[i];
  }
  /// Numbers that are an input in new versions and an attribute in old ones; empty where absent.
  std::vector<index> integers(std::size_t i, const char* name) const {
    return has(i) ? integers_of(input(i)) : attributes.integers(name);
  }
};

/// The outputs of an operation; most have one.
struct array_list : std::vector<array> {
  using vector::vector;
  array_list(array only) { push_back(std::move(only)); }
};
using operation = std::function<array_list(const call&)>;
/// One of two operations, as the call asks.
inline operation either(bool (*condition)(const call&), operation first, operation second) {
  return [=](const call& from) { return condition(from) ? first(from) : second(from); };
}

/// `apply` where elements are only moved: inputs for which `is_moved` are taken as unsigned integers of their size, so
/// that types of one size share an instantiation.
operation moving(bool (*is_moved)(std::size_t input), operation apply);
inline bool first_input(std::size_t input) { return input == 0; }
inline bool every_input(std::size_t) { return true; }
inline bool outer_inputs(std::size_t input) { return input != 1; }

using operation_table = std::map<std::string, operation>;
/// One table for each device, by its name.
using device_tables = std::map<std::string, operation_table>;

/// Calls `fill.operator()<Space>(table)` for the table of every device of this program.
template <class Table, class Fill>
void on_each_device(std::map<std::string, Table>& devices, Fill fill) {
#if defined(__CUDACC__)
  fill.template operator()<tn::cuda>(devices[tn::cuda::name]);
#else
  fill.template operator()<tn::host>(devices[tn::host::name]);
#if TENON_EMULATED_CASES
  fill.template operator()<tn::emulated>(devices[tn::emulated::name]);
#endif
#endif
}

/// As on_each_device, where the host reads and writes elements itself: algorithms have no kernels yet.
template <class Fill>
void on_each_host_device([[maybe_unused]] device_tables& devices, [[maybe_unused]] Fill fill) {
#if !defined(__CUDACC__)
  on_each_device(devices, fill);
#endif
}

void add_arithmetic(device_tables&);
void add_attention(device_tables&);
void add_functions(device_tables&);
void add_activation(device_tables&);
void add_logical(device_tables&);
void add_cast(device_tables&);
void add_reduction(device_tables&);
void add_softmax(device_tables&);
void add_shape(device_tables&);
void add_normalization(device_tables&);
void add_loss(device_tables&);
void add_dropout(device_tables&);
void add_quantized(device_tables&);
void add_scan(device_tables&);
void add_indexing(device_tables&);
void add_view(device_tables&);
void add_matmul(device_tables&);
void add_convolution(device_tables&);
void add_generator(device_tables&);
void add_recurrent(device_tables&);
void add_pooling(device_tables&);
void add_resampling(device_tables&);
void add_optimizer(device_tables&);

}  // namespace conformance
