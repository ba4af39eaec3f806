// examples/onnx/graph.hpp: an ONNX model as the converter sees it: nodes, constants, inputs, outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tenon/base/error.hpp>
#include <vector>

#include "extent.hpp"

namespace onnx_in {

/// An element type of ONNX: its number there, its names in C++ and in safetensors files, its bytes.
struct element_type {
  int number;
  const char* name;
  const char* dtype;
  std::size_t bytes;
  bool is_floating;
};
inline constexpr int float32 = 1, int32 = 6, int64 = 7, boolean = 9, float16 = 10;
/// throws    error for a type that tensors of Tenon do not have
const element_type& type_of(int number);

/// Elements that are known when the model is converted.
struct constant {
  int element = float32;
  std::vector<std::int64_t> extents;
  std::vector<std::uint8_t> bytes;

  std::size_t size() const { return bytes.size() / type_of(element).bytes; }
  std::vector<double> numbers() const;
  static constant of(int element, std::vector<std::int64_t> all, const std::vector<double>& numbers);
};

/// Of an attribute, what its kind says.
struct attribute {
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  std::map<int, constant> tensor;  // one, or none
  bool is_graph = false;
};

struct node {
  std::string name, operation, domain;
  std::vector<std::string> inputs, outputs;
  std::map<std::string, attribute> attributes;

  std::string text() const { return "node '" + name + "' (operator " + operation + ")"; }
};

struct graph_input {
  std::string name;
  int element = float32;
  std::vector<extent> extents;
};

struct graph {
  std::int64_t opset = 0;
  std::vector<node> nodes;
  std::map<std::string, constant> constants;
  std::vector<graph_input> inputs;
  std::vector<std::string> outputs;
};

/// throws    error for a file that is no ONNX model, or is truncated, or whose tensors lie in other files that are
///           missing
graph read_model(const std::filesystem::path& path);

}  // namespace onnx_in
