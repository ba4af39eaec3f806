// expect: tenon: these extents must be equal, or one of them 1
// expect: add_op
// expect: left_extent<3
// expect: right_extent<5
// tests/compile_fail/wrong_extents.cpp: operands whose static extents contradict each other.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using right_shape = tenon::shape<64, 5>;
#else
using right_shape = tenon::shape<64, 3>;
#endif

void statement(const tenon::tensor<float, tenon::shape<64, 3>>& a, const tenon::tensor<float, right_shape>& b,
               tenon::tensor<float, tenon::shape<64, 3>>& c) {
  c = a + b;
}
