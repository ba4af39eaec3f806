// examples/onnx/call.hpp: a node that is being written: its inputs, attributes and results; and the table of operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "network.hpp"

namespace onnx_in {

/// What an operator's row has in hand.
struct call {
  network& net;
  const node& at;
  std::int64_t opset;

  bool has(std::size_t i) const { return i < at.inputs.size() && !at.inputs[i].empty(); }
  value& in(std::size_t i) const;
  std::size_t count() const { return at.inputs.size(); }
  std::string code(std::size_t i, binding least = binding::loose) const { return net.code_of(in(i), least); }
  /// An input that lies in memory in its order, and so may be reshaped.
  std::string code_in_memory(std::size_t i) const { return in(i).is_known() ? code(i) : net.name_of(in(i)); }
  /// Elements that have to be known: of weights, axes and the like.
  const constant& known(std::size_t i, const char* what) const;
  std::vector<std::int64_t> known_integers(std::size_t i, const char* what) const;
  /// Whole numbers that are known, or hang on extents: of shapes, bounds and the like.
  extents whole_numbers(std::size_t i, const char* what) const;

  bool has_attribute(const char* name) const { return at.attributes.contains(name); }
  std::int64_t integer(const char* name, std::int64_t otherwise) const;
  double number(const char* name, double otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  std::vector<std::int64_t> integers(const char* name) const;
  /// The axes of an input or, in older sets of operators, of an attribute.
  std::optional<std::vector<std::int64_t>> axes(std::size_t input) const;
  /// An axis counted from the front.
  std::int64_t axis_of(std::int64_t axis, int rank) const;

  void result(extents made, std::string code, binding strength = binding::tight, int element = -1,
              std::size_t output = 0) const;
  void known_result(constant made) const;
  [[noreturn]] void refuse(const std::string& fact) const;
  bool wants(std::size_t output) const { return output < at.outputs.size() && !at.outputs[output].empty(); }
};

/// One operator: its name, what writes a node of it, and its domain, if that is not ONNX's first one.
struct row {
  const char* operation;
  void (*write)(const call&);
  const char* domain = "";
};
std::span<const row> pointwise_rows();
std::span<const row> layer_rows();
std::span<const row> recurrent_rows();
std::span<const row> pool_rows();
std::span<const row> shape_rows();
std::span<const row> part_rows();
std::span<const row> reduction_rows();
std::span<const row> product_rows();
std::span<const row> choice_rows();
std::span<const row> quantised_rows();
std::span<const row> attention_rows();
std::span<const row> resize_rows();
std::span<const row> loss_rows();
std::span<const row> scatter_rows();
std::span<const row> optimizer_rows();
std::span<const row> sampling_rows();

/// Writes a node by its row.
/// throws    error that names the node where there is none
void write_node(const call& each);
/// The names of all operators, in order.
std::vector<std::string> known_operators();

/// Older operators may say which axes of the first operand those of the second one are: as broadcasting does, or not.
/// throws    error where it is not
void expect_last_axes(const call& each);
/// What a node makes of known elements, or of extents; false where it has to be computed by the network.
bool fold(const call& each);

/// The extents of operands that repeat over each other.
extents broadcast(const call& each, const extents& a, const extents& b);
std::string axis_text(const std::vector<std::int64_t>& axes, const char* what = "tn::axis");
std::string text_of(const extents& all);

}  // namespace onnx_in
