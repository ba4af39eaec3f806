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

/// target = statement, by Hopper's kernel in blocks of `Tile`; false where it does not take the operands.
template <class Tile, class T, class Shape, class Space, class Statement>
bool run_hopper(tenon::tensor<T, Shape, Space>& target, const Statement& statement, int blocks, int parts = 1) {
  constexpr int rank = Shape::rank;
  const auto& product = tenon::contraction_of(statement);
  using product_type = std::remove_cvref_t<decltype(product)>;
  using element = typename product_type::element;
  tenon::strided_target<T, rank> to{target.data(), {}};
  tenon::index stride = 1;
  for (int axis = rank - 1; axis >= 0; --axis) to.stride[axis] = stride, stride *= target.extent(axis);
  const auto extents = tenon::extents_of_product(product);
  const auto operands =
      tenon::hopper_operands_of<element>(extents, tenon::left_matrix(product), tenon::right_matrix(product));
  if (operands.left.data == nullptr || operands.right.data == nullptr) return false;
  const auto epilogue = tenon::make_kernel_epilogue<product_type>(to, statement);
  tenon::launch_hopper_product<Space, Tile, element>(extents, operands, epilogue, blocks, parts);
  return true;
}

/// A number in [-1, 1) as T keeps it.
template <class T, class Shape>
auto hopper_numbers(const Shape& shape, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::uniform<T>(shape, seed, -1.0f, 1.0f));
}

/// What a result may be off: `magnitude` is the product of the absolute operands.
template <class T>
double hopper_bound(tenon::index depth, double magnitude, double result) {
  const double rounding = std::is_same_v<T, tenon::half>          ? 0x1p-11
                          : std::is_same_v<T, tenon::bfloat16>    ? 0x1p-8
                          : std::is_same_v<T, tenon::float8_e4m3> ? 0x1p-4
                          : std::is_same_v<T, tenon::float8_e5m2> ? 0x1p-3
                                                                  : 0;
  const double subnormal = std::is_same_v<T, tenon::float8_e4m3> ? 0x1p-10 : 0x1p-17;
  return (static_cast<double>(depth) * 0x1p-23 + 0x1p-22) * magnitude + rounding * std::fabs(result) + subnormal + 1e-7;
}

/// The sum and the sum of the magnitudes of what a result adds up.
struct exact_sum {
  double sum = 0, magnitude = 0;

  void add(double left, double right) { sum += left * right, magnitude += std::fabs(left * right); }
};

}  // namespace tenon_test
