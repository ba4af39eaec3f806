// tenon/device/simd_batch.hpp: functions of packs that xsimd has.
// Numbers take the same way as packs, so a loop's tail has the bits of its body. Without xsimd, the C library's serve.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_lanes.hpp>

#if TENON_XSIMD && !defined(__CUDACC__)
#pragma GCC diagnostic push  // g++ 12 warns of operands that its own intrinsics leave uninitialised
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>
#pragma GCC diagnostic pop
#endif

namespace tenon::simd {

/// `Function::number`, which takes numbers and xsimd's batches, of all lanes.
template <class Function, class V>
TENON_HOST_DEVICE TENON_INLINE V in_batches(const V& x) {
#if TENON_XSIMD && !defined(__CUDACC__)
  using lane = lane_of<V>;
  using batch = xsimd::batch<lane>;
  constexpr int size = static_cast<int>(batch::size), count = (width_of<V> + size - 1) / size;
  lane lanes[count * size]{};
  __builtin_memcpy(lanes, &x, sizeof(x));
  for (int first = 0; first < width_of<V>; first += size) {
    Function::number(batch::load_unaligned(lanes + first)).store_unaligned(lanes + first);
  }
  V result;
  __builtin_memcpy(&result, lanes, sizeof(x));
  return result;
#else
  if constexpr (is_number<V>) {
    return Function::number(x);
  } else {
    return map_lanes<lane_of<V>>([](lane_of<V> number) { return Function::number(number); }, x);
  }
#endif
}

}  // namespace tenon::simd
