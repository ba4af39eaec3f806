// expect: tenon: algorithms reach this space only in files that nvcc compiles
// lines: 7: all algorithms say it at one place, below the function that is called
// tests/compile_fail/algorithm_on_cuda.cpp: a scan of a tensor of the space cuda without the header that brings CUB.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>
#include <tenon/algorithms.hpp>

#ifdef MISUSE
using space = tenon::cuda;
#else
using space = tenon::host;
#endif

void statement(const tenon::tensor<float, tenon::rank<1>, space>& x) { tenon::cumsum(x, tenon::axis<0>); }
