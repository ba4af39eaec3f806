// tenon/device/host_clock.hpp: the clock of loops on the host, and of the emulated device.
// Separate from the clocks of devices, so that statements do not include <chrono>.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <tenon/device/caches.hpp>
#include <tenon/device/launch_clock.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

inline std::uint64_t host_nanoseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}
inline double host_seconds(std::uint64_t first, std::uint64_t second) {
  return static_cast<double>(second - first) * 1e-9;
}

/// The best rate of several copies by all threads, after one that touches the memory first.
inline double measure_host_copy() {
  const index bytes = bytes_beyond_caches(caches().shared), piece = 1 << 20;
  const auto count = static_cast<std::size_t>(bytes);
  const std::unique_ptr<std::byte[]> source(new std::byte[count]()), target(new std::byte[count]());
  void* (*const volatile copy)(void*, const void*, std::size_t) = std::memcpy;  // no compiler leaves this call out
  double best = 0;
  for (int i = 0; i <= copy_repetitions; ++i) {
    const std::uint64_t start = host_nanoseconds();
    parallel_for(bytes / piece, 1, [&](index first, index last) {
      const index offset = first * piece;
      copy(target.get() + offset, source.get() + offset, static_cast<std::size_t>((last - first) * piece));
    });
    const double rate = 2.0 * static_cast<double>(bytes) / host_seconds(start, host_nanoseconds());
    best = i > 0 && rate > best ? rate : best;
  }
  return best;
}

}  // namespace detail

/// The clock of loops on the host, and of the emulated device. Its copy is measured once for the process.
inline const launch_clock& host_launch_clock() {
  static constexpr launch_clock clock{"host", &detail::host_nanoseconds, &detail::host_seconds, [] {
                                        static const double rate = detail::measure_host_copy();
                                        return rate;
                                      }};
  return clock;
}

}  // namespace tenon
