// tenon/device/joined_threads.hpp: threads that are waited for.
// std::jthread does the same, but not every standard library has it.
// Floor 1: may include device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <utility>
#include <vector>

namespace tenon::detail {

/// Threads that do not outlive this. Who made them tells them to end, before `join` or the destructor waits for that.
class joined_threads {
 public:
  joined_threads() = default;
  joined_threads(const joined_threads&) = delete;
  joined_threads& operator=(const joined_threads&) = delete;
  ~joined_threads() { join(); }

  /// throws    std::system_error where no thread can be started
  template <class Run>
  void start(Run&& run) {
    threads_.emplace_back(std::forward<Run>(run));
  }
  bool empty() const { return threads_.empty(); }
  int size() const { return static_cast<int>(threads_.size()); }
  /// Waits for all of them; none is left.
  void join() {
    for (auto& each : threads_) each.join();
    threads_.clear();
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace tenon::detail
