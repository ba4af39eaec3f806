// tenon/device/launch_clock.hpp: how long launches take, and how fast a space copies.
// A space tells time in the order of its work; a CUDA device does by events of the current stream.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/device/stream.hpp>

namespace tenon {

/// The clock of a space, for code that does not know the space.
struct launch_clock {
  const char* space;
  std::uint64_t (*mark)();                                       ///< the present end of the current work
  double (*seconds)(std::uint64_t first, std::uint64_t second);  ///< between two marks; waits for both, releases both
  double (*copy_rate)();                                         ///< bytes read and written a second by a large copy
};

namespace detail {

inline constexpr int copy_repetitions = 5;

/// Bytes of a copy that no cache holds: twice the last one.
inline std::int64_t bytes_beyond_caches(std::int64_t last_cache_bytes) {
  const std::int64_t least_bytes = 64 << 20, most_bytes = 1 << 30, wanted = 2 * last_cache_bytes;
  return wanted < least_bytes ? least_bytes : wanted > most_bytes ? most_bytes : wanted;
}

}  // namespace detail

#if defined(__CUDACC__)
namespace detail {

/// An event of the current stream; 0 while a graph captures it, as nothing runs then.
inline std::uint64_t mark_stream() {
  cudaStreamCaptureStatus capturing{};
  check_cuda("cudaStreamIsCapturing", cudaStreamIsCapturing(current_stream(), &capturing));
  if (capturing != cudaStreamCaptureStatusNone) return 0;
  cudaEvent_t mark{};
  check_cuda("cudaEventCreate", cudaEventCreate(&mark));
  check_cuda("cudaEventRecord", cudaEventRecord(mark, current_stream()));
  return reinterpret_cast<std::uintptr_t>(mark);
}

inline double seconds_between_events(std::uint64_t first, std::uint64_t second) {
  const auto event_of = [](std::uint64_t mark) {
    return reinterpret_cast<cudaEvent_t>(static_cast<std::uintptr_t>(mark));
  };
  float milliseconds = 0;
  if (first != 0 && second != 0) {
    check_cuda("cudaEventSynchronize", cudaEventSynchronize(event_of(second)));
    check_cuda("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, event_of(first), event_of(second)));
  }
  for (const std::uint64_t mark : {first, second}) {
    if (mark != 0) check_cuda("cudaEventDestroy", cudaEventDestroy(event_of(mark)));
  }
  return static_cast<double>(milliseconds) * 1e-3;
}

/// The best rate of several copies within the memory of the current device.
inline double measure_device_copy() {
  const auto bytes =
      static_cast<std::size_t>(bytes_beyond_caches(properties_of(current_cuda_device()).second_level_cache_bytes));
  void* memory = nullptr;
  check_cuda("cudaMalloc", cudaMalloc(&memory, 2 * bytes));
  struct owner {
    void* memory;
    ~owner() { cudaFree(memory); }
  };
  const owner own{memory};
  double best = 0;
  for (int i = 0; i <= copy_repetitions; ++i) {
    const std::uint64_t start = mark_stream();
    check_cuda("cudaMemcpyAsync", cudaMemcpyAsync(static_cast<std::byte*>(memory) + bytes, memory, bytes,
                                                  cudaMemcpyDeviceToDevice, current_stream()));
    const double rate = 2.0 * static_cast<double>(bytes) / seconds_between_events(start, mark_stream());
    best = i > 0 && rate > best ? rate : best;
  }
  return best;
}

}  // namespace detail

/// The clock of CUDA launches: events around each. The copy is measured once for the process, on the first device that
/// asks.
inline const launch_clock& cuda_launch_clock() {
  static constexpr launch_clock clock{"cuda", &detail::mark_stream, &detail::seconds_between_events, [] {
                                        static const double rate = detail::measure_device_copy();
                                        return rate;
                                      }};
  return clock;
}
#endif

}  // namespace tenon
