// tenon/device/collective.hpp: reductions, scans and broadcasts of warps and blocks.
// Written once over the primitives; values combine in the order of the threads, so results are the same in every run.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/primitives.hpp>

namespace tenon {

/// Shared memory that `block_reduce` and `block_scan` take when they are given none: one value of each warp.
inline constexpr int block_reduce_bytes = warp_size * lane_value_bytes;

/// The values of each team of `lanes` neighbouring lanes combined, in every lane of it; `lanes` is a power of two up to
/// a warp, and lane 0 begins a team. `combine` must be associative; it need not commute. All lanes of a warp call it.
/// cost      a shuffle for each doubling
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE T lanes_reduce(Device& device, T value, Combine combine, int lanes) {
  for (int mask = 1; mask < lanes; mask *= 2) {
    const T other = device.shuffle_xor(value, mask);
    value = (device.lane() & mask) != 0 ? combine(other, value) : combine(value, other);
  }
  return value;
}

/// The values of all lanes combined, in every lane.
/// cost      five shuffles
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE T warp_reduce(Device& device, T value, Combine combine) {
  return lanes_reduce(device, value, combine, warp_size);
}

/// The values of this and all lower lanes combined.
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE T warp_scan(Device& device, T value, Combine combine) {
  for (int delta = 1; delta < warp_size; delta *= 2) {
    const T other = device.shuffle(value, device.lane() - delta);
    if (device.lane() >= delta) value = combine(other, value);
  }
  return value;
}

/// The values of each team of `warps` neighbouring warps combined, in every thread of it; warp 0 begins a team, and all
/// threads of the block call it. `scratch` holds one value for each warp of the block and is free again on return.
/// cost      five shuffles, two barriers
template <class Device, class Scratch, lane_value T, class Combine>
TENON_HOST_DEVICE T warps_reduce(Device& device, const Scratch& scratch, T value, Combine combine, int warps) {
  value = warp_reduce(device, value, combine);
  if (device.lane() == 0) scratch.store(device.warp(), value);
  device.sync();
  const int first = device.warp() / warps * warps;
  T total = scratch.load(first);
  for (int warp = 1; warp < warps; ++warp) total = combine(total, scratch.load(first + warp));
  device.sync();
  return total;
}

/// The values of all threads combined, in every thread. The block must consist of whole warps.
template <class Device, class Scratch, lane_value T, class Combine>
TENON_HOST_DEVICE T block_reduce(Device& device, const Scratch& scratch, T value, Combine combine) {
  return warps_reduce(device, scratch, value, combine, device.block_size() / warp_size);
}

/// The values of each team of `threads` neighbouring threads combined, in every thread of it. A team is a power of two
/// of lanes, or several whole warps. It takes `block_reduce_bytes` of shared memory beyond what the kernel has taken.
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE T team_reduce(Device& device, T value, Combine combine, int threads) {
  if (threads <= warp_size) return lanes_reduce(device, value, combine, threads);
  const int used = device.shared_used();
  const T total = warps_reduce(device, device.template shared<T>(warp_size), value, combine, threads / warp_size);
  device.release_shared(used);
  return total;
}

/// The values of all threads combined, with scratch of its own.
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE T block_reduce(Device& device, T value, Combine combine) {
  const int used = device.shared_used();
  const T total = block_reduce(device, device.template shared<T>(warp_size), value, combine);
  device.release_shared(used);
  return total;
}

/// What `block_scan` returns.
template <class T>
struct scan_result {
  T inclusive;  ///< the values of this and all lower threads combined
  T total;      ///< the values of all threads combined
};

/// The values of this and all lower threads combined, and their total; otherwise as `block_reduce`.
template <class Device, class Scratch, lane_value T, class Combine>
TENON_HOST_DEVICE scan_result<T> block_scan(Device& device, const Scratch& scratch, T value, Combine combine) {
  value = warp_scan(device, value, combine);
  if (device.lane() == warp_size - 1) scratch.store(device.warp(), value);
  device.sync();
  T total = scratch.load(0), before = total;
  for (int warp = 1; warp < device.block_size() / warp_size; ++warp) {
    total = combine(total, scratch.load(warp));
    if (warp < device.warp()) before = total;
  }
  device.sync();
  return {device.warp() == 0 ? value : combine(before, value), total};
}

/// The same with scratch of its own.
template <class Device, lane_value T, class Combine>
TENON_HOST_DEVICE scan_result<T> block_scan(Device& device, T value, Combine combine) {
  const int used = device.shared_used();
  const scan_result<T> result = block_scan(device, device.template shared<T>(warp_size), value, combine);
  device.release_shared(used);
  return result;
}

/// The value of thread `from`, in every thread; `scratch` holds one value and is free again on return.
/// cost      two barriers
template <class Device, class Scratch, lane_value T>
TENON_HOST_DEVICE T block_broadcast(Device& device, const Scratch& scratch, T value, int from) {
  if (device.thread() == from) scratch.store(0, value);
  device.sync();
  const T result = scratch.load(0);
  device.sync();
  return result;
}

}  // namespace tenon
