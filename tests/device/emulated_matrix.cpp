// tests/device/emulated_matrix.cpp: the rules that loads and products of blocks keep under emulation.
// Whole products are in cuda_matrix.cpp, since devices must agree on them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_matrix.hpp>

#include <array>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

enum class load_fault { none, misaligned, outside, no_barrier, no_barrier_after };

/// Shows every lane's words of four blocks of numbered elements.
template <class T, bool Transposed>
struct words_kernel {
  load_fault kind;
  std::uint32_t* words;  // 4 of each lane

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    constexpr int line = 16 / static_cast<int>(sizeof(T)), count = 32 * line;
    const auto tile = device.template shared<T>(count + line);
    for (int i = device.lane(); i < count; i += tenon::warp_size) tile.store(i, static_cast<T>(i));
    if (kind != load_fault::no_barrier) device.sync_warp();
    int first = device.lane() * line;
    if (kind == load_fault::misaligned) first += line / 2;
    if (kind == load_fault::outside) first += 2 * line;
    const auto held = device.template load_blocks<Transposed>(tile, first);
    if (kind == load_fault::no_barrier_after) tile.store(device.lane(), T(0));
    for (int i = 0; i < 4; ++i) words[device.lane() * 4 + i] = held[i];
  }
};

template <class T, bool Transposed = false>
std::vector<std::uint32_t> words_of_lanes(load_fault kind = load_fault::none) {
  std::vector<std::uint32_t> words(128);
  tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 1024}, words_kernel<T, Transposed>{kind, words.data()});
  return words;
}

/// One element of each operand, at (row 9, k = 3) and (k = 3, column 6), through a whole warp.
template <class T>
struct lonely_kernel {
  tenon::fragment_storage<T> left, right;
  float* sums;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    tenon::lane_words<4> a{};
    tenon::lane_words<2> b{};
    if (device.lane() == 1 * 4 + 3) __builtin_memcpy(&a.values[1], &left, sizeof(left));
    if (device.lane() == 6 * 4 + 3) __builtin_memcpy(&b.values[0], &right, sizeof(right));
    tenon::lane_sums<T> held{};
    device.template multiply_blocks<T>(held, a, b);
    for (int slot = 0; slot < 4; ++slot) {
      sums[tenon::lane_sum_row(device.lane(), slot) * 8 + tenon::lane_sum_column(device.lane(), slot)] = held[slot];
    }
  }
};

float lonely_product(float left, float right) {
  std::vector<float> sums(128);
  tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 0},
                                 lonely_kernel<tenon::tf32>{left, right, sums.data()});
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK((i == 9 * 8 + 6 || sums[i] == 0));
  return sums[9 * 8 + 6];
}

}  // namespace

TEST_CASE("lanes receive a word of a row, or two elements of a column", "[device]") {
  const auto rows = words_of_lanes<std::uint16_t>(), columns = words_of_lanes<std::uint16_t, true>();
  const auto wide = words_of_lanes<std::uint32_t>();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t block = 0; block < 4; ++block) {
      const std::uint32_t element = block * 64 + lane / 4 * 8 + lane % 4 * 2;
      const std::uint32_t transposed = block * 64 + lane % 4 * 2 * 8 + lane / 4;
      REQUIRE(rows[lane * 4 + block] == (element | (element + 1) << 16));
      REQUIRE(columns[lane * 4 + block] == (transposed | (transposed + 8) << 16));
      REQUIRE(wide[lane * 4 + block] == block * 32 + lane);
    }
  }
}

TEST_CASE("lines of blocks are aligned, inside their array and behind a barrier", "[device]") {
  CHECK(contains(text_thrown<tenon::index_error>([] { words_of_lanes<std::uint16_t>(load_fault::misaligned); }),
                 "expected a multiple of 16"));
  CHECK_THROWS_AS(words_of_lanes<std::uint16_t>(load_fault::outside), tenon::index_error);
  CHECK_THROWS_AS(words_of_lanes<std::uint16_t>(load_fault::no_barrier), tenon::race_error);
  CHECK_THROWS_AS(words_of_lanes<std::uint16_t>(load_fault::no_barrier_after), tenon::race_error);
}

TEST_CASE("a product cuts off what tf32 has no room for, unless it was rounded before", "[device]") {
  CHECK(lonely_product(3.0f, 5.0f) == 15.0f);
  CHECK(lonely_product(1.0f + 0x1p-10f, 1.0f) == 1.0f + 0x1p-10f);
  CHECK(lonely_product(1.0f + 0x1p-11f, 1.0f) == 1.0f);
  const auto rounded = tenon::detail::rounded_word<tenon::tf32>(__builtin_bit_cast(std::uint32_t, 1.0f + 0x1p-11f));
  CHECK(__builtin_bit_cast(float, rounded) == 1.0f + 0x1p-10f);
  CHECK(tenon::detail::rounded_word<tenon::half>(7u) == 7u);
}
