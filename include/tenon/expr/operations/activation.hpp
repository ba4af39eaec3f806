// tenon/expr/operations/activation.hpp: the activations of neural networks.
// Definitions and defaults are those of PyTorch.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// max(x, 0); NaN stays NaN.
struct relu_op : promoting {
  static constexpr const char* name = "relu";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::max(x, simd::constant_like<V>(0));
  }
};
inline constexpr pointwise_function<relu_op> relu;

/// 1 / (1 + exp(-x)).
struct sigmoid_op : floating_result {
  static constexpr const char* name = "sigmoid";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::constant_like<V>(1) / (simd::constant_like<V>(1) + simd::exp(-x));
  }
};
inline constexpr pointwise_function<sigmoid_op> sigmoid;

}  // namespace tenon
