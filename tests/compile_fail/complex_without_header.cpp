// expect: tenon: complex elements need <tenon/expr/operations/complex.hpp>
// tests/compile_fail/complex_without_header.cpp: complex elements, whose header no door brings.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using element = std::complex<float>;
#else
using element = float;
#endif

void statement() { tenon::tensor<element, tenon::rank<1>> x({3}); }
