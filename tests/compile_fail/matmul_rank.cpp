// expect: tenon: matmul takes matrices and vectors
// tests/compile_fail/matmul_rank.cpp: a product with a number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

#ifdef MISUSE
using right_shape = tenon::rank<0>;
#else
using right_shape = tenon::rank<2>;
#endif

void statement(const tenon::tensor<float, tenon::rank<2>>& a, const tenon::tensor<float, right_shape>& b,
               tenon::tensor<float, tenon::rank<2>>& c) {
  c = tenon::matmul(a, b);
}
