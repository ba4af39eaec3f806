// tenon/device/launch.hpp: starts a kernel on the threads of a grid.
// The only <<<>>> of the library: every launch is checked, named and counted here.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <tenon/device/cuda.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/primitives.hpp>

namespace tenon {

inline constexpr int max_block_threads = 1024;
inline constexpr int max_grid_extent = 65535;            // of the axes y and z
inline constexpr int max_shared_bytes = 227 * 1024;      // of the largest device
inline constexpr std::size_t max_kernel_bytes = 32'760;  // what nvcc takes as arguments of a kernel

namespace detail {

/// How a space runs a grid; a space specialises it beside its device.
template <class Space>
struct launcher {
  template <class Kernel>
  static void run(const launch_shape&, const Kernel&) {
    static_assert(must_hold<Space, Kernel>,
                  "tenon: this space runs no kernels here; for cuda compile this file with nvcc, for emulated include "
                  "<tenon/device/emulated.hpp>");
  }
};

inline void check_launch_shape(const char* kernel, const launch_shape& shape, int max_threads) {
  if (shape.block < 1 || shape.block > max_threads) {
    throw shape_error(compose_text("launch: ", kernel, ": a block of ", shape.block, " threads, expected 1 to ",
                                   max_threads, "; the kernel's max_threads sets the limit"));
  }
  if (shape.shared_bytes < 0 || shape.shared_bytes > max_shared_bytes) {
    throw shape_error(compose_text("launch: ", kernel, ": ", shape.shared_bytes,
                                   " bytes of shared memory, expected at most ", max_shared_bytes));
  }
  if (shape.grid.x < 0 || shape.grid.y < 0 || shape.grid.z < 0 || shape.grid.y > max_grid_extent ||
      shape.grid.z > max_grid_extent) {
    const array<int, 3> extents{shape.grid.x, shape.grid.y, shape.grid.z};
    throw shape_error(compose_text("launch: ", kernel, ": a grid of ", extents, " blocks, expected at most ",
                                   max_grid_extent, " along y and z and none negative"));
  }
}

}  // namespace detail

/// Runs `kernel` on `Space`: a trivially copyable struct whose `operator()(Device&) const` is the code of one thread.
/// It may name itself (`name`), its largest block (`max_threads`, 256 if not said) and how many blocks share a
/// multiprocessor (`min_blocks`, 1 if not said).
/// throws    shape_error for a shape that no device takes, cuda_error, and on emulated what its rules find
/// cost      one launch; none where the grid is empty
template <class Space, class Kernel>
void launch(const launch_shape& shape, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "tenon: a kernel must be trivially copyable");
  static_assert(sizeof(Kernel) <= max_kernel_bytes, "tenon: the arguments of this kernel exceed 32760 bytes");
  static_assert(kernel_max_threads<Kernel>() <= max_block_threads, "tenon: a block has at most 1024 threads");
  detail::check_launch_shape(kernel_name<Kernel>(), shape, kernel_max_threads<Kernel>());
  if (shape.grid.blocks() == 0) return;
  count_launch(kernel_name<Kernel>());
  detail::launcher<Space>::run(shape, kernel);
}

#if defined(__CUDACC__)
namespace detail {

template <int MaxThreads, int MinBlocks, class Kernel>
__global__ void __launch_bounds__(MaxThreads, MinBlocks) run_kernel(const __grid_constant__ Kernel kernel) {
  cuda_device device;
  kernel(device);
}

inline constexpr int shared_bytes_without_asking = 48 * 1024;

/// Asks for a large block of shared memory. The latest question is kept: the answer rarely changes between launches.
inline void allow_shared_bytes(const void* entry, int bytes, const char* kernel) {
  thread_local const void* allowed_entry = nullptr;
  thread_local int allowed_bytes = 0, allowed_device = -1;
  const int device = current_cuda_device();
  if (allowed_entry == entry && allowed_device == device && bytes <= allowed_bytes) return;
  check_cuda("cudaFuncSetAttribute", cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             kernel);
  allowed_entry = entry;
  allowed_device = device;
  allowed_bytes = bytes;
}

template <>
struct launcher<cuda> {
  template <class Kernel>
  static void run(const launch_shape& shape, const Kernel& kernel) {
    constexpr int max_threads = kernel_max_threads<Kernel>();
    constexpr int min_blocks = kernel_min_blocks<Kernel>();
    const auto entry = &run_kernel<max_threads, min_blocks, Kernel>;
    if (shape.shared_bytes > shared_bytes_without_asking) {
      allow_shared_bytes(reinterpret_cast<const void*>(entry), shape.shared_bytes, kernel_name<Kernel>());
    }
    const dim3 grid(static_cast<unsigned>(shape.grid.x), static_cast<unsigned>(shape.grid.y),
                    static_cast<unsigned>(shape.grid.z));
    run_kernel<max_threads, min_blocks, Kernel>
        <<<grid, static_cast<unsigned>(shape.block), static_cast<std::size_t>(shape.shared_bytes), current_stream()>>>(
            kernel);
    check_cuda("launch", cudaGetLastError(), kernel_name<Kernel>());
  }
};

}  // namespace detail
#endif

}  // namespace tenon
