// tenon/device/emulated_thread.hpp: what an emulated thread and its warp consist of.
// Kernels see these types; the schedule that moves them is the host's, and is reached through pointers only.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <tenon/device/shared_memory.hpp>
#include <utility>
#include <vector>

namespace tenon {

/// How launches on `emulated` behave.
struct emulation_options {
  std::uint64_t seed = 1;    ///< shuffles the order of blocks and threads and the map of fragments
  bool record_races = true;  ///< finds accesses to shared memory that lack a barrier
  int resident_blocks = 6;   ///< how many of a cooperative kernel run at a time; hundreds on a real device
  int multiprocessors = 4;   ///< how many the device claims to have; dozens on a real device
};

/// Threads of a block wait for each other at different places, or for something that never comes.
struct barrier_error : error {
  using error::error;
};

namespace detail {

inline emulation_options& thread_emulation() {
  thread_local emulation_options options;
  return options;
}

/// A small generator for orders: splitmix64.
class shuffler {
 public:
  explicit shuffler(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t mixed = (state_ += 0x9E3779B97F4A7C15ull);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBull;
    return mixed ^ (mixed >> 31);
  }
  std::uint64_t below(std::uint64_t bound) { return ((bits() >> 32) * bound) >> 32; }
  void shuffle(int* begin, int count) {
    for (int last = count; last > 1; --last) {
      std::swap(begin[last - 1], begin[below(static_cast<std::uint64_t>(last))]);
    }
  }

 private:
  std::uint64_t state_;
};

/// Unwinds a fiber whose block has failed.
struct abandoned_fiber {};

struct block_schedule;
struct emulated_thread;
class fiber;

/// The lanes of one warp: what they have published, and the time of their accesses.
struct emulated_warp {
  access_time now = 0;
  int arrived = 0, phase = 0;
  emulated_thread* leader = nullptr;  // the first that arrived
  alignas(16) unsigned char slots[2][warp_size][lane_value_bytes];
  char gates[2];  // addresses for ThreadSanitizer
};

/// What all lanes of a warp must ask for together.
struct warp_request {
  const char* operation;
  bool orders_memory;
  void (*complete)(emulated_warp&, int phase);  // run once, when all lanes have published
};

struct pending_copy {
  int offset, bytes;
  source_position caller;
  unsigned char values[16];
};

enum class thread_state { unstarted, ready, at_barrier, at_warp_operation, at_phase_barrier, finished };

/// Services of the host for a thread; called through pointers, since code for both sides may not name host functions.
struct thread_services {
  void (*sync)(emulated_thread&, source_position);
  void (*sync_grid)(emulated_thread&, source_position);
  void (*meet_warp)(emulated_thread&, const warp_request&, source_position);
  void (*queue_copy)(emulated_thread&, const pending_copy&);
  void (*commit_copies)(emulated_thread&);
  void (*wait_copies)(emulated_thread&, int groups_left);
  bool (*replace)(void* target, void* seen, const void* wanted, std::size_t bytes);  // atomic compare and exchange
  void (*refuse)(const emulated_thread&, const char* problem, source_position);
};

/// One thread of an emulated block.
struct emulated_thread {
  const thread_services* services = nullptr;
  block_schedule* schedule = nullptr;
  emulated_warp* warp = nullptr;
  memory_user user{nullptr, nullptr, 0};
  int shared_used = 0;
  fiber* running_on = nullptr;
  thread_state state = thread_state::unstarted;
  const char* waits_in = "";
  source_position waits_at{"", 0};
  std::vector<pending_copy> copies{};
  std::vector<int> copy_groups{};  // sizes of the committed groups, oldest first
  int uncommitted = 0;
};

/// What a launch runs in each thread.
struct emulated_body {
  void (*run)(const void* kernel, emulated_thread&);
  const void* kernel;
  const char* name;
};

/// What goes on in a block beside its threads: work that the machine does by itself, such as copies of tiles.
class background_work {
 public:
  virtual ~background_work() = default;
  /// Does a part of the work; false where there is none.
  virtual bool advance(shuffler& random) = 0;
  /// Checks that nothing is left when all threads have returned.
  virtual void end() const = 0;
  /// A text that says what threads wait for in vain.
  virtual std::string wait_text() const = 0;
};

}  // namespace detail
}  // namespace tenon
