// expect: tenon: extents stand in braces, x({n, d})
// lines: 8: g++ shows the constructor behind the statement
// tests/compile_fail/extents_without_braces.cpp: extents of a tensor of several axes as arguments of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> a(3, 4);
#else
tenon::tensor<float, tenon::rank<2>> a({3, 4});
#endif
