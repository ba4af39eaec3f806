// tests/plan/meet.cpp: whether strided blocks have a byte in common.
// The reference marks the bytes of one block and looks for those of the other.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/view.hpp>
#include <tenon/plan/meet.hpp>
#include <vector>

#include "support/random.hpp"

namespace {

using tenon::rank;

constexpr tenon::index memory_bytes = 8000;
alignas(8) unsigned char memory[memory_bytes];

/// Calls `visit` with the first byte of every element.
template <class View, class Visit>
void for_each_element(const View& block, const Visit& visit) {
  const auto* first = reinterpret_cast<const unsigned char*>(block.data());
  for (tenon::index i = 0; i < block.extent(0); ++i) {
    for (tenon::index j = 0; j < block.extent(1); ++j) {
      visit(first + block.offset({{i, j}}) * static_cast<tenon::index>(sizeof(*block.data())) - memory);
    }
  }
}

template <class Left, class Right>
bool share_bytes(const Left& left, const Right& right) {
  return tenon::share_bytes(tenon::block_of(left), tenon::block_of(right));
}

template <class Left, class Right>
bool bytes_are_shared(const Left& left, const Right& right) {
  std::vector<bool> marked(memory_bytes);
  for_each_element(left, [&](tenon::index byte) {
    for (std::size_t i = 0; i < sizeof(*left.data()); ++i) marked.at(static_cast<std::size_t>(byte) + i) = true;
  });
  bool shared = false;
  for_each_element(right, [&](tenon::index byte) {
    for (std::size_t i = 0; i < sizeof(*right.data()); ++i) {
      shared = shared || marked.at(static_cast<std::size_t>(byte) + i);
    }
  });
  return shared;
}

/// A block of up to 4 x 4 elements around the middle of the memory.
template <class T>
tenon::view<T, rank<2>> random_block(tenon_test::random_source& random) {
  const auto number = [&random](tenon::index least, tenon::index most) {
    return least + random.below(most - least + 1);
  };
  auto* const middle = reinterpret_cast<T*>(memory + memory_bytes / 2) + number(-20, 20);
  return {middle, rank<2>(number(0, 4), number(0, 4)), {{number(-25, 25), number(-6, 6)}}};
}

template <class Left, class Right>
void check_random_blocks() {
  tenon_test::random_source random(7);
  int wrong = 0, shared = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto left = random_block<Left>(random);
    const auto right = random_block<Right>(random);
    const bool expected = bytes_are_shared(left, right);
    wrong += share_bytes(left, right) == expected ? 0 : 1;
    shared += expected ? 1 : 0;
  }
  CHECK(wrong == 0);
  CHECK(shared > 1000);
  CHECK(shared < 19000);
}

}  // namespace

TEST_CASE("the answer for random strides is exact", "[meet]") {
  check_random_blocks<std::int32_t, std::int32_t>();
  check_random_blocks<std::int32_t, double>();
  check_random_blocks<std::int8_t, std::int32_t>();
}

TEST_CASE("numbers share bytes with themselves", "[meet]") {
  const tenon::view<float, tenon::shape<>> number(reinterpret_cast<float*>(memory), {}), next(number.data() + 1, {});
  CHECK(share_bytes(number, number));
  CHECK(!share_bytes(number, next));
}

TEST_CASE("large blocks are judged by their strides", "[meet]") {
  const auto block = [](tenon::index first, tenon::index step) {
    const tenon::array<tenon::index, 3> strides{{1000000, 1000, step}};
    return tenon::view<float, rank<3>>(reinterpret_cast<float*>(memory) + first, rank<3>(900, 900, 400), strides);
  };
  CHECK(!share_bytes(block(0, 2), block(1, 2)));
  CHECK(share_bytes(block(0, 2), block(2, 2)));
  CHECK(!share_bytes(block(0, 1), block(400, 1)));
  CHECK(share_bytes(block(0, 1), block(399, 1)));
  CHECK(share_bytes(block(0, -1), block(-399, 1)));
}
