// tests/ptx/runtime/calls.cpp: the part of CUDA's runtime that knows memory, streams, events and devices.
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <cstring>
#include <limits>
#include <utility>

#include "ptx/runtime/state.hpp"
#include "ptx/tile_map.hpp"

namespace tenon_test::ptx {

namespace {

thread_local int current_device = 0;

cudaError_t keep(cudaError_t code) { return runtime_state::of_process().keep(code); }

cudaError_t allocate(void** memory, std::size_t bytes) {
  *memory = bytes == 0 ? nullptr : device_memory::of_process().allocate(bytes);
  return keep(*memory == nullptr && bytes != 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t release(void* memory) {
  return keep(memory == nullptr || device_memory::of_process().release(memory) ? cudaSuccess : cudaErrorInvalidValue);
}

/// Runs `work`, whose fault becomes the text of an error.
template <class Work>
cudaError_t attempt(Work work) {
  try {
    work();
    return cudaSuccess;
  } catch (const fault& failure) {
    runtime_state::of_process().fault_text = failure.what();
    return keep(cudaErrorLaunchFailure);
  }
}

/// For what the stand-in does not know.
cudaError_t refuse(const std::string& what) {
  runtime_state::of_process().fault_text = what + ", which the stand-in for CUDA's runtime does not know";
  return keep(cudaErrorNotSupported);
}

using time_point = std::chrono::steady_clock::time_point;
struct recorded_event {
  time_point when;
};

std::uint8_t bytes_of(CUtensorMapDataType type) {
  switch (type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8:
      return 1;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
      return 2;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

/// What the driver demands of a tensor map.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  static constexpr std::uint8_t swizzles[] = {0, 32, 64, 128};
  if (rank == 0 || rank > tile_map::most_axes || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      reinterpret_cast<std::uintptr_t>(map) % 64 != 0 || reinterpret_cast<std::uintptr_t>(address) % 16 != 0 ||
      static_cast<std::size_t>(swizzle) >= std::size(swizzles))
    return CUDA_ERROR_INVALID_VALUE;
  tile_map made;
  made.mark = tile_map::written;
  made.rank = static_cast<std::uint8_t>(rank);
  made.element_bytes = bytes_of(type);
  made.element_type = type;
  made.swizzle_bytes = swizzles[swizzle];
  made.fills_nan = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ? 1 : 0;
  made.address = reinterpret_cast<std::uint64_t>(address);
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (extents[i] == 0 || extents[i] > std::uint64_t{1} << 32 || box[i] == 0 || box[i] > 256 ||
        element_strides[i] != 1)
      return CUDA_ERROR_INVALID_VALUE;
    made.extents[i] = extents[i];
    made.box[i] = static_cast<std::uint16_t>(box[i]);
    if (i + 1 < rank && (strides[i] % 16 != 0 || strides[i] >= std::uint64_t{1} << 40)) return CUDA_ERROR_INVALID_VALUE;
    if (i + 1 < rank) made.strides[i] = strides[i];
  }
  const unsigned row = made.box[0] * unsigned{made.element_bytes};
  if (row % 16 != 0 || (made.swizzle_bytes != 0 && row > made.swizzle_bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memset(map, 0, sizeof(*map));
  std::memcpy(static_cast<void*>(map), &made, sizeof(made));
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace tenon_test::ptx

using namespace tenon_test::ptx;

extern "C" {

// Devices

cudaError_t cudaGetDeviceCount(int* count) {
  *count = runtime_state::of_process().devices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= runtime_state::of_process().devices) return keep(cudaErrorInvalidDevice);
  current_device = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const runtime_state& state = runtime_state::of_process();
  const std::map<cudaDeviceAttr, int> known{{cudaDevAttrComputeCapabilityMajor, 9},
                                            {cudaDevAttrComputeCapabilityMinor, 0},
                                            {cudaDevAttrMultiProcessorCount, state.multiprocessors},
                                            {cudaDevAttrMaxSharedMemoryPerBlock, 48 << 10},
                                            {cudaDevAttrMaxSharedMemoryPerBlockOptin, state.shared_bytes_per_block},
                                            {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 228 << 10},
                                            {cudaDevAttrReservedSharedMemoryPerBlock, 1 << 10},
                                            {cudaDevAttrMaxThreadsPerBlock, 1024},
                                            {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
                                            {cudaDevAttrMaxBlocksPerMultiprocessor, 32},
                                            {cudaDevAttrMaxGridDimX, std::numeric_limits<int>::max()},
                                            {cudaDevAttrWarpSize, 32},
                                            {cudaDevAttrL2CacheSize, 50 << 20},
                                            {cudaDevAttrCooperativeLaunch, 1},
                                            {cudaDevAttrMemoryPoolsSupported, 1}};
  const auto found = known.find(attribute);
  if (found == known.end()) return refuse("cudaDeviceGetAttribute of attribute " + std::to_string(attribute));
  *value = found->second;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* is_able, int, int) {
  *is_able = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) { return cudaSuccess; }

// Memory

cudaError_t cudaMalloc(void** memory, size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t) { return allocate(memory, bytes); }
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) { return release(memory); }
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = std::size_t{8} << 30;
  *free_bytes = *total - device_memory::of_process().bytes_in_use();
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return attempt([&] { device_memory::of_process().copy(target, source, bytes); });
}
cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind) {
  return attempt([&] { device_memory::of_process().copy(target, source, bytes); });
}
cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t bytes, cudaStream_t) {
  return attempt([&] { device_memory::of_process().copy(target, source, bytes); });
}
cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t) {
  return attempt([&] { device_memory::of_process().fill(target, value, bytes); });
}
cudaError_t cudaMemset(void* target, int value, size_t bytes) { return cudaMemsetAsync(target, value, bytes, nullptr); }
cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }

// Streams and events

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new char);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete reinterpret_cast<char*>(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new recorded_event{std::chrono::steady_clock::now()});
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<recorded_event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  reinterpret_cast<recorded_event*>(event)->when = std::chrono::steady_clock::now();
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const auto time = reinterpret_cast<recorded_event*>(to)->when - reinterpret_cast<recorded_event*>(from)->when;
  *milliseconds = std::chrono::duration<float, std::milli>(time).count();
  return cudaSuccess;
}

// Graphs: nothing can be captured.

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return keep(cudaErrorStreamCaptureUnsupported);
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) { return keep(cudaErrorStreamCaptureUnsupported); }
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return keep(cudaErrorNotSupported);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return keep(cudaErrorNotSupported); }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
cudaError_t cudaGraphGetNodes(cudaGraph_t, cudaGraphNode_t*, size_t*) { return keep(cudaErrorNotSupported); }
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t, cudaGraphNodeType*) { return keep(cudaErrorNotSupported); }

// Errors and the driver

cudaError_t cudaGetLastError() { return std::exchange(runtime_state::of_process().last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return runtime_state::of_process().last_error; }
const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    default:
      return "cudaError";
  }
}
const char* cudaGetErrorString(cudaError_t code) {
  if (code == cudaErrorLaunchFailure || code == cudaErrorNotSupported)
    return runtime_state::of_process().fault_text.c_str();
  if (code == cudaErrorMemoryAllocation) return "out of memory";
  if (code == cudaErrorInvalidConfiguration) return "invalid configuration argument";
  if (code == cudaErrorInvalidValue) return "invalid argument";
  if (code == cudaErrorInvalidDevice) return "invalid device ordinal";
  if (code == cudaErrorStreamCaptureUnsupported) return "the machine captures no graphs";
  return "an error of the stand-in for CUDA's runtime";
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* answer) {
  const bool is_known = std::strcmp(name, "cuTensorMapEncodeTiled") == 0;
  *found = is_known ? reinterpret_cast<void*>(&encode_tiled) : nullptr;
  if (answer != nullptr) *answer = is_known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

}  // extern "C"
