// tests/instructions/softmax.cu: a row-resident statement.
// has: ld\.global\.v4\.f32
// has: st\.global\.v4\.f32
// has: shfl\.sync
// has: st\.shared\.v4\.[bfu]32
// has: ld\.shared\.v4\.[bfu]32
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;

void rows(matrix& y, const matrix& x) { y = tenon::softmax(x, tenon::axis<1>); }
