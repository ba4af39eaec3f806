// expect: tenon: extents stand in braces, zeros<float>({3, 4}), reshape(x, {2, 6})
// tests/compile_fail/reshape_without_braces.cpp: extents of a reshape as arguments of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(const matrix& x, matrix& y) {
#ifdef MISUSE
  y = tenon::reshape(x, 2, 6);
#else
  y = tenon::reshape(x, {2, 6});
#endif
}
