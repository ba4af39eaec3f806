// tenon/device/freeing_streams.hpp: the streams of CUDA in whose order memory is freed, and the wait for all of them.
// Freed memory is usable again when the work that uses it is done; where memory is scarce, allocations wait for that.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/stream.hpp>
#if defined(__CUDACC__)
#include <map>

namespace tenon::detail {

/// The stream on which blocks are freed that several streams have used, so that none of them waits for another.
inline stream_id freeing_stream(int device) {
  static std::mutex mutex;
  static std::map<int, stream_id>& streams = *new std::map<int, stream_id>;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = streams.try_emplace(device);
  if (is_new) at->second = idle_streams::of_process().take();
  return at->second;
}

/// Waits for the present work of `home` and of all other streams of its device. Streams that are captured are left out:
/// a capture ends broken where anybody waits for its stream, or for the whole device.
inline void await_streams_of_device(stream_id home) {
  const cuda_device_scope on(home.device);
  follow(home, {nullptr, home.device});
  for (const stream_id each : idle_streams::of_process().made()) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    if (each.device == home.device) {
      check_cuda("cudaStreamIsCapturing", cudaStreamIsCapturing(handle_of(each), &status));
      if (status == cudaStreamCaptureStatusNone) follow(home, each);
    }
  }
  check_cuda("cudaStreamSynchronize", cudaStreamSynchronize(handle_of(home)));
}

}  // namespace tenon::detail
#endif
