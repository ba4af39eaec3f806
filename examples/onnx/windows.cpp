// examples/onnx/windows.cpp: strides, padding and dilation of ONNX, and how many windows there are.
// SPDX-License-Identifier: Apache-2.0
#include "windows.hpp"

#include <algorithm>

namespace onnx_in {

namespace {

bool are_all(const lengths& all, std::int64_t number) {
  return std::all_of(all.begin(), all.end(), [&](std::int64_t each) { return each == number; });
}

/// Padding so that there are as many windows as strides fit: SAME_UPPER and SAME_LOWER.
void pad_to_same(const call& each, windows& moved, std::size_t axis, std::int64_t span) {
  const extent& length = each.in(0).extents[axis + 2];
  if (!length.known && moved.stride[axis] != 1) each.refuse("has auto_pad and an extent that is known at run time");
  const std::int64_t stride = moved.stride[axis], known = length.known.value_or(0);
  const std::int64_t count = moved.is_transposed ? known : (known + stride - 1) / stride;
  const std::int64_t wanted = moved.is_transposed ? span - stride : (count - 1) * stride + span - known;
  const std::int64_t total = std::max(std::int64_t{0}, stride == 1 ? span - 1 : wanted);
  const bool is_upper = each.text("auto_pad", "NOTSET") == "SAME_UPPER";
  moved.before[axis] = is_upper ? total / 2 : total - total / 2;
  moved.after[axis] = total - moved.before[axis];
}

extent count_of(const windows& moved, const extent& length, std::size_t axis, std::int64_t span, bool is_ceil) {
  const std::int64_t stride = moved.stride[axis], before = moved.before[axis], padding = before + moved.after[axis];
  if (moved.is_transposed) {
    return (length - extent(1)) * extent(stride) + extent(span - padding + moved.output_padding[axis]);
  }
  if (stride == 1) return length + extent(padding - span + 1);
  if (!length.known) return unknown_extent();
  const std::int64_t reach = *length.known + padding - span;
  std::int64_t count = (is_ceil ? reach + stride - 1 : reach) / stride + 1;
  if (is_ceil && (count - 1) * stride >= *length.known + before) --count;  // it would begin behind the input
  return count;
}

}  // namespace

std::string braced(const lengths& all) {
  if (!all.empty() && are_all(all, all[0])) return std::to_string(all[0]);
  return "{" + listed(all) + "}";
}
std::string window_text(const lengths& all) {
  if (are_all(all, all[0])) return std::to_string(all[0]);
  return "nn::per_axis<" + std::to_string(all.size()) + ">" + braced(all);
}

windows windows_of(const call& each, const lengths& kernel, bool is_transposed, bool is_ceil) {
  const std::size_t axes = kernel.size();
  const auto given = [&](const char* name, std::int64_t usual) {
    lengths all = each.integers(name);
    if (all.empty()) all.assign(axes, usual);
    if (all.size() != axes)
      each.refuse(std::string(name) + " has " + std::to_string(all.size()) + " numbers, expected " +
                  std::to_string(axes));
    return all;
  };
  windows moved{
      kernel, given("strides", 1), given("dilations", 1), lengths(axes), lengths(axes), given("output_padding", 0),
      {},     is_transposed};
  const auto expect_at_least = [&](const char* name, const lengths& all, std::int64_t least) {
    const auto found = std::find_if(all.begin(), all.end(), [&](std::int64_t number) { return number < least; });
    if (found == all.end()) return;
    each.refuse(std::string(name) + " holds " + std::to_string(*found) + ", expected at least " +
                std::to_string(least));
  };
  if (each.in(0).rank() != static_cast<int>(axes) + 2)
    each.refuse("kernel_shape has " + std::to_string(axes) + " numbers, for an input " + text_of(each.in(0).extents));
  expect_at_least("kernel_shape", kernel, 1), expect_at_least("strides", moved.stride, 1);
  expect_at_least("dilations", moved.dilation, 1), expect_at_least("output_padding", moved.output_padding, 0);
  expect_at_least("pads", each.integers("pads"), 0);
  const lengths pads = each.integers("pads"), wanted = each.integers("output_shape");
  if (!pads.empty() && pads.size() != 2 * axes)
    each.refuse("pads has " + std::to_string(pads.size()) + " numbers, expected " + std::to_string(2 * axes));
  const std::string rule = each.text("auto_pad", "NOTSET");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t span = moved.dilation[axis] * (kernel[axis] - 1) + 1;
    const extent& length = each.in(0).extents[axis + 2];
    if (rule.starts_with("SAME")) pad_to_same(each, moved, axis, span);
    else if (!pads.empty()) moved.before[axis] = pads[axis], moved.after[axis] = pads[axis + axes];
    if (is_transposed && wanted.size() >= axes) {
      const extent free = (length - extent(1)) * extent(moved.stride[axis]) + extent(span + moved.output_padding[axis]);
      if (!free.known) each.refuse("has an output_shape, and an extent that is known at run time");
      const std::int64_t given_length = wanted[wanted.size() - axes + axis];
      const std::int64_t total = std::max(std::int64_t{0}, *free.known - given_length);
      moved.output_padding[axis] += std::max(std::int64_t{0}, given_length - *free.known);
      moved.before[axis] = rule == "SAME_UPPER" ? total / 2 : total - total / 2;
      moved.after[axis] = total - moved.before[axis];
    }
    moved.results.push_back(count_of(moved, length, axis, span, is_ceil));
  }
  return moved;
}

bool windows::has_output_padding() const { return !are_all(output_padding, 0); }

std::string windows::options() const {
  std::string made;
  const auto add = [&](const char* name, const lengths& all, std::int64_t usual) {
    if (!are_all(all, usual)) made += (made.empty() ? "" : ", ") + std::string(name) + " = " + braced(all);
  };
  add(".stride", stride, 1);
  if (is_even()) add(".padding", before, 0);
  add(".dilation", dilation, 1);
  return made;
}

std::string windows::padded(const std::string& code) const {
  return is_even() || is_transposed ? code : with_elements(code);
}
std::string windows::with_elements(const std::string& code) const {
  std::string made = "tn::pad(" + code + ", {{0, 0";
  for (std::size_t axis = 0; axis < before.size(); ++axis) made += ", {" + listed({before[axis], after[axis]}) + "}";
  return made + "}}, " + filler + ")";
}

std::string windows::cut(const std::string& code) const {
  if (is_even() || !is_transposed) return code;
  std::string made = "tn::slice(" + code + ", tn::all_of, tn::all_of";
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    const std::string end = after[axis] == 0 ? "tn::open_end" : std::to_string(-after[axis]);
    made += ", tn::range(" + std::to_string(before[axis]) + ", " + end + ")";
  }
  return made + ")";
}

}  // namespace onnx_in
