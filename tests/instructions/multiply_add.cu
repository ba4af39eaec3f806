// tests/instructions/multiply_add.cu: the statement that all others are measured by.
// has: ld\.global\.v4\.f32
// has: st\.global\.v4\.f32
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using operand = const tenon::tensor<float, tenon::rank<1>, tenon::cuda>&;

void multiply_add(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& d, operand a, operand b, operand c) {
  d = a * b + c;
}
