// tenon/device/runtime.hpp: checked CUDA calls and what the devices say of themselves.
// A code that a call returns is easily dropped; here every one is read and becomes an exception that names the call.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#include <tenon/base/error.hpp>
#if defined(__CUDACC__)
#include <cuda_runtime_api.h>

#include <tenon/device/recent_launches.hpp>
#include <vector>

namespace tenon {

namespace detail {

/// Whether a code reports a kernel that failed while it ran: every later call returns that code, too.
constexpr bool is_failure_of_kernel(cudaError_t code) {
  switch (code) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

/// What a code does not say by itself: that there may be nothing to run on.
constexpr const char* advice_for(cudaError_t code) {
  switch (code) {
    case cudaErrorInsufficientDriver:
    case cudaErrorNoDevice:
    case cudaErrorStubLibrary:
      return "; there is no GPU, or no driver for it, or an older one than this program needs: see nvidia-smi";
    default:
      return "";
  }
}

}  // namespace detail

/// Throws cuda_error where `code` is an error; `call` and `kernel` stand in its text. Where an earlier kernel failed
/// while it ran, the text names the kernels that this thread had started by then, and their statements.
inline void check_cuda(const char* call, cudaError_t code, const char* kernel = "") {
  if (code == cudaSuccess) return;
  throw cuda_error(compose_text(call, ": ", *kernel != 0 ? compose_text("kernel ", kernel, ": ") : std::string(),
                                cudaGetErrorName(code), " (", static_cast<int>(code), "), ", cudaGetErrorString(code),
                                detail::advice_for(code),
                                detail::is_failure_of_kernel(code) ? suspects_of_failure() : std::string()));
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
  int architecture;              ///< 10 * major + minor, as in sm_90; kernels may be made for an older one
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

/// Lets the devices that are able to reach the pool's memory copy from and to it by themselves.
inline void allow_peer_access(cudaMemPool_t pool, int device) {
  for (int peer = 0; peer < cuda_device_count(); ++peer) {
    int is_able = 0;
    if (peer != device) check_cuda("cudaDeviceCanAccessPeer", cudaDeviceCanAccessPeer(&is_able, peer, device));
    if (is_able == 0) continue;
    const cudaMemAccessDesc access{{cudaMemLocationTypeDevice, peer}, cudaMemAccessFlagsProtReadWrite};
    check_cuda("cudaMemPoolSetAccess", cudaMemPoolSetAccess(pool, &access, 1));
  }
}

/// Keeps what the pool of `device` holds, so that a steady state allocates nothing from the driver.
inline bool prepare_pool(int device) {
  if (cuda_attribute(cudaDevAttrMemoryPoolsSupported, device) == 0) return false;
  cudaMemPool_t pool{};
  check_cuda("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, device));
  unsigned long long keep = ~0ull;
  check_cuda("cudaMemPoolSetAttribute", cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  int may_wait = 0;  // rather take memory from the driver than let one stream wait for another
  check_cuda("cudaMemPoolSetAttribute",
             cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &may_wait));
  allow_peer_access(pool, device);
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

inline const std::vector<cuda_properties>& all_properties() {
  static const std::vector<cuda_properties> properties = [] {
    std::vector<cuda_properties> found;
    for (int device = 0; device < cuda_device_count(); ++device) found.push_back(read_properties(device));
    return found;
  }();
  return properties;
}

/// The text of a failed allocation.
inline std::string out_of_memory_text(std::size_t bytes, int device, std::size_t free, std::size_t total) {
  return compose_text("allocate: ", bytes, " bytes on device ", device, " of cuda: ", free, " of its ", total,
                      " bytes are free");
}

}  // namespace detail

/// The properties of `device`, read once for the process.
/// throws    cuda_error when there is no such device
inline const cuda_properties& properties_of(int device) {
  const std::vector<cuda_properties>& found = detail::all_properties();
  if (device < 0 || static_cast<std::size_t>(device) >= found.size()) {
    throw cuda_error(compose_text("properties_of: device ", device, ", expected one of ", found.size(), " devices"));
  }
  return found[static_cast<std::size_t>(device)];
}

namespace detail {

/// A kernel that nobody launches: it tells for which architecture this program's kernels were made.
template <class = void>
__global__ void tells_architecture() {}

/// The architecture for which the kernels were made that the current device, `device`, runs: its own, or an older one
/// whose PTX the driver compiles. nvcc makes PTX of an old one unless -arch says otherwise.
inline int architecture_of_code(int device) {
  thread_local int known_device = -1, known = 0;
  if (device == known_device) return known;
  cudaFuncAttributes attributes{};
  check_cuda("cudaFuncGetAttributes",
             cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(&tells_architecture<>)));
  known = properties_of(device).architecture;
  if (attributes.ptxVersion != 0 && attributes.ptxVersion < known) known = attributes.ptxVersion;
  known_device = device;
  return known;
}

}  // namespace detail
}  // namespace tenon
#endif
