// expect: tenon: tensors are joined along an axis that stands first, stack(axis<1>, a, b)
// tests/compile_fail/axis_behind_operands.cpp: the axis behind the tensors that are joined.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(const matrix& a, const matrix& b, matrix& y) {
#ifdef MISUSE
  y = tenon::concatenate(a, b, tenon::axis<1>);
#else
  y = tenon::concatenate(tenon::axis<1>, a, b);
#endif
}
