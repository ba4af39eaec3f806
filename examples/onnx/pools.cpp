// examples/onnx/pools.cpp: pools, and images in other extents.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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

/// How many times longer each axis behind the channels becomes; empty where these are no whole numbers.
lengths factors_of(const call& each) {
  const value& image = each.in(0);
  std::vector<double> factors;
  if (each.has(3)) {
    const auto sizes = each.known_integers(3, "sizes");
    for (std::size_t axis = 0; axis < sizes.size() && axis < image.extents.size(); ++axis) {
      const extent& length = image.extents[axis];
      factors.push_back(length.known ? static_cast<double>(sizes[axis]) / static_cast<double>(*length.known) : 1);
    }
  } else {
    factors = each.known(each.at.operation == "Upsample" || !each.has(2) ? 1 : 2, "scales").numbers();
  }
  lengths made;
  for (std::size_t axis = 0; axis < factors.size(); ++axis) {
    if (factors[axis] != std::floor(factors[axis]) || factors[axis] < 1 || (axis < 2 && factors[axis] != 1)) return {};
    if (axis >= 2) made.push_back(static_cast<std::int64_t>(factors[axis]));
  }
  return factors.size() == image.extents.size() ? made : lengths{};
}

void write_resize(const call& each) {
  const lengths factors = factors_of(each);
  if (factors.empty() || factors.size() > 3)
    each.refuse("makes images other than by whole factors, which is not supported");
  const std::string mode = each.text("mode", "nearest");
  const std::string places =
      each.text("coordinate_transformation_mode", each.at.operation == "Upsample" ? "asymmetric" : "half_pixel");
  static const char* const names[][3] = {{"upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d"},
                                         {"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"}};
  const bool is_nearest = mode == "nearest";
  const std::string rounding = each.text("nearest_mode", "round_prefer_floor");
  const bool is_floor = places == "asymmetric" && (rounding == "floor" || each.at.operation == "Upsample");
  const bool fits =
      is_nearest ? is_floor || places == "half_pixel" : mode == "linear" && places.ends_with("half_pixel");
  if (!fits || each.has_attribute("axes") || each.integer("antialias", 0) != 0) {
    each.refuse("has mode " + mode + " and places " + places + ", which is not supported");
  }
  const std::string type =
      std::string("nn::") + names[is_nearest ? 0 : 1][factors.size() - 1] + "<" + listed(factors) + ">";
  const std::string layer = add_layer(each, type, "upsample");
  extents made = each.in(0).extents;
  for (std::size_t axis = 0; axis < factors.size(); ++axis) made[axis + 2] = made[axis + 2] * extent(factors[axis]);
  each.result(made, layer + "(" + each.code(0) + ")");
}

constexpr row rows[] = {
    {"AveragePool", write_pool},
    {"GlobalAveragePool", write_global_pool},
    {"GlobalMaxPool", write_global_pool},
    {"LRN", write_local_response},
    {"LpPool", write_lp_pool},
    {"MaxPool", write_pool},
    {"Resize", write_resize},
    {"Upsample", write_resize},
};

}  // namespace

std::span<const row> pool_rows() { return rows; }

}  // namespace onnx_in
