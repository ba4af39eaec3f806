// tenon/expr/operations/trigonometric.hpp: trigonometric and hyperbolic functions.
// Integers are taken to float.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// Hyperbolic tangent.
struct tanh_op : floating_result {
  static constexpr const char* name = "tanh";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x) {
    return simd::tanh(x);
  }
};
inline constexpr pointwise_function<tanh_op> tanh;

}  // namespace tenon
