// expect: tenon: these extents must be equal, or one of them 1
// expect: maximum_op
// tests/compile_fail/wrong_extents_call.cpp: a function of operands whose static extents contradict each other.
// other. SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using right_shape = tenon::shape<64, 5>;
#else
using right_shape = tenon::shape<64, 3>;
#endif

void statement(const tenon::tensor<float, tenon::shape<64, 3>>& a, const tenon::tensor<float, right_shape>& b,
               tenon::tensor<float, tenon::rank<2>>& c) {
  c = tenon::maximum(a, b);
}
