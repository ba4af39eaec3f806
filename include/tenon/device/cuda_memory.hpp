// tenon/device/cuda_memory.hpp: the memory space of CUDA devices.
// The space can be named everywhere; using it needs nvcc, and elsewhere is one readable error.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/base/config.hpp>
#include <tenon/device/stream.hpp>

namespace tenon {

namespace detail {

/// Memory calls of `cuda`; the specialisation for `true` exists in files that nvcc compiles.
template <bool CompiledByNvcc>
struct cuda_memory {
  template <class... Arguments>
  static void* use(Arguments...) {
    static_assert(CompiledByNvcc, "tenon: memory of the space cuda is used here; compile this file with nvcc");
    return nullptr;
  }
  static void* allocate(std::size_t bytes) { return use(bytes); }
  static void deallocate(void* memory, std::size_t bytes) { use(memory, bytes); }
  static void copy(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
};

}  // namespace detail

/// Memory of the current CUDA device. Everything happens in the order of the thread's current stream;
/// copies from and to the host are complete on return.
/// throws    cuda_error
struct cuda {
  static constexpr const char* name = "cuda";
  static constexpr bool host_accessible = false;

  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void* allocate(std::size_t bytes) {
    return detail::cuda_memory<CompiledByNvcc>::allocate(bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void deallocate(void* memory, std::size_t bytes) noexcept {
    detail::cuda_memory<CompiledByNvcc>::deallocate(memory, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy_from_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy_from_host(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy_to_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy_to_host(target, source, bytes);
  }
};

}  // namespace tenon

#if defined(__CUDACC__)
namespace tenon {

namespace detail {

template <>
struct cuda_memory<true> {
  static void* allocate(std::size_t bytes) {
    void* memory = nullptr;
    if (bytes == 0) return memory;
    if (properties_of(current_cuda_device()).has_memory_pools) {
      check_cuda("cudaMallocAsync", cudaMallocAsync(&memory, bytes, current_stream()));
    } else {
      check_cuda("cudaMalloc", cudaMalloc(&memory, bytes));
    }
    return memory;
  }
  static void deallocate(void* memory, std::size_t) noexcept {  // failures while the process ends are of no interest
    if (memory != nullptr && cudaFreeAsync(memory, current_stream()) != cudaSuccess) cudaFree(memory);
  }
  static void copy(void* target, const void* source, std::size_t bytes) {
    transfer(target, source, bytes, cudaMemcpyDeviceToDevice);
  }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) {
    transfer(target, source, bytes, cudaMemcpyHostToDevice);
    synchronize();
  }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) {
    transfer(target, source, bytes, cudaMemcpyDeviceToHost);
    synchronize();
  }
  static void transfer(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes != 0) check_cuda("cudaMemcpyAsync", cudaMemcpyAsync(target, source, bytes, kind, current_stream()));
  }
};

}  // namespace detail
}  // namespace tenon
#endif
