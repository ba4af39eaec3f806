// tenon/device/threads.hpp: loops shared among threads.
// OpenMP where the compiler has it, a plain loop otherwise; small loops never wake a second thread.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <tenon/base/array.hpp>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tenon {

/// Threads that a parallel loop would use here; 1 within one.
inline int thread_count() {
#if defined(_OPENMP)
  return omp_in_parallel() != 0 ? 1 : omp_get_max_threads();
#else
  return 1;
#endif
}

namespace detail {

/// Part `part` of `parts` of [0, count), in units of `grain`.
template <class Body>
void run_part(index count, index grain, index part, index parts, Body& body) {
  const index units = (count + grain - 1) / grain;
  const index first = units * part / parts * grain, last = units * (part + 1) / parts * grain;
  if (first < count && first < last) body(first, last < count ? last : count);
}

}  // namespace detail

/// Calls `body(begin, end)` for parts that cover [0, count), each of at least `grain` but for the last. Parts run on
/// several threads when there is more than one grain; an exception of any part reaches the caller.
template <class Body>
void parallel_for(index count, index grain, Body&& body) {
  if (count <= 0) return;
#if defined(_OPENMP)
  const index units = (count + grain - 1) / grain;
  const index threads = units > 1 ? static_cast<index>(thread_count()) : 1;
  if (threads > 1) {
    std::exception_ptr failure;
    const index parts = threads < units ? threads : units;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(parts))
    for (index part = 0; part < parts; ++part) {
      try {
        detail::run_part(count, grain, part, parts, body);
      } catch (...) {
#pragma omp critical(tenon_parallel_for)
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
#endif
  (void)grain;
  body(index{0}, count);
}

}  // namespace tenon
