// tenon/device/scratch.hpp: memory that algorithms of the host use for as long as they run.
// Each thread keeps what it once needed, so that only its first algorithms allocate.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/base/array.hpp>
#include <tenon/base/list.hpp>
#include <tenon/base/thread_kept.hpp>
#include <tenon/device/sanitizer.hpp>
#if TENON_FILL != 0
#include <tenon/base/unwritten.hpp>
#endif

namespace tenon::detail {

/// The unit of scratch memory: a line of a cache.
struct alignas(64) scratch_line {
  std::byte bytes[64];
};

/// The scratch memory of a thread: a stack in blocks. A new block has room for all that is taken then. Where it has
/// room for all that ever was taken, the blocks before it are freed when nothing is. So work that was done before finds
/// room at once. AddressSanitizer sees what is taken, and a line between.
class scratch_memory {
 public:
  /// How far the stack reaches: the lines taken in a block, and in all of them.
  struct mark {
    std::size_t block = 0, used = 0, taken = 0;
  };

  scratch_memory() = default;
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;
  ~scratch_memory() { free_all(); }

  /// The end before an algorithm takes anything.
  mark begin() {
    if (end_.taken == 0 && blocks_.size() > 1) free_first();
    ++users_;
    return end_;
  }
  /// The last thing that an algorithm does with it.
  void return_to(const mark& before) {
    if constexpr (address_sanitized) {
      for (std::size_t i = before.block; i < blocks_.size(); ++i) forbid(i, i == before.block ? before.used : 0);
    }
    end_ = before;
    if (--users_ == 0) thread_kept<scratch_memory>::put_back();
  }
  scratch_line* take(std::size_t lines) {
    const std::size_t apart = lines + (address_sanitized ? 1 : 0);
    if (!has_room(apart)) find_room(apart);
    scratch_line* const place = blocks_[end_.block].lines + end_.used;
    end_.used += apart, end_.taken += apart;
    if (end_.taken > most_taken_) most_taken_ = end_.taken;
    allow_access(place, lines * sizeof(scratch_line));
    return place;
  }

 private:
  static constexpr std::size_t least_lines = 1024;
  struct block {
    scratch_line* lines;
    std::size_t count;
  };

  bool has_room(std::size_t lines) const {
    return end_.block < blocks_.size() && blocks_[end_.block].count - end_.used >= lines;
  }
  /// Goes on to a block with room for `lines`, a new one where there is none.
  [[gnu::noinline, gnu::cold]] void find_room(std::size_t lines) {
    while (end_.block < blocks_.size() && !has_room(lines)) ++end_.block, end_.used = 0;
    if (end_.block < blocks_.size()) return;
    const std::size_t all = end_.taken + lines, count = all < least_lines ? least_lines : all;
    blocks_.reserve(blocks_.size() + 1);
    blocks_.push_back({new scratch_line[count], count});
    forbid(blocks_.size() - 1, 0);
  }
  [[gnu::noinline, gnu::cold]] void free_first() {
    if (blocks_.back().count < most_taken_) return;
    const block last = blocks_.back();
    blocks_.pop_back();
    free_all();
    blocks_.push_back(last);
  }
  void free_all() {
    for (const block& each : blocks_) delete[] each.lines;
    blocks_.clear();
  }
  void forbid(std::size_t number, std::size_t first) const {
    const block& own = blocks_[number];
    forbid_access(own.lines + first, (own.count - first) * sizeof(scratch_line));
  }

  list<block> blocks_;
  mark end_;
  std::size_t most_taken_ = 0;
  int users_ = 0;
};

/// What an algorithm takes of the calling thread's scratch memory, and gives back when this goes. Threads that share
/// its work may use the memory.
class scratch {
 public:
  scratch() : memory_(thread_kept<scratch_memory>::get()), before_(memory_.begin()) {}
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() { memory_.return_to(before_); }

  /// Memory for `count` elements at the beginning of a line; nobody has written it.
  /// throws    bad_alloc when there is no more
  template <class T>
  T* take(index count) const {
    static_assert(alignof(T) <= sizeof(scratch_line));
    const std::size_t lines = static_cast<std::size_t>(count) * sizeof(T) / sizeof(scratch_line) + 1;
    scratch_line* const memory = memory_.take(lines);
#if TENON_FILL != 0
    fill_unwritten<T>(memory, lines * sizeof(scratch_line));
#endif
    return reinterpret_cast<T*>(memory);
  }

 private:
  scratch_memory& memory_;
  scratch_memory::mark before_;
};

}  // namespace tenon::detail
