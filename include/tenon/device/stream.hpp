// tenon/device/stream.hpp: the streams that statements run on, and events that order streams.
// Each thread chooses one for each device; until it does, all share the device's default stream.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/device_guard.hpp>
#include <tenon/device/runtime.hpp>
#if defined(__CUDACC__)
#include <atomic>
#include <mutex>
#include <utility>

namespace tenon {

namespace detail {

/// The calling thread's stream of each device.
inline cudaStream_t& thread_stream(int device) {
  thread_local std::vector<cudaStream_t> current(static_cast<std::size_t>(cuda_device_count()));
  return current.at(static_cast<std::size_t>(device));
}

/// A device, by CUDA's calls alone, while it lives.
class cuda_device_scope {
 public:
  explicit cuda_device_scope(int device) : outer_(current_cuda_device()), used_(device) {
    if (used_ != outer_) check_cuda("cudaSetDevice", cudaSetDevice(used_));
  }
  cuda_device_scope(const cuda_device_scope&) = delete;
  cuda_device_scope& operator=(const cuda_device_scope&) = delete;
  ~cuda_device_scope() {
    if (used_ != outer_) cudaSetDevice(outer_);
  }

 private:
  int outer_, used_;
};

/// Streams that nobody uses. None is ever destroyed, so memory may be freed in the order of any stream that used it.
class idle_streams {
 public:
  static idle_streams& of_process() {
    static idle_streams& streams = *new idle_streams;
    return streams;
  }
  /// Those that graphs are captured from, on which nothing else runs.
  static idle_streams& of_captures() {
    static idle_streams& streams = *new idle_streams;
    return streams;
  }
  /// A stream of the current device.
  stream_id take() {
    const int device = current_cuda_device();
    const std::lock_guard lock(mutex_);
    were_taken_ = true;
    for (auto at = idle_.begin(); at != idle_.end(); ++at) {
      if (at->device != device) continue;
      const stream_id found = *at;
      idle_.erase(at);
      return found;
    }
    cudaStream_t handle = nullptr;
    check_cuda("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking));
    return made_.emplace_back(stream_id{handle, device});
  }
  void put_back(stream_id stream) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(stream);
  }
  /// All that were ever made, idle or not.
  std::vector<stream_id> made() const {
    const std::lock_guard lock(mutex_);
    return made_;
  }
  /// Whether work was ever on another stream than a device's default.
  bool were_taken() const { return were_taken_; }

 private:
  mutable std::mutex mutex_;
  std::vector<stream_id> idle_, made_;
  std::atomic<bool> were_taken_ = false;
};

inline cudaStream_t handle_of(stream_id stream) { return static_cast<cudaStream_t>(const_cast<void*>(stream.handle)); }

}  // namespace detail

/// The calling thread's stream of its current device: launches, allocations and copies go there.
inline cudaStream_t current_stream() { return detail::thread_stream(current_cuda_device()); }

/// Waits until all that the calling thread has started on its current stream is done.
inline void synchronize() { check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(current_stream())); }

/// A point in the work of a stream of the device that was current when the event was made.
class event {
 public:
  event() { check_cuda("cudaEventCreateWithFlags", cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~event() {
    if (handle_ != nullptr) cudaEventDestroy(handle_);
  }

  /// Marks the present end of `stream`'s work.
  void record(cudaStream_t stream = current_stream()) {
    check_cuda("cudaEventRecord", cudaEventRecord(handle_, stream));
  }
  /// Lets what `stream` starts from now on wait for the mark.
  void hold(cudaStream_t stream = current_stream()) const {
    check_cuda("cudaStreamWaitEvent", cudaStreamWaitEvent(stream, handle_, 0));
  }
  /// Waits for the mark.
  void synchronize() const { check_cuda("cudaEventSynchronize", cudaEventSynchronize(handle_)); }
  /// Whether the mark has been passed; does not wait.
  bool is_done() const {
    const cudaError_t code = cudaEventQuery(handle_);
    if (code == cudaErrorNotReady) return false;
    check_cuda("cudaEventQuery", code);
    return true;
  }
  cudaEvent_t handle() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// A stream of its own, of the device that is current when it is made.
class stream {
 public:
  stream() : id_(detail::idle_streams::of_process().take()) {}
  stream(stream&& other) noexcept : id_(std::exchange(other.id_, stream_id{})) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~stream() {
    if (id_.handle != nullptr) detail::idle_streams::of_process().put_back(id_);
  }

  /// Waits until all work of the stream is done.
  void synchronize() const { check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(handle())); }
  cudaStream_t handle() const { return detail::handle_of(id_); }
  int device() const { return id_.device; }

 private:
  stream_id id_;
};

/// Makes `used` and its device the calling thread's current ones while it lives.
class stream_scope {
 public:
  explicit stream_scope(const stream& used)
      : on_device_(used.device()),
        device_(used.device()),
        outer_(std::exchange(detail::thread_stream(used.device()), used.handle())) {}
  stream_scope(const stream_scope&) = delete;
  stream_scope& operator=(const stream_scope&) = delete;
  ~stream_scope() { detail::thread_stream(device_) = outer_; }

 private:
  detail::cuda_device_scope on_device_;
  int device_;
  cudaStream_t outer_;
};

/// Calls `function` with `used` as the current stream. Streams do not wait for each other: events order them.
/// example   tn::with_stream(copies, [&] { batch.copy_from(staging); ready.record(); });
template <class Function>
decltype(auto) with_stream(const stream& used, Function&& function) {
  const stream_scope scope(used);
  return std::forward<Function>(function)();
}

namespace detail {

/// Lets what `later` starts from now on wait for what `earlier` has started so far. The host does not wait.
inline void follow(stream_id later, stream_id earlier) {
  if (later == earlier) return;
  const cuda_device_scope on_earlier(earlier.device);  // also of default streams, whose handle names no device
  event mark;
  mark.record(handle_of(earlier));
  const cuda_device_scope on_later(later.device);
  mark.hold(handle_of(later));
}

}  // namespace detail
}  // namespace tenon
#endif
