// tests/contraction/host_tile.cpp: the register tile.
// Every height and width, with and without sums of former blocks, packed and with gaps.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_tile.hpp>
#include <tenon/tenon.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

template <class T>
std::vector<T> numbers(std::size_t count, int start) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(static_cast<T>((static_cast<int>(i) * 7 + start) % 11 - 5));
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("tiles of every height and width", "[host]", float, double, std::uint32_t) {
  using products = tenon::number_products<TestType>;
  using tile = tenon::host_tile<products>;
  constexpr tenon::index steps = 5, row_gap = 9, row_pitch = tile::width + 3, pitch = tile::width + 2;
  const auto left = numbers<TestType>(tile::height * row_gap, 1), right = numbers<TestType>(steps * row_pitch, 2);
  for (const tenon::index height : {tile::step, tile::height}) {
    for (tenon::index width = tile::lanes; width <= tile::width; width += tile::lanes) {
      for (const bool copies : {false, true}) {
        const bool has_before = copies != (width == tile::lanes);
        const auto before = numbers<TestType>(static_cast<std::size_t>(height * width), 3);
        std::vector<TestType> results(static_cast<std::size_t>(height * pitch), TestType(99));
        std::vector<TestType> copied(static_cast<std::size_t>(steps * width));
        tenon::tile_operands<products> operands{left.data(), right.data(), row_gap, 1, row_pitch, steps};
        if (has_before) operands.before = before.data(), operands.before_pitch = width;
        operands.are_apart = height == tile::height && width != 2 * tile::lanes;
        const bool is_copied = copies && operands.are_apart;
        if (is_copied) operands.copied = copied.data();
        operands.later = right.data(), operands.later_step = copies ? 0 : 4;
        tenon::multiply_tile(operands, height, width, results.data(), pitch);
        bool right_sums = true, right_copy = true;
        for (tenon::index i = 0; i < height; ++i) {
          for (tenon::index j = 0; j < pitch; ++j) {
            TestType expected = has_before && j < width ? before[static_cast<std::size_t>(i * width + j)] : TestType(0);
            for (tenon::index k = 0; k < steps && j < width; ++k) {
              const TestType number = right[static_cast<std::size_t>(k * row_pitch + j)];
              expected += left[static_cast<std::size_t>(i * row_gap + k)] * number;
              right_copy = right_copy && (!is_copied || copied[static_cast<std::size_t>(k * width + j)] == number);
            }
            if (j >= width) expected = TestType(99);
            right_sums = right_sums && results[static_cast<std::size_t>(i * pitch + j)] == expected;
          }
        }
        CAPTURE(height, width, has_before, copies);
        CHECK(right_sums);
        CHECK(right_copy);
      }
    }
  }
}
