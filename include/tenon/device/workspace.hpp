// tenon/device/workspace.hpp: memory in which the blocks of a kernel leave what the last of them finishes.
// Each thread of the program has one for each stream, so kernels that use the same run one after another.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/owned_array.hpp>
#include <tenon/base/tuple.hpp>
#include <tenon/device/captured.hpp>
#include <tenon/device/collective.hpp>
#include <tenon/device/cuda_memory.hpp>
#if TENON_FILL != 0
#include <tenon/base/unwritten.hpp>
#endif

namespace tenon {

inline constexpr int workspace_counters = 1024;

/// Counters, which are 0 when a kernel starts, and bytes of `Space` behind them. Kernels that end set them to 0 again;
/// after one that did not, `with` does.
template <class Space>
class workspace {
 public:
  workspace() = default;
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  ~workspace() { release(); }

  /// That of the calling thread and its current stream, or of the function that it captures, with room for `bytes`.
  static workspace& with(std::size_t bytes) {
    struct entry {
      stream_id order;
      workspace own;
      detail::owned_array<entry> next;
    };
    if (captured_work* const work = thread_capture<Space>()) {
      if (work->workspace == nullptr) {
        work->workspace = new workspace;
        work->free_workspace = [](void* own) { delete static_cast<workspace*>(own); };
      }
      return static_cast<workspace*>(work->workspace)->reserve(bytes);
    }
    thread_local detail::owned_array<entry> first;
    const stream_id order = space_devices<Space>::stream();
    auto* place = &first;
    while (place->data() != nullptr && !((*place)[0].order == order)) place = &(*place)[0].next;
    if (place->data() == nullptr) {
      *place = detail::owned_array<entry>(1);
      (*place)[0].order = order;
    }
    return (*place)[0].own.reserve(bytes);
  }
  /// Says that the kernel which was last given this has been launched.
  void launched() { is_clean_ = true; }
  unsigned* counters() const { return static_cast<unsigned*>(memory_); }
  /// The word by which the blocks of a cooperative kernel wait for each other.
  unsigned* grid_barrier() const { return counters() + workspace_counters; }
  std::byte* bytes() const { return static_cast<std::byte*>(memory_) + counter_bytes; }

 private:
  static constexpr int words = workspace_counters + 8;  // with the barrier, and aligned
  static constexpr std::size_t counter_bytes = words * sizeof(unsigned);

  workspace& reserve(std::size_t bytes) {
    if (memory_ == nullptr || bytes > size_) {
      release();
      memory_ = Space::allocate(counter_bytes + bytes);
      size_ = bytes;
      is_clean_ = false;
    }
    if (!is_clean_) Space::set_zero(memory_, counter_bytes);
#if TENON_FILL != 0
    if constexpr (Space::host_accessible) fill_unwritten<std::byte>(this->bytes(), size_);
#endif
    is_clean_ = false;
    return *this;
  }
  void release() noexcept {
    if (memory_ != nullptr) Space::deallocate(memory_, counter_bytes + size_);
    memory_ = nullptr;
  }

  void* memory_ = nullptr;
  std::size_t size_ = 0;
  bool is_clean_ = false;
};

namespace detail {

/// Counts one of `count` that use a counter; 1 if it was the last, which sets the counter to 0 again. By one thread,
/// after the others for which it counts.
template <class Device>
TENON_HOST_DEVICE int count_as_done(Device& device, unsigned* counter, int count) {
  device.fence();
  const int last = device.atomic_add(counter, 1u) + 1 == static_cast<unsigned>(count) ? 1 : 0;
  if (last != 0) *counter = 0;
  device.fence();
  return last;
}

}  // namespace detail

/// Whether the other `blocks` - 1 blocks that count on this counter are done, in every thread; what they have written
/// is seen then. The counter is 0 again for the next kernel. Takes one int of shared memory.
/// cost      an atomic operation, two barriers
template <class Device>
TENON_HOST_DEVICE bool is_last_block(Device& device, unsigned* counter, int blocks) {
  int last = 0;
  device.sync();
  if (device.thread() == 0) last = detail::count_as_done(device, counter, blocks);
  const int used = device.shared_used();
  last = block_broadcast(device, device.template shared<int>(1), last, 0);
  device.release_shared(used);
  return last != 0;
}

/// The same for the warps that count on a counter. Takes no shared memory.
template <class Device>
TENON_HOST_DEVICE bool is_last_warp(Device& device, unsigned* counter, int warps_done) {
  int last = 0;
  device.sync_warp();
  if (device.lane() == 0) last = detail::count_as_done(device, counter, warps_done);
  return device.shuffle(last, 0) != 0;
}

/// How many blocks share one of `results`, each of `units` that `threads` of a block take at a time: by extents alone,
/// so that results are the same on every device. Each thread gets sixteen units at least, and combines what sixteen
/// blocks leave at most. Blocks are more than a device holds at once, so that it has work until the last ones end.
constexpr int parts_of_result(index results, index units, int threads) {
  constexpr index each = 16, most_blocks = 4096;
  if (results == 0 || results > workspace_counters) return 1;
  index parts = units / (each * threads);
  for (const index most : {most_blocks / results, each * threads}) parts = parts < most ? parts : most;
  return parts < 1 ? 1 : static_cast<int>(parts);
}

/// Places for `count` values of each type, one after another in the current workspace.
template <class Space, class... Values>
struct workspace_places {
  tuple<Values*...> values{};
  unsigned* counters = nullptr;
  workspace<Space>* own = nullptr;

  static workspace_places take(index count) {
    workspace_places result;
    if (count == 0) return result;
    result.own = &workspace<Space>::with((bytes_of<Values>(count) + ... + 0));
    result.counters = result.own->counters();
    std::byte* next = result.own->bytes();
    for_each_index<static_cast<int>(sizeof...(Values))>([&](auto i) {
      auto& place = get<i.value>(result.values);
      using value = std::remove_pointer_t<std::remove_cvref_t<decltype(place)>>;
      place = reinterpret_cast<value*>(next);
      next += bytes_of<value>(count);
    });
    return result;
  }
  void launched() const {
    if (own != nullptr) own->launched();
  }

 private:
  template <class Value>
  static std::size_t bytes_of(index count) {
    return (static_cast<std::size_t>(count) * sizeof(Value) + 15) / 16 * 16;
  }
};

}  // namespace tenon
