// benchmarks/xtensor.hpp: tensors as xtensor sees them, where it is installed.
// The same memory under both libraries; the benchmarks ask `__has_include` as this header does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if __has_include(<xtensor/xtensor.hpp>)
#if __has_include(<xsimd/xsimd.hpp>)
#define XTENSOR_USE_XSIMD
#endif
#include <array>
#include <tenon/core/tensor.hpp>
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xview.hpp>

template <typename Tensor>
auto seen_by_xtensor(Tensor& x) {
  std::array<std::size_t, static_cast<std::size_t>(Tensor::shape_type::rank)> shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    shape[axis] = static_cast<std::size_t>(x.extent(static_cast<int>(axis)));
  }
  return xt::adapt(x.data(), static_cast<std::size_t>(x.size()), xt::no_ownership(), shape);
}
#endif
