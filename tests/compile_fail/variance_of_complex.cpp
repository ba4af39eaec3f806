// expect: tenon: of complex numbers the variance is variance(real(z)) + variance(imag(z))
// lines: 20: the node names its monoid, which names its state
// tests/compile_fail/variance_of_complex.cpp: the variance of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using numbers = tenon::tensor<std::complex<double>, tenon::rank<1>>;

double statement(const numbers& z) {
#ifdef MISUSE
  const tenon::tensor<double, tenon::rank<1>> x = tenon::variance(z, tenon::axis<0>);
  return x(0);
#else
  return tenon::variance(tenon::real(z)) + tenon::variance(tenon::imag(z));
#endif
}
