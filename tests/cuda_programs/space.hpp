// tests/cuda_programs/space.hpp: where a program runs: on the device where nvcc compiles it, else emulated.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <tenon/train.hpp>
#if defined(__CUDACC__)
#include <tenon/algorithms/cuda.hpp>
#include <tenon/device/runtime.hpp>
#endif

#if defined(__CUDACC__)
using space = tenon::cuda;
#else
using space = tenon::emulated;
#endif

/// Says what does not hold, and counts it for the program's exit status; without a device, skips the program.
struct expectations {
  int failures = 0;

  expectations() {
#if defined(__CUDACC__)
    if (tenon::cuda_device_count() == 0) std::puts("skipped: no CUDA device"), std::exit(77);
#endif
  }
  void operator()(bool holds, const char* what) {
    if (!holds) ++failures, std::printf("does not hold: %s\n", what);
  }
};
