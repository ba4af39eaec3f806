// tests/instructions/softmax.cu: a row-resident statement; rows wait in registers, three blocks a multiprocessor.
// has: ld\.global\.v4\.f32
// has: st\.global\.v4\.f32
// has: shfl\.sync
// lacks: \.f64
// registers: 85
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;

void rows(matrix& y, const matrix& x) { y = tenon::softmax(x, tenon::axis<1>); }
