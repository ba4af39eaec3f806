// tenon/device/cuda_hopper.hpp: the instructions of Hopper for kernels that nvcc compiles.
// They exist for sm_90a alone; code for other devices asks `is_available` and leaves them out.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/cuda.hpp>
#include <tenon/device/cuda_tile_map.hpp>
#include <tenon/device/cuda_warpgroup.hpp>
#include <tenon/device/hopper.hpp>
#if defined(__CUDACC__)

namespace tenon {

/// Hopper's operations on `cuda`.
template <>
class hopper_unit<cuda_device> {
 public:
  using tile_map = cuda_tile_map;
  using barriers = cuda_shared_array<phase_barrier>;

  __device__ __forceinline__ explicit hopper_unit(cuda_device&) {}

  /// Whether code is being made for a device that has them.
  __host__ __device__ static constexpr bool is_available() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    return true;
#else
    return false;
#endif
  }

  __device__ __forceinline__ void make_barrier(const barriers& at, int i, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(at.address(i)), "r"(arrivals) : "memory");
  }
  /// Makes the barriers that this thread made visible to the unit that copies tiles. A `sync` shows them to threads.
  __device__ __forceinline__ void show_barriers() {
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
  }
  __device__ __forceinline__ void arrive(const barriers& at, int i) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(at.address(i)) : "memory");
  }
  __device__ __forceinline__ void arrive_expecting(const barriers& at, int i, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :
                 : "r"(at.address(i)), "r"(bytes)
                 : "memory");
  }
  __device__ __forceinline__ void wait(const barriers& at, int i, int parity) {
    const unsigned address = at.address(i);
    while (!has_ended(address, parity)) continue;
  }

  template <class T>
  __device__ __forceinline__ void copy_tile(const cuda_shared_array<T>& to, const tile_map& from,
                                            const array<int, 3>& position, const barriers& at, int i) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
        :
        : "r"(to.address(0)), "l"(&from), "r"(position[0]), "r"(position[1]), "r"(position[2]), "r"(at.address(i))
        : "memory");
  }
  template <class T>
  __device__ __forceinline__ void copy_image_tile(const cuda_shared_array<T>& to, const tile_map& from,
                                                  const array<int, 5>& position, const barriers& at, int i) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], "
        "[%7];"
        :
        : "r"(to.address(0)), "l"(&from), "r"(position[0]), "r"(position[1]), "r"(position[2]), "r"(position[3]),
          "r"(position[4]), "r"(at.address(i))
        : "memory");
  }
  __device__ __forceinline__ void prefetch_map(const tile_map& map) {
    asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
  }

  template <int Registers>
  __device__ __forceinline__ void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(Registers));
  }
  template <int Registers>
  __device__ __forceinline__ void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(Registers));
  }

  template <class T>
  __device__ __forceinline__ operand_descriptor describe(const cuda_shared_array<T>& tile, int first, int leading_bytes,
                                                         int stride_bytes) {
    return operand_descriptor::of(tile.address(first), leading_bytes, stride_bytes);
  }
  __device__ __forceinline__ void begin_products() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
  template <class Product>
  __device__ __forceinline__ void multiply(std::uint32_t (&sums)[Product::sums], operand_descriptor left,
                                           operand_descriptor right, bool adds) {
    detail::multiply_warpgroup<Product>(sums, left.bits, right.bits, adds ? 1 : 0);
  }
  __device__ __forceinline__ void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }
  template <int Groups>
  __device__ __forceinline__ void wait_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(Groups) : "memory");
  }
  /// Waits for all products; `sums` may be read from here on.
  template <int Count>
  __device__ __forceinline__ void finish_products(std::uint32_t (&sums)[Count]) {
    wait_products<0>();
    for (auto& sum : sums) asm volatile("" : "+r"(sum) : : "memory");  // no use of a sum moves before the wait
  }

 private:
  __device__ __forceinline__ static bool has_ended(unsigned address, int parity) {
    unsigned ended = 0;
    asm volatile(
        "{\n\t.reg .pred ended;\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n\t"
        "selp.u32 %0, 1, 0, ended;\n\t}"
        : "=r"(ended)
        : "r"(address), "r"(parity)
        : "memory");
    return ended != 0;
  }
};

}  // namespace tenon
#endif
