// tenon/nn/gate_functions.hpp: what gates do, said once for statements and for packs of lanes.
// Gate arithmetic is written with these functions, so that a step of the host's vectors is the statement's.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>

namespace tenon::nn {

/// Of expressions.
struct functions_of_statements {
  template <class Operand>
  static auto sigmoid(const Operand& x) {
    return tenon::sigmoid(x);
  }
  template <class Operand>
  static auto tanh(const Operand& x) {
    return tenon::tanh(x);
  }
  template <class Operand>
  static auto relu(const Operand& x) {
    return tenon::relu(x);
  }
};

/// Of packs of lanes.
struct functions_of_packs {
  template <class Pack>
  TENON_INLINE static Pack sigmoid(const Pack& x) {
    return sigmoid_op::value(x);
  }
  template <class Pack>
  TENON_INLINE static Pack tanh(const Pack& x) {
    return tanh_op::value(x);
  }
  template <class Pack>
  TENON_INLINE static Pack relu(const Pack& x) {
    return relu_op::value(x);
  }
};

}  // namespace tenon::nn
