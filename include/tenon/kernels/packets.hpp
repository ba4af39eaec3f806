// tenon/kernels/packets.hpp: pointwise statements whose rows lie side by side, in accesses of 16 bytes.
// Each thread reads all that it needs before it computes anything, so that many bytes are under way at a time.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/kernels/positions.hpp>

namespace tenon {

template <int Rank, class... Ts>
struct joint_target;  // of plan/joint.hpp

/// Elements of a packet: 16 bytes of the widest element that a statement reads or writes, at most eight.
constexpr int packet_size_of(int widest) { return widest >= 16 ? 1 : widest <= 2 ? 8 : 16 / widest; }
template <class T, class Program>
inline constexpr int packet_size = packet_size_of(greatest_size({static_cast<int>(sizeof(T)), element_bytes<Program>}));

/// Packets of `Size` elements that a thread reads before it writes: of all operands together 64 bytes or a little more;
/// 48 of three operands in packets of eight and more, which take twice the registers when they are computed with.
template <class Program, int Size>
inline constexpr int packets_of_thread = [] {
  constexpr int sources = source_count<Program>;
  return sources <= 1 ? 4 : sources <= (Size > 4 ? 2 : 3) ? 2 : 1;
}();

/// How a kernel reads each source of a program in memory, by its number; at most as many as a mask has bits.
struct source_readings {
  static constexpr int capacity = 32;
  std::uint32_t across = 0;      // along the last axis but one, by way of shared memory
  std::uint32_t in_packets = 0;  // side by side and aligned, along whichever axis it is read

  TENON_HOST_DEVICE bool is_across(int source) const { return (across >> source & 1u) != 0; }
  TENON_HOST_DEVICE bool is_in_packets(int source) const { return (in_packets >> source & 1u) != 0; }
};

/// The first of some sources that is the same elements as number `later` of them.
template <class Sources>
int first_equal(const Sources& sources, int later) {
  int earlier = 0;
  while (!(sources[earlier] == sources[later])) ++earlier;
  return earlier;
}

/// Reads sources in packets where they lie in packets, and one by one elsewhere.
struct mixed_reader {
  source_readings readings;
  int source = 0;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index stride) {
    if (readings.is_in_packets(source++)) return direct_reader{}.template read<Size>(data, stride);
    packet<T, Size> result{};
    for (int k = 0; k < Size; ++k) set_element(result, k, data[k * stride]);
    return result;
  }
};

/// Evaluates a program over rows of packets into elements that lie side by side.
template <int Rank, int Size, class T, class Program>
struct packet_kernel {
  static constexpr const char* name = "pointwise";
  static constexpr int min_blocks = resident_blocks;
  static constexpr int packet = Size, packets = packets_of_thread<Program, Size>;
  numbered_positions<Rank> positions;  // of packets
  int head, rest;                      // elements before the first packet and behind the last one
  source_readings readings;
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
    if (device.block().x == 0 && device.thread() < head + rest) {
      write_element(device.thread() + (device.thread() < head ? 0 : positions.count() * Size));
    }
  }

 private:
  /// Packet number `number` and those `step` apart that follow; each is read before any of them is written.
  template <bool Whole, int Count>
  TENON_HOST_DEVICE TENON_INLINE void write(index number, index step) const {
    if constexpr (Count > 0) {
      if (!Whole && number >= positions.count()) return;
      auto position = positions.narrow(static_cast<std::uint64_t>(number));
      position[Rank - 1] = position[Rank - 1] * Size + head;
      const auto cursor = program.at(position);
      mixed_reader reader{readings};
      const auto fetched = fetch<Size>(cursor, reader);
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

/// Whether packets of `Size` of a statement, of all rows of `extents`, lie whole and aligned; rows hold whole packets.
template <int Size, int Rank, class Target, class Program>
bool lies_in_packets(const array<index, Rank>&, const Target&, const Program&) {
  return false;
}
template <int Size, int Rank, class T, class Program>
bool lies_in_packets(const array<index, Rank>& extents, strided_target<T, Rank> target, Program program) {
  detail::packet_check<Rank, Size> fitting{extents};
  program.visit(fitting);
  target.visit(fitting);
  return fitting.fits && target.step() == 1;
}

template <int Size, int Rank, class... Ts, class Program>
bool lies_in_packets(const array<index, Rank>& extents, joint_target<Rank, Ts...> target, Program program) {
  detail::packet_check<Rank, Size> fitting{extents};
  program.visit(fitting);
  target.visit(fitting);
  return fitting.fits;
}

/// Whether sources of a statement that do not lie in packets are refused or read one element at a time.
enum class other_sources { refused, read };

namespace detail {

/// Which sources lie in packets of `Size` from element `head` of each row on.
template <int Rank, int Size>
struct mixed_choice {
  const array<index, Rank>& extents;
  index head;
  source_readings readings{};
  bool all_in_packets = true;
  int source = 0;

  template <class T>
  void operator()(const array<index, Rank>& stride, const T* data) {
    packet_check<Rank, Size> fitting{extents};
    fitting(stride, data + head * stride[Rank - 1]);
    all_in_packets = all_in_packets && fitting.fits;
    if (fitting.fits) readings.in_packets |= 1u << source;
    ++source;
  }
  void operator()(const array<index, Rank>&, index) {}
};

/// Elements before the first of `data` that is aligned to a packet.
template <int Size, class T>
index elements_before_packet(const T* data) {
  const auto askew = static_cast<index>(reinterpret_cast<std::uintptr_t>(data) % (sizeof(T) * Size) / sizeof(T));
  return askew == 0 ? 0 : Size - askew;
}

}  // namespace detail

/// Runs a statement over merged axes in packets; returns false, and has done nothing, where its destination does not
/// lie in them, which several never do, or where its sources do not and are refused. A single run may begin and end
/// anywhere.
template <class Space, int Rank, class Target, class Program>
bool run_packet_kernel(const array<index, Rank>&, const Target&, const Program&, other_sources) {
  return false;
}
template <class Space, int Rank, class T, class Program>
bool run_packet_kernel(const array<index, Rank>& extents, strided_target<T, Rank> target, Program program,
                       other_sources others) {
  constexpr int size = packet_size<T, Program>;
  if constexpr (Rank == 0 || size == 1 || !visits_all_reads<Program> ||
                source_count<Program> > source_readings::capacity) {
    return false;
  } else {
    const bool is_one_run = count_between(extents, 0, Rank - 1) == 1;
    const index columns = extents[Rank - 1], askew = detail::elements_before_packet<size>(target.data);
    const index head = askew < columns ? askew : columns, rest = (columns - head) % size;
    if (target.step() != 1 || (!is_one_run && (head != 0 || rest != 0))) return false;
    detail::packet_check<Rank, size> written{extents};
    written(target.stride, target.data + head);
    detail::mixed_choice<Rank, size> choice{extents, head};
    program.visit(choice);
    const bool fits = written.fits && (choice.all_in_packets || others == other_sources::read);
    if (!fits && columns - head >= size) return false;
    auto packets = extents;
    packets[Rank - 1] = (columns - head) / size;
    using kernel_type = packet_kernel<Rank, size, T, Program>;
    const kernel_type kernel{numbered_positions<Rank>(packets),
                             static_cast<int>(head),
                             static_cast<int>(rest),
                             choice.readings,
                             target,
                             program};
    const index tile = index{kernel_block} * kernel_type::packets;
    const index packets_count = kernel.positions.count(), blocks = (packets_count + tile - 1) / tile;
    if (packets_count >= dividend_limit) return false;
    launch<Space>(launch_shape{.grid = {blocks == 0 ? 1 : static_cast<int>(blocks)}, .block = kernel_block}, kernel);
    return true;
  }
}

}  // namespace tenon
