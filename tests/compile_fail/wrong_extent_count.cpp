// expect: tenon: a tensor takes one extent for each axis
// tests/compile_fail/wrong_extent_count.cpp: three extents for a tensor of two axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> a({2, 3, 4});
#else
tenon::tensor<float, tenon::rank<2>> a({2, 3});
#endif
