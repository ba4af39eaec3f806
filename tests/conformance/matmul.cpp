// tests/conformance/matmul.cpp: matrix products and sums of products.
// Ranks of matrices are padded, vectors stay vectors.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/operations.hpp"

#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

namespace conformance {

namespace {

/// Axes of a batched product.
constexpr int product_axes = 4;

/// Integers are summed in 64 bits by Tenon; ONNX keeps the type.
inline constexpr type_list<float, double, tn::half, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>
    matrix_types;

/// The result without the leading axes that neither operand has.
template <class T, class Space, int LeftRank, int RightRank>
array product(const call& from, int rank) {
  const auto left = tensor_of<T, Space, LeftRank>(from.input(0));
  const auto right = tensor_of<T, Space, RightRank>(from.input(1));
  return evaluated<Space>(tn::cast<T>(tn::matmul(left, right)), rank);
}

template <class Space>
array matmul(const call& from) {
  const int left = from.input(0).rank(), right = from.input(1).rank();
  return with_type(matrix_types, from.input(0).dtype, [&]<class T>() {
    if (left == 1 && right == 1) return product<T, Space, 1, 1>(from, 0);
    if (left == 1) return product<T, Space, 1, product_axes>(from, right - 1);
    if (right == 1) return product<T, Space, product_axes, 1>(from, left - 1);
    return product<T, Space, product_axes, product_axes>(from, std::max(left, right));
  });
}

/// A matrix as it lies, or transposed.
template <class Matrix>
auto oriented(const Matrix& matrix, bool is_transposed) {
  return is_transposed ? tn::transpose(matrix) : matrix.view();
}

/// What is added may be absent.
template <class T, class Space>
array gemm(const call& from) {
  const auto x = tensor_of<T, Space, 2>(from.input(0)), y = tensor_of<T, Space, 2>(from.input(1));
  const auto alpha = static_cast<float>(from.attributes.number("alpha", 1));
  const auto beta = static_cast<float>(from.attributes.number("beta", 1));
  const auto left = oriented(x, from.attributes.integer("transA", 0) != 0);
  const auto right = oriented(y, from.attributes.integer("transB", 0) != 0);
  if (!from.has(2)) return evaluated<Space>(tn::cast<T>(alpha * tn::matmul(left, right)), 2);
  const auto z = tensor_of<T, Space, 2>(from.input(2));
  return evaluated<Space>(tn::cast<T>(tn::gemm(alpha, left, right, beta, z)), 2);
}

/// An equation is part of a type, and so are the ranks of its operands.
template <tn::einsum_text Equation, class Space, int Rank, int... Ranks>
void add_equation(std::map<std::string, operation>& table) {
  std::string name = Equation.characters;
  std::erase(name, ' ');
  table[name] = [](const call& from) {
    return with_type<float, double>(from.input(0).dtype, [&]<class T>() {
      const auto first = tensor_of<T, Space, Rank>(from.input(0));
      const auto sum = [&]<std::size_t... I>(std::index_sequence<I...>) {
        return tn::einsum<Equation>(first, tensor_of<T, Space, Ranks>(from.input(I + 1))...);
      }(std::make_index_sequence<sizeof...(Ranks)>{});
      return evaluated<Space>(sum, decltype(sum)::shape_type::rank);
    });
  };
}

template <class Space>
operation einsum() {
  std::map<std::string, operation> table;
  add_equation<"->", Space, 0>(table);
  add_equation<"ij->ji", Space, 2>(table);
  add_equation<"ij->i", Space, 2>(table);
  add_equation<"i,i", Space, 1, 1>(table);
  add_equation<"...ii->...i", Space, 3>(table);
  add_equation<"ij,jk->ik", Space, 2, 2>(table);
  add_equation<"bij,bjk->bik", Space, 3, 3>(table);
  return [table](const call& from) {
    std::string equation = from.attributes.text("equation", "");
    std::erase(equation, ' ');
    const auto found = table.find(equation);
    if (found == table.end()) throw tn::shape_error(tn::compose_text("Einsum: ", equation, " is not compiled in"));
    return found->second(from);
  };
}

}  // namespace

void add_matmul(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["MatMul"] = matmul<Space>;
    table["Gemm"] = [](const call& from) {
      return with_type(matrix_types, from.input(0).dtype, [&]<class T>() { return gemm<T, Space>(from); });
    };
    table["Einsum"] = einsum<Space>();
  });
}

}  // namespace conformance
