// tenon/algorithms/cuda.hpp: algorithms on tensors of the space cuda, through CUB.
// By name only, beside a door: CUB takes seconds to compile. Compilers other than nvcc see nothing here.
// Floor 5: may include base, core, device, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/algorithms/short_lines.hpp>
#include <tenon/device/cuda_memory.hpp>
#if defined(__CUDACC__)
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/tabulate_output_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <bit>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_merge_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <limits>
#include <tenon/core/storage.hpp>

namespace tenon {

namespace detail {

/// Calls a pass of CUB twice, as CUB requires: the first call says how much memory the pass needs, the second runs it.
template <class Pass>
void run_cub(const char* name, const Pass& pass) {
  std::size_t bytes = 0;
  check_cuda(name, pass(nullptr, bytes));
  storage<unsigned char, cuda> workspace(static_cast<index>(bytes) + 1);  // null would only ask for bytes
  check_cuda(name, pass(static_cast<void*>(workspace.data()), bytes));
}

/// The line in which a number stands.
struct line_of_number {
  index length;
  TENON_HOST_DEVICE index operator()(index number) const { return number / length; }
};
/// A bin as CUB counts it.
template <class BinOf>
struct narrow_bin {
  BinOf bin_of;
  TENON_HOST_DEVICE int operator()(index number) const { return static_cast<int>(bin_of(number)); }
};
/// Numbers as they are.
struct count_up {
  index* numbers;
  TENON_HOST_DEVICE void operator()(index number) const { numbers[number] = number; }
};
/// The lines in which the numbers of elements stand, narrow, so that few bytes are moved.
struct narrow_lines {
  const index* numbers;
  std::uint32_t* lines;
  index length;
  TENON_HOST_DEVICE void operator()(index at) const { lines[at] = static_cast<std::uint32_t>(numbers[at] / length); }
};

/// Brings numbers into the order of the lowest `bits` of their keys. The host waits for nothing.
template <class Key>
void sort_by_bits(const storage<Key, cuda>& keys, const index* numbers, index* sorted, int bits) {
  storage<Key, cuda> sorted_keys(keys.count());
  run_cub("cub::DeviceRadixSort::SortPairs", [&](void* workspace, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(workspace, bytes, keys.data(), sorted_keys.data(), numbers, sorted,
                                           keys.count(), 0, bits, current_stream());
  });
}

/// `make(0)`, `make(1)`, ... as an iterator.
template <class Make>
auto made_by(const Make& make) {
  return thrust::make_transform_iterator(thrust::make_counting_iterator(index{0}), make);
}

}  // namespace detail

template <>
struct device_passes<cuda> {
  static constexpr bool available = true;

  template <class Input, class Output, class Combine>
  static void inclusive_scan(index count, index length, const Input& input, const Output& output,
                             const Combine& combine) {
    detail::run_cub("cub::DeviceScan::InclusiveScanByKey", [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceScan::InclusiveScanByKey(workspace, bytes, detail::made_by(detail::line_of_number{length}),
                                                 detail::made_by(input), thrust::make_tabulate_output_iterator(output),
                                                 combine, count, ::cuda::std::equal_to<>{}, current_stream());
    });
  }
  template <class Input, class Output, class Combine, class State>
  static void exclusive_scan(index count, index length, const Input& input, const Output& output,
                             const Combine& combine, State first) {
    detail::run_cub("cub::DeviceScan::ExclusiveScanByKey", [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceScan::ExclusiveScanByKey(workspace, bytes, detail::made_by(detail::line_of_number{length}),
                                                 detail::made_by(input), thrust::make_tabulate_output_iterator(output),
                                                 combine, first, count, ::cuda::std::equal_to<>{}, current_stream());
    });
  }

  /// Short lines are sorted by blocks. Otherwise all elements are sorted by keys, then by lines, as the radix sort is
  /// stable. (CUB's segmented sort lets the host wait for its count of long lines.) For each element, each byte of the
  /// key moves 2 (key + 8) bytes, and each byte of the line's number 24.
  template <class Key>
  static storage<index, cuda> sort_lines(storage<Key, cuda> keys, index lines, index length) {
    constexpr index most_lines = index{1} << 32;
    const index count = keys.count();
    storage<index, cuda> numbers(count);
    if constexpr (is_short_key<Key>) {
      if (length <= most_short_line) {
        sort_short_lines<cuda>(keys.data(), numbers.data(), lines, length);
        return numbers;
      }
    }
    if (lines > most_lines) {
      throw shape_error(compose_text("sort: ", lines, " lines of ", length, " elements, expected at most ", most_lines,
                                     " lines on a device"));
    }
    storage<index, cuda> sorted(count);
    for_each_number<cuda>(count, 1, detail::count_up{numbers.data()});
    detail::sort_by_bits(keys, numbers.data(), sorted.data(), static_cast<int>(8 * sizeof(Key)));
    if (lines == 1) return sorted;
    keys = {};
    storage<std::uint32_t, cuda> line_of(count);
    for_each_number<cuda>(count, 1, detail::narrow_lines{sorted.data(), line_of.data(), length});
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(lines - 1)));
    detail::sort_by_bits(line_of, sorted.data(), numbers.data(), bits);
    return numbers;
  }

  template <class Order>
  static void sort_items(index* items, index count, const Order& order) {
    detail::run_cub("cub::DeviceMergeSort::SortKeys", [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceMergeSort::SortKeys(workspace, bytes, items, count, order, current_stream());
    });
  }

  template <class Flag>
  static void indices_where(const Flag& flag, index count, index* places) {
    storage<index, cuda> found(1);
    detail::run_cub("cub::DeviceSelect::Flagged", [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceSelect::Flagged(workspace, bytes, thrust::make_counting_iterator(index{0}),
                                        detail::made_by(flag), places, found.data(), count, current_stream());
    });
  }

  template <class BinOf>
  static void count_bins(index count, index bins, const BinOf& bin_of, index* counts) {
    if (bins >= std::numeric_limits<int>::max()) {
      throw shape_error(compose_text("histogram: ", bins, " bins, expected fewer than ",
                                     std::numeric_limits<int>::max(), " on a device"));
    }
    const int levels = static_cast<int>(bins) + 1;
    detail::run_cub("cub::DeviceHistogram::HistogramEven", [&](void* workspace, std::size_t& bytes) {
      return cub::DeviceHistogram::HistogramEven(workspace, bytes, detail::made_by(detail::narrow_bin<BinOf>{bin_of}),
                                                 reinterpret_cast<unsigned long long*>(counts), levels, 0, levels - 1,
                                                 count, current_stream());
    });
  }
};

}  // namespace tenon
#endif
