// expect: tenon: a seed stands behind the extents
// tests/compile_fail/draws_without_seed.cpp: random numbers of extents alone, as of a generator with a state.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> drawn = tenon::uniform<float>({3, 4});
#else
tenon::tensor<float, tenon::rank<2>> drawn = tenon::uniform<float>({3, 4}, 1);
#endif
