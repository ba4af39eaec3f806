// tenon/device/cuda_tile_map.hpp: the maps by which Hopper copies tiles, as the driver encodes them.
// Encoding takes a microsecond of the host; a map holds no state, so those of earlier launches are used again.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/cuda_memory.hpp>
#include <tenon/device/hopper.hpp>
#include <tenon/device/runtime.hpp>
#if defined(__CUDACC__)
#include <cuda.h>

namespace tenon {

/// A map; a kernel takes it by value and uses it where its arguments lie.
struct cuda_tile_map {
  CUtensorMap map;
};

namespace detail {

/// The driver's encoder, found at run time so that nothing links to the driver.
inline auto tile_map_encoder() {
  using encoder = CUresult(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                           const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
  constexpr unsigned since_version = 12000;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer{};
  check_cuda(
      "cudaGetDriverEntryPointByVersion",
      cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, since_version, cudaEnableDefault, &answer));
  if (answer != cudaDriverEntryPointSuccess) {
    throw cuda_error("cudaGetDriverEntryPointByVersion: cuTensorMapEncodeTiled: not of this driver, expected 12.0");
  }
  return reinterpret_cast<encoder*>(found);
}

template <class T>
cuda_tile_map encode_tile_map(const tiled_tensor& tensor) {
  static const auto encode = tile_map_encoder();
  cuda_tile_map result{};
  const auto& extents = tensor.extents;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(extents[0]), static_cast<cuuint64_t>(extents[1]),
                              static_cast<cuuint64_t>(extents[2])};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(tensor.stride_bytes[0]),
                                static_cast<cuuint64_t>(tensor.stride_bytes[1])};
  const cuuint32_t tile[] = {static_cast<cuuint32_t>(tensor.tile[0]), static_cast<cuuint32_t>(tensor.tile[1]), 1};
  const cuuint32_t steps[] = {1, 1, 1};
  constexpr auto type = sizeof(T) == 1            ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                        : std::is_same_v<T, half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const CUresult code = encode(&result.map, type, 3, const_cast<void*>(tensor.data), sizes, strides, tile, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) {
    throw cuda_error(compose_text("cuTensorMapEncodeTiled: code ", static_cast<int>(code), " for a tensor of ", extents,
                                  " elements"));
  }
  return result;
}

/// The maps of the last tensors that a thread asked for; older ones make room.
template <class T>
class tile_map_cache {
 public:
  const cuda_tile_map& map_of(const tiled_tensor& tensor) {
    for (const entry& each : entries_) {
      if (each.tensor == tensor) return each.map;
    }
    entry fresh{tensor, encode_tile_map<T>(tensor)};
    if (entries_.size() < capacity) return entries_.emplace_back(fresh).map;
    entry& replaced = entries_[next_++ % capacity];
    replaced = fresh;
    return replaced.map;
  }

 private:
  struct entry {
    tiled_tensor tensor;
    cuda_tile_map map;
  };
  static constexpr std::size_t capacity = 64;

  std::vector<entry> entries_;
  std::size_t next_ = 0;
};

}  // namespace detail

template <>
struct tile_maps<cuda> {
  using map = cuda_tile_map;

  template <class T>
  static map make(const tiled_tensor& tensor) {
    check_tiled_tensor(tensor, static_cast<int>(sizeof(T)));
    thread_local detail::tile_map_cache<T> cache;
    return cache.map_of(tensor);
  }
};

}  // namespace tenon
#endif
