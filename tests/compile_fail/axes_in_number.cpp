// expect: tenon: the value still has axes; sum(x) and max(x, drop<0>) have fewer
// lines: 12: the sentence stands in the line of a deleted function, and g++ says first by which headers it came
// tests/compile_fail/axes_in_number.cpp: a deviation along an axis as a number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

double statement(const vector& x) {
#ifdef MISUSE
  return double(tenon::stddev(x, tenon::axis<0>, 1));
#else
  return double(tenon::stddev(x, tenon::all_axes{}, 1));
#endif
}
