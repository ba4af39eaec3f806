// tenon/device/blocks.hpp: the blocks of memory of a space: on which device each lies, and which streams have used it.
// Views are pointers; what a statement has to know of the memory behind them is looked up here, by address.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <tenon/base/list.hpp>
#include <tenon/device/device_guard.hpp>

namespace tenon {

/// A block of memory: it was allocated in the order of the stream `home`, and others have used it since.
struct memory_block {
  std::size_t bytes = 0;
  stream_id home;
  detail::list<stream_id> users{};
};

/// All blocks of one space that are in use. Threads may share it.
class memory_blocks {
 public:
  void add(const void* memory, std::size_t bytes, stream_id home) {
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<std::uintptr_t>(memory)] = {bytes, home};
    ++added_;
  }
  /// Forgets a block, and returns what was known of it.
  memory_block take(const void* memory) {
    const std::lock_guard lock(mutex_);
    auto node = blocks_.extract(reinterpret_cast<std::uintptr_t>(memory));
    return node.empty() ? memory_block{} : std::move(node.mapped());
  }
  std::size_t bytes_at(const void* memory) const {
    const std::lock_guard lock(mutex_);
    const auto at = blocks_.find(reinterpret_cast<std::uintptr_t>(memory));
    return at == blocks_.end() ? 0 : at->second.bytes;
  }
  /// The device on which `address` lies; `otherwise` for memory that others allocated.
  int device_of(const void* address, int otherwise) const {
    const std::lock_guard lock(mutex_);
    const auto at = find(address);
    return at == blocks_.end() ? otherwise : at->second.home.device;
  }
  /// Remembers that work of `stream` reads or writes the block in which `address` lies.
  void note_use(const void* address, stream_id stream) {
    const std::lock_guard lock(mutex_);
    const auto at = find(address);
    if (at == blocks_.end() || at->second.home == stream) return;
    auto& users = at->second.users;
    if (std::find(users.begin(), users.end(), stream) == users.end()) users.push_back(stream);
  }
  /// How many blocks were ever allocated.
  std::int64_t added() const {
    const std::lock_guard lock(mutex_);
    return added_;
  }
  /// How many blocks are in use now.
  std::int64_t count() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(blocks_.size());
  }

 private:
  using by_address = std::map<std::uintptr_t, memory_block>;

  template <class Blocks>
  static auto find_in(Blocks& blocks, const void* address) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(address);
    auto at = blocks.upper_bound(wanted);
    if (at == blocks.begin()) return blocks.end();
    --at;
    return wanted < at->first + at->second.bytes ? at : blocks.end();
  }
  by_address::const_iterator find(const void* address) const { return find_in(blocks_, address); }
  by_address::iterator find(const void* address) { return find_in(blocks_, address); }

  mutable std::mutex mutex_;
  by_address blocks_;
  std::int64_t added_ = 0;
};

/// The blocks of `Space`. They are never destroyed, since static tensors are freed to the very end.
template <class Space>
memory_blocks& blocks_of() {
  static memory_blocks& blocks = *new memory_blocks;
  return blocks;
}

}  // namespace tenon
