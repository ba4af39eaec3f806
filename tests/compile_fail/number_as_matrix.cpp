// expect: tenon: a new tensor has the rank and the static extents of its expression
// lines: 10: g++ says first by which headers the tensor came
// tests/compile_fail/number_as_matrix.cpp: a scalar product as a matrix.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

using vector = tenon::tensor<double, tenon::rank<1>>;

auto statement(const vector& x) {
#ifdef MISUSE
  return tenon::tensor<double, tenon::rank<2>>(tenon::matmul(x, x));
#else
  return tenon::tensor<double, tenon::rank<2>>(tenon::outer(x, x));
#endif
}
