// expect: tenon: one value stands behind its extent
// lines: 8: g++ shows the operator behind the statement
// tests/compile_fail/assigned_value.cpp: a single value in braces, assigned to a tensor with one axis.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(tenon::tensor<float, tenon::rank<1>>& v, float x) {
#ifdef MISUSE
  v = {x};
#else
  v = {x, x};
#endif
}
