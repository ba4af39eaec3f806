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

lengths kernel_of(const call& each) {
  const lengths kernel = each.integers("kernel_shape");
  if (kernel.empty() || kernel.size() > 3)
    each.refuse("has a kernel of " + std::to_string(kernel.size()) + " axes, expected one to three");
  return kernel;
}

bool is_dilated(const windows& moved) {
  return std::any_of(moved.dilation.begin(), moved.dilation.end(), [](auto axis) { return axis != 1; });
}

extents pooled(const call& each, const windows& moved) {
  extents made{each.in(0).extents[0], each.in(0).extents[1]};
  made.insert(made.end(), moved.results.begin(), moved.results.end());
  return made;
}

/// Where windows lie, for those that no layer takes: dilated means, uneven padding, elements that are not float.
struct placed_windows {
  std::string kernel, counts, moves, drops;
  extents image, around;  // the image's extents, without and with padding

  placed_windows(const call& each, const windows& moved) {
    lengths results, dropped;
    for (std::size_t axis = 0; axis < moved.kernel.size(); ++axis) {
      const extent& count = moved.results[axis];
      if (!count.known) each.refuse("has an extent that is known at run time, and windows that no layer takes");
      results.push_back(*count.known), dropped.push_back(-1 - static_cast<std::int64_t>(axis));
      image.push_back(each.in(0).extents[axis + 2]);
      around.push_back(image.back() + extent(moved.before[axis] + moved.after[axis]));
    }
    kernel = listed(moved.kernel), counts = listed(results), drops = axis_text(dropped, "tn::drop");
    moves = "{{" + listed(moved.stride) + "}}, {{@}}, {{" + listed(moved.dilation) + "}}";
  }
  /// The windows of an image; `outside` stands for elements beside it.
  std::string of(const std::string& code, const extents& all, const lengths& padding,
                 const std::string& outside) const {
    std::vector<std::string> codes;
    for (const extent& each : all) codes.push_back(each.code);
    std::string moved = moves;
    moved.replace(moved.find('@'), 1, listed(padding));
    return "tn::placed_windows(" + code + ", tn::even_windows<" + std::to_string(all.size()) + ">{{{" + joined(codes) +
           "}}, {{" + kernel + "}}, {{" + counts + "}}, " + moved + "}, tn::shape<" + kernel + ">{}, " + outside + ")";
  }
};

void write_placed_pool(const call& each, const windows& moved) {
  const placed_windows placed(each, moved);
  const int element = each.in(0).element;
  const std::string type = type_of(element).name, zero = literal(element, 0), ends = ", " + placed.drops + ")";
  const auto seen = [&](const std::string& x, const std::string& outside) {
    return placed.of(x, placed.image, moved.before, outside);
  };
  if (each.at.operation == "MaxPool") {
    const std::string least = "std::numeric_limits<" + type + ">::";
    const std::string outside = type_of(element).is_floating ? "-" + least + "infinity()" : least + "lowest()";
    return each.result(pooled(each, moved), "tn::max(" + seen(each.code(0), outside) + ends);
  }
  if (each.at.operation == "LpPool") {
    const std::string p = std::to_string(each.integer("p", 2));
    return each.result(pooled(each, moved), "tn::norm(" + seen(each.code(0), zero) + ", " + p + ends);
  }
  const bool counts_padding = each.integer("count_include_pad", 0) != 0;
  const extents& counted = counts_padding ? placed.around : placed.image;
  extents ones{1, 1};
  ones.insert(ones.end(), counted.begin(), counted.end());
  const std::string shares = placed.of("tn::constants(" + shape_of(ones) + ", " + literal(element, 1) + ")", counted,
                                       counts_padding ? lengths(counted.size()) : moved.before, zero);
  const std::string sum = each.net.named("tn::sum(" + seen(each.code(0), zero) + ends);
  each.result(pooled(each, moved), sum + " / tn::sum(" + shares + ends, binding::product);
}

void write_pool(const call& each) {
  const std::string& operation = each.at.operation;
  const bool is_max = operation == "MaxPool", is_ceil = each.integer("ceil_mode", 0) != 0;
  if (each.wants(1)) each.refuse("has places as a result, which is not supported");
  const lengths kernel = kernel_of(each);
  windows moved = windows_of(each, kernel, false, is_ceil);
  if (is_max) moved.filler = "-std::numeric_limits<float>::infinity()";
  const bool counts_padding = each.integer("count_include_pad", 0) != 0;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {  // layers have padding of half a window at most
    const std::int64_t half = (moved.dilation[axis] * (kernel[axis] - 1) + 1) / 2;
    moved.is_explicit = moved.is_explicit || moved.before[axis] > half;
  }
  const bool is_padded = std::any_of(moved.before.begin(), moved.before.end(), [](auto pad) { return pad != 0; });
  const bool is_uneven = !moved.is_even() && (is_ceil || (!is_max && !counts_padding));
  if (is_uneven || (!is_max && is_dilated(moved)) || each.in(0).element != float32)
    return write_placed_pool(each, moved);
  std::string options;
  const auto add = [&](const std::string& text) { options += (options.empty() ? "" : ", ") + text; };
  if (moved.stride != kernel) add(".stride = " + braced(moved.stride));
  if (moved.is_even() && is_padded) add(".padding = " + braced(moved.before));
  if (is_dilated(moved)) add(".dilation = " + braced(moved.dilation));
  if (is_ceil) add(".ceil_mode = true");
  if (!is_max && !counts_padding && (is_padded || is_ceil)) add(".count_include_pad = false");
  const std::string dimension = std::to_string(kernel.size()) + "d";
  std::string type = std::string("nn::") + (is_max ? "max" : "avg") + "_pool" + dimension + "<" + window_text(kernel);
  if (!options.empty()) type += ", nn::pool" + dimension + "_options{" + options + "}";
  const std::string layer = add_layer(each, type + ">", is_max ? "max_pool" : "avg_pool");
  each.result(pooled(each, moved), layer + "(" + moved.padded(each.code(0)) + ")");
}

/// Zeros behind the input, so that no window overhangs: layers would count one as if all of it were there.
void reach_last_windows(const call& each, windows& moved) {
  for (std::size_t axis = 0; axis < moved.kernel.size(); ++axis) {
    const extent &length = each.in(0).extents[axis + 2], &count = moved.results[axis];
    const std::int64_t stride = moved.stride[axis], span = moved.kernel[axis];
    std::int64_t& after = moved.after[axis];
    if (stride == 1) continue;
    if (!length.known && after + stride > span)
      each.refuse("has ceil_mode, an extent that is known at run time, and windows that may begin behind it");
    const std::int64_t lacking =
        length.known ? (*count.known - 1) * stride + span - *length.known - moved.before[axis] - after : stride - 1;
    after += std::max(std::int64_t{0}, lacking);
  }
}

void write_lp_pool(const call& each) {
  const lengths kernel = kernel_of(each);
  const bool is_ceil = each.integer("ceil_mode", 0) != 0;
  windows moved = windows_of(each, kernel, false, is_ceil);
  if (is_dilated(moved)) return write_placed_pool(each, moved);
  if (is_ceil) reach_last_windows(each, moved);
  const bool is_padded = moved.before != lengths(kernel.size()) || !moved.is_even();
  std::string options;
  if (moved.stride != kernel) options += ".stride = " + braced(moved.stride);
  const std::string dimension = std::to_string(kernel.size()) + "d";
  std::string type = "nn::lp_pool" + dimension + "<" + window_text(kernel);
  if (!options.empty()) type += ", nn::pool" + dimension + "_options{" + options + "}";
  const std::string layer = add_layer(each, type + ">", "lp_pool", "{" + std::to_string(each.integer("p", 2)) + "}");
  const std::string x = each.integer("p", 2) % 2 == 0 ? each.code(0) : "tn::abs(" + each.code(0) + ")";
  each.result(pooled(each, moved), layer + "(" + (is_padded ? moved.with_elements(x) : x) + ")");
}

void write_local_response(const call& each) {
  const std::int64_t size = each.integer("size", 1);
  if (size < 1) each.refuse("size is " + std::to_string(size) + ", expected at least 1");
  const std::string options = std::to_string(size) + ", " + literal(float32, each.number("alpha", 1e-4f)) + ", " +
                              literal(float32, each.number("beta", 0.75f)) + ", " +
                              literal(float32, each.number("bias", 1));
  const std::string layer = add_layer(each, "nn::local_response_norm", "local_response_norm", "{" + options + "}");
  // An even number of channels reaches further back than ahead in ONNX, and further ahead than back in the layer.
  const auto turned = [&](const std::string& code) {
    return size % 2 == 0 ? "tn::flip(" + code + ", tn::axis<1>)" : code;
  };
  each.result(each.in(0).extents, turned(layer + "(" + turned(each.code(0)) + ")"));
}

void write_global_pool(const call& each) {
  extents made = each.in(0).extents;
  lengths axes;
  for (std::size_t axis = 2; axis < made.size(); ++axis)
    made[axis] = 1, axes.push_back(static_cast<std::int64_t>(axis));
  const char* name = each.at.operation == "GlobalMaxPool" ? "tn::max(" : "tn::mean(";
  each.result(made, name + each.code(0) + ", " + axis_text(axes) + ")");
}

/// Elements go back to where a max pool found them; where a greater image is asked for, zeros follow.
void write_unpool(const call& each) {
  const lengths kernel = kernel_of(each);
  const windows moved = windows_of(each, kernel, true);
  if (!moved.is_even()) each.refuse("has uneven padding, which is not supported");
  const std::string axes = std::to_string(kernel.size());
  const auto numbers = [&](const lengths& all) { return "nn::per_axis<" + axes + ">(" + listed(all) + ")"; };
  const std::string initial = "{" + joined({numbers(kernel), numbers(moved.stride), numbers(moved.before)}) + "}";
  const std::string layer = add_layer(each, "nn::max_unpool<" + axes + ">", "max_unpool", initial);
  const std::string code = layer + "(" + joined({each.code(0), each.code(1)}) + ")";
  const extents own = pooled(each, moved);
  if (!each.has(2)) return each.result(own, code);
  const lengths wanted = each.known_integers(2, "output_shape");
  const extents made(wanted.begin(), wanted.end());
  if (made.size() != own.size())
    each.refuse("has an output_shape of " + std::to_string(made.size()) + " numbers, expected " +
                std::to_string(own.size()));
  std::vector<std::string> widths;
  for (std::size_t axis = 0; axis < own.size(); ++axis) widths.push_back("{0, " + (made[axis] - own[axis]).code + "}");
  each.result(made, "tn::pad(" + code + ", {{" + joined(widths) + "}}, " + literal(each.in(0).element, 0) + ")");
}

constexpr row pool_table[] = {
    {"AveragePool", write_pool},
    {"GlobalAveragePool", write_global_pool},
    {"GlobalMaxPool", write_global_pool},
    {"LRN", write_local_response},
    {"LpPool", write_lp_pool},
    {"MaxPool", write_pool},
    {"MaxUnpool", write_unpool},
};

}  // namespace

std::span<const row> pool_rows() { return pool_table; }

}  // namespace onnx_in
