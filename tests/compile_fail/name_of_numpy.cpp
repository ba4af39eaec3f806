// expect: tenon: this function has another name here
// expect: use_concatenate
// tests/compile_fail/name_of_numpy.cpp: a name that PyTorch has for a function of another name.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>>;

#ifdef MISUSE
matrix statement(const matrix& a, const matrix& b) { return tenon::cat(a, b); }
#else
matrix statement(const matrix& a, const matrix& b) { return tenon::concatenate(tenon::axis<0>, a, b); }
#endif
