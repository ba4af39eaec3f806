// expect: tenon: a pointer to a function is the host's; for CUDA write a struct whose operator() is TENON_HOST_DEVICE
// lines: 9: the assertion stands in what map calls, below the function that is called
// tests/compile_fail/map_pointer_on_cuda.cpp: a plain function, which kernels cannot call.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using space = tenon::cuda;
#else
using space = tenon::host;
#endif

float halved(float x) { return x / 2; }

void statement(const tenon::tensor<float, tenon::rank<1>, space>& x) { (void)tenon::map(halved, x); }
