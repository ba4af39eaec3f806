// expect: tenon: an extent is a whole number
// tests/compile_fail/listed_fraction.cpp: an extent with a fraction in a list of extents.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
auto x = tenon::zeros<float>({2.5, 3.0});
#else
auto x = tenon::zeros<float>({2, 3});
#endif
