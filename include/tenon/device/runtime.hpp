// tenon/device/runtime.hpp: checked CUDA calls and what the devices say of themselves.
// A code that a call returns is easily dropped; here every one is read and becomes an exception that names the call.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#include <tenon/base/error.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include <vector>

namespace tenon {

/// Throws cuda_error where `code` is one; `call` and `kernel` are for its text.
inline void check_cuda(const char* call, cudaError_t code, const char* kernel = "") {
  if (code == cudaSuccess) return;
  throw cuda_error(compose_text(call, ": ", *kernel != 0 ? compose_text("kernel ", kernel, ": ") : std::string(),
                                cudaGetErrorName(code), " (", static_cast<int>(code), "), ", cudaGetErrorString(code)));
}

/// How many CUDA devices this process can use; 0 where there is no driver.
inline int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // forgets the failure
  return 0;
}

/// The device that the calling thread uses.
inline int current_cuda_device() {
  int device = 0;
  check_cuda("cudaGetDevice", cudaGetDevice(&device));
  return device;
}

/// What a device says of itself.
struct cuda_properties {
  int architecture;              ///< 10 * major + minor, as in sm_90
  int multiprocessors;           ///< units that run blocks
  int shared_bytes_per_block;    ///< most shared memory of a block, when asked for
  int threads_per_processor;     ///< most resident threads of a multiprocessor
  int second_level_cache_bytes;  ///< size of the L2 cache
  bool has_memory_pools;         ///< allocation in stream order
};

namespace detail {

inline int cuda_attribute(cudaDeviceAttr attribute, int device) {
  int value = 0;
  check_cuda("cudaDeviceGetAttribute", cudaDeviceGetAttribute(&value, attribute, device));
  return value;
}

/// Keeps what the pool of `device` holds, so that a steady state allocates nothing from the driver.
inline bool prepare_pool(int device) {
  if (cuda_attribute(cudaDevAttrMemoryPoolsSupported, device) == 0) return false;
  cudaMemPool_t pool{};
  check_cuda("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, device));
  unsigned long long keep = ~0ull;
  check_cuda("cudaMemPoolSetAttribute", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  return true;
}

inline cuda_properties read_properties(int device) {
  return {.architecture = 10 * cuda_attribute(cudaDevAttrComputeCapabilityMajor, device) +
                          cuda_attribute(cudaDevAttrComputeCapabilityMinor, device),
          .multiprocessors = cuda_attribute(cudaDevAttrMultiProcessorCount, device),
          .shared_bytes_per_block = cuda_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          .threads_per_processor = cuda_attribute(cudaDevAttrMaxThreadsPerMultiProcessor, device),
          .second_level_cache_bytes = cuda_attribute(cudaDevAttrL2CacheSize, device),
          .has_memory_pools = prepare_pool(device)};
}

inline std::vector<cuda_properties> read_all_properties() {
  std::vector<cuda_properties> found;
  for (int device = 0; device < cuda_device_count(); ++device) found.push_back(read_properties(device));
  return found;
}

}  // namespace detail

/// The properties of `device`, read once for the process.
/// throws    cuda_error when there is no such device
inline const cuda_properties& properties_of(int device) {
  static const std::vector<cuda_properties> found = detail::read_all_properties();
  if (device < 0 || static_cast<std::size_t>(device) >= found.size()) {
    throw cuda_error(compose_text("properties_of: device ", device, ", expected one of ", found.size(), " devices"));
  }
  return found[static_cast<std::size_t>(device)];
}

}  // namespace tenon
#endif
