// tests/support/complex.hpp: the complex numbers that the spaces under test compute with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <tenon/expr/operations/complex.hpp>

namespace tenon_test {

#if defined(__CUDACC__)
template <class Part>
using complex = thrust::complex<Part>;
#else
template <class Part>
using complex = std::complex<Part>;
#endif

}  // namespace tenon_test
