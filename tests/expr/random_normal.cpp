// tests/expr/random_normal.cpp: normal doubles from random bits, one by one and in the lanes of packs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random_normal.hpp>

#include <cmath>
#include <numbers>
#include <tenon/expr/random.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

tenon::array<std::uint32_t, 4> bits_of_normal(std::uint64_t seed, std::uint64_t position) {
  return tenon::philox_bits(seed, position / 2,
                            tenon::detail::random_stream::normal + tenon::detail::random_stream::of_double);
}

/// By Box and Muller, from library functions of long double.
long double normal_by_library(const tenon::array<std::uint32_t, 4>& bits, bool second) {
  const auto joined = [](std::uint32_t high, std::uint32_t low) { return high * 0x1p32L + low; };
  const long double radius = std::sqrt(-2 * std::log((joined(bits[0], bits[1]) + 1) / 0x1p64L));
  const long double turn = 2 * std::numbers::pi_v<long double> * (joined(bits[2], bits[3]) / 0x1p64L - 0.125L);
  return radius * (second ? std::sin(turn) : std::cos(turn));
}

/// How many numbers at first, first + step, ... differ from those that are made one by one.
template <class Numbers>
int count_unequal_normals(const Numbers& numbers, std::uint64_t seed, std::uint64_t first, std::uint64_t step) {
  const auto values = tenon_test::numbers_of(numbers);
  int unequal = values.empty() ? 1 : 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t position = first + step * i;
    const double alone = tenon::detail::normal_from_bits(bits_of_normal(seed, position), position % 2);
    unequal += values[i] == alone ? 0 : 1;
  }
  return unequal;
}

}  // namespace

TEST_CASE("normal doubles are those of Box and Muller", "[random_normal]") {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto bits = bits_of_normal(5, i);
    const long double exact = normal_by_library(bits, i % 2 != 0);
    CHECK(std::abs(static_cast<double>(tenon::detail::normal_from_bits(bits, i % 2) - exact)) < 3e-15);
  }
  for (const std::uint32_t least : {0u, 1u, 0xffffffffu}) {  // the ends of radius and angle
    const tenon::array<std::uint32_t, 4> bits{least, least, least, least};
    CHECK(std::abs(static_cast<double>(tenon::detail::normal_from_bits(bits, 0) - normal_by_library(bits, false))) <
          1e-14);
  }
}

TEST_CASE("normal doubles of packs are those that are made one by one", "[random_normal]") {
  using tenon::range;
  const std::uint64_t seed = 0xfedcba9876543210ull;
  const auto line = tenon::normal<double>({1001}, seed);
  CHECK(count_unequal_normals(line, seed, 0, 1) == 0);
  CHECK(count_unequal_normals(tenon::slice(line, range(3, 1001, 1)), seed, 3, 1) == 0);
  CHECK(count_unequal_normals(tenon::slice(line, range(2, 1001, 7)), seed, 2, 7) == 0);
  CHECK(count_unequal_normals(tenon::flip(line, tenon::axis<0>), seed, 1000, ~std::uint64_t{0}) == 0);
  const auto column = tenon::select(tenon::normal<double>({77, 13}, seed), tenon::axis<1>, 4);
  CHECK(count_unequal_normals(column, seed, 4, 13) == 0);
  const auto long_line = tenon::normal<double>({tenon::index{1} << 34}, seed);  // the upper word of the counter
  const tenon::index middle = tenon::index{1} << 33;
  CHECK(count_unequal_normals(tenon::slice(long_line, range(middle - 50, middle + 51)), seed,
                              static_cast<std::uint64_t>(middle - 50), 1) == 0);
  CHECK(tenon_test::numbers_of(tenon::normal<double>({0}, seed)).empty());
}

TEST_CASE("centre and deviation of packs round as those of numbers", "[random_normal]") {
  const auto values = tenon_test::numbers_of(tenon::normal<double>({101}, 9, 0.1, 3.7));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double alone = tenon::detail::normal_from_bits(bits_of_normal(9, i), i % 2);
    CHECK(values[i] == std::fma(3.7, alone, 0.1));
  }
}
