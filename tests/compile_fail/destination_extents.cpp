// expect: tenon: the extents of destination and expression must be equal
// tests/compile_fail/destination_extents.cpp: a destination whose static extents differ from the expression's.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using destination_shape = tenon::shape<3, 4>;
#else
using destination_shape = tenon::shape<3, 5>;
#endif

void statement(const tenon::tensor<float, tenon::shape<3, 5>>& a, tenon::tensor<float, destination_shape>& c) {
  c = a + 1;
}
