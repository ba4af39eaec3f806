// tenon/device/cuda_matrix.hpp: matrices that the lanes of a warp hold, on CUDA devices.
// The instructions ldmatrix and mma.sync; device/lane_matrix.hpp says which lane holds what.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/instruction_text.hpp>
#include <tenon/device/lane_matrix.hpp>
#if defined(__CUDACC__)

namespace tenon {

namespace detail {

/// 10 * major + minor of the device that is compiled for; 0 in the host's pass.
__device__ constexpr int target_architecture() {
#if defined(__CUDA_ARCH__)
  return __CUDA_ARCH__ / 10;
#else
  return 0;
#endif
}

inline constexpr int lane_products_since = 80;  // the architecture

template <bool Transposed>
__device__ __forceinline__ void load_block_words(lane_words<4>& words, unsigned address) {
  auto& w = words.values;
  if constexpr (Transposed) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(address)
                 : "memory");
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(address)
                 : "memory");
  }
}

template <class T>
__device__ __forceinline__ void multiply_block_words(lane_sums<T>& sums, const lane_words<4>& left,
                                                     const lane_words<2>& right) {
  using product = lane_product_text<T>;
  auto& d = sums.values;
  const auto& a = left.values;
  const auto& b = right.values;
  if constexpr (std::is_same_v<fragment_accumulator<T>, float>) {
    asm("mma.sync.aligned.%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(product::text));
  } else {
    asm("mma.sync.aligned.%10 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "C"(product::text));
  }
}

}  // namespace detail

/// The part of a CUDA device object that loads, rearranges and multiplies blocks.
class cuda_lane_matrices {
 public:
  /// Ends a kernel that needs what the device that is compiled for lacks, so that its launch fails.
  __device__ __forceinline__ static void refuse() { __trap(); }

  /// Whether the device that is compiled for has these products.
  template <class T>
  __device__ static constexpr bool has_lane_products_of() {
    return has_lane_products<T> && detail::target_architecture() >= detail::lane_products_since;
  }
  template <bool Transposed = false, class Array>
  __device__ __forceinline__ lane_words<4> load_blocks(const Array& from, int first) {
    static_assert(block_load_is_legal<Transposed, typename Array::value_type>,
                  "tenon: blocks are transposed by elements of 16 bits");
    lane_words<4> words{};
    if constexpr (detail::target_architecture() >= detail::lane_products_since) {
      detail::load_block_words<Transposed>(words, from.address(first));
    } else {
      refuse();
    }
    return words;
  }
  __device__ __forceinline__ std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
    return __byte_perm(low, high, selector);
  }
  template <class T>
  __device__ __forceinline__ std::uint32_t pack_pair(float first, float second) {
    std::uint32_t word = 0;
    if constexpr (detail::target_architecture() < detail::lane_products_since) {
      const array<T, 2> pair{{static_cast<T>(first), static_cast<T>(second)}};
      __builtin_memcpy(&word, &pair, sizeof(word));
    } else if constexpr (std::is_same_v<T, half>) {
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    } else {
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
    }
    return word;
  }
  __device__ __forceinline__ float power_of_two(float exponent) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(exponent));
    return power;
  }
  template <class T, int Count>
  __device__ __forceinline__ void round_words(lane_words<Count>& words) {
    if constexpr (std::is_same_v<T, tf32> && detail::target_architecture() >= detail::lane_products_since) {
      for (auto& word : words.values) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(word)));
    }
  }
  template <class T>
  __device__ __forceinline__ void multiply_blocks(lane_sums<T>& sums, const lane_words<4>& left,
                                                  const lane_words<2>& right) {
    static_assert(has_lane_products<T>, "tenon: lanes multiply matrices of half, bfloat16, tf32 and int8");
    if constexpr (detail::target_architecture() >= detail::lane_products_since) {
      detail::multiply_block_words<T>(sums, left, right);
    } else {
      refuse();
    }
  }
};

}  // namespace tenon
#endif
