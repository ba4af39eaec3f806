// tenon/kernels/packets.hpp: pointwise statements whose rows lie side by side, in accesses of 16 bytes.
// Each thread reads all that it needs before it computes anything, so that many bytes are under way at a time.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/kernels/positions.hpp>

namespace tenon {

/// Elements of a packet: 16 bytes of the widest type that a statement reads or writes, at most eight.
template <class T, class Program>
inline constexpr int packet_size = [] {
  constexpr int widest = greatest_size({static_cast<int>(sizeof(T)), element_bytes<Program>});
  return widest >= 16 ? 1 : widest <= 2 ? 8 : 16 / widest;
}();

/// Packets that a thread reads before it writes: 64 bytes of all operands together, or a little more.
template <class Program>
inline constexpr int packets_of_thread = [] {
  constexpr int sources = source_count<Program>;
  return sources <= 1 ? 4 : sources <= 3 ? 2 : 1;
}();

/// Evaluates a program over rows of packets into elements that lie side by side.
template <int Rank, int Size, class T, class Program>
struct packet_kernel {
  static constexpr const char* name = "pointwise";
  static constexpr int min_blocks = resident_blocks;
  static constexpr int packets = packets_of_thread<Program>;
  numbered_positions<Rank> positions;  // of packets
  int rest;                            // elements behind the last packet
  strided_target<T, Rank> target;
  Program program;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index threads = device.block_size(), tile = packets * threads;
    const index first = device.block().x * tile + device.thread();
    if ((device.block().x + 1) * tile <= positions.count()) {
      write<true, packets>(first, threads);
    } else {
      write<false, packets>(first, threads);
    }
    if (device.block().x == 0 && device.thread() < rest) write_element(positions.count() * Size + device.thread());
  }

 private:
  /// Packet number `number` and those `step` apart that follow; each is read before any of them is written.
  template <bool Whole, int Count>
  TENON_HOST_DEVICE TENON_INLINE void write(index number, index step) const {
    if constexpr (Count > 0) {
      if (!Whole && number >= positions.count()) return;
      auto position = positions.narrow(static_cast<std::uint64_t>(number));
      position[Rank - 1] *= Size;
      const auto cursor = program.at(position);
      const auto fetched = fetch<Size>(cursor);
      write<Whole, Count - 1>(number + step, step);
      write_packet<Size>(target.at(position), cursor, fetched);
    }
  }
  TENON_HOST_DEVICE void write_element(index i) const {
    array<index, Rank> position{};
    position[Rank - 1] = i;
    target.store(position, program.at(position).value(0, no_slots{}));
  }
};

namespace detail {

/// Whether packets of `Size` elements lie whole and aligned in all that is visited.
template <int Rank, int Size>
struct packet_check {
  const array<index, Rank>& extents;
  bool fits = true;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    if (stride[Rank - 1] == 0) return;
    fits = fits && stride[Rank - 1] == 1 && reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * Size) == 0;
    for (int axis = 0; axis < Rank - 1; ++axis) fits = fits && (extents[axis] == 1 || stride[axis] % Size == 0);
  }
  void operator()(const array<index, Rank>&, index) {}
};

}  // namespace detail

/// Whether packets of a statement, of all rows of `extents`, lie whole and aligned; rows hold whole packets.
template <int Rank, class Target, class Program>
bool lies_in_packets(const array<index, Rank>&, const Target&, const Program&) {
  return false;
}
template <int Rank, class T, class Program>
bool lies_in_packets(const array<index, Rank>& extents, strided_target<T, Rank> target, Program program) {
  detail::packet_check<Rank, packet_size<T, Program>> check{extents};
  program.visit(check);
  target.visit(check);
  return check.fits && target.step() == 1;
}

/// Runs a statement over merged axes in packets; returns false, and has done nothing, where they do not fit: they never
/// do where there are several destinations.
template <class Space, int Rank, class Target, class Program>
bool run_packet_kernel(const array<index, Rank>&, const Target&, const Program&) {
  return false;
}
template <class Space, int Rank, class T, class Program>
bool run_packet_kernel(const array<index, Rank>& extents, strided_target<T, Rank> target, Program program) {
  constexpr int size = packet_size<T, Program>;
  if constexpr (Rank == 0 || size == 1 || !visits_all_reads<Program>) {
    return false;
  } else {
    const index columns = extents[Rank - 1], rest = columns % size;
    if (rest != 0 && count_between(extents, 0, Rank - 1) != 1) return false;
    if (!lies_in_packets(extents, target, program)) return false;
    auto packets = extents;
    packets[Rank - 1] = columns / size;
    using kernel_type = packet_kernel<Rank, size, T, Program>;
    const kernel_type kernel{numbered_positions<Rank>(packets), static_cast<int>(rest), target, program};
    const index tile = index{kernel_block} * kernel_type::packets;
    const index packets_count = kernel.positions.count(), blocks = (packets_count + tile - 1) / tile;
    if (packets_count >= dividend_limit) return false;
    launch<Space>(launch_shape{.grid = {blocks == 0 ? 1 : static_cast<int>(blocks)}, .block = kernel_block}, kernel);
    return true;
  }
}

}  // namespace tenon
