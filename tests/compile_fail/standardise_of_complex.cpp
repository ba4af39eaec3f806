// expect: tenon: standardise takes real numbers; real(z) and imag(z) are the parts of complex ones
// lines: 10: g++ says first in which instantiation it stands
// tests/compile_fail/standardise_of_complex.cpp: complex numbers, whose squares are no distances.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using numbers = tenon::tensor<std::complex<double>, tenon::rank<1>>;

void statement(numbers& x, const numbers& z) {
#ifdef MISUSE
  x = tenon::standardise(z, tenon::axis<0>);
#else
  x = z - tenon::mean(z, tenon::axis<0>);
#endif
}
