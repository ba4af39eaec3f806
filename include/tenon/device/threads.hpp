// tenon/device/threads.hpp: loops shared among threads.
// OpenMP where the compiler has it, a plain loop otherwise; small loops never wake a second thread.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <type_traits>

#if defined(_OPENMP)
#include <omp.h>
#endif

namespace tenon {

namespace detail {
inline int thread_limit = 0;  // 0: as many as OpenMP says
inline thread_local bool is_single_thread = false;
}  // namespace detail

/// Sets how many threads the loops of this process use from now on; 0 leaves it to OpenMP. Results do not depend on it.
/// throws    error when count is negative
inline void set_num_threads(int count) {
  if (count < 0) throw error(compose_text("set_num_threads: ", count, " threads, expected at least 0"));
  __atomic_store_n(&detail::thread_limit, count, __ATOMIC_RELAXED);
}

/// While this lives, loops of the calling thread run on that thread alone, as it is one of several workers.
class single_thread_scope {
 public:
  single_thread_scope() : outer_(detail::is_single_thread) { detail::is_single_thread = true; }
  single_thread_scope(const single_thread_scope&) = delete;
  single_thread_scope& operator=(const single_thread_scope&) = delete;
  ~single_thread_scope() { detail::is_single_thread = outer_; }

 private:
  bool outer_;
};

/// How many threads a parallel loop would use here; 1 within a parallel loop.
inline int thread_count() {
#if defined(_OPENMP)
  if (detail::is_single_thread) return 1;
  const int limit = __atomic_load_n(&detail::thread_limit, __ATOMIC_RELAXED);
  if (omp_in_parallel() != 0) return 1;
  return limit != 0 ? limit : omp_get_max_threads();
#else
  return 1;
#endif
}

namespace detail {

/// Any loop body; what is compiled for a loop is a call through this, once for all.
struct loop_body {
  const void* body;
  void (*run)(const void* body, index first, index last, index part);
};

template <class Body>
void run_body(const void* body, index first, index last, [[maybe_unused]] index part) {
  if constexpr (std::is_invocable_v<const Body&, index, index, index>) {
    (*static_cast<const Body*>(body))(first, last, part);
  } else {
    (*static_cast<const Body*>(body))(first, last);
  }
}

/// Part `part` of `parts` of [0, count), in units of `grain`.
inline void run_part(index count, index grain, index part, index parts, const loop_body& body) {
  const index units = (count + grain - 1) / grain;
  const index first = units * part / parts * grain, last = units * (part + 1) / parts * grain;
  if (first < count && first < last) body.run(body.body, first, last < count ? last : count, part);
}

#if defined(_OPENMP)
inline void run_parts(index count, index grain, index parts, const loop_body& body) {
  std::exception_ptr failure;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast<int>(parts))
  for (index part = 0; part < parts; ++part) {
    try {
      run_part(count, grain, part, parts, body);
    } catch (...) {
#pragma omp critical(tenon_parallel_for)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}
#endif

inline void run_loop(index count, [[maybe_unused]] index grain, [[maybe_unused]] index parts, const loop_body& body) {
  if (count <= 0) return;
#if defined(_OPENMP)
  if (parts > 1) return run_parts(count, grain, parts, body);
#endif
  body.run(body.body, 0, count, 0);
}

}  // namespace detail

/// How many parts `parallel_for` would make here.
inline index part_count(index count, index grain) {
  const index units = count > 0 ? (count + grain - 1) / grain : 0;
  const index threads = units > 1 ? static_cast<index>(thread_count()) : 1;
  return threads < units ? threads : units;
}

/// One of several threads that go through the same steps together.
struct thread_team {
  int number, count;

  /// Returns when every thread of the team has got here, and sees what they wrote before.
  void wait() const {
#if defined(_OPENMP)
    if (count > 1) {
#pragma omp barrier
    }
#endif
  }
  /// The share of `count` things that is this thread's: from the first number to before the second.
  array<index, 2> share(index things) const { return {{things * number / count, things * (number + 1) / count}}; }
};

/// Calls `body(team)` on at most `most` threads at once, each as another member of the team. `body` must not throw, for
/// the others would wait for ever.
template <class Body>
void run_team(int most, Body&& body) {
  const int available = thread_count(), threads = most < available ? most : available;
#if defined(_OPENMP)
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    body(thread_team{omp_get_thread_num(), omp_get_num_threads()});
    return;
  }
#endif
  (void)threads;
  body(thread_team{0, 1});
}

/// Calls `body()` on each of at most `most` threads, one after the other.
/// throws    what the last body to fail throws; the others are called all the same
template <class Body>
void run_in_turns(int most, const Body& body) {
  std::exception_ptr failure;
  run_team(most, [&](const thread_team& team) {
    for (int turn = 0; turn < team.count; ++turn) {
      try {
        if (turn == team.number) body();
      } catch (...) {
        failure = std::current_exception();
      }
      team.wait();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// Calls `body(begin, end)` for parts that cover [0, count), each of at least `grain` but for the last. Parts run on
/// several threads when there is more than one grain; an exception of any part reaches the caller.
template <class Body>
void parallel_for(index count, index grain, const Body& body) {
  detail::run_loop(count, grain, part_count(count, grain), {&body, &detail::run_body<Body>});
}
/// The same in `parts` parts, as many as `part_count` says. `body(begin, end, part)` gets the number of its part, by
/// which it finds memory that was allocated before any part began: if that fails, nothing has been written.
template <class Body>
void parallel_parts(index count, index grain, index parts, const Body& body) {
  detail::run_loop(count, grain, parts, {&body, &detail::run_body<Body>});
}

}  // namespace tenon
