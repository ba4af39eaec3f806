// expect: tenon: a tensor takes no other rank or static extents
// lines: 10: the sentence stands in the line of a deleted function, and g++ says first by which headers it came
// tests/compile_fail/tensor_of_other_rank.cpp: a matrix made from a vector.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using other = tenon::rank<1>;
#else
using other = tenon::rank<2>;
#endif

void statement(const tenon::tensor<float, other>& x) {
  const tenon::tensor<double, tenon::rank<2>> y = x;
  static_cast<void>(y);
}
