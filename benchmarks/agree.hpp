// benchmarks/agree.hpp: what a benchmark checks before it is timed.
// A peer that computes something else is no peer: results are compared first, and a difference ends the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

/// Ends the program when `count` values differ by more than `bound` times the magnitude of the expected ones.
inline void must_agree(const char* what, const float* actual, const float* expected, long count, double bound) {
  for (long i = 0; i < count; ++i) {
    const double difference = std::fabs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(difference <= bound * (1.0 + std::fabs(static_cast<double>(expected[i]))))) {
      std::fprintf(stderr, "%s: element %ld is %g, the peer has %g\n", what, i, static_cast<double>(actual[i]),
                   static_cast<double>(expected[i]));
      std::exit(1);
    }
  }
}
