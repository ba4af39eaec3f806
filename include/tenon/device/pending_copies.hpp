// tenon/device/pending_copies.hpp: the copies under way from and to page-locked memory.
// Each block has the marks of its copies. Access to a block waits only for that block's copies.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tenon {

/// Marks of copies, by the block of memory that they read or write. `Event` has `synchronize()` and `is_done()`.
/// Several threads may use one object.
template <class Event>
class pending_copies {
 public:
  /// Adds the mark of a copy, and drops marks of the same block that have been passed.
  void add(const void* memory, Event mark) {
    const std::lock_guard lock(mutex_);
    auto& marks = by_block_[memory];
    drop_passed(marks);
    marks.push_back(std::make_shared<Event>(std::move(mark)));
    blocks_ = by_block_.size();
  }
  /// Returns when all copies of the block are done that were added before.
  void await(const void* memory) {
    if (blocks_ == 0) return;
    for (const auto& mark : marks_of(memory)) mark->synchronize();
    forget_passed(memory);
  }
  /// How many blocks have copies that nobody has waited for.
  std::size_t blocks() const { return blocks_; }

 private:
  using mark_list = std::vector<std::shared_ptr<Event>>;

  static void drop_passed(mark_list& marks) {
    std::erase_if(marks, [](const auto& each) { return each->is_done(); });
  }
  mark_list marks_of(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto at = by_block_.find(memory);
    return at == by_block_.end() ? mark_list() : at->second;
  }
  void forget_passed(const void* memory) {
    const std::lock_guard lock(mutex_);
    const auto at = by_block_.find(memory);
    if (at == by_block_.end()) return;
    drop_passed(at->second);
    if (at->second.empty()) by_block_.erase(at);
    blocks_ = by_block_.size();
  }

  std::mutex mutex_;
  std::map<const void*, mark_list> by_block_;
  std::atomic<std::size_t> blocks_ = 0;
};

}  // namespace tenon
