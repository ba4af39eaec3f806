// tenon/device/captured.hpp: memory and work recorded while a graph is captured.
// Replays use the same memory again: what is freed during the capture stays allocated as long as the graph lives.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <tenon/base/list.hpp>
#include <tenon/device/device_guard.hpp>
#include <utility>

namespace tenon {

/// What a captured function does, and the memory that it uses. Blocks that it frees, whoever allocated them, are kept
/// and serve its later allocations. Other memory belongs to tensors, as outside of a capture.
class captured_work {
 public:
  using give_back = void (*)(void*, std::size_t) noexcept;

  captured_work(give_back release, stream_id current) : outer(current), release_(release) {}
  captured_work(const captured_work&) = delete;
  captured_work& operator=(const captured_work&) = delete;
  ~captured_work() {
    if (workspace != nullptr) free_workspace(workspace);
    if (launch_number != nullptr) release_(launch_number, sizeof *launch_number);
    for (const block& each : kept_) release_(each.memory, each.bytes);
  }

  /// The smallest block that was freed and has room; null where there is none.
  void* take(std::size_t bytes) {
    if (!hands_out) return nullptr;
    std::size_t best = kept_.size();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].bytes >= bytes && (best == kept_.size() || kept_[i].bytes < kept_[best].bytes)) best = i;
    }
    if (best == kept_.size()) return nullptr;
    std::swap(kept_[best], kept_.back());
    void* const memory = kept_.back().memory;
    kept_.pop_back();
    return memory;
  }
  /// Keeps a freed block. Each launch uses it, on any stream, even where no statement names it.
  void keep(void* memory, std::size_t bytes) { kept_.push_back({memory, bytes}), used.push_back(memory); }
  /// Remembers memory that is read or written by work on `device`.
  /// throws    capture_error where `device` is not the one that is captured
  void note_use(const void* address, int device) {
    if (device != outer.device) {
      throw capture_error(compose_text("capture: work on device ", device, " within a captured function, which was ",
                                       "captured on device ", outer.device, "; capture a graph of each device"));
    }
    used.push_back(address);
  }

  const stream_id outer;                    ///< the thread's stream around the capture: memory is allocated there
  void* workspace = nullptr;                ///< the workspace of its kernels
  void (*free_workspace)(void*) = nullptr;  ///< destroys it
  detail::list<const void*> used{};         ///< addresses that a launch reads or writes
  detail::list<const void*> host_memory{};  ///< page-locked blocks that it reads or writes
  std::int64_t kernels = 0;                 ///< how many kernels it starts
  std::uint64_t* launch_number = nullptr;   ///< where its kernels read which launch runs; null where none does
  std::uint64_t launches = 0;               ///< how many launches wrote their number there
  void (*before_launch)(captured_work&) = nullptr;  ///< what each launch runs first
  bool hands_out = true;                            ///< whether what was freed serves again

 private:
  struct block {
    void* memory;
    std::size_t bytes;
  };

  give_back release_;
  detail::list<block> kept_;
};

/// What the calling thread captures of `Space` now; null for nothing.
template <class Space>
captured_work*& thread_capture() {
  thread_local captured_work* work = nullptr;
  return work;
}

/// Marks the calling thread as capturing while this lives.
/// throws    capture_error where the thread captures already
template <class Space>
class capture_scope {
 public:
  explicit capture_scope(captured_work& work) {
    if (thread_capture<Space>() != nullptr) {
      throw capture_error("capture: this thread captures already; a captured function cannot capture another");
    }
    thread_capture<Space>() = &work;
  }
  capture_scope(const capture_scope&) = delete;
  capture_scope& operator=(const capture_scope&) = delete;
  ~capture_scope() { thread_capture<Space>() = nullptr; }
};

namespace detail {

/// How a space records work and runs it later: `begin()`, `end()`, `launch(work)`. A recording without an end is
/// discarded when the recorder is destroyed.
template <class Space>
class graph_recording;

}  // namespace detail

/// throws    capture_error where the thread captures: `work` must wait for the device, and a replay cannot
template <class Space>
void refuse_in_capture(const char* work, const char* instead) {
  if (thread_capture<Space>() == nullptr) return;
  throw capture_error(
      compose_text("capture: ", work, " within a captured function, of memory of ", Space::name, "; ", instead));
}

}  // namespace tenon
