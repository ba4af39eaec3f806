// tenon/expr/random_permutation.hpp: whole numbers in an order that a seed chooses.
// Each is computed from its position by itself: nothing is stored or exchanged.
// Floor 2: may include base, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/philox.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/node.hpp>

namespace tenon {

/// A permutation of [0, count): a Feistel network over the next power of 4, walked until it is back inside.
template <dtype T>
struct permutation_generator {
  static constexpr const char* name = "permutation";
  using element = T;
  static constexpr int rounds = 8;
  std::uint64_t seed, count;
  int half_bits;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    auto image = static_cast<std::uint64_t>(offset);
    do image = permute(image);
    while (image >= count);
    return static_cast<compute_type<T>>(image);
  }

 private:
  TENON_HOST_DEVICE std::uint64_t permute(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
    std::uint64_t left = value >> half_bits, right = value & mask;
    for (std::uint32_t turn = 0; turn < rounds; ++turn) {
      const auto bits = philox4x32({static_cast<std::uint32_t>(right), turn, 1u, 0u},
                                   {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
      const std::uint64_t next = left ^ (bits[0] & mask);
      left = right;
      right = next;
    }
    return left << half_bits | right;
  }
};

/// The numbers 0 to count - 1 in an order that `seed` chooses; each is computed by itself, nothing is stored.
/// throws    shape_error when count is negative, dtype_error where T holds fewer numbers
/// cost      about 10 philox blocks a number
/// source    Luby, Rackoff 1988; Black, Rogaway 2002 (cycle walking)
/// example   const auto order = evaluated_tensor(permutation<std::int64_t>(100, 1));
template <dtype T = index>
auto permutation(index count, std::uint64_t seed) {
  if (count > 0) detail::check_number<T>("permutation", scalar<index>{count - 1});
  int half_bits = 1;
  while (count > index{1} << 2 * half_bits) ++half_bits;
  return generated<permutation_generator<T>, rank<1>>{
      {seed, static_cast<std::uint64_t>(count), half_bits}, rank<1>(count), 0, {{1}}};
}

}  // namespace tenon
