// tenon/device/emulated_memory.hpp: the memory of emulated devices, of which there are two.
// It lies in the host's memory, with a GPU's bookkeeping: the blocks of each device, the steps of captured functions.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <tenon/device/blocks.hpp>
#include <tenon/device/captured.hpp>
#include <tenon/device/device_guard.hpp>
#include <tenon/device/emulated_thread.hpp>
#include <type_traits>
#include <vector>

namespace tenon {

namespace detail {

/// A step of a captured function. std::function would instantiate some twenty functions for each step.
struct captured_step {
  virtual ~captured_step() = default;
  virtual void run() const = 0;
};
using captured_steps = std::vector<std::unique_ptr<captured_step>>;

template <class Step>
struct step_of final : captured_step {
  explicit step_of(const Step& taken) : step(taken) {}
  void run() const override { step(); }
  Step step;
};

/// The recorded steps of the function that the calling thread captures; null where it captures none.
inline captured_steps*& thread_recording() {
  thread_local captured_steps* steps = nullptr;
  return steps;
}

template <class Step>
void record_step(const Step& step) {
  thread_recording()->push_back(std::unique_ptr<captured_step>(new step_of<Step>(step)));
}

/// Runs `step`, or records it while a function is captured.
template <class Step>
void run_or_record(const Step& step) {
  if (thread_recording() != nullptr) record_step(step);
  else step();
}

inline int& thread_emulated_device() {
  thread_local int device = 0;
  return device;
}

}  // namespace detail

/// Memory of an emulated device: the host's, aligned as a GPU's is.
struct emulated {
  static constexpr const char* name = "emulated";
  static constexpr bool host_accessible = true;
  static constexpr std::size_t alignment = 256;
  static constexpr int devices = 2;

  static void* allocate(std::size_t bytes) {
    if (captured_work* const work = thread_capture<emulated>()) {
      if (void* const again = work->take(bytes)) return again;
    }
    void* const memory = detail::allocate_aligned<alignment>(bytes);
    blocks_of<emulated>().add(memory, bytes, {nullptr, detail::thread_emulated_device()});
    return memory;
  }
  static bool is_capturing() { return thread_capture<emulated>() != nullptr; }
  static void deallocate(void* memory, std::size_t) noexcept {
    if (captured_work* const work = thread_capture<emulated>()) {
      return work->keep(memory, blocks_of<emulated>().bytes_at(memory));
    }
    blocks_of<emulated>().take(memory);
    detail::free_aligned(memory);
  }
  static void copy(void* target, const void* source, std::size_t bytes) {
    detail::run_or_record([=] {
      if (bytes != 0) std::memmove(target, source, bytes);
    });
  }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) {
    refuse_in_capture<emulated>("a copy from the host", "copy before, or from a tensor of the space pinned");
    copy(target, source, bytes);
  }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) {
    refuse_in_capture<emulated>("a value is read on the host", "read it after the graph's launch");
    copy(target, source, bytes);
  }
  /// Copies from and to page-locked memory, in the order of the device's work.
  static void start_copy_from_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
  static void start_copy_to_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
  static void set_zero(void* target, std::size_t bytes) {
    detail::run_or_record([=] { std::memset(target, 0, bytes); });
  }
};

namespace detail {

/// The steps of a captured function.
template <>
class graph_recording<emulated> {
 public:
  graph_recording() = default;
  graph_recording(const graph_recording&) = delete;
  graph_recording& operator=(const graph_recording&) = delete;
  ~graph_recording() { end(); }

  void begin() { thread_recording() = &steps_; }
  void end() {
    if (thread_recording() == &steps_) thread_recording() = nullptr;
  }
  void launch(captured_work& work) const {
    if (work.before_launch != nullptr) work.before_launch(work);
    for (const auto& step : steps_) step->run();
  }

 private:
  captured_steps steps_;
};

}  // namespace detail

template <class Space>
  requires std::is_base_of_v<emulated, Space>
struct space_devices<Space> {
  static constexpr bool available = true;

  static int count() { return emulated::devices; }
  static int current() { return detail::thread_emulated_device(); }
  static stream_id stream() { return {nullptr, current()}; }
  static int multiprocessors() { return detail::thread_emulation().multiprocessors; }
  static int architecture() { return 0; }
  static void use(int device) { detail::thread_emulated_device() = device; }
  static int of(const void* address) { return blocks_of<emulated>().device_of(address, current()); }
  static bool are_watched() { return true; }
  static void note(const void* address) {
    if (captured_work* const work = thread_capture<emulated>()) work->note_use(address, current());
  }
};

}  // namespace tenon
