// tenon/algorithms/short_lines.hpp: lines that a block of a device orders at once, in shared memory.
// Entries are words, a key and behind it a place, all of them different: so any sorting network is stable.
// Floor 5: may include base, device, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>

namespace tenon {

inline constexpr int most_short_line = 2048;  // elements

/// Whether lines of such keys are ordered by blocks, where they are short: an entry has room for 4 bytes of key.
template <class Key>
inline constexpr bool is_short_key = sizeof(Key) <= 4;

/// Orders lines of at most `1 << bits` keys; a block several lines, each in `1 << bits` places of its shared memory.
/// Writes the numbers of the elements, those of equal keys in ascending order.
/// Source: K. E. Batcher, Sorting networks and their applications, 1968 (the bitonic network).
template <class Key>
struct short_line_kernel {
  static_assert(is_short_key<Key>, "tenon: entries have room for keys of 4 bytes");
  static constexpr const char* name = "short_lines";
  static constexpr int max_threads = 256;
  const Key* keys;
  index* numbers;
  index lines;
  int length, bits, lines_of_block;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto entries = device.template shared<std::uint64_t>(places());
    const index blocks = device.grid_size().x;
    for (index first = device.block().x * index{lines_of_block}; first < lines; first += blocks * lines_of_block) {
      for (int i = device.thread(); i < places(); i += device.block_size()) entries.store(i, entry(first, i));
      order_entries(device, entries);
      for (int i = device.thread(); i < places(); i += device.block_size()) write(first, i, entries.load(i));
      device.sync();
    }
  }

  TENON_HOST_DEVICE constexpr int places() const { return lines_of_block << bits; }

 private:
  static constexpr int key_shift = 32, pairs_of_warp = warp_size;

  TENON_HOST_DEVICE int place_of(int i) const { return i & ((1 << bits) - 1); }
  /// Places behind a line hold more than any element's entry.
  TENON_HOST_DEVICE std::uint64_t entry(index first, int i) const {
    const index line = first + (i >> bits);
    if (line >= lines || place_of(i) >= length) return ~std::uint64_t{0};
    const std::uint64_t key = keys[line * length + place_of(i)];
    return key << key_shift | static_cast<std::uint64_t>(place_of(i));
  }
  TENON_HOST_DEVICE void write(index first, int i, std::uint64_t entry) const {
    const index line = first + (i >> bits);
    if (line >= lines || place_of(i) >= length) return;
    numbers[line * length + place_of(i)] = line * length + static_cast<index>(entry & 0xffffffffu);
  }
  /// Entries a step of at most 32 apart belong to pairs of one warp, which waits for itself alone.
  template <class Device, class Entries>
  TENON_HOST_DEVICE void order_entries(Device& device, const Entries& entries) const {
    bool is_within_warps = false;
    for (int size_bits = 1; size_bits <= bits; ++size_bits) {
      for (int step_bits = size_bits - 1; step_bits >= 0; --step_bits) {
        const bool will_be = 1 << step_bits <= pairs_of_warp;
        if (is_within_warps && will_be) device.sync_warp();
        else device.sync();
        is_within_warps = will_be;
        for (int pair = device.thread(); pair < places() / 2; pair += device.block_size()) {
          order_pair(entries, pair, size_bits, step_bits);
        }
      }
    }
    device.sync();
  }
  /// Runs of `1 << size_bits` places are ordered upwards and downwards in turn, but for a whole line.
  template <class Entries>
  TENON_HOST_DEVICE void order_pair(const Entries& entries, int pair, int size_bits, int step_bits) const {
    const int step = 1 << step_bits, here = ((pair >> step_bits) << (step_bits + 1)) + (pair & (step - 1));
    const std::uint64_t left = entries.load(here), right = entries.load(here + step);
    const bool is_downwards = (place_of(here) >> size_bits & 1) != 0;
    if ((left > right) == is_downwards) return;
    entries.store(here, right);
    entries.store(here + step, left);
  }
};

/// Orders lines of `length` keys, at most most_short_line, in one launch.
/// cost      reads the keys and writes the numbers once; reads and writes shared memory b (b + 1) / 2 times where lines
///           have up to 2^b elements
template <class Space, class Key>
void sort_short_lines(const Key* keys, index* numbers, index lines, index length) {
  constexpr int least_bits = 1;
  constexpr index most_blocks = index{1} << 20;
  short_line_kernel<Key> kernel{keys, numbers, lines, static_cast<int>(length), least_bits, 1};
  while (index{1} << kernel.bits < length) ++kernel.bits;
  const index most = most_short_line >> kernel.bits;
  kernel.lines_of_block = static_cast<int>(lines < most ? lines : most);
  const index groups = (lines + kernel.lines_of_block - 1) / kernel.lines_of_block;
  launch<Space>({.grid = {static_cast<int>(groups < most_blocks ? groups : most_blocks)},
                 .block = kernel.max_threads,
                 .shared_bytes = shared_bytes_of<std::uint64_t>(kernel.places())},
                kernel);
}

}  // namespace tenon
