// expect: tenon: complex numbers become real ones by real(z), imag(z) or abs(z)
// lines: 12: the constructor, the hook of assignment and the evaluator stand between
// tests/compile_fail/complex_to_real.cpp: an expression of complex numbers for a tensor of real ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using numbers = tenon::tensor<std::complex<double>, tenon::rank<1>>;
using reals = tenon::tensor<double, tenon::rank<1>>;

void statement(reals& x, const numbers& z) {
#ifdef MISUSE
  x = z * 2;
#else
  x = tenon::real(z * 2);
#endif
}
