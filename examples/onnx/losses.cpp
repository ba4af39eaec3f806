// examples/onnx/losses.cpp: how improbable labels are, which choose among the classes of axis 1.
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// The shape of a weight for each class, before the axes behind the classes.
extents column_of(const call& each) {
  extents made(static_cast<std::size_t>(each.in(0).rank() - 1), 1);
  made[0] = each.in(0).extents[1];
  return made;
}

/// The weighted negative logarithm of each label's probability, or their sum or mean; labels to ignore weigh nothing.
void write_likelihood(const call& each, const std::string& logarithms) {
  const extents& all = each.in(0).extents;
  const std::string labels = each.net.named("tn::cast<std::int64_t>(tn::new_axis<1>(" + each.code(1) + "))");
  std::string is_label = "tn::index_grid<std::int64_t>(" + shape_of(all) + ", tn::axis<1>) == " + labels;
  if (each.has_attribute("ignore_index"))
    is_label += " && " + labels + " != " + std::to_string(each.integer("ignore_index", 0));
  const std::string one = literal(each.in(0).element, 1), zero = literal(each.in(0).element, 0);
  const std::string weights =
      each.has(2) ? "tn::traced(" + each.code(2) + ").reshape(" + shape_of(column_of(each)) + ")" : one;
  const std::string shares = each.net.named("tn::where(" + is_label + ", " + weights + ", " + zero + ")");
  const std::string losses = "tn::sum(-" + shares + " * " + logarithms;
  const std::string reduction = each.text("reduction", "mean");
  extents of_labels = all;
  of_labels.erase(of_labels.begin() + 1);
  if (reduction == "none") return each.result(of_labels, losses + ", tn::drop<1>)");
  lengths axes;
  for (int axis = 0; axis < each.in(0).rank(); ++axis) axes.push_back(axis);
  const std::string whole = losses + ", " + axis_text(axes, "tn::drop") + ")";
  if (reduction == "sum") return each.result({}, whole);
  each.result({}, whole + " / tn::sum(" + shares + ", " + axis_text(axes, "tn::drop") + ")", binding::product);
}

void write_cross_entropy(const call& each) {
  const std::string logarithms = each.net.named("tn::log_softmax(" + each.code(0) + ", tn::axis<1>)");
  write_likelihood(each, logarithms);
  if (each.wants(1)) each.result(each.in(0).extents, logarithms, binding::tight, -1, 1);
}

constexpr row loss_table[] = {
    {"NegativeLogLikelihoodLoss", [](const call& each) { write_likelihood(each, each.net.name_of(each.in(0))); }},
    {"SoftmaxCrossEntropyLoss", write_cross_entropy},
};

}  // namespace

std::span<const row> loss_rows() { return loss_table; }

}  // namespace onnx_in
