// examples/onnx/windows.hpp: how windows of convolutions and pools move, from attributes; and rows that files share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "call.hpp"

namespace onnx_in {

/// Windows along the axes behind the channels. Padding that differs on both sides becomes elements of the input.
struct windows {
  lengths kernel, stride, dilation, before, after, output_padding;
  extents results;
  bool is_transposed = false;
  std::string filler = "0.0f";
  bool is_explicit = false;  // padding is more than layers take

  bool is_even() const { return before == after && !is_explicit; }
  bool has_output_padding() const;
  /// `.stride = 2, .padding = 1`, without what is usual
  std::string options() const;
  /// The input with the elements that padding is, where options cannot say it.
  std::string padded(const std::string& code) const;
  std::string with_elements(const std::string& code) const;  // however even it is
  /// The part of a transposed convolution's result that uneven padding leaves.
  std::string cut(const std::string& code) const;
};
windows windows_of(const call& each, const lengths& kernel, bool is_transposed, bool is_ceil = false);

/// `3`, or `{3, 5}` where axes differ.
std::string braced(const lengths& all);
/// The same as a template argument.
std::string window_text(const lengths& all);

void write_product(const call& each);
/// A product of a softmax of a product, as one node of attention; false where it is none.
bool write_attention_of_products(const call& each, const extents& made);
void write_general_gemm(const call& each);
/// The windows of a kernel, which is the second input.
windows kernel_windows(const call& each, bool is_transposed);
/// A convolution of an image and a weight that are code.
std::string convolved(const call& each, const windows& moved, const std::string& image, const std::string& weight);
/// A convolution whose weight is computed, or of elements that are not float.
void write_convolution(const call& each);
void write_gather(const call& each);
/// The same elements, in order, under other extents.
void write_reshaped(const call& each, extents made);

}  // namespace onnx_in
