// tests/instructions/broken/missing_instruction.cu: a sum of halves is not the matrix unit's.
// found: no kernel has wmma
// has: wmma\.mma
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<tenon::half, tenon::rank<2>, tenon::cuda>;

void statement(matrix& y, const matrix& x) { y = x + x; }
