// expect: tenon: the destination has fewer axes than the expression
// tests/compile_fail/compound_rank.cpp: a matrix that is added to a vector in place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using added = tenon::rank<2>;
#else
using added = tenon::shape<1, tenon::dyn>;
#endif

void statement(tenon::tensor<float, tenon::rank<1>>& a, const tenon::tensor<float, added>& b) { a += b; }
