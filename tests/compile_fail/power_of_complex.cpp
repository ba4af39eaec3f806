// expect: tenon: a power of complex numbers is exp(y * log(z)), or a product
// lines: 20: it stands where the function is computed, below the loop
// tests/compile_fail/power_of_complex.cpp: a power of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using numbers = tenon::tensor<std::complex<double>, tenon::rank<1>>;

void statement(numbers& x, const numbers& z) {
#ifdef MISUSE
  x = tenon::pow(z, 2);
#else
  x = z * z;
#endif
}
