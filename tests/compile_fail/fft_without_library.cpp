// expect: tenon: transforms run through libraries; include <tenon/algorithms/fftw.hpp> and link fftw3
// tests/compile_fail/fft_without_library.cpp: a transform without the header that brings a library.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/fft.hpp>
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<1>>& x) {
#ifdef MISUSE
  tenon::fft(x, tenon::axis<0>);
#else
  tenon::conj(x);
#endif
}
