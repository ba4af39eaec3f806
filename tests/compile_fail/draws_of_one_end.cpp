// expect: tenon: a seed stands behind the extents, and both numbers of the distribution behind it
// tests/compile_fail/draws_of_one_end.cpp: a range without a seed, whose low end would be the seed.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> drawn = tenon::uniform<float>({3, 4}, -1, 1);
#else
tenon::tensor<float, tenon::rank<2>> drawn = tenon::uniform<float>({3, 4}, 1, -1, 1);
#endif
