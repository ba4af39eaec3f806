// tenon/data/sampler.hpp: the order in which examples are seen.
// An order is a pure function of size, seed and epoch, so any run can be repeated and any epoch resumed.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <tenon/base/philox.hpp>
#include <utility>
#include <vector>

namespace tenon::data {

/// 0, 1, ..., count - 1.
inline std::vector<index> sequential_order(index count) {
  std::vector<index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index{0});
  return order;
}

/// A permutation of 0, ..., count - 1, each as likely as any other.
/// source    Durstenfeld 1964 (Fisher-Yates); numbers below a bound by Lemire's multiplication, 2019
inline std::vector<index> shuffled_order(index count, std::uint64_t seed, std::uint64_t epoch) {
  auto order = sequential_order(count);
  const array<std::uint32_t, 2> key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  for (index left = count - 1; left > 0; --left) {
    const auto place = static_cast<std::uint64_t>(left);
    const auto bits = philox4x32({{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32),
                                   static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)}},
                                 key);
    const std::uint64_t word = static_cast<std::uint64_t>(bits[0]) << 32 | bits[1];
    __extension__ using wide = unsigned __int128;
    const auto other = static_cast<std::size_t>(wide{word} * (place + 1) >> 64);
    std::swap(order[static_cast<std::size_t>(left)], order[other]);
  }
  return order;
}

}  // namespace tenon::data
