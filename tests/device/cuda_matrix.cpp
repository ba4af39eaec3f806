// tests/device/cuda_matrix.cpp: products of matrices that lanes hold, against double loops.
// The same kernels run emulated and on a GPU where there is one: the layouts of both are PTX's.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_matrix.hpp>

#include <cmath>
#include <cstring>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// sums (16 x 8) = 1 + left (16 x depth) * right (depth x 8), both with k fastest or, transposed, slowest; one warp.
template <class T, bool Transposed>
struct block_product_kernel {
  using storage = tenon::fragment_storage<T>;
  using sum = tenon::fragment_accumulator<T>;
  static constexpr int depth = tenon::lane_product_depth<T>, rows = 16, columns = 8;
  const storage* left;
  const storage* right;
  sum* sums;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto a = device.template shared<storage>(rows * depth), b = device.template shared<storage>(columns * depth);
    for (int i = device.lane(); i < rows * depth; i += tenon::warp_size) a.store(i, left[i]);
    for (int i = device.lane(); i < columns * depth; i += tenon::warp_size) b.store(i, right[i]);
    device.sync_warp();
    // blocks of the left operand: rows 0-7 and 8-15, then further in k; of the right one two, taken twice
    const int line = device.lane() % 8, block = device.lane() / 8;
    auto left_words = device.template load_blocks<Transposed>(a, first(rows, line, block % 2, block / 2));
    const auto both = device.template load_blocks<Transposed>(b, first(columns, line, 0, block % 2));
    tenon::lane_words<2> right_words{{both[2], both[3]}};
    device.template round_words<T>(left_words);
    device.template round_words<T>(right_words);
    auto held = tenon::filled_array<4>(sum(1));
    device.template multiply_blocks<T>(held, left_words, right_words);
    for (int slot = 0; slot < 4; ++slot) {
      const int row = tenon::lane_sum_row(device.lane(), slot), column = tenon::lane_sum_column(device.lane(), slot);
      sums[row * columns + column] = held[slot];
    }
  }

 private:
  /// Where line `line` of a block begins: a row of the operand or, transposed, a step of k.
  TENON_HOST_DEVICE static int first(int extent, int line, int outer, int inner) {
    return Transposed ? (line + inner * 8) * extent + outer * 8 : (line + outer * 8) * depth + inner * depth / 2;
  }
};

template <class T, bool Transposed>
void check_product() {
  on_each_space_since(80, [](auto space) {
    using Space = decltype(space);
    using kernel_type = block_product_kernel<T, Transposed>;
    using storage = typename kernel_type::storage;
    using sum = typename kernel_type::sum;
    constexpr int rows = kernel_type::rows, columns = kernel_type::columns, depth = kernel_type::depth;
    const auto left = whole_numbers<storage>(rows * depth, 5), right = whole_numbers<storage>(columns * depth, 3);
    const device_copy<Space, storage> a(left), b(right);
    const device_copy<Space, sum> c(std::vector<sum>(rows * columns));
    tenon::launch<Space>({.block = 32, .shared_bytes = 2048}, kernel_type{a.data(), b.data(), c.data()});
    const auto seen = c.values();
    const auto at = [](const std::vector<storage>& values, int extent, int line, int k) {
      return static_cast<double>(values[static_cast<std::size_t>(Transposed ? k * extent + line : line * depth + k)]);
    };
    for (int i = 0; i < rows * columns; ++i) {
      double expected = 1;
      for (int k = 0; k < depth; ++k) expected += at(left, rows, i / columns, k) * at(right, columns, i % columns, k);
      CAPTURE(i);
      REQUIRE(static_cast<double>(seen[static_cast<std::size_t>(i)]) == expected);
    }
  });
}

struct bytes_kernel {
  std::uint32_t* words;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if (device.lane() != 0) return;
    words[0] = device.select_bytes(0x33221100u, 0x77665544u, 0x6420u);
    words[1] = device.select_bytes(0x33221100u, 0x77665544u, 0x7531u);
    words[2] = device.select_bytes(0x33221100u, 0x77665544u, 0x0077u);
  }
};

/// Pairs of 16 bits, then powers of two as they are in memory.
struct pairs_and_powers_kernel {
  static constexpr int powers = 6;
  std::uint32_t* words;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if (device.lane() != 0) return;
    words[0] = device.template pack_pair<tenon::half>(1.0f, -2.0f);
    words[1] = device.template pack_pair<tenon::bfloat16>(1.0f, -2.0f);
    const float exponents[powers] = {-3.5f, 0.0f, 127.0f, -200.0f, -__builtin_inff(), 0.1f};
    for (int i = 0; i < powers; ++i) {
      const float power = device.power_of_two(exponents[i]);
      __builtin_memcpy(words + 2 + i, &power, sizeof(power));
    }
  }
};

}  // namespace

TEST_CASE("two numbers in a word, and powers of two", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    constexpr int powers = pairs_and_powers_kernel::powers;
    const device_copy<Space, std::uint32_t> words(std::vector<std::uint32_t>(2 + powers));
    tenon::launch<Space>({.block = 32, .shared_bytes = 0}, pairs_and_powers_kernel{words.data()});
    const auto seen = words.values();
    CHECK(seen[0] == 0xc0003c00u);
    CHECK(seen[1] == 0xc0003f80u);
    const double expected[powers] = {std::exp2(-3.5), 1, 0x1p127, 0, 0, std::exp2(static_cast<double>(0.1f))};
    for (int i = 0; i < powers; ++i) {
      float power = 0;
      std::memcpy(&power, &seen[static_cast<std::size_t>(2 + i)], sizeof(power));
      CAPTURE(i, power);
      CHECK(std::fabs(static_cast<double>(power) - expected[i]) <= 0x1p-22 * expected[i]);
    }
  });
}
TEST_CASE("four of eight bytes", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, std::uint32_t> words(std::vector<std::uint32_t>(3));
    tenon::launch<Space>({.block = 32, .shared_bytes = 0}, bytes_kernel{words.data()});
    CHECK(words.values() == std::vector<std::uint32_t>{0x66442200u, 0x77553311u, 0x00007777u});
  });
}
TEST_CASE("lanes multiply half, k fastest and slowest", "[device]") {
  check_product<tenon::half, false>();
  check_product<tenon::half, true>();
}
TEST_CASE("lanes multiply bfloat16, k fastest and slowest", "[device]") {
  check_product<tenon::bfloat16, false>();
  check_product<tenon::bfloat16, true>();
}
TEST_CASE("lanes multiply tf32", "[device]") { check_product<tenon::tf32, false>(); }
TEST_CASE("lanes multiply int8", "[device]") { check_product<std::int8_t, false>(); }
