// tests/instructions/chain.cu: seven operations, a division among them, on operands that occur several times.
// has: ld\.global\.v4\.f32
// has: st\.global\.v4\.f32
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using operand = const tenon::tensor<float, tenon::rank<1>, tenon::cuda>&;

void chain(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& d, operand a, operand b, operand c) {
  d = (a * b + c) * 0.5f - a / (1 + b * b);
}
