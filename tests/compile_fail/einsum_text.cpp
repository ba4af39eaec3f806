// expect: tenon: einsum names every axis of an operand by one letter
// tests/compile_fail/einsum_text.cpp: an einsum whose text has fewer letters than an operand axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

#ifdef MISUSE
inline constexpr tenon::einsum_text text = "ij,k->ik";
#else
inline constexpr tenon::einsum_text text = "ij,jk->ik";
#endif

void statement(const tenon::tensor<float, tenon::rank<2>>& a, const tenon::tensor<float, tenon::rank<2>>& b,
               tenon::tensor<float, tenon::rank<2>>& c) {
  c = tenon::einsum<text>(a, b);
}
