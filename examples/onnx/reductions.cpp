// examples/onnx/reductions.cpp: operators that fold axes: sums and their like, places of extremes, softmax, scans.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// The axes that a reduction folds, in order.
lengths folded_axes(const call& each) {
  const int rank = each.in(0).rank();
  const auto given = each.axes(1);
  lengths made;
  for (const std::int64_t axis : given.value_or(lengths{})) made.push_back(each.axis_of(axis, rank));
  if (made.empty() && each.integer("noop_with_empty_axes", 0) == 0) {
    for (int axis = 0; axis < rank; ++axis) made.push_back(axis);
  }
  std::sort(made.begin(), made.end());
  return made;
}

extents without(const extents& all, const lengths& axes, bool keeps) {
  extents made;
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    const bool is_folded = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
    if (!is_folded) made.push_back(all[axis]);
    else if (keeps) made.push_back(1);
  }
  return made;
}

/// `tn::before(tn::name(inside(x), axes))`
void write_reduction(const call& each, const std::string& name, const std::string& inside = "",
                     const std::string& outside = "") {
  const lengths axes = folded_axes(each);
  const bool keeps = each.integer("keepdims", 1) != 0;
  const int element = each.in(0).element;
  std::string code = inside.empty() ? each.code(0) : "tn::" + inside + "(" + each.code(0) + ")";
  if (!axes.empty()) {
    code = "tn::" + name + "(" + code + ", " + axis_text(axes, keeps ? "tn::axis" : "tn::drop") + ")";
    if (!type_of(element).is_floating) code = std::string("tn::cast<") + type_of(element).name + ">(" + code + ")";
  }
  if (!outside.empty()) code = "tn::" + outside + "(" + code + ")";
  each.result(without(each.in(0).extents, axes, keeps), code);
}

/// A norm; of single elements, their size.
void write_reduced_norm(const call& each, const char* name) {
  const std::string type = type_of(each.in(0).element).name;
  const bool has_sign = type.find("uint") == std::string::npos;
  write_reduction(each, name, folded_axes(each).empty() && has_sign ? "abs" : "");
}

/// The greatest or least; of no elements, what is on the other side of all numbers.
void write_extreme(const call& each, const char* name) {
  const extents& all = each.in(0).extents;
  const lengths axes = folded_axes(each);
  const auto is_empty = [&](std::int64_t axis) { return all[static_cast<std::size_t>(axis)].is(0); };
  if (std::none_of(axes.begin(), axes.end(), is_empty)) return write_reduction(each, name);
  const bool is_max = each.at.operation == "ReduceMax";
  const element_type& type = type_of(each.in(0).element);
  const std::string limits = std::string("std::numeric_limits<") + type.name + ">::";
  const std::string number =
      type.is_floating ? (is_max ? "-" : "") + limits + "infinity()" : limits + (is_max ? "lowest()" : "max()");
  const extents made = without(all, axes, each.integer("keepdims", 1) != 0);
  each.result(made, "tn::constants(" + shape_of(made) + ", " + number + ")");
}

void write_log_sum_exp(const call& each) {
  const lengths axes = folded_axes(each);
  const extents& all = each.in(0).extents;
  const std::string kept = "tn::logsumexp(" + each.code(0) + ", " + axis_text(axes) + ")";
  if (each.integer("keepdims", 1) != 0) return each.result(without(all, axes, true), kept);
  const extents made = without(all, axes, false);
  each.result(made, "tn::traced(" + kept + ").reshape(" + shape_of(made) + ")");
}

void write_softmax(const call& each) {
  const int rank = each.in(0).rank();
  const bool is_old = each.opset < 13;  // which folds all axes from the first on
  const std::int64_t axis = each.axis_of(each.integer("axis", is_old ? 1 : -1), rank);
  lengths axes{axis};
  for (std::int64_t more = axis + 1; is_old && more < rank; ++more) axes.push_back(more);
  const char* name = each.at.operation == "Softmax" ? "tn::softmax(" : "tn::log_softmax(";
  each.result(each.in(0).extents, name + each.code(0) + ", " + axis_text(axes) + ")");
}

void write_norm(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", -1), each.in(0).rank()), p = each.integer("p", 2);
  const std::string x = each.net.name_of(each.in(0));
  const char* name = p == 1 ? "tn::norm_l1(" : "tn::norm_l2(";
  const std::string norm = each.net.named(name + x + ", " + axis_text({axis}) + ")");
  const std::string zero = literal(each.in(0).element, 0);
  each.result(each.in(0).extents, "tn::where(" + norm + " == " + zero + ", " + zero + ", " + x + " / " + norm + ")");
}

void write_standardised(const call& each) {
  lengths axes = each.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  each.result(each.in(0).extents, "tn::standardise(" + each.code(0) + ", " + axis_text(axes) + ", 1e-09f)");
}

void write_scan(const call& each) {
  const std::int64_t axis = each.axis_of(each.known_integers(1, "axis").at(0), each.in(0).rank());
  std::string options;
  if (each.integer("exclusive", 0) != 0) options += ".exclusive = true";
  if (each.integer("reverse", 0) != 0) options += std::string(options.empty() ? "" : ", ") + ".reverse = true";
  const char* name = each.at.operation == "CumSum" ? "tn::cumsum(" : "tn::cumprod(";
  std::string code = name + each.code(0) + ", " + axis_text({axis}) + (options.empty() ? ")" : ", {" + options + "})");
  if (!type_of(each.in(0).element).is_floating)
    code = std::string("tn::cast<") + type_of(each.in(0).element).name + ">(" + code + ")";
  each.result(each.in(0).extents, code);
}

constexpr row reduction_table[] = {
    {"CumProd", write_scan},
    {"CumSum", write_scan},
    {"LogSoftmax", write_softmax},
    {"LpNormalization", write_norm},
    {"MeanVarianceNormalization", write_standardised},
    {"ReduceL1", [](const call& each) { write_reduced_norm(each, "norm_l1"); }},
    {"ReduceL2", [](const call& each) { write_reduced_norm(each, "norm_l2"); }},
    {"ReduceLogSum", [](const call& each) { write_reduction(each, "sum", "", "log"); }},
    {"ReduceLogSumExp", write_log_sum_exp},
    {"ReduceMax", [](const call& each) { write_extreme(each, "max"); }},
    {"ReduceMean", [](const call& each) { write_reduction(each, "mean"); }},
    {"ReduceMin", [](const call& each) { write_extreme(each, "min"); }},
    {"ReduceProd", [](const call& each) { write_reduction(each, "prod"); }},
    {"ReduceSum", [](const call& each) { write_reduction(each, "sum"); }},
    {"ReduceSumSquare", [](const call& each) { write_reduction(each, "sum", "square"); }},
    {"Softmax", write_softmax},
};

}  // namespace

std::span<const row> reduction_rows() { return reduction_table; }

}  // namespace onnx_in
