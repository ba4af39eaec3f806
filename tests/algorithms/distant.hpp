// tests/algorithms/distant.hpp: a memory space out of the host's reach, for the path of algorithms on devices.
// Its kernels run on the emulation and its passes are plain loops, so that only CUB itself is left to a real device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <tenon/algorithms/cuda.hpp>
#include <tenon/algorithms/lines.hpp>
#include <tenon/device/emulated.hpp>

#include "support/spaces.hpp"

namespace tenon_test {

/// Memory that only kernels may touch, as far as types can say so.
struct distant : tenon::emulated {
  static constexpr const char* name = "distant";
  static constexpr bool host_accessible = false;
};

#if defined(__CUDACC__)
using algorithm_spaces = spaces;
#else
using algorithm_spaces = std::tuple<tenon::host, tenon::emulated, distant>;
#endif

}  // namespace tenon_test

template <>
struct tenon::detail::launcher<tenon_test::distant> : tenon::detail::launcher<tenon::emulated> {};

template <>
struct tenon::device_passes<tenon_test::distant> {
  static constexpr bool available = true;

  template <class Input, class Output, class Combine>
  static void inclusive_scan(index count, index length, const Input& input, const Output& output,
                             const Combine& combine) {
    auto state = input(0);
    for (index number = 0; number < count; ++number) {
      if (number != 0) state = number % length == 0 ? input(number) : combine(state, input(number));
      output(number, state);
    }
  }
  template <class Input, class Output, class Combine, class State>
  static void exclusive_scan(index count, index length, const Input& input, const Output& output,
                             const Combine& combine, State first) {
    State state = first;
    for (index number = 0; number < count; ++number) {
      if (number % length == 0) state = first;
      output(number, state);
      state = combine(state, input(number));
    }
  }
  template <class Key>
  static storage<index, tenon_test::distant> sort_lines(storage<Key, tenon_test::distant> keys, index lines,
                                                        index length) {
    storage<index, tenon_test::distant> numbers(keys.count());
    std::iota(numbers.data(), numbers.data() + numbers.count(), index{0});
    for (index line = 0; line < lines; ++line) {
      const Key* key = keys.data();
      index* places = numbers.data() + line * length;
      std::sort(places, places + length, [&](index left, index right) {
        return key[left] < key[right] || (key[left] == key[right] && left < right);
      });
    }
    return numbers;
  }
  template <class Order>
  static void sort_items(index* items, index count, const Order& order) {
    std::sort(items, items + count, order);
  }
  template <class Flag>
  static void indices_where(const Flag& flag, index count, index* places) {
    for (index number = 0; number < count; ++number) {
      if (flag(number)) *places++ = number;
    }
  }
  template <class BinOf>
  static void count_bins(index count, index bins, const BinOf& bin_of, index* counts) {
    for (index number = 0; number < count; ++number) {
      const index bin = bin_of(number);
      if (bin >= 0 && bin < bins) ++counts[bin];
    }
  }
};
