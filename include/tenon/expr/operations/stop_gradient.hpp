// tenon/expr/operations/stop_gradient.hpp: what gradients take for a constant.
// The value passes; the sweep of a gradient does not look behind it.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// x, which a gradient takes for a constant.
struct stop_gradient_op : promoting {
  static constexpr const char* name = "stop_gradient";
  using flat = void;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return x;
  }
};
TENON_FUNCTION_OBJECT pointwise_function<stop_gradient_op> stop_gradient;

}  // namespace tenon
