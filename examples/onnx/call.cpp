// examples/onnx/call.cpp: inputs, attributes and results of a node; the table of all operators.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace onnx_in {

namespace {
const std::map<std::string, row>& all_rows() {
  static const std::map<std::string, row> all = [] {
    std::map<std::string, row> made;
    for (const auto& rows : {pointwise_rows(), layer_rows(), recurrent_rows(), pool_rows(), shape_rows(), part_rows(),
                             reduction_rows(), product_rows(), choice_rows(), quantised_rows(), attention_rows(),
                             resize_rows(), loss_rows(), scatter_rows(), optimizer_rows(), sampling_rows()}) {
      for (const row& each : rows) made.emplace(each.operation, each);
    }
    return made;
  }();
  return all;
}
}  // namespace

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, each] : all_rows()) names.push_back(name);
  return names;
}

void write_node(const call& each) {
  const auto found = all_rows().find(each.at.operation);
  if (found == all_rows().end() || each.at.domain != found->second.domain) each.refuse("is not supported");
  for (const auto& [name, attribute] : each.at.attributes) {
    if (attribute.part != nullptr && each.at.operation != "If")
      each.refuse("has a graph as attribute '" + name + "', which is not supported");
  }
  found->second.write(each);
}

value& call::in(std::size_t i) const {
  if (!has(i)) refuse("has no input " + std::to_string(i));
  if (!net.is_defined(at.inputs[i])) {
    refuse("reads '" + at.inputs[i] + "', which is no input, no initialiser and made by no node before");
  }
  return net.of(at.inputs[i]);
}

const constant& call::known(std::size_t i, const char* what) const {
  value& each = in(i);
  if (!each.data && each.fill) {
    lengths fixed;
    for (const extent& length : each.extents) {
      if (length.known) fixed.push_back(*length.known);
    }
    if (fixed.size() == each.extents.size()) {
      constant made{each.element, fixed, {}};
      const std::int64_t count = table_size(fixed);
      for (std::int64_t left = count; left > 0; --left)
        made.bytes.insert(made.bytes.end(), each.fill->bytes.begin(), each.fill->bytes.end());
      each.data = std::move(made);
    }
  }
  if (!each.data) refuse(std::string(what) + " '" + at.inputs[i] + "' is computed by the network, expected a constant");
  return *each.data;
}
std::vector<std::int64_t> call::known_integers(std::size_t i, const char* what) const {
  return known(i, what).integers();
}

extents call::whole_numbers(std::size_t i, const char* what) const {
  if (in(i).whole) return *in(i).whole;
  const lengths all = known_integers(i, what);
  return {all.begin(), all.end()};
}

std::int64_t call::integer(const char* name, std::int64_t otherwise) const {
  return has_attribute(name) ? at.attributes.at(name).integer : otherwise;
}
double call::number(const char* name, double otherwise) const {
  return has_attribute(name) ? static_cast<double>(at.attributes.at(name).number) : otherwise;
}
std::string call::text(const char* name, const char* otherwise) const {
  return has_attribute(name) ? at.attributes.at(name).text : otherwise;
}
std::vector<std::int64_t> call::integers(const char* name) const {
  return has_attribute(name) ? at.attributes.at(name).integers : std::vector<std::int64_t>{};
}
std::optional<std::vector<std::int64_t>> call::axes(std::size_t input) const {
  if (has(input)) return known_integers(input, "axes");
  if (has_attribute("axes")) return integers("axes");
  return std::nullopt;
}
std::int64_t call::axis_of(std::int64_t axis, int rank) const {
  if (axis < -rank || axis >= rank) {
    refuse("axis " + std::to_string(axis) + ", expected one of " + std::to_string(rank) + " axes");
  }
  return axis < 0 ? axis + rank : axis;
}

void call::result(extents made, std::string code, binding strength, int element, std::size_t output) const {
  if (output >= at.outputs.size()) return;
  value all;
  all.element = element == -1 ? in(0).element : element;
  all.extents = std::move(made), all.code = std::move(code), all.strength = strength;
  net.define(at.outputs[output], std::move(all));
}
void call::known_result(constant made) const {
  value all;
  all.element = made.element;
  all.extents.assign(made.extents.begin(), made.extents.end());
  all.data = std::move(made);
  net.define(at.outputs[0], std::move(all));
}
void call::refuse(const std::string& fact) const {
  const std::string domain = at.domain.empty() ? "" : at.domain + ".";
  throw tenon::error("node '" + at.name + "' (operator " + domain + at.operation + ") " + fact);
}

std::string text_of(const extents& all) {
  std::vector<std::string> texts;
  for (const extent& each : all) texts.push_back(each.code);
  return "[" + joined(texts) + "]";
}

extents broadcast(const call& each, const extents& a, const extents& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  extents made;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const extent left = axis + a.size() < rank ? extent(1) : a[axis + a.size() - rank];
    const extent right = axis + b.size() < rank ? extent(1) : b[axis + b.size() - rank];
    if (left.known && right.known && !left.is(1) && !right.is(1) && !(left == right)) {
      each.refuse("axis " + std::to_string(axis) + ": extents " + left.code + " and " + right.code +
                  " differ (operands " + text_of(a) + " and " + text_of(b) + ")");
    }
    made.push_back(left.is(1) || (!left.known && right.known && !right.is(1)) ? right : left);
  }
  return made;
}

void expect_last_axes(const call& each) {
  static const std::set<std::string> pairs = {"Add", "And", "Div", "Equal", "Greater", "Less",
                                              "Mul", "Or",  "Pow", "Sub",   "Xor"};
  if (each.opset >= 7 || !pairs.contains(each.at.operation)) return;
  if (each.integer("broadcast", 0) == 0 || !each.has_attribute("axis")) return;
  const int rank = each.in(0).rank();
  const std::int64_t axis = each.axis_of(each.integer("axis", 0), rank);
  if (axis + each.in(1).rank() == rank) return;
  each.refuse("broadcasts " + text_of(each.in(1).extents) + " from axis " + std::to_string(axis) + " of " +
              text_of(each.in(0).extents) + " on, expected its last axes");
}

std::string axis_text(const std::vector<std::int64_t>& axes, const char* what) {
  return std::string(what) + "<" + listed(axes) + ">";
}

}  // namespace onnx_in
