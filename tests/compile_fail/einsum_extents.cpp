// expect: tenon: axes of one letter of einsum must have one extent
// tests/compile_fail/einsum_extents.cpp: an einsum of static extents that do not fit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

#ifdef MISUSE
using right_shape = tenon::shape<4, 5>;
#else
using right_shape = tenon::shape<3, 5>;
#endif

void statement(const tenon::tensor<float, tenon::shape<2, 3>>& a, const tenon::tensor<float, right_shape>& b,
               tenon::tensor<float, tenon::rank<2>>& c) {
  c = tenon::einsum<"ij,jk->ik">(a, b);
}
