// tenon/device/stream.hpp: the stream that statements run on, and events that order streams.
// Each thread chooses its own; until it does, all share CUDA's default stream, so memory may pass between threads.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/runtime.hpp>
#if defined(__CUDACC__)
#include <utility>

namespace tenon {

namespace detail {

inline cudaStream_t& thread_stream() {
  thread_local cudaStream_t current = nullptr;
  return current;
}

}  // namespace detail

/// The stream of the calling thread: launches, allocations and copies go there.
inline cudaStream_t current_stream() { return detail::thread_stream(); }

/// Waits until all that the calling thread has started on its current stream is done.
inline void synchronize() { check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(current_stream())); }

/// A point in the work of a stream.
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
  cudaEvent_t handle() const { return handle_; }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// A stream of its own.
class stream {
 public:
  stream() { check_cuda("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking)); }
  stream(stream&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  stream& operator=(stream&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~stream() {
    if (handle_ != nullptr) cudaStreamDestroy(handle_);
  }

  /// Waits until all work of the stream is done.
  void synchronize() const { check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(handle_)); }
  cudaStream_t handle() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

/// Makes `used` the calling thread's current stream while it lives.
class stream_scope {
 public:
  explicit stream_scope(const stream& used) : outer_(std::exchange(detail::thread_stream(), used.handle())) {}
  stream_scope(const stream_scope&) = delete;
  stream_scope& operator=(const stream_scope&) = delete;
  ~stream_scope() { detail::thread_stream() = outer_; }

 private:
  cudaStream_t outer_;
};

}  // namespace tenon
#endif
