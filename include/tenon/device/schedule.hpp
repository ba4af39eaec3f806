// tenon/device/schedule.hpp: runs the threads of an emulated block as fibers, in an order shuffled by a seed.
// A thread stops where it must wait for others; who waits for whom is known, so a deadlock is an error, not a hang.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <tenon/device/emulated_thread.hpp>
#include <tenon/device/fiber.hpp>

namespace tenon {

namespace detail {

/// Where the blocks of a grid meet that are alive together.
struct grid_meeting {
  char gates[2] = {};  // addresses for ThreadSanitizer
  int phase = 0;
};

/// All that a block needs; reused from block to block.
struct block_schedule {
  block_schedule(const launch_shape& shape, const emulated_body& body, const emulation_options& options);
  ~block_schedule();
  block_schedule(const block_schedule&) = delete;
  block_schedule& operator=(const block_schedule&) = delete;

  /// Runs one block to its end; throws what a thread threw, or barrier_error.
  void run_block(grid_position position);
  /// The same in steps, for blocks that are alive together: the first, one after another until false, the last.
  void start_block(grid_position position, grid_meeting* grid);
  bool step();
  void end_block();
  void abandon_block();  ///< where another block has failed

  /// Whether all threads wait for the other blocks; and lets them go on.
  bool waits_for_grid() const { return waits_for_grid_; }
  void release_from_grid();
  bool has_failed() const { return failure_ != nullptr; }
  source_position waits_at() const { return leader_->waits_at; }

  /// Waits with the others of the block, of the grid, or of the warp.
  void meet_block(emulated_thread& self, source_position caller);
  void meet_grid(emulated_thread& self, source_position caller);
  void meet_warp(emulated_thread& self, const warp_request& request, source_position caller);
  /// Waits until another thread, or the work beside them, wakes this one.
  void wait_for_wake(emulated_thread& self, const char* operation, source_position caller);
  void wake(const emulated_thread& thread) { make_ready(thread.user.thread, 1); }
  [[noreturn]] void refuse(const emulated_thread& self, const std::string& problem) const;

  launch_shape shape;
  emulated_body body;
  grid_position position{};
  shuffler random;
  std::uint64_t scramble;
  shared_arena arena{};
  std::vector<emulated_thread> threads;
  std::vector<emulated_warp> warps;
  std::unique_ptr<background_work> background;  // of the running block, where its threads began any

 private:
  void announce(emulated_thread& self, const emulated_thread& leader, const char* operation, source_position caller);
  void suspend(emulated_thread& self);
  void meet_at(void* gate, emulated_thread& self, bool of_grid, source_position caller);
  void release_block();
  void release_warp(emulated_warp& warp, bool orders_memory);
  void run_threads();
  void run_thread(emulated_thread& thread);
  void unwind();
  emulated_thread* next_ready();
  void resume(fiber* next);
  void advance_time();
  void make_ready(int first, int count);
  [[noreturn]] void report_deadlock() const;

  std::uint64_t epoch_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<access_record> words_, parts_;
  std::vector<int> order_, ready_;
  std::vector<fiber*> idle_, resting_;  // resting until the next block: see run_threads
  fiber* current_ = nullptr;
  int started_ = 0, finished_ = 0, arrived_ = 0, phase_ = 0;
  emulated_thread* leader_ = nullptr;         // the first that arrived at the block's barrier
  char gates_[2] = {}, begin_ = 0, end_ = 0;  // addresses for ThreadSanitizer
  grid_meeting* grid_ = nullptr;
  bool waits_for_grid_ = false, unwinding_ = false;
  std::exception_ptr failure_;
};

const thread_services* host_thread_services();  // defined in emulated.hpp

inline block_schedule::block_schedule(const launch_shape& launched, const emulated_body& run,
                                      const emulation_options& options)
    : shape(launched), body(run), random(options.seed), scramble(random.bits()) {
  const auto count = static_cast<std::size_t>(shape.block), shared = static_cast<std::size_t>(shape.shared_bytes);
  bytes_.resize(shared + 64);
  words_.resize(options.record_races ? shared / 4 + 1 : 0);
  const auto misalignment = reinterpret_cast<std::uintptr_t>(bytes_.data()) % shared_alignment;
  arena = {body.name,
           host_arena_services(),
           bytes_.data() + (shared_alignment - misalignment),
           words_.data(),
           parts_.data(),
           shape.shared_bytes,
           options.record_races,
           &parts_};
  threads.resize(count);
  warps.resize((count + warp_size - 1) / warp_size);
  for (int i = 0; i < shape.block; ++i) {
    emulated_thread& thread = threads[static_cast<std::size_t>(i)];
    order_.push_back(i);
    thread.services = host_thread_services();
    thread.schedule = this;
    thread.warp = &warps[static_cast<std::size_t>(i / warp_size)];
    thread.user = {&arena, &thread.warp->now, i};
  }
}

inline block_schedule::~block_schedule() {
  for (fiber* idle : idle_) fiber_pool::of_thread().give_back(idle);
  for (fiber* idle : resting_) fiber_pool::of_thread().give_back(idle);
}

inline void block_schedule::run_block(grid_position at) {
  start_block(at, nullptr);
  while (step()) continue;
  end_block();
}

inline void block_schedule::start_block(grid_position at, grid_meeting* grid) {
  position = at;
  grid_ = grid;
  background.reset();
  started_ = finished_ = arrived_ = phase_ = 0;
  waits_for_grid_ = false;
  ready_.clear();
  idle_.insert(idle_.end(), resting_.begin(), resting_.end());
  resting_.clear();
  advance_time();
  std::memset(bytes_.data(), 0xFF, bytes_.size());  // NaN in every floating type
  random.shuffle(order_.data(), shape.block);
  for (emulated_warp& warp : warps) warp.arrived = warp.phase = 0;
  for (emulated_thread& thread : threads) {
    thread.state = thread_state::unstarted;
    thread.shared_used = thread.uncommitted = 0;
    thread.copies.clear();
    thread.copy_groups.clear();
  }
  release_to(&begin_);
}

inline void block_schedule::end_block() {
  acquire_from(&end_);
  if (!failure_) return background == nullptr ? void() : background->end();
  abandon_block();
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

inline void block_schedule::abandon_block() {
  unwind();
  acquire_from(&end_);
}

/// Every barrier of the block begins a new time, in which the warps count their own barriers.
inline void block_schedule::advance_time() {
  ++epoch_;
  for (emulated_warp& warp : warps) warp.now = epoch_ << block_time_shift;
}

/// Lets one fiber go on; false when the block is done, has failed or waits for others.
inline bool block_schedule::step() {
  const unobserved quiet;
  if (failure_ || finished_ == shape.block || waits_for_grid_) return false;
  const bool may_start = started_ < shape.block, is_stuck = !may_start && ready_.empty();
  if (background && (is_stuck || (random.bits() & 7) == 0) && background->advance(random)) return true;
  if (may_start && (ready_.empty() || (random.bits() & 1) != 0)) {
    fiber* fresh = idle_.empty() ? fiber_pool::of_thread().take() : idle_.back();
    if (!idle_.empty()) idle_.pop_back();
    fresh->set_body([](void* self) { static_cast<block_schedule*>(self)->run_threads(); }, this);
    resume(fresh);
  } else if (emulated_thread* next = next_ready()) {
    resume(next->running_on);
  } else {
    try {
      report_deadlock();
    } catch (const barrier_error&) {
      failure_ = std::current_exception();
    }
  }
  return true;
}

inline emulated_thread* block_schedule::next_ready() {
  if (ready_.empty()) return nullptr;
  emulated_thread& next = threads[static_cast<std::size_t>(ready_.back())];
  ready_.pop_back();
  return &next;
}

inline void block_schedule::resume(fiber* next) {
  current_ = next;
  next->resume();
  if (next->is_idle()) (thread_sanitized ? resting_ : idle_).push_back(next);
}

/// The body of a fiber: threads that never wait run one after another on one fiber.
/// Under ThreadSanitizer each thread has its own, since a fiber's accesses are ordered with each other.
inline void block_schedule::run_threads() {
  for (bool another = true; another;) {
    emulated_thread* thread = nullptr;
    {
      const unobserved quiet;
      thread = &threads[static_cast<std::size_t>(order_[static_cast<std::size_t>(started_++)])];
      thread->running_on = current_;
    }
    run_thread(*thread);
    const unobserved quiet;
    thread->state = thread_state::finished;
    ++finished_;
    another = !thread_sanitized && !failure_ && !unwinding_ && ready_.empty() && started_ < shape.block;
  }
}

inline void block_schedule::run_thread(emulated_thread& thread) {
  acquire_from(&begin_);
  try {
    body.run(body.kernel, thread);
  } catch (const abandoned_fiber&) {  // another thread has failed, or none could go on
  } catch (...) {
    const unobserved quiet;
    if (!failure_) failure_ = std::current_exception();
  }
  release_to(&end_);
}

/// Notes what the running thread waits for; `leader` is the first of the threads that it must meet there.
inline void block_schedule::announce(emulated_thread& self, const emulated_thread& leader, const char* operation,
                                     source_position caller) {
  const bool together = leader.waits_at.line == caller.line &&
                        (leader.waits_in == operation || std::strcmp(leader.waits_in, operation) == 0);
  if (&leader != &self && !together) {
    refuse(self, compose_text(operation, " at ", at_text(caller), ", but thread ", leader.user.thread, " is in ",
                              leader.waits_in, " at ", at_text(leader.waits_at), ", expected all at one place"));
  }
  self.waits_in = operation;
  self.waits_at = caller;
}

/// Stops the running thread until it is made ready.
inline void block_schedule::suspend(emulated_thread& self) {
  self.running_on->suspend();
  if (unwinding_) throw abandoned_fiber{};
}

inline void block_schedule::refuse(const emulated_thread& self, const std::string& problem) const {
  throw barrier_error(compose_text("emulated ", body.name, ": thread ", self.user.thread, ": ", problem));
}

inline void block_schedule::meet_block(emulated_thread& self, source_position caller) {
  void* gate = nullptr;
  {
    const unobserved quiet;
    gate = &gates_[phase_];
  }
  meet_at(gate, self, false, caller);
}

inline void block_schedule::meet_grid(emulated_thread& self, source_position caller) {
  void* gate = nullptr;
  {
    const unobserved quiet;
    if (grid_ == nullptr) refuse(self, "sync_grid: the blocks are not alive together, expected is_cooperative");
    gate = &grid_->gates[grid_->phase];
  }
  meet_at(gate, self, true, caller);
}

inline void block_schedule::meet_at(void* gate, emulated_thread& self, bool of_grid, source_position caller) {
  release_to(gate);
  {
    const unobserved quiet;
    if (arrived_ == 0) leader_ = &self;
    announce(self, *leader_, of_grid ? "sync_grid" : "sync", caller);
    self.state = thread_state::at_barrier;
    const bool complete = ++arrived_ == shape.block;
    if (complete && !of_grid) release_block();
    waits_for_grid_ = complete && of_grid;
    suspend(self);
  }
  acquire_from(gate);
}

inline void block_schedule::release_from_grid() {
  const unobserved quiet;
  waits_for_grid_ = false;
  release_block();
}

inline void block_schedule::meet_warp(emulated_thread& self, const warp_request& request, source_position caller) {
  emulated_warp& warp = *self.warp;
  void* gate = nullptr;
  {
    const unobserved quiet;
    if (shape.block % warp_size != 0) {
      refuse(self, compose_text(request.operation, ": ", shape.block, " threads, expected whole warps of 32"));
    }
    gate = &warp.gates[warp.phase];
  }
  if (request.orders_memory) release_to(gate);
  {
    const unobserved quiet;
    if (warp.arrived == 0) warp.leader = &self;
    announce(self, *warp.leader, request.operation, caller);
    self.state = thread_state::at_warp_operation;
    if (++warp.arrived == warp_size) {
      if (request.complete != nullptr) request.complete(warp, warp.phase);
      release_warp(warp, request.orders_memory);
    }
    suspend(self);
  }
  if (request.orders_memory) acquire_from(gate);
}

inline void block_schedule::wait_for_wake(emulated_thread& self, const char* operation, source_position caller) {
  self.waits_in = operation;
  self.waits_at = caller;
  self.state = thread_state::at_phase_barrier;
  suspend(self);
}

inline void block_schedule::make_ready(int first, int count) {
  const auto begin_of_new = ready_.size();
  for (int i = first; i < first + count; ++i) {
    threads[static_cast<std::size_t>(i)].state = thread_state::ready;
    ready_.push_back(i);
  }
  random.shuffle(ready_.data() + begin_of_new, count);
}

inline void block_schedule::release_block() {
  arrived_ = 0;
  phase_ ^= 1;
  advance_time();
  make_ready(0, shape.block);
}

inline void block_schedule::release_warp(emulated_warp& warp, bool orders_memory) {
  warp.arrived = 0;
  warp.phase ^= 1;
  if (orders_memory) ++warp.now;
  make_ready(static_cast<int>(&warp - warps.data()) * warp_size, warp_size);
}

/// Ends the threads that still wait by an exception at the place where they wait, so that nothing they own leaks.
inline void block_schedule::unwind() {
  const unobserved quiet;
  unwinding_ = true;
  for (emulated_thread& thread : threads) {
    if (thread.state != thread_state::unstarted && thread.state != thread_state::finished) resume(thread.running_on);
  }
  unwinding_ = false;
}

inline void block_schedule::report_deadlock() const {
  const emulated_thread* waiting = nullptr;
  for (const emulated_thread& thread : threads) {
    const bool waits_in_warp = thread.state == thread_state::at_warp_operation;
    if (waits_in_warp || (thread.state == thread_state::at_barrier && waiting == nullptr)) waiting = &thread;
  }
  if (waiting == nullptr) {
    throw barrier_error(compose_text("emulated ", body.name, ": nobody can go on", background->wait_text()));
  }
  const bool of_block = waiting->state == thread_state::at_barrier;
  const int first = of_block ? 0 : waiting->user.thread / warp_size * warp_size;
  const int count = of_block ? shape.block : warp_size;
  const emulated_thread* missing = nullptr;
  int together = 0;
  for (int i = first; i < first + count; ++i) {
    const emulated_thread& thread = threads[static_cast<std::size_t>(i)];
    const bool meets = thread.state == waiting->state && thread.waits_at.line == waiting->waits_at.line;
    together += meets ? 1 : 0;
    if (!meets && (missing == nullptr || thread.state == thread_state::finished)) missing = &thread;
  }
  const std::string elsewhere = missing->state == thread_state::finished
                                    ? std::string(" has returned")
                                    : compose_text(" waits in ", missing->waits_in, " at ", at_text(missing->waits_at));
  throw barrier_error(compose_text("emulated ", body.name, ": ", waiting->waits_in, ": ", together, " of ", count,
                                   " threads wait at ", at_text(waiting->waits_at), ", but thread ",
                                   missing->user.thread, elsewhere, ", expected all of them"));
}

}  // namespace detail
}  // namespace tenon
