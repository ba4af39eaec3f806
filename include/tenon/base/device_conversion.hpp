// tenon/base/device_conversion.hpp: conversions between short floats and float by the instructions of CUDA devices.
// In terms of bits they take dozens of instructions and branch; here each is one.
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

}  // namespace tenon::detail
#endif
