// tenon/algorithms/fft_plans.hpp: plans of transforms that libraries made, kept for equal transforms.
// A plan is looked up by a few numbers, such as lengths; it lives as long as somebody uses it.
// Floor 5: may include base, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tenon/base/array.hpp>
#include <vector>

namespace tenon::detail {

/// The plans of one kind of transforms. Threads share them; one thread at a time makes one.
template <class Plan>
class fft_plans {
 public:
  /// The plan of some numbers, made by `make()`, a std::shared_ptr, where there is none.
  template <class Make>
  std::shared_ptr<Plan> of(const std::vector<index>& numbers, const Make& make) {
    std::map<std::vector<index>, std::shared_ptr<Plan>> forgotten;  // before the lock: its plans end behind it
    const std::lock_guard lock(mutex_);
    if (const auto found = plans_.find(numbers); found != plans_.end()) return found->second;
    if (plans_.size() >= most) forgotten.swap(plans_);
    return plans_[numbers] = make();
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return plans_.size();
  }

  static constexpr std::size_t most = 64;

 private:
  std::mutex mutex_;
  std::map<std::vector<index>, std::shared_ptr<Plan>> plans_;
};

}  // namespace tenon::detail
