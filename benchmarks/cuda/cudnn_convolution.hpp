// benchmarks/cuda/cudnn_convolution.hpp: convolutions of cuDNN and their gradients, by its fastest algorithm.
// Of elements of 16 bits with channels last, sums as floats, on tensor cores; bias and ReLU in the same kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <tuple>

#include "cudnn.hpp"
#include "timing.hpp"

/// Extents of a convolution of square images: kernel, stride and padding are those of both axes.
struct convolution_case {
  tenon::index batch, channels, extent, outputs, kernel, stride, padding, groups;

  tenon::index windows() const { return (extent + 2 * padding - kernel) / stride + 1; }
  tenon::index taps() const { return channels / groups * kernel * kernel; }
  tenon::index results() const { return batch * windows() * windows() * outputs; }
  double operations() const { return 2.0 * static_cast<double>(results() * taps()); }
  /// Of images, results and weight, each once, of elements of 16 bits.
  std::size_t bytes() const {
    return static_cast<std::size_t>(2 * (batch * extent * extent * channels + results() + outputs * taps()));
  }
  tenon::window_geometry<2> geometry() const {
    return {.stride = {{stride, stride}}, .padding = {{padding, padding}}, .groups = groups};
  }
};

/// A convolution and its gradients: what each reads, and what it writes last.
struct forward {
  template <class Of>
  static auto operands(Of& of) {
    return std::tie(of.image, of.weight, of.result);
  }
};
struct image_gradient {
  template <class Of>
  static auto operands(Of& of) {
    return std::tie(of.weight, of.result, of.image);
  }
};
struct weight_gradient {
  template <class Of>
  static auto operands(Of& of) {
    return std::tie(of.image, of.result, of.weight);
  }
};

#if defined(BENCHMARKS_CUDNN)
namespace cudnn {

/// How cuDNN finds the algorithms of a direction and runs one. Winograd's and all behind it in cuDNN's order are left
/// out: they do not sum the products of the definition.
template <class Direction>
struct calls;
template <>
struct calls<forward> {
  using found = cudnnConvolutionFwdAlgoPerf_t;
  static constexpr auto find = &cudnnFindConvolutionForwardAlgorithm;
  static constexpr auto run = &cudnnConvolutionForward;
  static constexpr auto end = CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD;
};
template <>
struct calls<image_gradient> {
  using found = cudnnConvolutionBwdDataAlgoPerf_t;
  static constexpr auto find = &cudnnFindConvolutionBackwardDataAlgorithm;
  static constexpr auto run = &cudnnConvolutionBackwardData;
  static constexpr auto end = CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD;
};
template <>
struct calls<weight_gradient> {
  using found = cudnnConvolutionBwdFilterAlgoPerf_t;
  static constexpr auto find = &cudnnFindConvolutionBackwardFilterAlgorithm;
  static constexpr auto run = &cudnnConvolutionBackwardFilter;
  static constexpr auto end = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD;
};

struct geometry
    : owned<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor> {
  explicit geometry(const convolution_case& of) {
    const int padding = static_cast<int>(of.padding), stride = static_cast<int>(of.stride);
    check(cudnnSetConvolution2dDescriptor(*this, padding, padding, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                          CUDNN_DATA_FLOAT));
    check(cudnnSetConvolutionGroupCount(*this, static_cast<int>(of.groups)));
    check(cudnnSetConvolutionMathType(*this, CUDNN_TENSOR_OP_MATH));
  }
};

template <class T>
struct convolution_descriptors {
  explicit convolution_descriptors(const convolution_case& of)
      : image(CUDNN_TENSOR_NHWC, {of.batch, of.channels, of.extent, of.extent}),
        result(CUDNN_TENSOR_NHWC, {of.batch, of.outputs, of.windows(), of.windows()}),
        weight(CUDNN_TENSOR_NHWC, {of.outputs, of.channels / of.groups, of.kernel, of.kernel}),
        windows(of) {}

  tensor<T> image, result;
  filter<T> weight;
  geometry windows;
};

template <class T, class Direction>
class convolution {
 public:
  explicit convolution(const convolution_case& of) : descriptors_(of) {
    const auto [first, second, result] = Direction::operands(descriptors_);
    std::array<typename calls<Direction>::found, 16> found{};
    int count = 0;
    status_ = calls<Direction>::find(handle_, first, second, descriptors_.windows, result,
                                     static_cast<int>(found.size()), &count, found.data());
    const auto end = found.begin() + (status_ == CUDNN_STATUS_SUCCESS ? count : 0);
    const auto fastest = std::find_if(found.begin(), end, [](const auto& each) {
      return each.status == CUDNN_STATUS_SUCCESS && each.algo < calls<Direction>::end;
    });
    if (fastest == end) {
      if (status_ == CUDNN_STATUS_SUCCESS) status_ = CUDNN_STATUS_NOT_SUPPORTED;
      return;
    }
    algorithm_ = fastest->algo;
    check(cudnnSetConvolutionMathType(descriptors_.windows, fastest->mathType));
    workspace_ = workspace(tn::rank<1>(static_cast<tn::index>(fastest->memory)));
  }

  cudnnStatus_t run(const T* first_elements, const T* second_elements, T* result_elements) const {
    if (status_ != CUDNN_STATUS_SUCCESS) return status_;
    const float one = 1, none = 0;
    const auto [first, second, result] = Direction::operands(descriptors_);
    return calls<Direction>::run(handle_, &one, first, first_elements, second, second_elements, descriptors_.windows,
                                 algorithm_, workspace_.data(), static_cast<std::size_t>(workspace_.size()), &none,
                                 result, result_elements);
  }

 protected:
  handle handle_;
  convolution_descriptors<T> descriptors_;
  cudnnStatus_t status_;
  decltype(calls<Direction>::found::algo) algorithm_{};
  mutable workspace workspace_;
};

/// A convolution with bias and ReLU in one kernel.
template <class T>
class activated_convolution : convolution<T, forward> {
 public:
  explicit activated_convolution(const convolution_case& of)
      : convolution<T, forward>(of), bias_(CUDNN_TENSOR_NHWC, {1, of.outputs}) {
    check(cudnnSetActivationDescriptor(relu_, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
  }
  cudnnStatus_t run(const T* image, const T* weight, const T* bias, T* result) const {
    if (this->status_ != CUDNN_STATUS_SUCCESS) return this->status_;
    const float one = 1, none = 0;
    const auto& of = this->descriptors_;
    return cudnnConvolutionBiasActivationForward(this->handle_, &one, of.image, image, of.weight, weight, of.windows,
                                                 this->algorithm_, this->workspace_.data(),
                                                 static_cast<std::size_t>(this->workspace_.size()), &none, of.result,
                                                 result, bias_, bias, relu_, of.result, result);
  }

 private:
  tensor<T> bias_;
  owned<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor, cudnnDestroyActivationDescriptor> relu_;
};

}  // namespace cudnn
#endif
