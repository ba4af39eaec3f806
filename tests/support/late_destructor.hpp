// tests/support/late_destructor.hpp: what a thread's last destructors do.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace tenon_test {

struct late_destructor {
  std::function<void()> act;
  ~late_destructor() {
    if (act) act();
  }
};

/// Runs `first` on a new thread, and `last` when the objects of that thread which `first` made are destroyed.
inline void run_and_outlive(const std::function<void()>& first, const std::function<void()>& last) {
  std::thread([&] {
    static thread_local late_destructor made_before;
    made_before.act = last;
    first();
  }).join();
}

}  // namespace tenon_test
