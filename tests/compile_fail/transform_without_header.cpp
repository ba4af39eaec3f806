// expect: tenon: include <tenon/algorithms/fftw.hpp>, on devices cufft.hpp, or these arguments do not fit; axes are
// expect: transform_call
// tests/compile_fail/transform_without_header.cpp: a transform behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<1>>& x) {
#ifdef MISUSE
  tenon::rfft(x, tenon::axis<-1>);
#else
  tenon::exp(x);
#endif
}
