// tenon/device/captured.hpp: memory and work recorded while a graph is captured.
// Its replays use the same memory again, so nothing that is freed meanwhile goes back before the graph does.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tenon/device/device_guard.hpp>
#include <utility>
#include <vector>

namespace tenon {

/// The memory and the names of what a captured function does. What it frees, whoever allocated it, is kept, and serves
/// what it allocates later; the rest of its memory is its tensors' own, as ever.
class captured_work {
 public:
  using give_back = void (*)(void*, std::size_t) noexcept;

  captured_work(give_back release, stream_id current) : outer(current), release_(release) {}
  captured_work(const captured_work&) = delete;
  captured_work& operator=(const captured_work&) = delete;
  ~captured_work() {
    workspace.reset();
    for (const block& each : kept_) release_(each.memory, each.bytes);
  }

  /// The smallest block that was freed and has room; null where there is none.
  void* take(std::size_t bytes) {
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
  /// Keeps a block that is freed: each launch uses it on whatever stream, whether or not a statement has named it.
  void keep(void* memory, std::size_t bytes) { kept_.push_back({memory, bytes}), used.push_back(memory); }
  /// Remembers memory that is read or written by work on `device`.
  /// throws    capture_error where that is another device than the one that is captured
  void note_use(const void* address, int device) {
    if (device != outer.device) {
      throw capture_error(compose_text("capture: work on device ", device, " within a captured function, which was ",
                                       "captured on device ", outer.device, "; capture a graph of each device"));
    }
    used.push_back(address);
  }

  const stream_id outer;                   ///< the thread's stream around the capture: memory is allocated there
  std::shared_ptr<void> workspace{};       ///< that of its kernels
  std::vector<const void*> used{};         ///< addresses that a launch reads or writes
  std::vector<const void*> host_memory{};  ///< page-locked blocks that it copies from or to
  std::int64_t kernels = 0;                ///< how many it starts

 private:
  struct block {
    void* memory;
    std::size_t bytes;
  };

  give_back release_;
  std::vector<block> kept_;
};

/// What the calling thread captures of `Space` now; null for nothing.
template <class Space>
captured_work*& thread_capture() {
  thread_local captured_work* work = nullptr;
  return work;
}

/// Says that the calling thread captures, while it lives.
/// throws    capture_error where it does already
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

/// How a space takes down what it would do, and does it later: `begin()`, `end()`, `launch(work)`. What was begun and
/// not ended is forgotten at the end of its life.
template <class Space>
class graph_recording;

}  // namespace detail

/// throws    capture_error where the thread captures: `work` has to wait, and a replay does not
template <class Space>
void refuse_in_capture(const char* work, const char* instead) {
  if (thread_capture<Space>() == nullptr) return;
  throw capture_error(
      compose_text("capture: ", work, " within a captured function, of memory of ", Space::name, "; ", instead));
}

}  // namespace tenon
