// expect: tenon: a vector, span or array is an operand through a view of it, x + view(values)
// lines: 9: g++ names the node whose operand it is
// tests/compile_fail/added_vector.cpp: numbers of a program's own containers, beside a tensor.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <vector>

void statement(tenon::tensor<float, tenon::rank<1>>& x, const std::vector<float>& values) {
#ifdef MISUSE
  x = x + values;
#else
  x = x + tenon::view(values);
#endif
}
