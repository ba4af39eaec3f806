// examples/onnx/graph.hpp: an ONNX model as the converter sees it: nodes, constants, inputs, outputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <tenon/base/error.hpp>
#include <vector>

#include "extent.hpp"

namespace onnx_in {

using lengths = std::vector<std::int64_t>;

/// An element type of ONNX: its number there, its names in C++ and in safetensors files, its bytes.
struct element_type {
  int number;
  const char* name;
  const char* dtype;
  std::size_t bytes;
  bool is_floating;
};
inline constexpr int float32 = 1, uint8 = 2, int32 = 6, int64 = 7, boolean = 9, float16 = 10, float64 = 11, uint64 = 13;
/// throws    error for a type that tensors of Tenon do not have
const element_type& type_of(int number);

/// Elements that are known when the model is converted.
struct constant {
  int element = float32;
  lengths extents;
  std::vector<std::uint8_t> bytes;

  std::size_t size() const { return bytes.size() / type_of(element).bytes; }
  std::vector<double> numbers() const;
  /// Elements as whole numbers, exactly; those of uint64 that int64 lacks wrap around.
  lengths integers() const;
  /// What is beyond an integer type becomes its nearest number.
  static constant of(int element, lengths all, const std::vector<double>& numbers);
  /// What is beyond an integer type wraps around.
  static constant of_integers(int element, lengths all, const lengths& numbers);
  /// The elements in another type.
  constant as(int to) const;
  /// One element, without axes.
  constant one(std::size_t i = 0) const;
};

/// How many elements a tensor of the model may have, and one that the converter computes itself.
inline constexpr std::int64_t most_elements = std::int64_t{1} << 40, most_computed = std::int64_t{1} << 28;
/// throws    error for extents whose product is beyond `most`, or that are negative
std::int64_t size_of(const lengths& all, std::int64_t most = most_elements);
inline std::int64_t table_size(const lengths& all) { return size_of(all, most_computed); }

struct graph;

/// Of an attribute, what its kind says.
struct attribute {
  std::int64_t integer = 0;
  float number = 0;
  std::string text;
  lengths integers;
  std::vector<float> numbers;
  std::vector<std::string> texts;
  std::map<int, constant> tensor;     // one, or none
  std::shared_ptr<const graph> part;  // a graph within the node, or null
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
