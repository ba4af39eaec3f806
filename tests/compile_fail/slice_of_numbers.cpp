// expect: tenon: a part is a range of each axis, slice(x, only(1), range(0, 3)), or x(1, range(0, 3))
// tests/compile_fail/slice_of_numbers.cpp: positions in the place of ranges.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

void statement(const matrix& x, matrix& y) {
#ifdef MISUSE
  y = tenon::slice(x, 1, 3);
#else
  y = tenon::slice(x, tenon::only(1), tenon::range(0, 3));
#endif
}
