// benchmarks/torch.hpp: tensors as libtorch sees them, where the build found it (BENCHMARKS_TORCH).
// The same memory under both libraries. Results are written to where the others write theirs, as `_out` functions do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(BENCHMARKS_TORCH)
#include <ATen/ATen.h>

#include <tenon/core/tensor.hpp>
#include <vector>

template <typename Tensor>
at::Tensor seen_by_torch(Tensor& x) {
  std::vector<std::int64_t> sizes;
  for (int axis = 0; axis < Tensor::shape_type::rank; ++axis) sizes.push_back(x.extent(axis));
  return at::from_blob(const_cast<float*>(x.data()), sizes, at::kFloat);
}
#endif
