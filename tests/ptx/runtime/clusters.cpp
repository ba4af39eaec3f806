// tests/ptx/runtime/clusters.cpp: clusters of blocks and copies of pixels, as nvcc makes them of CUDA.
// SPDX-License-Identifier: Apache-2.0
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace {

namespace groups = cooperative_groups;

/// The values of the block `distance` behind, in its cluster, by its shared memory.
__device__ void rotate_values(const int* from, int* to, unsigned distance) {
  extern __shared__ int values[];
  const groups::cluster_group cluster = groups::this_cluster();
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = from[thread];
  cluster.sync();
  const int* const others = cluster.map_shared_rank(values, (cluster.block_rank() + distance) % cluster.num_blocks());
  to[thread] = others[threadIdx.x];
  cluster.sync();
}

__global__ void rotate(const int* from, int* to) { rotate_values(from, to, 1); }
__global__ void __cluster_dims__(4, 1, 1) rotate_four(const int* from, int* to) { rotate_values(from, to, 3); }

/// An array of the device.
class device_ints {
 public:
  explicit device_ints(const std::vector<int>& values) : count_(values.size()) {
    REQUIRE(cudaMalloc(reinterpret_cast<void**>(&data_), count_ * sizeof(int)) == cudaSuccess);
    cudaMemcpy(data_, values.data(), count_ * sizeof(int), cudaMemcpyDefault);
  }
  device_ints(const device_ints&) = delete;
  device_ints& operator=(const device_ints&) = delete;
  ~device_ints() { cudaFree(data_); }
  int* data() const { return data_; }
  std::vector<int> values() const {
    std::vector<int> result(count_);
    cudaMemcpy(result.data(), data_, count_ * sizeof(int), cudaMemcpyDefault);
    return result;
  }

 private:
  std::size_t count_;
  int* data_ = nullptr;
};

std::vector<int> numbered(int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(7 * i + 1);
  return result;
}

constexpr unsigned rotated_blocks = 8, rotated_threads = 96;

/// A launch with clusters of so many blocks; 0 says nothing of clusters.
struct rotation_launch {
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t how{};

  explicit rotation_launch(unsigned blocks, unsigned grid = rotated_blocks) {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    how.gridDim = grid;
    how.blockDim = rotated_threads;
    how.dynamicSmemBytes = rotated_threads * sizeof(int);
    how.attrs = &attribute;
    how.numAttrs = blocks == 0 ? 0 : 1;
  }
  rotation_launch(const rotation_launch&) = delete;
  rotation_launch& operator=(const rotation_launch&) = delete;
};

cudaError_t launch_rotation(void (*kernel)(const int*, int*), unsigned blocks, const int* from, int* to,
                            unsigned grid = rotated_blocks) {
  const rotation_launch launch(blocks, grid);
  return cudaLaunchKernelEx(&launch.how, kernel, from, to);
}

std::vector<int> rotated(const std::vector<int>& values, unsigned blocks, unsigned distance) {
  std::vector<int> result;
  for (unsigned block = 0; block < rotated_blocks; ++block) {
    const unsigned other = block / blocks * blocks + (block % blocks + distance) % blocks;
    const auto* const first = &values[other * rotated_threads];
    result.insert(result.end(), first, first + rotated_threads);
  }
  return result;
}

}  // namespace

TEST_CASE("clusters have the size that a launch or a kernel says", "[ptx]") {
  const std::vector<int> values = numbered(rotated_blocks * rotated_threads);
  const device_ints from(values);
  for (const unsigned blocks : {0u, 1u, 2u, 4u, 8u}) {
    const device_ints to(std::vector<int>(values.size()));
    REQUIRE(launch_rotation(rotate, blocks, from.data(), to.data()) == cudaSuccess);
    CHECK(to.values() == rotated(values, blocks == 0 ? 1 : blocks, 1));
  }
  for (const unsigned blocks : {0u, 4u}) {
    const device_ints to(std::vector<int>(values.size()));
    REQUIRE(launch_rotation(rotate_four, blocks, from.data(), to.data()) == cudaSuccess);
    CHECK(to.values() == rotated(values, 4, 3));
  }
}

TEST_CASE("clusters that a device would not launch are refused", "[ptx]") {
  const device_ints from(numbered(16 * rotated_threads)), to(numbered(16 * rotated_threads));
  CHECK(launch_rotation(rotate, 3, from.data(), to.data()) == cudaErrorInvalidConfiguration);  // of eight blocks
  CHECK(launch_rotation(rotate_four, 2, from.data(), to.data()) == cudaErrorInvalidClusterSize);
  CHECK(launch_rotation(rotate, 16, from.data(), to.data(), 16) == cudaErrorInvalidClusterSize);
  CHECK(to.values() == numbered(16 * rotated_threads));
  cudaFuncSetAttribute(rotate, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
  CHECK(launch_rotation(rotate, 16, from.data(), to.data(), 16) == cudaSuccess);
  cudaFuncSetAttribute(rotate, cudaFuncAttributeNonPortableClusterSizeAllowed, 0);
  int is_able = 0;
  CHECK(cudaDeviceGetAttribute(&is_able, cudaDevAttrClusterLaunch, 0) == cudaSuccess);
  CHECK(is_able == 1);
  static_cast<void>(cudaGetLastError());
}

namespace {

cudaError_t count_clusters(int& result, void (*kernel)(const int*, int*), const rotation_launch& launch) {
  return cudaOccupancyMaxActiveClusters(&result, kernel, &launch.how);
}

}  // namespace

TEST_CASE("a device tells how many clusters it holds at once", "[ptx]") {
  int multiprocessors = 0, blocks_of_each = 0;
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks_of_each, rotate, rotated_threads,
                                                rotated_threads * sizeof(int));
  REQUIRE(multiprocessors * blocks_of_each >= 8);
  for (const unsigned blocks : {0u, 1u, 2u, 4u, 8u}) {
    int found = -1;
    CHECK(count_clusters(found, rotate, rotation_launch(blocks)) == cudaSuccess);
    CHECK(found == multiprocessors * blocks_of_each / (blocks == 0 ? 1 : static_cast<int>(blocks)));
  }
  int found = -1;
  CHECK(count_clusters(found, rotate_four, rotation_launch(0)) == cudaSuccess);
  CHECK(found == multiprocessors * blocks_of_each / 4);
  rotation_launch much(2);
  much.how.dynamicSmemBytes = 40000;  // as many blocks as memory has room for
  int of_much = -1, room = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&room, rotate, rotated_threads, 40000);
  CHECK(count_clusters(of_much, rotate, much) == cudaSuccess);
  CHECK((of_much == multiprocessors * room / 2 && room < blocks_of_each));
  found = -1;
  CHECK(count_clusters(found, rotate, rotation_launch(16, 16)) == cudaErrorInvalidClusterSize);
  CHECK(count_clusters(found, rotate_four, rotation_launch(2)) == cudaErrorInvalidClusterSize);
  CHECK(count_clusters(found, rotate, rotation_launch(3)) == cudaErrorInvalidConfiguration);
  CHECK(found == -1);
  static_cast<void>(cudaGetLastError());
}

namespace {

constexpr int image_channels = 8, image_width = 6, image_height = 5, image_count = 2, tile_pixels = 24;

/// Pixels of images, from the first of a box on, as a filter's place `x`, `y` finds them.
__global__ void take_pixels(const __grid_constant__ CUtensorMap map, std::uint16_t x, std::uint16_t y, int* to) {
  alignas(128) __shared__ int tile[tile_pixels * image_channels];
  __shared__ std::uint64_t barrier;
  const auto target = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const auto told = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" : : "r"(told) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(told), "r"(unsigned{sizeof(tile)})
               : "memory");
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %3, %2}], [%4], {%5, %6};"
      :
      : "r"(target), "l"(&map), "r"(0), "r"(-1), "r"(told), "h"(x), "h"(y)
      : "memory");
  asm volatile(
      "{\n\t.reg .pred ended;\n\tWAIT:\n\tmbarrier.try_wait.parity.shared::cta.b64 ended, [%0], 0;\n\t"
      "@!ended bra WAIT;\n\t}"
      :
      : "r"(told)
      : "memory");
  for (int i = 0; i < tile_pixels * image_channels; ++i) to[i] = tile[i];
}

using encoder = decltype(&cuTensorMapEncodeIm2col);

encoder find_encoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult answer{};
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &found, 12000, cudaEnableDefault, &answer);
  REQUIRE(answer == cudaDriverEntryPointSuccess);
  return reinterpret_cast<encoder>(found);
}

/// A map of a padded image, whose corners and channels a case may change.
CUresult encode_image(CUtensorMap& map, const int* image, int lower = -1, int upper = -1, unsigned channels = 8,
                      unsigned pixels = tile_pixels) {
  const cuuint64_t extents[] = {image_channels, image_width, image_height, image_count};
  const cuuint64_t row = image_channels * sizeof(int);
  const cuuint64_t strides[] = {row, row * image_width, row * image_width * image_height};
  const int lowers[] = {lower, lower}, uppers[] = {upper, upper};
  const cuuint32_t steps[] = {1, 1, 1, 1};
  return find_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 4, const_cast<int*>(image), extents, strides, lowers,
                        uppers, channels, pixels, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

}  // namespace

TEST_CASE("a kernel takes pixels of images by a map", "[ptx]") {
  const std::vector<int> image = numbered(image_channels * image_width * image_height * image_count);
  const device_ints from(image), to(std::vector<int>(tile_pixels * image_channels));
  CUtensorMap map;
  REQUIRE(encode_image(map, from.data()) == CUDA_SUCCESS);
  for (const int x : {0, 2}) {
    for (const int y : {0, 1, 2}) {
      take_pixels<<<1, 1>>>(map, static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y), to.data());
      REQUIRE(cudaGetLastError() == cudaSuccess);
      const std::vector<int> found = to.values();
      for (int i = 0; i < tile_pixels * image_channels; ++i) {
        const int pixel = i / image_channels, column = pixel % image_width - 1 + x, row = pixel / image_width - 1 + y;
        const bool is_inside = column >= 0 && column < image_width && row >= 0 && row < image_height;
        const int place = (row * image_width + column) * image_channels + i % image_channels;
        CHECK(found[static_cast<std::size_t>(i)] == (is_inside ? image[static_cast<std::size_t>(place)] : 0));
      }
    }
  }
}

TEST_CASE("maps of images that the driver would refuse are refused", "[ptx]") {
  const device_ints image(numbered(image_channels * image_width * image_height * image_count));
  CUtensorMap map;
  CHECK(encode_image(map, image.data()) == CUDA_SUCCESS);
  CHECK(encode_image(map, image.data(), -129) == CUDA_ERROR_INVALID_VALUE);
  CHECK(encode_image(map, image.data(), -1, 128) == CUDA_ERROR_INVALID_VALUE);
  CHECK(encode_image(map, image.data(), 1, -6) == CUDA_ERROR_INVALID_VALUE);  // a box without pixels
  CHECK(encode_image(map, image.data(), -1, -1, 6) == CUDA_ERROR_INVALID_VALUE);
  CHECK(encode_image(map, image.data(), -1, -1, 8, 1025) == CUDA_ERROR_INVALID_VALUE);
  CHECK(encode_image(map, image.data() + 1) == CUDA_ERROR_INVALID_VALUE);
}
