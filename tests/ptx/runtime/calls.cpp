// tests/ptx/runtime/calls.cpp: the part of CUDA's runtime that knows devices, memory and errors.
// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include <cstring>
#include <limits>
#include <utility>

#include "ptx/runtime/state.hpp"
#include "ptx/runtime/streams.hpp"
#include "ptx/tile_map.hpp"

namespace tenon_test::ptx {

namespace {

cudaError_t keep(cudaError_t code) { return runtime_state::of_process().keep(code); }
runtime_state::guard locked() { return runtime_state::guard(runtime_state::of_process().mutex); }
stream_state& streams() { return stream_state::of_process(); }

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

cudaError_t allocate(void** memory, std::size_t bytes, const moments& made) {
  *memory = bytes == 0 ? nullptr : device_memory::of_process().allocate(bytes);
  if (*memory != nullptr)
    streams().histories[number(*memory)] = {.device = current_device(), .made = made, .written = {}, .read = {}};
  return keep(*memory == nullptr && bytes != 0 ? cudaErrorMemoryAllocation : cudaSuccess);
}

/// Gives memory back; who does knows what `known` says.
cudaError_t release(void* memory, const moments& known) {
  if (memory == nullptr) return cudaSuccess;
  const auto found = streams().histories.find(number(memory));
  if (found == streams().histories.end()) return keep(cudaErrorInvalidValue);
  const history& of = found->second;
  if (!covers(known, of.made) || !covers(known, of.written) || !covers(known, of.read))
    streams().add_fault("memory is freed before work on it is done, in the order of streams");
  if (of.device != current_device()) streams().add_fault("memory is freed on another device than its own");
  streams().histories.erase(found);
  return keep(device_memory::of_process().release(memory) ? cudaSuccess : cudaErrorInvalidValue);
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

bool is_of_device(const void* address) { return device_memory::of_process().find(number(address)) != nullptr; }

/// Whether the bytes are page-locked memory of the host.
bool is_page_locked(const void* address) {
  const auto& all = streams().page_locked;
  auto after = all.upper_bound(static_cast<unsigned char*>(const_cast<void*>(address)));
  if (after == all.begin()) return false;
  --after;
  return number(address) < number(after->first) + after->second;
}

/// A copy of a stream. Page-locked memory gets its bytes when they are waited for; those of ordinary memory are there
/// at once, as the host waits then.
cudaError_t copy(void* target, const void* source, std::size_t bytes, cudaStream_t stream) {
  stream_state& state = streams();
  state.deliver(state.at(stream).known);
  const auto* const from = static_cast<const unsigned char*>(source);
  auto* const to = static_cast<unsigned char*>(target);
  const bool is_late = is_of_device(source) && is_page_locked(target);
  std::vector<unsigned char> arriving(is_late ? bytes : 0);
  const cudaError_t code = attempt([&] {
    if (is_late) device_memory::of_process().copy(arriving.data(), source, bytes);
    else device_memory::of_process().copy(target, source, bytes);
  });
  state.note_copy(stream, target, source, bytes);
  const auto* const id = state.key(stream);
  if (is_late) state.copies.push_back({id, state.now(stream), to, std::move(arriving), true});
  else if (is_of_device(target) && is_page_locked(source))
    state.copies.push_back({id, state.now(stream), const_cast<unsigned char*>(from), {from, from + bytes}, false});
  else if (!is_of_device(target)) state.wait(state.at(stream).known);
  return code;
}

/// For what the stand-in does not know.
cudaError_t refuse(const std::string& what) {
  runtime_state::of_process().fault_text = what + ", which the stand-in for CUDA's runtime does not know";
  return keep(cudaErrorNotSupported);
}

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

/// What the two kinds of tensor maps have in common.
struct asked_map {
  CUtensorMap* map;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t *extents, *strides;
  const cuuint32_t* element_strides;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

bool has_valid_axis(const asked_map& asked, tile_map& made, cuuint32_t i) {
  if (asked.extents[i] == 0 || asked.extents[i] > std::uint64_t{1} << 32 || asked.element_strides[i] == 0 ||
      asked.element_strides[i] > 8 || (i == 0 && asked.element_strides[i] != 1))
    return false;
  made.extents[i] = asked.extents[i];
  made.steps[i] = static_cast<std::uint8_t>(asked.element_strides[i]);
  if (i + 1 == asked.rank) return true;
  const std::uint64_t stride = asked.strides[i], step = i == 0 ? made.element_bytes : asked.strides[i - 1];
  made.strides[i] = stride;
  const bool is_nested = stride >= asked.extents[i] * step && stride % step == 0;
  return stride % 16 == 0 && stride < std::uint64_t{1} << 40 &&
         (is_nested || !tile_map_encoding::demands_nested_strides);
}

/// All but the sizes of a tile.
bool start_map(const asked_map& asked, tile_map& made) {
  static constexpr std::uint8_t swizzles[] = {0, 32, 64, 128};
  ++tile_map_encoding::maps;
  if (asked.rank == 0 || asked.rank > tile_map::most_axes || asked.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      reinterpret_cast<std::uintptr_t>(asked.map) % 64 != 0 ||
      reinterpret_cast<std::uintptr_t>(asked.address) % 16 != 0 ||
      static_cast<std::size_t>(asked.swizzle) >= std::size(swizzles))
    return false;
  made.mark = tile_map::written;
  made.rank = static_cast<std::uint8_t>(asked.rank);
  made.element_bytes = bytes_of(asked.type);
  made.element_type = asked.type;
  made.swizzle_bytes = swizzles[asked.swizzle];
  made.fills_nan = asked.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA ? 1 : 0;
  made.address = reinterpret_cast<std::uint64_t>(asked.address);
  for (cuuint32_t i = 0; i < asked.rank; ++i) {
    if (!has_valid_axis(asked, made, i)) return false;
  }
  return true;
}

CUresult keep_map(CUtensorMap* map, const tile_map& made) {
  const unsigned row = made.box[0] * unsigned{made.element_bytes};
  if (row % 16 != 0 || (made.swizzle_bytes != 0 && row > made.swizzle_bytes)) return CUDA_ERROR_INVALID_VALUE;
  std::memset(map, 0, sizeof(*map));
  std::memcpy(static_cast<void*>(map), &made, sizeof(made));
  return CUDA_SUCCESS;
}

/// What the driver demands of a map of boxes.
CUresult encode_tiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                      const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                      const cuuint32_t* element_strides, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                      CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  tile_map made;
  if (!start_map({map, type, rank, address, extents, strides, element_strides, interleave, swizzle, fill}, made))
    return CUDA_ERROR_INVALID_VALUE;
  for (cuuint32_t i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > 256) return CUDA_ERROR_INVALID_VALUE;
    made.box[i] = static_cast<std::uint16_t>((box[i] + element_strides[i] - 1) / element_strides[i]);
  }
  return keep_map(map, made);
}

/// What it demands of a map of images: channels, pixels along one to three axes, images.
CUresult encode_pixels(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                       const cuuint64_t* extents, const cuuint64_t* strides, const int* lower, const int* upper,
                       cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* element_strides,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill fill) {
  tile_map made;
  if (rank < 3 || channels == 0 || channels > 256 || pixels == 0 || pixels > 1024 ||
      !start_map({map, type, rank, address, extents, strides, element_strides, interleave, swizzle, fill}, made))
    return CUDA_ERROR_INVALID_VALUE;
  const int most = rank == 3 ? 1 << 15 : rank == 4 ? 1 << 7 : 1 << 4;  // the corners of an image share 32 bits
  for (cuuint32_t i = 0; i + 2 < rank; ++i) {
    if (lower[i] < -most || lower[i] >= most || upper[i] < -most || upper[i] >= most) return CUDA_ERROR_INVALID_VALUE;
    made.lower[i] = static_cast<std::int16_t>(lower[i]);
    made.upper[i] = static_cast<std::int16_t>(upper[i]);
    if (made.last_pixel(i + 1) < lower[i]) return CUDA_ERROR_INVALID_VALUE;
  }
  made.is_of_pixels = 1;
  made.box[0] = static_cast<std::uint16_t>(channels);
  made.box[1] = static_cast<std::uint16_t>(pixels);
  return keep_map(map, made);
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
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= runtime_state::of_process().devices) return keep(cudaErrorInvalidDevice);
  current_device() = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const runtime_state& state = runtime_state::of_process();
  const std::map<cudaDeviceAttr, int> known{{cudaDevAttrComputeCapabilityMajor, state.architecture() / 10},
                                            {cudaDevAttrComputeCapabilityMinor, state.architecture() % 10},
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
                                            {cudaDevAttrMemoryPoolsSupported, 1},
                                            {cudaDevAttrClusterLaunch, state.architecture() >= 90 ? 1 : 0}};
  const auto found = known.find(attribute);
  if (found == known.end()) return refuse("cudaDeviceGetAttribute of attribute " + std::to_string(attribute));
  *value = found->second;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* is_able, int, int) {
  *is_able = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  *pool = nullptr;
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) { return cudaSuccess; }

// Memory

cudaError_t cudaMalloc(void** memory, size_t bytes) {
  const auto lock = locked();
  if (is_refused_in_capture("cudaMalloc")) return keep(cudaErrorStreamCaptureUnsupported);
  return allocate(memory, bytes, {});
}
cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
  const auto lock = locked();
  if (streams().at(stream).into != nullptr || is_refused_in_capture("cudaMallocAsync"))
    return keep(cudaErrorStreamCaptureUnsupported);
  return streams().work(stream, {cudaGraphNodeTypeMemAlloc, [=](cudaStream_t on) {
                                   return allocate(memory, bytes, {{streams().key(on), streams().now(on)}});
                                 }});
}
cudaError_t cudaFree(void* memory) {
  const auto lock = locked();
  moments all;
  for (const auto& [id, stream] : streams().streams) join(all, stream.known);  // it waits for the device
  return release(memory, all);
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  const auto lock = locked();
  if (streams().at(stream).into != nullptr) return keep(cudaErrorStreamCaptureUnsupported);
  return streams().work(
      stream, {cudaGraphNodeTypeMemFree, [=](cudaStream_t on) { return release(memory, streams().at(on).known); }});
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total) {
  *total = std::size_t{8} << 30;
  *free_bytes = *total - device_memory::of_process().bytes_in_use();
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  const auto lock = locked();
  return streams().work(stream,
                        {cudaGraphNodeTypeMemcpy, [=](cudaStream_t on) { return copy(target, source, bytes, on); }});
}
cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind) {
  const auto lock = locked();
  if (is_refused_in_capture("cudaMemcpy")) return keep(cudaErrorStreamCaptureUnsupported);
  const cudaError_t code = cudaMemcpyAsync(target, source, bytes, kind, nullptr);
  streams().wait(streams().at(nullptr).known);
  return code;
}
cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(target, source, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
  const auto lock = locked();
  return streams().work(stream, {cudaGraphNodeTypeMemset, [=](cudaStream_t on) {
                                   streams().note_copy(on, target, nullptr, bytes);
                                   return attempt([&] { device_memory::of_process().fill(target, value, bytes); });
                                 }});
}
cudaError_t cudaMemset(void* target, int value, size_t bytes) { return cudaMemsetAsync(target, value, bytes, nullptr); }
cudaError_t cudaHostRegister(void* memory, size_t bytes, unsigned) {
  const auto lock = locked();
  if (is_refused_in_capture("cudaHostRegister")) return keep(cudaErrorStreamCaptureUnsupported);
  streams().page_locked[static_cast<unsigned char*>(memory)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) {
  const auto lock = locked();
  if (is_refused_in_capture("cudaHostUnregister")) return keep(cudaErrorStreamCaptureUnsupported);
  streams().deliver(streams().host);
  const auto found = streams().page_locked.find(static_cast<unsigned char*>(memory));
  if (found == streams().page_locked.end()) return keep(cudaErrorInvalidValue);
  const std::uintptr_t begin = number(memory), end = begin + found->second;
  const auto is_here = [&](const pending_copy& each) {
    return number(each.memory) >= begin && number(each.memory) < end;
  };
  if (std::erase_if(streams().copies, is_here) != 0)
    streams().add_fault("page-locked memory is given back before a copy of it had been waited for");
  streams().page_locked.erase(found);
  return cudaSuccess;
}

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
    case cudaErrorInvalidClusterSize:
      return "cudaErrorInvalidClusterSize";
    case cudaErrorInvalidDevice:
      return "cudaErrorInvalidDevice";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    case cudaErrorStreamCaptureUnjoined:
      return "cudaErrorStreamCaptureUnjoined";
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
  if (code == cudaErrorStreamCaptureInvalidated) return "a call within the capture cannot be captured";
  if (code == cudaErrorStreamCaptureUnjoined) return "work of another stream within the capture is not waited for";
  return "an error of the stand-in for CUDA's runtime";
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* answer) {
  *found = std::strcmp(name, "cuTensorMapEncodeTiled") == 0    ? reinterpret_cast<void*>(&encode_tiled)
           : std::strcmp(name, "cuTensorMapEncodeIm2col") == 0 ? reinterpret_cast<void*>(&encode_pixels)
                                                               : nullptr;
  if (answer != nullptr) *answer = *found != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}

}  // extern "C"
