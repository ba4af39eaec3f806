// examples/onnx/products.cpp: products of values that are both computed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// What the letters of an equation stand for, and its dots.
struct letter_extents {
  std::map<char, extent> all;
  extents dots;
};

/// Learns the letters of one operand.
void learn_letters(const call& each, std::string letters, std::size_t input, letter_extents& known) {
  const extents& all = each.in(input).extents;
  const std::size_t dots = letters.find("...");
  const std::size_t named = letters.size() - (dots == std::string::npos ? 0 : 3);
  if (named > all.size() || (dots == std::string::npos && named < all.size()))
    each.refuse("has letters " + letters + " for an input " + text_of(all));
  const std::size_t beside = all.size() - named;
  if (dots != std::string::npos) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(dots);
    known.dots = broadcast(each, known.dots, extents(begin, begin + static_cast<std::ptrdiff_t>(beside)));
    letters.erase(dots, 3);
  }
  for (std::size_t i = 0; i < named; ++i) known.all.emplace(letters[i], all[i < dots ? i : i + beside]);
}

/// The result that an equation without an arrow has: dots, then the letters that stand there once, in order.
std::string usual_result(const std::string& operands) {
  std::string made = operands.find('.') == std::string::npos ? "" : "...";
  std::map<char, int> counts;
  for (const char each : operands) counts[each] += each == ',' || each == '.' ? 2 : 1;
  for (const auto& [letter, count] : counts) made += count == 1 ? std::string(1, letter) : "";
  return made;
}

void write_einsum(const call& each) {
  std::string equation = each.text("equation", "");
  std::erase(equation, ' ');
  if (equation.find("->") == std::string::npos) equation += "->" + usual_result(equation);
  const std::size_t arrow = equation.find("->");
  letter_extents letters;
  std::vector<std::string> codes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < each.count(); ++i) {
    const std::size_t end = std::min(equation.find(',', begin), arrow);
    learn_letters(each, equation.substr(begin, end - begin), i, letters);
    codes.push_back(each.code(i));
    begin = end + 1;
  }
  extents made;
  for (std::size_t i = arrow + 2; i < equation.size(); ++i) {
    if (equation[i] != '.') made.push_back(letters.all.at(equation[i]));
    else made.insert(made.end(), letters.dots.begin(), letters.dots.end()), i += 2;
  }
  each.result(made, "tn::einsum<\"" + equation + "\">(" + joined(codes) + ")");
}

/// `{{1, 2}}`
std::string numbers_of(const lengths& all) { return "{{" + listed(all) + "}}"; }

void write_determinant(const call& each) {
  const extents& all = each.in(0).extents;
  if (all.size() < 2) each.refuse("has an input " + text_of(all) + ", expected matrices");
  each.net.include("tenon/linalg.hpp");
  each.result(extents(all.begin(), all.end() - 2), "tn::determinant(" + each.code(0) + ")");
}

constexpr row product_table[] = {{"Det", write_determinant}, {"Einsum", write_einsum}};

}  // namespace

windows kernel_windows(const call& each, bool is_transposed) {
  const extents& all = each.in(1).extents;
  lengths kernel;
  for (std::size_t axis = 2; axis < all.size(); ++axis) {
    if (!all[axis].known) each.refuse("has a kernel whose extents are known at run time, which is not supported");
    kernel.push_back(*all[axis].known);
  }
  return windows_of(each, kernel, is_transposed);
}

std::string convolved(const call& each, const windows& moved, const std::string& image, const std::string& weight) {
  const std::int64_t groups = each.integer("group", 1);
  std::string geometry =
      "tn::window_geometry<" + std::to_string(moved.kernel.size()) + ">{.stride = " + numbers_of(moved.stride);
  if (moved.is_even()) geometry += ", .padding = " + numbers_of(moved.before);
  geometry += ", .dilation = " + numbers_of(moved.dilation);
  geometry += groups == 1 ? "}" : ", .groups = " + std::to_string(groups) + "}";
  const bool is_transposed = moved.is_transposed;
  std::string code = std::string(is_transposed ? "tn::convolve_transpose(" : "tn::convolve(") + moved.padded(image) +
                     ", " + weight + ", " + geometry;
  if (is_transposed && moved.has_output_padding()) code += ", " + numbers_of(moved.output_padding);
  return moved.cut(code + ")");
}

void write_convolution(const call& each) {
  const bool is_transposed = each.at.operation == "ConvTranspose";
  const extents& all = each.in(1).extents;
  const windows moved = kernel_windows(each, is_transposed);
  const std::string code = convolved(each, moved, each.code(0), each.code(1));
  extents made{each.in(0).extents[0], is_transposed ? all[1] * extent(each.integer("group", 1)) : all[0]};
  made.insert(made.end(), moved.results.begin(), moved.results.end());
  if (!each.has(2)) return each.result(made, code);
  extents column(moved.kernel.size() + 1, 1);
  column[0] = made[1];
  each.result(made, code + " + tn::traced(" + each.code(2) + ").reshape(" + shape_of(column) + ")", binding::sum);
}

void write_product(const call& each) {
  extents a = each.in(0).extents, b = each.in(1).extents;
  if (a.empty() || b.empty()) each.refuse("has an operand without axes");
  const bool is_row = a.size() == 1, is_column = b.size() == 1;
  if (is_row) a.insert(a.begin(), 1);
  if (is_column) b.push_back(1);
  const extent &inner = a.back(), &other = b[b.size() - 2];
  if (inner.known && other.known && !(inner == other)) {
    each.refuse("inner extents " + inner.code + " and " + other.code + " differ (operands " + text_of(a) + " and " +
                text_of(b) + ")");
  }
  extents made = broadcast(each, extents(a.begin(), a.end() - 2), extents(b.begin(), b.end() - 2));
  if (!is_row) made.push_back(a[a.size() - 2]);
  if (!is_column) made.push_back(b.back());
  if (write_attention_of_products(each, made)) return;
  each.result(made, "tn::matmul(" + each.code(0) + ", " + each.code(1) + ")");
}

void write_general_gemm(const call& each) {
  const bool turns_a = each.integer("transA", 0) != 0, turns_b = each.integer("transB", 0) != 0;
  const auto side = [&](std::size_t i, bool turns) {
    return turns ? "tn::transpose(" + each.code(i) + ")" : each.code(i);
  };
  if (each.in(0).rank() != 2 || each.in(1).rank() != 2) each.refuse("has operands that are no matrices");
  const extents &a = each.in(0).extents, &b = each.in(1).extents;
  const extents made{a[turns_a ? 1 : 0], b[turns_b ? 0 : 1]};
  const int element = each.in(0).element;
  std::string code = "tn::matmul(" + side(0, turns_a) + ", " + side(1, turns_b) + ")";
  const double alpha = each.number("alpha", 1), beta = each.number("beta", 1);
  if (alpha != 1) code = literal(element, alpha) + " * " + code;
  const bool adds = each.has(2);
  if (adds) {
    code += " + " + each.code(2, binding::product);
    if (beta != 1) code += " * " + literal(element, beta);
  }
  each.result(made, code, adds ? binding::sum : alpha != 1 ? binding::product : binding::tight);
}

std::span<const row> product_rows() { return product_table; }

}  // namespace onnx_in
