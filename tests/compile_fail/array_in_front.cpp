// expect: tenon: a vector, span or array is an operand through a view of it, x + view(values)
// lines: 9: g++ names the node whose operand it is
// tests/compile_fail/array_in_front.cpp: an array of the standard library, in front of a tensor.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <array>

void statement(tenon::tensor<bool, tenon::rank<1>>& y, const tenon::tensor<float, tenon::rank<1>>& x) {
  const std::array<float, 3> values{1, 2, 3};
#ifdef MISUSE
  y = values < x;
#else
  y = tenon::view(values) < x;
#endif
}
