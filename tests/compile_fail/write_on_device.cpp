// expect: tenon: the host reads elements of this space after a copy, x.to<tenon::host>(), and writes them by statements
// lines: 6: g++ says first by which header the assertion came
// tests/compile_fail/write_on_device.cpp: an element that lies on a device, written by the host.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using space = tenon::cuda;
#else
using space = tenon::host;
#endif

void statement(tenon::tensor<float, tenon::rank<1>, space>& x) { x(0) = 3; }
