// tests/conformance/matmul.cpp: matrix products.
// Vectors become matrices of one row or column, as NumPy has it.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/operations.hpp"

#include <tenon/expressions.hpp>

namespace conformance {

namespace {

/// Axes of a batched product.
constexpr int product_axes = 4;

template <class Space>
auto operand(array source) {
  return tensor_of<float, Space, product_axes>(source);
}

template <class Space>
array product(const call& from) {
  array left = from.input(0), right = from.input(1);
  const bool left_is_vector = left.rank() == 1, right_is_vector = right.rank() == 1;
  if (left_is_vector) left.extents.insert(left.extents.begin(), 1);
  if (right_is_vector) right.extents.push_back(1);
  const auto x = operand<Space>(left), y = operand<Space>(right);
  array result = evaluated<Space>(tn::matmul(x, y), std::max(left.rank(), right.rank()));
  if (right_is_vector) result.extents.pop_back();
  if (left_is_vector) result.extents.erase(result.extents.end() - (right_is_vector ? 1 : 2));
  return result;
}

/// alpha * x * y + beta * z, one statement with the product's epilogue.
template <class Space>
array gemm(const call& from) {
  if (from.attributes.integer("transA", 0) != 0 || from.attributes.integer("transB", 0) != 0) {
    throw tn::shape_error("Gemm: transposed operands are not compiled in");
  }
  const auto x = tensor_of<float, Space, 2>(from.input(0)), y = tensor_of<float, Space, 2>(from.input(1));
  const auto z = tensor_of<float, Space, 2>(from.input(2));
  const auto alpha = static_cast<float>(from.attributes.number("alpha", 1));
  const auto beta = static_cast<float>(from.attributes.number("beta", 1));
  return evaluated<Space>(alpha * tn::matmul(x, y) + beta * z, 2);
}

}  // namespace

void add_matmul(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["MatMul"] = product<Space>;
    table["Gemm"] = gemm<Space>;
  });
}

}  // namespace conformance
