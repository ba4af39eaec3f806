// tenon/device/cuda_tile_map.hpp: the maps by which Hopper copies tiles, as the driver encodes them.
// Encoding takes time of the host; a map holds no state, so those of earlier launches are used again.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/cuda_memory.hpp>
#include <tenon/device/hopper.hpp>
#include <tenon/device/runtime.hpp>
#if defined(__CUDACC__)
#include <cuda.h>

#include <functional>
#include <string_view>
#include <unordered_map>

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
    throw cuda_error("cudaGetDriverEntryPointByVersion: cuTensorMapEncodeTiled: the driver lacks it, expected CUDA 12");
  }
  return reinterpret_cast<encoder*>(found);
}

/// The map of a tensor whose `Axes` axes are described as the driver takes them, and the driver's code.
struct encoded_tile_map {
  cuda_tile_map made{};
  CUresult code = CUDA_SUCCESS;
};
template <class T, int Axes>
encoded_tile_map encode_tile_map(const void* data, const array<index, Axes>& extents,
                                 const array<index, Axes - 1>& stride_bytes, const array<int, Axes>& tile,
                                 const array<int, Axes>& step) {
  static const auto encode = tile_map_encoder();
  encoded_tile_map result;
  cuuint64_t sizes[Axes], strides[Axes - 1];
  cuuint32_t box[Axes], steps[Axes];
  for (int axis = 0; axis < Axes; ++axis) {
    sizes[axis] = static_cast<cuuint64_t>(extents[axis]);
    box[axis] = static_cast<cuuint32_t>((tile[axis] - 1) * step[axis] + 1);
    steps[axis] = static_cast<cuuint32_t>(step[axis]);
    if (axis + 1 < Axes) strides[axis] = static_cast<cuuint64_t>(stride_bytes[axis]);
  }
  constexpr auto type = std::is_same_v<T, tf32>   ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32
                        : sizeof(T) == 1          ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                        : std::is_same_v<T, half> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                  : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  result.code = encode(&result.made.map, type, Axes, const_cast<void*>(data), sizes, strides, box, steps,
                       CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result;
}
template <class T>
encoded_tile_map encode_tile_map(const tiled_tensor& tensor) {
  return encode_tile_map<T>(tensor.data, tensor.extents, tensor.stride_bytes,
                            array<int, 3>{{tensor.tile[0], tensor.tile[1], 1}}, array<int, 3>{{1, 1, 1}});
}
template <class T>
encoded_tile_map encode_tile_map(const tiled_images& images) {
  return encode_tile_map<T>(images.data, images.extents, images.stride_bytes, images.tile, images.step);
}

/// The maps that a thread has asked for, at most `capacity`: addresses change, so all are forgotten when it is full.
template <class T, class Tensor>
class tile_map_cache {
 public:
  const encoded_tile_map& map_of(const Tensor& tensor) {
    const auto known = maps_.find(tensor);
    if (known != maps_.end()) return known->second;
    if (maps_.size() >= capacity) maps_.clear();
    return maps_.emplace(tensor, encode_tile_map<T>(tensor)).first->second;
  }

 private:
  struct hash {
    std::size_t operator()(const Tensor& tensor) const {
      static_assert(std::has_unique_object_representations_v<Tensor>, "tenon: equal tensors are equal bytes");
      return std::hash<std::string_view>()({reinterpret_cast<const char*>(&tensor), sizeof(tensor)});
    }
  };
  static constexpr std::size_t capacity = 4096;

  std::unordered_map<Tensor, encoded_tile_map, hash> maps_;
};

}  // namespace detail

template <>
struct tile_maps<cuda> {
  using map = cuda_tile_map;

  template <class T, class Tensor>
  static map make(const Tensor& tensor) {
    check_tiled_tensor(tensor, stored_bytes<T>);
    const auto& encoded = encoded_map_of<T>(tensor);
    if (encoded.code == CUDA_SUCCESS) return encoded.made;
    throw cuda_error(compose_text("cuTensorMapEncodeTiled: code ", static_cast<int>(encoded.code), " for a tensor of ",
                                  tensor.extents, " elements, strides of ", tensor.stride_bytes, " bytes"));
  }
  template <class T, class Tensor>
  static bool takes(const Tensor& tensor) {
    return has_nested_strides(tensor, stored_bytes<T>) || encoded_map_of<T>(tensor).code == CUDA_SUCCESS;
  }

 private:
  template <class T, class Tensor>
  static const detail::encoded_tile_map& encoded_map_of(const Tensor& tensor) {
    thread_local detail::tile_map_cache<T, Tensor> cache;
    return cache.map_of(tensor);
  }
};

}  // namespace tenon
#endif
