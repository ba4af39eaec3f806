// tenon/device/cuda_grid.hpp: the barrier of a grid, whose blocks are all on the device at a time.
// One word counts the blocks that have arrived. The last arrival flips its highest bit, for which all blocks wait.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

namespace tenon::detail {

/// The present value of a word that others write. What they wrote before it is visible only after a fence.
__device__ __forceinline__ unsigned read_unordered(const unsigned* word) {
  unsigned value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(__cvta_generic_to_global(word)) : "memory");
  return value;
}

/// Orders a thread's accesses to memory for all threads of the device, as releases and acquires do. `__threadfence`
/// orders them in one sequence with all other fences, too, which no kernel here needs.
__device__ __forceinline__ void order_accesses() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

/// Waits for every thread of the grid and orders their accesses to memory. Each block adds one to the word, the first
/// so much that the sum flips the highest bit: the word needs no reset, however many blocks the next launch has.
/// Waiting blocks use relaxed loads, since acquiring ones empty the first cache for blocks that still work.
/// Source: the grid barrier of CUDA's cooperative groups counts in this way.
__device__ __forceinline__ void meet_grid(unsigned* barrier) {
  constexpr unsigned highest = 0x80000000u, nanoseconds_between_reads = 32;
  __syncthreads();
  if (threadIdx.x == 0) {
    const bool is_first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
    const unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    order_accesses();
    const unsigned before = atomicAdd(barrier, is_first ? highest - others : 1u);
    while (((before ^ read_unordered(barrier)) & highest) == 0) __nanosleep(nanoseconds_between_reads);
    order_accesses();
  }
  __syncthreads();
}

}  // namespace tenon::detail
#endif
