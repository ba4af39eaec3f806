// tenon/core/dead_storage.hpp: whether the elements of a view have been freed; for builds with TENON_CHECKED.
// Freed blocks are kept from use for a while, so that an address among them belongs to a view that outlived its tensor.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <tenon/base/error.hpp>
#include <tenon/core/layout.hpp>

namespace tenon {

/// Blocks that were freed lately and are not given back yet; the oldest go first.
class freed_blocks {
 public:
  using give_back = void (*)(void*, std::size_t) noexcept;
  static constexpr std::size_t most_bytes = std::size_t{1} << 26;

  freed_blocks() = default;
  freed_blocks(const freed_blocks&) = delete;
  freed_blocks& operator=(const freed_blocks&) = delete;
  ~freed_blocks() { give_back_until(0); }

  /// The process's own. It is never destroyed, since static tensors are freed to the very end.
  static freed_blocks& of_process() {
    static freed_blocks& blocks = *new freed_blocks;
    return blocks;
  }

  /// Takes a block instead of its space.
  void keep(void* memory, std::size_t bytes, give_back release) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    blocks_[begin] = {memory, bytes, release};
    by_age_.push_back(begin);
    bytes_ += bytes;
    give_back_until(most_bytes);
  }
  /// Whether some of these addresses are a freed block's.
  bool hold(const address_range& range) const {
    const std::lock_guard lock(mutex_);
    const auto beyond = blocks_.lower_bound(range.end);
    if (range.begin == range.end || beyond == blocks_.begin()) return false;
    const auto& [begin, last] = *std::prev(beyond);
    return range.begin < begin + last.bytes;
  }

 private:
  struct block {
    void* memory;
    std::size_t bytes;
    give_back release;
  };
  void give_back_until(std::size_t most) {
    while (bytes_ > most) {
      const auto oldest = blocks_.extract(by_age_.front()).mapped();
      by_age_.pop_front();
      bytes_ -= oldest.bytes;
      oldest.release(oldest.memory, oldest.bytes);
    }
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, block> blocks_;  ///< by their first address
  std::deque<std::uintptr_t> by_age_;
  std::size_t bytes_ = 0;
};

/// throws    storage_error where elements that `operation` uses as its `role` were freed, or moved to another tensor
inline void check_alive(const char* operation, const char* role, const any_block& elements) {
  const address_range range = addresses(elements);
  if (elements.start == 0 && range.begin != range.end) {
    throw storage_error(
        compose_text(operation, ": ", role, " ", elements.extents,
                     ": a tensor whose elements were moved to another; assign to it before it is read"));
  }
  if (!freed_blocks::of_process().hold(range)) return;
  throw storage_error(compose_text(operation, ": ", role, " ", elements.extents,
                                   ": a view of storage that was freed; keep its tensor as long as the view"));
}

}  // namespace tenon
