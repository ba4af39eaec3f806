// tenon/device/launch_count.hpp: how many kernels or loops a thread has started.
// Fusion is promised in numbers of launches, so every executor counts here, on the host as on a device.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tenon {

/// What the calling thread has started so far.
struct launch_tally {
  std::int64_t count;     ///< kernels and loops
  const char* last_kind;  ///< what the latest one named itself
};

namespace detail {

inline launch_tally& thread_launches() {
  thread_local launch_tally tally{0, ""};
  return tally;
}

}  // namespace detail

/// Counts one kernel or loop of the calling thread; `kind` must outlive the thread (a literal).
inline void count_launch(const char* kind) {
  launch_tally& tally = detail::thread_launches();
  ++tally.count;
  tally.last_kind = kind;
}

/// Kernels and loops that the calling thread has started so far.
inline launch_tally launch_count() { return detail::thread_launches(); }

/// Counts the launches of the calling thread from its construction on.
class launch_counter {
 public:
  launch_counter() : start_(launch_count().count) {}

  int count() const { return static_cast<int>(launch_count().count - start_); }
  const char* last_kind() const { return launch_count().last_kind; }

 private:
  std::int64_t start_;
};

}  // namespace tenon
