// tests/support/threads.hpp: the same statement on one, two and three threads.
// Results must be the same bit for bit; without OpenMP there is one thread, and the check is trivial.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/threads.hpp>
#include <vector>

namespace tenon_test {

/// Whether `compute()` gives equal results for every number of threads.
template <class Compute>
bool is_same_on_any_threads(const Compute& compute) {
  const auto with_threads = [&]([[maybe_unused]] int count) {
#if defined(_OPENMP)
    omp_set_num_threads(count);
#endif
    return compute();
  };
  const auto expected = with_threads(1);
  const bool same = with_threads(2) == expected && with_threads(3) == expected;
#if defined(_OPENMP)
  omp_set_num_threads(omp_get_num_procs());
#endif
  return same;
}

}  // namespace tenon_test
