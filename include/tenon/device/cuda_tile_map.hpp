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

/// The map of a tensor whose `Axes` axes are described as the driver takes them.
template <class T, int Axes>
cuda_tile_map encode_tile_map(const void* data, const array<index, Axes>& extents,
                              const array<index, Axes - 1>& stride_bytes, const array<int, Axes>& tile,
                              const array<int, Axes>& step) {
  static const auto encode = tile_map_encoder();
  cuda_tile_map result{};
  cuuint64_t sizes[Axes], strides[Axes - 1];
  cuuint32_t box[Axes], steps[Axes];
  for (int axis = 0; axis < Axes; ++axis) {
    sizes[axis] = static_cast<cuuint64_t>(extents[axis]);
    box[axis] = static_cast<cuuint32_t>((tile[axis] - 1) * step[axis] + 1);
    steps[axis] = static_cast<cuuint32_t>(step[axis]);
    if (axis + 1 < Axes) strides[axis] = static_cast<cuuint64_t>(stride_bytes[axis]);
  }
  constexpr auto type = sizeof(T) == 1            ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                        : std::is_same_v<T, half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  const CUresult code = encode(&result.map, type, Axes, const_cast<void*>(data), sizes, strides, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                               CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (code != CUDA_SUCCESS) {
    throw cuda_error(compose_text("cuTensorMapEncodeTiled: code ", static_cast<int>(code), " for a tensor of ", extents,
                                  " elements"));
  }
  return result;
}
template <class T>
cuda_tile_map encode_tile_map(const tiled_tensor& tensor) {
  return encode_tile_map<T>(tensor.data, tensor.extents, tensor.stride_bytes,
                            array<int, 3>{{tensor.tile[0], tensor.tile[1], 1}}, array<int, 3>{{1, 1, 1}});
}
template <class T>
cuda_tile_map encode_tile_map(const tiled_images& images) {
  return encode_tile_map<T>(images.data, images.extents, images.stride_bytes, images.tile, images.step);
}

/// The maps of the last tensors that a thread asked for; older ones make room.
template <class T, class Tensor>
class tile_map_cache {
 public:
  const cuda_tile_map& map_of(const Tensor& tensor) {
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
    Tensor tensor;
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

  template <class T, class Tensor>
  static map make(const Tensor& tensor) {
    check_tiled_tensor(tensor, static_cast<int>(sizeof(T)));
    thread_local detail::tile_map_cache<T, Tensor> cache;
    return cache.map_of(tensor);
  }
};

}  // namespace tenon
#endif
