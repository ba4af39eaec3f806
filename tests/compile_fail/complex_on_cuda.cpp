// expect: tenon: no device computes with std::complex; in files that nvcc compiles, elements may be thrust::complex
// tests/compile_fail/complex_on_cuda.cpp: elements that only the host computes with.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <tenon/expr/operations/complex.hpp>

using number = std::complex<float>;

void statement(const tenon::tensor<number, tenon::rank<1>>& x) {
#ifdef MISUSE
  (void)x.to<tenon::cuda>();
#else
  (void)x.to<tenon::host>();
#endif
}
