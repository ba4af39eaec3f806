// tenon/base/device_conversion.hpp: conversions between short floats and float by the instructions of CUDA devices.
// In terms of bits they take dozens of instructions and branch; here each is one. One more keeps a branch.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#if defined(__CUDACC__)

namespace tenon::detail {

__device__ __forceinline__ std::uint16_t device_half_bits(float value) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ float device_float_from_half(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

/// From sm_80 on.
__device__ __forceinline__ std::uint16_t device_bfloat16_bits(float value) {
  std::uint16_t bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

/// Two at once, the first in the lower half.
__device__ __forceinline__ std::uint32_t device_bfloat16_pair(float first, float second) {
  std::uint32_t bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
}

/// Between float and 8 bits, e5m2 where `IsE5m2` and else e4m3, from sm_89 on; instructions convert pairs.
template <bool IsE5m2>
__device__ __forceinline__ std::uint8_t device_float8_bits(float value) {
  std::uint16_t pair;
  if constexpr (IsE5m2) asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  else asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return static_cast<std::uint8_t>(pair);
}
template <bool IsE5m2>
__device__ __forceinline__ float device_float_from_float8(std::uint8_t bits) {
  const std::uint16_t pair = bits;
  std::uint32_t halves;
  if constexpr (IsE5m2) asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(pair));
  else asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(pair));
  return device_float_from_half(static_cast<std::uint16_t>(halves));
}

/// Keeps the branch in which it stands, since compilers do not put a fence under a predicate. Accesses to memory under
/// opposite predicates write the same registers, so that each would wait for the one before.
__device__ __forceinline__ void keep_device_branch() { asm volatile("membar.cta;"); }

}  // namespace tenon::detail
#endif
