// expect: tenon: the inner extents of a matrix product must be equal
// expect: left_extent<784
// expect: right_extent<128
// tests/compile_fail/inner_extents.cpp: a product of matrices that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

#ifdef MISUSE
constexpr tenon::index inner = 128;
#else
constexpr tenon::index inner = 784;
#endif

void statement(const tenon::tensor<float, tenon::shape<64, 784>>& a,
               const tenon::tensor<float, tenon::shape<inner, 10>>& b, tenon::tensor<float, tenon::rank<2>>& c) {
  c = tenon::matmul(a, b);
}
