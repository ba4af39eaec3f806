// expect: tenon: an index is a whole number; cast it, index(x)
// lines: 8: the number stands behind two calls
// tests/compile_fail/fraction_as_index.cpp: a number with a fraction as an index.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

float element_of(const tenon::tensor<float, tenon::rank<2>>& x, double place) {
#ifdef MISUSE
  return x(0, place);
#else
  return x(0, static_cast<tenon::index>(place));
#endif
}
