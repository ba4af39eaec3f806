// examples/onnx/pools.cpp: pools, and images in other extents.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

std::string add_layer(const call& each, const std::string& type, const std::string& stem,
                      const std::string& initial = "") {
  return each.net.layer(type + initial, stem, member{{}, type, initial, {}});
}

void write_pool(const call& each) {
  const std::string& operation = each.at.operation;
  const bool is_max = operation == "MaxPool", is_ceil = each.integer("ceil_mode", 0) != 0;
  if (each.wants(1)) each.refuse("has places as a result, which is not supported");
  if (each.in(0).element != float32) each.refuse("pools elements that are not float, which is not supported");
  const lengths kernel = each.integers("kernel_shape");
  if (kernel.empty() || kernel.size() > 3)
    each.refuse("has a kernel of " + std::to_string(kernel.size()) + " axes, expected one to three");
  windows moved = windows_of(each, kernel, false, is_ceil);
  if (is_max) moved.filler = "-std::numeric_limits<float>::infinity()";
  const bool counts_padding = each.integer("count_include_pad", 0) != 0;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {  // layers have padding of half a window at most
    const std::int64_t half = (moved.dilation[axis] * (kernel[axis] - 1) + 1) / 2;
    moved.is_explicit = moved.is_explicit || moved.before[axis] > half;
  }
  const bool is_padded = std::any_of(moved.before.begin(), moved.before.end(), [](auto pad) { return pad != 0; });
  if (!moved.is_even() && (is_ceil || (!is_max && !counts_padding)))
    each.refuse("has uneven padding, which is not supported here");
  const auto is_dilated =
      std::any_of(moved.dilation.begin(), moved.dilation.end(), [](auto each_one) { return each_one != 1; });
  if (!is_max && is_dilated) each.refuse("has dilations, which is not supported");
  std::string options;
  const auto add = [&](const std::string& text) { options += (options.empty() ? "" : ", ") + text; };
  if (moved.stride != kernel) add(".stride = " + braced(moved.stride));
  if (moved.is_even() && is_padded) add(".padding = " + braced(moved.before));
  if (is_dilated) add(".dilation = " + braced(moved.dilation));
  if (is_ceil) add(".ceil_mode = true");
  if (!is_max && !counts_padding && (is_padded || is_ceil)) add(".count_include_pad = false");
  const std::string dimension = std::to_string(kernel.size()) + "d";
  std::string type = std::string("nn::") + (is_max ? "max" : "avg") + "_pool" + dimension + "<" + window_text(kernel);
  if (!options.empty()) type += ", nn::pool" + dimension + "_options{" + options + "}";
  const std::string layer = add_layer(each, type + ">", is_max ? "max_pool" : "avg_pool");
  extents made{each.in(0).extents[0], each.in(0).extents[1]};
  made.insert(made.end(), moved.results.begin(), moved.results.end());
  each.result(made, layer + "(" + moved.padded(each.code(0)) + ")");
}

void write_lp_pool(const call& each) {
  const lengths kernel = each.integers("kernel_shape");
  if (kernel.empty() || kernel.size() > 3)
    each.refuse("has a kernel of " + std::to_string(kernel.size()) + " axes, expected one to three");
  const bool is_ceil = each.integer("ceil_mode", 0) != 0;
  windows moved = windows_of(each, kernel, false, is_ceil);
  for (const std::int64_t dilation : moved.dilation) {
    if (dilation != 1) each.refuse("has dilations, which is not supported");
  }
  const bool is_padded = moved.before != lengths(kernel.size()) || !moved.is_even();
  std::string options;
  if (moved.stride != kernel) options += ".stride = " + braced(moved.stride);
  if (is_ceil) options += std::string(options.empty() ? "" : ", ") + ".ceil_mode = true";
  const std::string dimension = std::to_string(kernel.size()) + "d";
  std::string type = "nn::lp_pool" + dimension + "<" + window_text(kernel);
  if (!options.empty()) type += ", nn::pool" + dimension + "_options{" + options + "}";
  const std::string layer = add_layer(each, type + ">", "lp_pool", "{" + std::to_string(each.integer("p", 2)) + "}");
  extents made{each.in(0).extents[0], each.in(0).extents[1]};
  made.insert(made.end(), moved.results.begin(), moved.results.end());
  const std::string x = each.integer("p", 2) % 2 == 0 ? each.code(0) : "tn::abs(" + each.code(0) + ")";
  each.result(made, layer + "(" + (is_padded ? moved.with_elements(x) : x) + ")");
}

void write_local_response(const call& each) {
  const std::string options =
      std::to_string(each.integer("size", 1)) + ", " + literal(float32, each.number("alpha", 1e-4f)) + ", " +
      literal(float32, each.number("beta", 0.75f)) + ", " + literal(float32, each.number("bias", 1));
  const std::string layer = add_layer(each, "nn::local_response_norm", "local_response_norm", "{" + options + "}");
  each.result(each.in(0).extents, layer + "(" + each.code(0) + ")");
}

void write_global_pool(const call& each) {
  extents made = each.in(0).extents;
  lengths axes;
  for (std::size_t axis = 2; axis < made.size(); ++axis)
    made[axis] = 1, axes.push_back(static_cast<std::int64_t>(axis));
  const char* name = each.at.operation == "GlobalMaxPool" ? "tn::max(" : "tn::mean(";
  each.result(made, name + each.code(0) + ", " + axis_text(axes) + ")");
}

constexpr row rows[] = {
    {"AveragePool", write_pool},
    {"GlobalAveragePool", write_global_pool},
    {"GlobalMaxPool", write_global_pool},
    {"LRN", write_local_response},
    {"LpPool", write_lp_pool},
    {"MaxPool", write_pool},
};

}  // namespace

std::span<const row> pool_rows() { return rows; }

}  // namespace onnx_in
