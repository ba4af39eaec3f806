// tenon/device/emulated_matrix.hpp: what emulated lanes receive of blocks, and their products.
// Everything follows the documented layout of lane_matrix.hpp, element by element.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/fragment.hpp>
#include <tenon/device/lane_matrix.hpp>

namespace tenon::detail {

/// The value that a unit multiplies: of a tf32 it drops the low bits of the mantissa.
template <class T>
TENON_HOST_DEVICE fragment_accumulator<T> multiplied_part(fragment_storage<T> value) {
  if constexpr (std::is_same_v<T, tf32>) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    bits &= 0xffffe000u;
    __builtin_memcpy(&value, &bits, sizeof(bits));
  }
  return static_cast<fragment_accumulator<T>>(value);
}

/// The number that a warpgroup multiplies for an element, which the first bytes of `word` are.
template <class T>
float multiplied_number(std::uint32_t word) {
  fragment_storage<T> value{};
  __builtin_memcpy(&value, &word, sizeof(value));
  return static_cast<float>(multiplied_part<T>(value));
}

/// Operands of one product: 16 rows and 8 columns, k fastest in both.
template <class T>
struct lane_product {
  using number = fragment_accumulator<T>;
  static constexpr int depth = lane_product_depth<T>;

  number left[lane_product_rows][depth];
  number right[lane_product_columns][depth];

  /// Puts the elements of word `words[block]` of `lane` where they belong; `Blocks` lie side by side in a step of k.
  template <int Blocks, int Rows, int Words>
  TENON_HOST_DEVICE static void place(number (&matrix)[Rows][depth], const lane_words<Words>& words, int lane) {
    constexpr int elements = 4 / static_cast<int>(sizeof(fragment_storage<T>));
    for (int block = 0; block < Words; ++block) {
      fragment_storage<T> values[elements];
      __builtin_memcpy(&values, &words[block], sizeof(values));
      number* row =
          matrix[lane / 4 + block % Blocks * block_lines] + block / Blocks * (depth / 2) + lane % 4 * elements;
      for (int i = 0; i < elements; ++i) row[i] = multiplied_part<T>(values[i]);
    }
  }
  TENON_HOST_DEVICE number at(int row, int column) const {
    number sum = 0;
    for (int k = 0; k < depth; ++k) sum += left[row][k] * right[column][k];
    return sum;
  }
};

/// The operands that one lane contributes to a product.
template <class T>
struct lane_product_operands {
  lane_sums<T>* sums;
  const lane_words<4>* left;
  const lane_words<2>* right;
};

/// The sums of all lanes += left * right.
template <class T>
TENON_HOST_DEVICE void multiply_lane_matrices(const lane_product_operands<T>* lanes) {
  lane_product<T> product;
  for (int lane = 0; lane < warp_size; ++lane) {
    product.template place<2>(product.left, *lanes[lane].left, lane);
    product.template place<1>(product.right, *lanes[lane].right, lane);
  }
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int slot = 0; slot < 4; ++slot) {
      (*lanes[lane].sums)[slot] += product.at(lane_sum_row(lane, slot), lane_sum_column(lane, slot));
    }
  }
}

/// The word that `lane` receives of a block of `lines`.
template <bool Transposed, class Line>
TENON_HOST_DEVICE std::uint32_t word_of_block(const array<Line, block_lines>& lines, int lane) {
  std::uint32_t word = 0;
  if constexpr (Transposed) {
    const auto first = lines[lane % 4 * 2][lane / 4], second = lines[lane % 4 * 2 + 1][lane / 4];
    __builtin_memcpy(&word, &first, 2);
    __builtin_memcpy(reinterpret_cast<unsigned char*>(&word) + 2, &second, 2);
  } else {
    __builtin_memcpy(&word, &lines[lane / 4][lane % 4 * (Line::size() / 4)], 4);
  }
  return word;
}

/// `word` with its elements rounded to what a unit multiplies.
template <class T>
TENON_HOST_DEVICE std::uint32_t rounded_word(std::uint32_t word) {
  if constexpr (std::is_same_v<T, tf32>) {
    float value = 0;
    __builtin_memcpy(&value, &word, sizeof(value));
    value = rounded_operand<tf32>(value);
    __builtin_memcpy(&word, &value, sizeof(value));
  }
  return word;
}

}  // namespace tenon::detail
