// tenon/grad/kept_blocks.hpp: memory that traced values read, kept when its tensor is gone before them.
// Readers are known by the address that they read from; a block is freed by its tensor or by its last reader.
// Floor 6: may include base, core, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <tenon/base/list.hpp>
#include <tenon/base/thread_kept.hpp>
#include <tenon/core/storage.hpp>

namespace tenon::detail {

/// The addresses that traced values of this process read from, and the blocks that only they still need.
class kept_blocks {
 public:
  /// It is never destroyed, since static tensors are freed to the very end.
  static kept_blocks& of_process() {
    static kept_blocks& blocks = *new kept_blocks;
    return blocks;
  }
  void add_reader(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto at = readers_.find(number_of(address));
    if (at != readers_.end()) return static_cast<void>(++at->second);
    if (idle_.empty()) {
      readers_.emplace(number_of(address), 1);
    } else {
      auto entry = idle_.extract(idle_.begin());
      entry.key() = number_of(address), entry.mapped() = 1;
      readers_.insert(std::move(entry));
    }
    __atomic_store_n(&is_read_, true, __ATOMIC_RELEASE);
  }
  void remove_reader(const void* address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto at = readers_.find(number_of(address));
    if (--at->second != 0) return;
    auto entry = readers_.extract(at);
    entry.key() = number_of(&entry.mapped());
    idle_.insert(std::move(entry));
    if (readers_.empty()) __atomic_store_n(&is_read_, false, __ATOMIC_RELEASE);
    const auto behind = kept_.upper_bound(number_of(address));
    if (behind == kept_.begin()) return;
    const auto last = std::prev(behind);
    if (has_readers(last->second)) return;
    last->second.free();
    kept_.erase(last);
  }
  /// How many blocks wait for their last reader.
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return kept_.size();
  }

 private:
  friend class later_frees;

  struct block {
    void* memory;
    std::size_t bytes;
    free_block release;

    void free() const { release(memory, bytes); }
  };

  kept_blocks() { __atomic_store_n(&keep_block, &take, __ATOMIC_RELEASE); }

  static std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }
  bool has_readers(const block& some) const {
    const auto first = readers_.lower_bound(number_of(some.memory));
    return first != readers_.end() && first->first < number_of(some.memory) + some.bytes;
  }
  /// Takes a block of a tensor that is gone; false where nobody reads it, or where there is no memory to note it.
  static bool take(void* memory, std::size_t bytes, free_block release) noexcept {
    const block freed{memory, bytes, release};
    try {
      if (later_ == nullptr) return of_process().keep(freed);
      later_->push_back(freed);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  bool keep(const block& freed) {
    if (!__atomic_load_n(&is_read_, __ATOMIC_ACQUIRE)) return false;
    const std::lock_guard lock(mutex_);
    if (!has_readers(freed)) return false;
    kept_.emplace(number_of(freed.memory), freed);
    return true;
  }

  inline static thread_local list<block>* later_ = nullptr;  // blocks that `later_frees` of this thread holds

  mutable std::mutex mutex_;
  bool is_read_ = false;
  std::map<std::uintptr_t, long> readers_;  // how many read from an address
  std::map<std::uintptr_t, long> idle_;     // entries of readers to come, by where they lie
  std::map<std::uintptr_t, block> kept_;    // by their first address
};

/// While one lives, blocks that this thread frees are kept: an expression that a function returns may read tensors of
/// that function. Within another one, blocks are left to the outer one.
class later_frees {
 public:
  later_frees() : before_(std::exchange(kept_blocks::later_, &blocks())) { kept_blocks::of_process(); }
  ~later_frees() {
    kept_blocks::later_ = before_;
    if (before_ != nullptr) return;
    for (const auto& each : blocks()) {
      if (!kept_blocks::take(each.memory, each.bytes, each.release)) each.free();
    }
    blocks().clear();
    thread_kept<list<kept_blocks::block>>::put_back();
  }
  later_frees(const later_frees&) = delete;
  later_frees& operator=(const later_frees&) = delete;

 private:
  static list<kept_blocks::block>& blocks() { return thread_kept<list<kept_blocks::block>>::get(); }
  list<kept_blocks::block>* before_;
};

/// The memory that one traced value reads, and keeps.
class read_blocks {
 public:
  void add(const void* address) {
    if (address == nullptr) return;
    addresses_.reserve(addresses_.size() + 1);
    kept_blocks::of_process().add_reader(address);
    addresses_.push_back(address);
  }
  void clear() {
    for (const void* each : addresses_) kept_blocks::of_process().remove_reader(each);
    addresses_.clear();
  }

 private:
  list<const void*> addresses_;
};

}  // namespace tenon::detail
