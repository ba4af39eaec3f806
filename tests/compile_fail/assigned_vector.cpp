// expect: tenon: a vector, span or array is assigned through a view of it, x = view(values)
// tests/compile_fail/assigned_vector.cpp: numbers of a program's own containers, given to a tensor that has elements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <vector>

void statement(tenon::tensor<float, tenon::rank<1>>& x, const std::vector<float>& values) {
#ifdef MISUSE
  x = values;
#else
  x = tenon::view(values);
#endif
}
