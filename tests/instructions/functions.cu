// tests/instructions/functions.cu: functions of floats stay in floats.
// has: ld\.global\.v4\.f32
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using operand = const tenon::tensor<float, tenon::rank<1>, tenon::cuda>&;

void functions(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& d, operand a, operand b, operand c) {
  d = tenon::tanh(a) * tenon::exp(-b * b) + tenon::log1p(tenon::abs(c));
}
