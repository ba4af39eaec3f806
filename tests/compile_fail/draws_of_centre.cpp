// expect: tenon: include <tenon/expr/random.hpp>, or these arguments do not fit
// tests/compile_fail/draws_of_centre.cpp: normal numbers of a centre and a deviation, whose centre would be the seed.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> drawn = tenon::normal<float>(tenon::shape<3, 4>{}, 0, 1);
#else
tenon::tensor<float, tenon::rank<2>> drawn = tenon::normal<float>(tenon::shape<3, 4>{}, 5, 0, 1);
#endif
