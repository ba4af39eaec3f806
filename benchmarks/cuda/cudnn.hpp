// benchmarks/cuda/cudnn.hpp: cuDNN as a peer: a handle on the current stream, descriptors that are freed, statuses.
// BENCHMARKS_CUDNN is defined where it is found; all of it is empty where it is not.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(BENCHMARKS_CUDNN)
#include <cudnn.h>

#include "timing.hpp"

namespace cudnn {

namespace tn = tenon;

inline void check(cudnnStatus_t status) {
  if (status != CUDNN_STATUS_SUCCESS) timing::session::fail(std::string("cuDNN: ") + cudnnGetErrorString(status));
}

/// Adds cuDNN to the contenders of a case; where it has no kernel for it, says so. `run` gives the status of a call.
inline void add_to(std::vector<timing::contender>& contenders, const std::string& name,
                   const std::function<cudnnStatus_t(int slot)>& run, std::function<std::vector<float>()> result) {
  const cudnnStatus_t status = run(0);
  constexpr int category = 3;  // of version 9, which tells several reasons apart
  if (status == CUDNN_STATUS_NOT_SUPPORTED || status / 1000 == category) {
    std::printf("%-40s cuDNN does not support it\n", name.c_str());
    return;
  }
  check(status);
  contenders.push_back({"cudnn", [run](int slot) { check(run(slot)); }, std::move(result)});
}

/// A handle or descriptor, for as long as it lives.
template <class Value, auto Create, auto Destroy>
class owned {
 public:
  owned() { check(Create(&value_)); }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() { Destroy(value_); }
  operator Value() const { return value_; }

 private:
  Value value_{};
};

struct handle : owned<cudnnHandle_t, cudnnCreate, cudnnDestroy> {
  handle() { check(cudnnSetStream(*this, tn::current_stream())); }
};

template <class T>
constexpr cudnnDataType_t type_of() {
  if constexpr (std::is_same_v<T, float>) return CUDNN_DATA_FLOAT;
  else return std::is_same_v<T, tn::half> ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
}

/// The extents of a tensor of four axes, or of a weight: batch or outputs, channels, rows, columns.
struct extents {
  tn::index first, channels, rows = 1, columns = 1;
};

template <class T>
struct tensor : owned<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor> {
  tensor(cudnnTensorFormat_t layout, const extents& of) {
    check(cudnnSetTensor4dDescriptor(*this, layout, type_of<T>(), static_cast<int>(of.first),
                                     static_cast<int>(of.channels), static_cast<int>(of.rows),
                                     static_cast<int>(of.columns)));
  }
};

template <class T>
struct filter : owned<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor> {
  filter(cudnnTensorFormat_t layout, const extents& of) {
    check(cudnnSetFilter4dDescriptor(*this, type_of<T>(), layout, static_cast<int>(of.first),
                                     static_cast<int>(of.channels), static_cast<int>(of.rows),
                                     static_cast<int>(of.columns)));
  }
};

/// Bytes that a call may use while it runs.
using workspace = tn::tensor<std::uint8_t, tn::rank<1>, tn::cuda>;

}  // namespace cudnn
#endif
