// tests/instructions/bfloat16_rows.cu: narrow elements, a row that is the same for all and a column.
// has: ld\.global\.v4\.[bu]32
// has: st\.global\.v4\.[bu]32
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<tenon::bfloat16, tenon::rank<2>, tenon::cuda>;

void rows(matrix& d, const matrix& a, const matrix& row, const matrix& column) { d = a + row * column; }
