// benchmarks/cuda/cudnn_pool.hpp: pools of cuDNN: the greatest or the mean of each window, channels last.
// Empty where cuDNN is not found.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudnn.hpp"
#include "timing.hpp"

/// Extents of a pool of square images: kernel and stride are those of both axes.
struct pool_case {
  tenon::index batch, channels, extent, kernel, stride;
  bool is_mean;

  tenon::index windows() const { return (extent - kernel) / stride + 1; }
  tenon::rank<4> image() const { return {batch, extent, extent, channels}; }
  tenon::rank<4> result() const { return {batch, windows(), windows(), channels}; }
};

#if defined(BENCHMARKS_CUDNN)
namespace cudnn {

template <class T>
class pool {
 public:
  explicit pool(const pool_case& of)
      : image_(CUDNN_TENSOR_NHWC, {of.batch, of.channels, of.extent, of.extent}),
        result_(CUDNN_TENSOR_NHWC, {of.batch, of.channels, of.windows(), of.windows()}) {
    const int kernel = static_cast<int>(of.kernel), stride = static_cast<int>(of.stride);
    check(cudnnSetPooling2dDescriptor(windows_,
                                      of.is_mean ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING : CUDNN_POOLING_MAX,
                                      CUDNN_NOT_PROPAGATE_NAN, kernel, kernel, 0, 0, stride, stride));
  }
  cudnnStatus_t run(const T* image, T* result) const {
    const float one = 1, none = 0;
    return cudnnPoolingForward(handle_, windows_, &one, image_, image, &none, result_, result);
  }

 private:
  handle handle_;
  tensor<T> image_, result_;
  owned<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor, cudnnDestroyPoolingDescriptor> windows_;
};

}  // namespace cudnn
#endif
