// tenon/device/shared_memory.hpp: the shared memory of an emulated block, and the record of who touched it when.
// Two accesses to a byte by two threads, one of them a write, need a barrier between; the record finds the missing one.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <tenon/device/primitives.hpp>
#include <tenon/device/sanitizer.hpp>
#include <vector>

namespace tenon {

/// Two threads of a block used the same shared memory without a barrier between.
struct race_error : error {
  using error::error;
};

namespace detail {

/// When an access happened: the block's barriers so far above, the warp's barriers so far below.
using access_time = std::uint64_t;
inline constexpr int block_time_shift = 32;

/// The latest accesses to a word or a byte.
struct access_record {
  access_time written, read, read_by_others;
  std::uint16_t writer, reader, other_reader;  // `other_reader` is of another warp than `reader`
  bool several_readers;                        // lanes of the reader's warp, at the time `read`
  bool is_split;                               // a word whose bytes have records of their own
};

struct shared_arena;

/// An emulated thread as far as shared memory knows it.
struct memory_user {
  shared_arena* arena;
  const access_time* now;
  int thread;
};

/// One access that broke a rule.
struct shared_access {
  const memory_user* user;
  int offset, bytes;
  source_position caller;
};

/// What kernels need of the host: called through pointers, since code for both sides may not name host functions.
struct arena_services {
  void (*report_race)(const shared_access&, const char* did, int other, const char* other_did);
  void (*report_range)(const shared_access&, index position, int count);
  void (*report_alignment)(const shared_access&, int alignment);
  void (*split)(shared_arena&, int word);
};

/// The bytes of a block's shared memory.
struct shared_arena {
  const char* kernel;
  const arena_services* services;
  unsigned char* bytes;
  access_record* words;
  access_record* parts;
  int size;
  bool records;
  std::vector<access_record>* part_storage;
};

/// True when a barrier lies between `then` and now: of the block, or of the warp for two lanes of one.
TENON_HOST_DEVICE inline bool is_ordered(const memory_user& user, int other, access_time then) {
  const access_time now = *user.now;
  if (then >> block_time_shift != now >> block_time_shift) return true;
  return other / warp_size == user.thread / warp_size && then < now;
}

TENON_HOST_DEVICE inline void record_read(access_record& record, const shared_access& access) {
  const memory_user& user = *access.user;
  const int self = user.thread;
  if (record.writer != self && !is_ordered(user, record.writer, record.written)) {
    user.arena->services->report_race(access, "reads", record.writer, "wrote");
  }
  const bool same_warp = record.reader / warp_size == self / warp_size;
  if (same_warp && record.read == *user.now) {
    record.several_readers = record.several_readers || record.reader != self;
  } else {
    if (!same_warp) {
      record.read_by_others = record.read;
      record.other_reader = record.reader;
    }
    record.read = *user.now;
    record.several_readers = false;
  }
  record.reader = static_cast<std::uint16_t>(self);
}

TENON_HOST_DEVICE inline void record_write(access_record& record, const shared_access& access) {
  const memory_user& user = *access.user;
  const int self = user.thread;
  const auto report = user.arena->services->report_race;
  if (record.writer != self && !is_ordered(user, record.writer, record.written)) {
    report(access, "writes", record.writer, "wrote");
  }
  if ((record.reader != self || record.several_readers) && !is_ordered(user, record.reader, record.read)) {
    report(access, "writes", record.reader, "read");
  }
  if (record.other_reader != self && !is_ordered(user, record.other_reader, record.read_by_others)) {
    report(access, "writes", record.other_reader, "read");
  }
  record.written = *user.now;
  record.writer = static_cast<std::uint16_t>(self);
}

/// Whole words share a record; the first access to a part of one splits it.
template <bool Writes>
TENON_HOST_DEVICE void record_access(const shared_access& access) {
  constexpr int word = 4;
  shared_arena& arena = *access.user->arena;
  const int end = access.offset + access.bytes;
  for (int at = access.offset; at < end;) {
    access_record* record = &arena.words[at / word];
    const bool whole = at % word == 0 && end - at >= word && !record->is_split;
    if (!whole && !record->is_split) arena.services->split(arena, at / word);
    if (!whole) record = &arena.parts[at];
    at += whole ? word : 1;
    if constexpr (Writes) {
      record_write(*record, access);
    } else {
      record_read(*record, access);
    }
  }
}

}  // namespace detail

/// Shared memory of an emulated block as `count` elements; every access is checked.
/// throws    index_error outside the array or misaligned, race_error where a barrier is missing
template <class T>
class shared_array {
 public:
  using value_type = T;

  TENON_HOST_DEVICE shared_array(const detail::memory_user& user, int offset, int count)
      : user_(&user), offset_(offset), count_(count) {}

  TENON_HOST_DEVICE T load(index i, source_position caller = {}) const { return load_vector<1>(i, caller)[0]; }
  TENON_HOST_DEVICE void store(index i, T value, source_position caller = {}) const {
    store_vector<1>(i, array<T, 1>{{value}}, caller);
  }

  /// Elements i ... i + N - 1, in one access of N * sizeof(T) bytes.
  template <int N>
  TENON_HOST_DEVICE array<T, N> load_vector(index i, source_position caller = {}) const {
    const detail::unobserved quiet;
    const unsigned char* from = access<false>(i, N, caller);
    array<T, N> result;
    __builtin_memcpy(&result, from, sizeof(result));
    return result;
  }
  template <int N>
  TENON_HOST_DEVICE void store_vector(index i, const array<T, N>& values, source_position caller = {}) const {
    const detail::unobserved quiet;
    unsigned char* to = access<true>(i, N, caller);
    __builtin_memcpy(to, &values, sizeof(values));
  }

  TENON_HOST_DEVICE int size() const { return count_; }

  /// Elements first ... first + count - 1.
  TENON_HOST_DEVICE shared_array part(index first, int count, source_position caller = {}) const {
    if (first < 0 || count < 0 || first + count > count_) report_range(first, count, caller);
    return {*user_, offset_of(first), count};
  }
  /// The same bytes as elements of another type.
  template <class Other>
  TENON_HOST_DEVICE shared_array<Other> as() const {
    return {*user_, offset_, count_ * static_cast<int>(sizeof(T)) / static_cast<int>(sizeof(Other))};
  }

  /// Where element i lies in the block's shared memory, in bytes.
  TENON_HOST_DEVICE int offset_of(index i) const { return offset_ + static_cast<int>(i) * static_cast<int>(sizeof(T)); }

  /// Notes an access to `count` elements and returns where they lie; `count` elements must be aligned as one.
  template <bool Writes>
  TENON_HOST_DEVICE unsigned char* access(index i, int count, source_position caller) const {
    if (i < 0 || i + count > count_) report_range(i, count, caller);
    const int bytes = count * static_cast<int>(sizeof(T));
    const detail::shared_access made{user_, offset_of(i), bytes, caller};
    if ((bytes & (bytes - 1)) == 0 && bytes <= 16 && made.offset % bytes != 0) {
      user_->arena->services->report_alignment(made, bytes);
    }
    if (user_->arena->records) detail::record_access<Writes>(made);
    return user_->arena->bytes + made.offset;
  }

 private:
  TENON_HOST_DEVICE void report_range(index i, int count, source_position caller) const {
    user_->arena->services->report_range({user_, offset_, count * static_cast<int>(sizeof(T)), caller}, i, count_);
  }

  const detail::memory_user* user_;
  int offset_, count_;
};

namespace detail {

inline std::string at_text(source_position caller) { return compose_text(caller.file, ":", caller.line); }

inline void report_race(const shared_access& access, const char* did, int other, const char* other_did) {
  const memory_user& user = *access.user;
  throw race_error(compose_text(
      "emulated ", user.arena->kernel, ": shared memory: thread ", user.thread, " ", did, " bytes ", access.offset,
      " to ", access.offset + access.bytes - 1, " (", at_text(access.caller), ") that thread ", other, " ", other_did,
      " since the last barrier, expected one between; missing barrier: sync(), or ", "sync_warp() within a warp"));
}

inline void report_range(const shared_access& access, index position, int count) {
  throw index_error(compose_text("emulated ", access.user->arena->kernel, ": shared memory: thread ",
                                 access.user->thread, " uses ", access.bytes, " bytes from element ", position,
                                 " of an array of ", count, " (", at_text(access.caller), "), expected them inside"));
}

inline void report_alignment(const shared_access& access, int alignment) {
  throw index_error(compose_text("emulated ", access.user->arena->kernel, ": shared memory: thread ",
                                 access.user->thread, " uses ", access.bytes, " bytes at byte ", access.offset, " (",
                                 at_text(access.caller), "), expected a multiple of ", alignment));
}

/// Most kernels never touch parts of words, so byte records are made when the first needs them.
inline void split_word(shared_arena& arena, int word) {
  if (arena.part_storage->empty()) arena.part_storage->resize(static_cast<std::size_t>(arena.size) + 4);
  arena.parts = arena.part_storage->data();
  for (int part = 0; part < 4; ++part) arena.parts[4 * word + part] = arena.words[word];
  arena.words[word].is_split = true;
}

inline const arena_services* host_arena_services() {
  static constexpr arena_services services{report_race, report_range, report_alignment, split_word};
  return &services;
}

}  // namespace detail
}  // namespace tenon
