// expect: tenon: complex numbers have no such function; exp, log, sqrt, pow, sin, cos, tan and hyperbolic
// lines: 20: it stands where the function is computed, below the loop
// tests/compile_fail/function_of_complex.cpp: a function that complex numbers do not have.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using numbers = tenon::tensor<std::complex<double>, tenon::rank<1>>;

void statement(numbers& x, const numbers& z) {
#ifdef MISUSE
  x = tenon::expm1(z);
#else
  x = tenon::exp(z);
#endif
}
