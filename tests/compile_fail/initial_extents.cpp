// expect: tenon: a new tensor has the rank and the static extents of its expression
// tests/compile_fail/initial_extents.cpp: a tensor made from an expression of other static extents.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using made_shape = tenon::shape<3, 4>;
#else
using made_shape = tenon::shape<3, 5>;
#endif

auto make(const tenon::tensor<float, tenon::shape<3, 5>>& a) {
  const tenon::tensor<float, made_shape> c = a + 1;
  return c;
}
