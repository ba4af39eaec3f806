// examples/onnx/quantised.cpp: small integers that stand for real numbers, scale * (integer - zero point).
// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// A scale or a zero point as an operand: a number, or one for each position along an axis.
std::string along_axis(const call& each, std::size_t i, int element) {
  value& from = each.in(i);
  if (from.data && from.data->size() == 1) return literal(element, from.data->numbers()[0]);
  if (each.integer("block_size", 0) != 0) each.refuse("has blocks along an axis, which is not supported");
  if (from.rank() == 0) return each.code(i);
  const int rank = each.in(0).rank();
  const std::int64_t axis = each.axis_of(each.integer("axis", 1), rank);
  extents column(static_cast<std::size_t>(rank - axis), 1);
  column[0] = from.extents[0];
  return column.size() == 1 ? each.code(i) : "tn::reshape(" + each.code(i) + ", " + shape_of(column) + ")";
}

void write_quantised(const call& each) {
  const int to = each.has(2)                            ? each.in(2).element
                 : each.integer("output_dtype", 0) != 0 ? static_cast<int>(each.integer("output_dtype", 2))
                                                        : 2;
  const std::string zero_point = each.has(2) ? along_axis(each, 2, int32) : "0";
  each.result(each.in(0).extents,
              std::string("tn::quantise<") + type_of(to).name + ">(" + each.code(0) + ", " +
                  along_axis(each, 1, float32) + ", " + zero_point + ")",
              binding::tight, to);
}

void write_dequantised(const call& each) {
  const std::string zero_point = each.has(2) ? along_axis(each, 2, int32) : "0";
  each.result(each.in(0).extents,
              "tn::dequantise(" + each.code(0) + ", " + along_axis(each, 1, float32) + ", " + zero_point + ")",
              binding::tight, each.in(1).element);
}

/// Elements less their zero point, as int32; columns of a second operand may have a point each.
std::string centred(const call& each, std::size_t i, std::size_t zero_point, bool has_columns = false) {
  const std::string wide = "tn::cast<std::int32_t>(" + each.code(i) + ")";
  if (!each.has(zero_point)) return wide;
  value& point = each.in(zero_point);
  if (point.data && point.data->size() == 1) return wide + " - " + literal(int32, point.data->numbers()[0]);
  const bool is_row = point.rank() == 1 && has_columns && point.extents[0] == each.in(i).extents.back();
  if (point.rank() > 0 && !(point.rank() == 1 && point.extents[0].is(1)) && !is_row)
    each.refuse("has zero points " + text_of(point.extents) + " for an operand " + text_of(each.in(i).extents) +
                ", which is not supported");
  return wide + " - tn::cast<std::int32_t>(" + each.code(zero_point) + ")";
}

void write_integer_product(const call& each) {
  const extents &a = each.in(0).extents, &b = each.in(1).extents;
  if (a.size() < 2 || b.size() < 2) each.refuse("has an operand that is no matrix");
  extents made = broadcast(each, extents(a.begin(), a.end() - 2), extents(b.begin(), b.end() - 2));
  made.push_back(a[a.size() - 2]), made.push_back(b.back());
  each.result(made, "tn::matmul(" + centred(each, 0, 2) + ", " + centred(each, 1, 3, true) + ")", binding::tight,
              int32);
}

/// Padding is the zero point of the image, which is 0 in what is convolved.
void write_integer_convolution(const call& each) {
  windows moved = kernel_windows(each, false);
  moved.filler = "0";
  extents made{each.in(0).extents[0], each.in(1).extents[0]};
  made.insert(made.end(), moved.results.begin(), moved.results.end());
  each.result(made, convolved(each, moved, centred(each, 0, 2), centred(each, 1, 3)), binding::tight, int32);
}

/// Numbers as bytes whose scale and zero point are those of all of them, among which there is 0.
void write_measured(const call& each) {
  const std::string x = each.net.name_of(each.in(0));
  const std::string low = each.net.named("tn::minimum(tn::min(" + x + "), 0.0f)");
  const std::string span = each.net.named("tn::maximum(tn::max(" + x + "), 0.0f) - " + low);
  const std::string scale = each.net.named("tn::where(" + span + " == 0.0f, 1.0f, " + span + " / 255.0f)");
  const std::string point =
      each.net.named("tn::cast<std::uint8_t>(tn::clamp(tn::round(-" + low + " / " + scale + "), 0.0f, 255.0f))");
  const std::string code = "tn::quantise<std::uint8_t>(" + joined({x, scale, point}) + ")";
  each.result(each.in(0).extents, code, binding::tight, uint8);
  each.result({}, scale, binding::tight, float32, 1);
  each.result({}, point, binding::tight, uint8, 2);
}

/// A product of quantised operands, quantised again.
void write_quantised_product(const call& each) {
  const auto scale_of = [&](std::size_t i) { return each.known(i, "scale").numbers().at(0); };
  for (const std::size_t i : {1U, 2U, 4U, 5U, 6U, 7U}) {
    if (each.known(i, "scale or zero point").size() != 1)
      each.refuse("has a scale for each row, which is not supported");
  }
  const extents &a = each.in(0).extents, &b = each.in(3).extents;
  if (a.size() < 2 || b.size() < 2) each.refuse("has an operand that is no matrix");
  extents made = broadcast(each, extents(a.begin(), a.end() - 2), extents(b.begin(), b.end() - 2));
  made.push_back(a[a.size() - 2]), made.push_back(b.back());
  const int to = each.in(7).element;
  const std::string product = "tn::cast<float>(tn::matmul(" + centred(each, 0, 2) + ", " + centred(each, 3, 5) + "))";
  each.result(made,
              std::string("tn::quantise<") + type_of(to).name + ">(" + product + ", " +
                  literal(float32, scale_of(6) / (scale_of(1) * scale_of(4))) + ", " +
                  literal(int32, each.known(7, "zero point").numbers().at(0)) + ")",
              binding::tight, to);
}

constexpr row quantised_table[] = {
    {"ConvInteger", write_integer_convolution}, {"QLinearMatMul", write_quantised_product},
    {"DequantizeLinear", write_dequantised},    {"DynamicQuantizeLinear", write_measured},
    {"MatMulInteger", write_integer_product},   {"QuantizeLinear", write_quantised},
};

}  // namespace

std::span<const row> quantised_rows() { return quantised_table; }

}  // namespace onnx_in
