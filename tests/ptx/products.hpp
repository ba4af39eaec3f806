// tests/ptx/products.hpp: products of small matrices, whatever instruction asks for them.
// Floats are summed as doubles and rounded once: the hardware's order of sums is not specified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ptx/lanes.hpp"
#include "ptx/small_floats.hpp"

namespace tenon_test::ptx {

/// Types of elements of matrices.
enum class element : std::uint8_t { f16, bf16, tf32, s8, u8, e4m3, e5m2, f32, s32, f64, none };

inline element element_of(std::string_view name) {
  static constexpr const char* names[] = {"f16", "bf16", "tf32", "s8", "u8", "e4m3", "e5m2", "f32", "s32", "f64"};
  for (std::uint8_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<element>(i);
  }
  return element::none;
}

inline int bytes_of(element type) {
  switch (type) {
    case element::s8:
    case element::u8:
    case element::e4m3:
    case element::e5m2:
      return 1;
    case element::f16:
    case element::bf16:
      return 2;
    case element::f64:
      return 8;
    default:
      return 4;
  }
}

/// The number that an element's bits are, exactly.
inline double number_of(element type, std::uint64_t bits) {
  const auto word = static_cast<std::uint32_t>(bits);
  switch (type) {
    case element::f16:
      return half_to_float(static_cast<std::uint16_t>(bits));
    case element::bf16:
      return bfloat_to_float(static_cast<std::uint16_t>(bits));
    case element::tf32:
      return std::bit_cast<float>(word & 0xffffe000u);
    case element::f32:
      return std::bit_cast<float>(word);
    case element::s8:
      return static_cast<std::int8_t>(bits);
    case element::u8:
      return static_cast<std::uint8_t>(bits);
    case element::s32:
      return static_cast<std::int32_t>(word);
    case element::e4m3:
      return decode(word & 0xff, e4m3_format);
    case element::e5m2:
      return decode(word & 0xff, e5m2_format);
    default:
      return std::bit_cast<double>(bits);
  }
}

/// The bits of a sum: integers wrap.
inline std::uint64_t bits_of_sum(element type, double sum) {
  if (type == element::s32) return static_cast<std::uint32_t>(static_cast<std::int64_t>(sum));
  if (type == element::f64) return std::bit_cast<std::uint64_t>(sum);
  return std::bit_cast<std::uint32_t>(one_nan(static_cast<float>(sum)));
}

/// sums (M, N) += left (M, K) * right (K, N), all of them row after row.
inline void multiply(int m, int n, int k, const double* left, const double* right, double* sums) {
  for (int row = 0; row < m; ++row) {
    for (int depth = 0; depth < k; ++depth) {
      const double factor = left[row * k + depth];
      for (int column = 0; column < n; ++column) sums[row * n + column] += factor * right[depth * n + column];
    }
  }
}

}  // namespace tenon_test::ptx
