// expect: tenon: extents stand in braces, zeros<float>({3, 4})
// tests/compile_fail/extents_in_parentheses.cpp: extents as arguments of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
auto x = tenon::zeros<float>(3, 4);
#else
auto x = tenon::zeros<float>({3, 4});
#endif
