// benchmarks/agree.hpp: what a benchmark checks before it is timed.
// A peer that computes something else is no peer: results are compared first, and a difference ends the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

/// Ends the program when `count` values differ by more than `bound` times the magnitude of the expected ones.
template <typename Actual, typename Expected>
void must_agree(const char* what, const Actual* actual, const Expected* expected, long count, double bound) {
  for (long i = 0; i < count; ++i) {
    const double found = actual[i], wanted = expected[i];
    if (!(std::fabs(found - wanted) <= bound * (1.0 + std::fabs(wanted)))) {
      std::fprintf(stderr, "%s: element %ld is %g, expected %g\n", what, i, found, wanted);
      std::exit(1);
    }
  }
}
