// tests/conformance/matmul.cpp: matrix products and sums of products.
// Ranks of matrices are padded, vectors stay vectors.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/operations.hpp"

#include <tenon/expressions.hpp>

namespace conformance {

namespace {

/// Axes of a batched product.
constexpr int product_axes = 4;

/// The result without the leading axes that neither operand has.
template <class Space, int LeftRank, int RightRank>
array product(const call& from, int rank) {
  const auto left = tensor_of<float, Space, LeftRank>(from.input(0));
  const auto right = tensor_of<float, Space, RightRank>(from.input(1));
  return evaluated<Space>(tn::matmul(left, right), rank);
}

template <class Space>
array matmul(const call& from) {
  const int left = from.input(0).rank(), right = from.input(1).rank();
  if (left == 1) return product<Space, 1, product_axes>(from, right - 1);
  if (right == 1) return product<Space, product_axes, 1>(from, left - 1);
  return product<Space, product_axes, product_axes>(from, std::max(left, right));
}

/// A matrix as it lies, or transposed.
template <class Matrix>
auto oriented(const Matrix& matrix, bool is_transposed) {
  return is_transposed ? tn::transpose(matrix) : matrix.view();
}

template <class Space>
array gemm(const call& from) {
  const auto x = tensor_of<float, Space, 2>(from.input(0)), y = tensor_of<float, Space, 2>(from.input(1));
  const auto z = tensor_of<float, Space, 2>(from.input(2));
  const auto alpha = static_cast<float>(from.attributes.number("alpha", 1));
  const auto beta = static_cast<float>(from.attributes.number("beta", 1));
  const auto left = oriented(x, from.attributes.integer("transA", 0) != 0);
  const auto right = oriented(y, from.attributes.integer("transB", 0) != 0);
  return evaluated<Space>(tn::gemm(alpha, left, right, beta, z), 2);
}

/// An equation is part of a type: those of the cases.
template <class Space>
array einsum(const call& from) {
  const std::string equation = from.attributes.text("equation", "");
  if (equation == "->") return evaluated<Space>(tn::einsum<"->">(tensor_of<double, Space, 0>(from.input(0))), 0);
  if (equation == "ij->ji") {
    const auto x = tensor_of<double, Space, 2>(from.input(0));
    return evaluated<Space>(tn::einsum<"ij->ji">(x), 2);
  }
  throw tn::shape_error(tn::compose_text("Einsum: ", equation, " is not compiled in"));
}

}  // namespace

void add_matmul(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["MatMul"] = matmul<Space>;
    table["Gemm"] = gemm<Space>;
    table["Einsum"] = einsum<Space>;
  });
}

}  // namespace conformance
