// tests/contraction/hopper_cases.hpp: statements whose product Hopper's kernel computes, and how far they may be off.
// The reference is the definition, in double, of the operands as they are stored.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/contraction/hopper_matrices.hpp>
#include <tenon/device/emulated_hopper.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace tenon_test {

/// Whether `Space` has Hopper's units and code for them.
template <class Space>
bool has_hopper() {
#if defined(__CUDACC__)
  return tenon::properties_of(tenon::current_cuda_device()).architecture == 90;
#else
  return true;
#endif
}

/// What warpgroups multiply for the elements T of operands, unless a test says otherwise.
template <class T>
using hopper_operand_of = std::conditional_t<std::is_same_v<T, float>, tenon::tf32, T>;

/// target = statement, by Hopper's kernel in blocks of `Tile` that multiplies `Operand`; false where it does not take
/// the operands.
template <class Tile, class Operand, class T, class Shape, class Space, class Statement>
bool run_hopper_of(tenon::tensor<T, Shape, Space>& target, const Statement& statement, int blocks, int parts = 1) {
  constexpr int rank = Shape::rank;
  const auto& product = tenon::contraction_of(statement);
  using product_type = std::remove_cvref_t<decltype(product)>;
  tenon::strided_target<T, rank> to{target.data(), {}};
  tenon::index stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) to.stride[axis] = stride, stride *= target.extent(axis);
  const auto extents = tenon::extents_of_product(product);
  auto operands = tenon::hopper_operands_of<Operand>(extents, tenon::detail::without_casts(tenon::left_matrix(product)),
                                                     tenon::detail::without_casts(tenon::right_matrix(product)));
  if (operands.left.data == nullptr || operands.right.data == nullptr) return false;
  const tenon::depth_copies<Space, Operand> copies(operands);
  const auto epilogue = tenon::make_kernel_epilogue<product_type>(to, statement);
  tenon::launch_hopper_product<Space, Tile, Operand>(extents, operands, epilogue, blocks, parts);
  return true;
}
/// The same of elements that are multiplied as they are.
template <class Tile, class T, class Shape, class Space, class Statement>
bool run_hopper(tenon::tensor<T, Shape, Space>& target, const Statement& statement, int blocks, int parts = 1) {
  using product_type = std::remove_cvref_t<decltype(tenon::contraction_of(statement))>;
  return run_hopper_of<Tile, typename product_type::element>(target, statement, blocks, parts);
}

/// A number in [-1, 1) as T keeps it.
template <class T, class Shape>
auto hopper_numbers(const Shape& shape, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::uniform<T>(shape, seed, -1.0f, 1.0f));
}
/// Bytes from -128 to 127.
template <std::same_as<std::int8_t> T, class Shape>
auto hopper_numbers(const Shape& shape, std::uint64_t seed) {
  return tenon::evaluated_tensor(
      tenon::cast<std::int8_t>(tenon::floor(tenon::uniform<float>(shape, seed, -128.0f, 128.0f))));
}

/// The product of operands as warpgroups multiply them: floats as tf32, and bytes in 32 bits.
template <class Left, class Right>
auto hopper_matmul(const Left& left, const Right& right) {
  using element = typename tenon::node_of<Left>::element;
  if constexpr (std::is_same_v<element, std::int8_t>) {
    return tenon::matmul(tenon::cast<std::int32_t>(left), tenon::cast<std::int32_t>(right));
  } else if constexpr (std::is_same_v<element, float>) {
    return tenon::matmul<tenon::precision::tf32>(left, right);
  } else {
    return tenon::matmul(left, right);
  }
}
/// What its elements are.
template <class T>
using hopper_result = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t, T>;

/// What a result may be off: `magnitude` is the product of the absolute operands.
template <class T>
double hopper_bound(tenon::index depth, double magnitude, double result) {
  const double rounding = std::is_same_v<T, tenon::half>          ? 0x1p-11
                          : std::is_same_v<T, tenon::bfloat16>    ? 0x1p-8
                          : std::is_same_v<T, tenon::float8_e4m3> ? 0x1p-4
                          : std::is_same_v<T, tenon::float8_e5m2> ? 0x1p-3
                                                                  : 0;
  const double of_operands = std::is_same_v<T, float> ? 0x1p-10 : 0;  // rounded to tf32 each
  const double subnormal = std::is_same_v<T, tenon::float8_e4m3> ? 0x1p-10 : 0x1p-17;
  if (std::is_same_v<T, std::int8_t>) return 0;
  return (static_cast<double>(depth) * 0x1p-23 + 0x1p-22 + of_operands) * magnitude + rounding * std::fabs(result) +
         subnormal + 1e-7;
}

/// The sum and the sum of the magnitudes of what a result adds up.
struct exact_sum {
  double sum = 0, magnitude = 0;

  void add(double left, double right) { sum += left * right, magnitude += std::fabs(left * right); }
};

}  // namespace tenon_test
