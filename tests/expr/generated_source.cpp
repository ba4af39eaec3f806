// tests/expr/generated_source.cpp: values of positions, one by one and in packs.
// A generator that counts its blocks shows that neighbours share them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/generated_source.hpp>

#include <vector>

#include "support/catch.hpp"

namespace {

using tenon::array;

struct tens_of_position {
  using element = float;
  TENON_HOST_DEVICE float operator()(tenon::index position) const { return static_cast<float>(position) * 10; }
};

/// Four neighbours are made of one block, whose bits are its number.
struct parts_of_block {
  using element = float;
  static constexpr tenon::index together = 4;
  int* drawn;
  array<std::uint32_t, 4> block(std::uint64_t number) const {
    ++*drawn;
    const auto bits = static_cast<std::uint32_t>(number);
    return {{bits, bits, bits, bits}};
  }
  float of_block(const array<std::uint32_t, 4>& bits, tenon::index place) const {
    return static_cast<float>(bits[place]) * 4 + static_cast<float>(place);
  }
};

}  // namespace

TEST_CASE("generated values depend on the affine offset", "[generated_source]") {
  const tenon::generated_source<tens_of_position, 2> source{{}, 3, {{100, -1}}};
  std::vector<float> values;
  for (tenon::index row = 0; row < 2; ++row) {
    const auto cursor = source.at({{row, 0}});
    for (tenon::index i = 0; i < 4; ++i) values.push_back(cursor.value(i, tenon::no_slots{}));
  }
  CHECK(values == std::vector<float>{30, 20, 10, 0, 1030, 1020, 1010, 1000});
}

TEST_CASE("neighbours in a pack share blocks of random bits", "[generated_source]") {
  if constexpr (tenon::compiled_by_nvcc) return;  // which has no packs
  constexpr int width = tenon::simd::native_width<float>;
  for (const tenon::index stride : {1, 2}) {
    for (tenon::index first = 0; first < 6; ++first) {
      CAPTURE(stride, first);
      int drawn = 0;
      const tenon::generated_source<parts_of_block, 1> source{{&drawn}, first, {{stride}}};
      const auto lanes =
          source.at({{0}}).pack<width>(0, tenon::whole_access<tenon::reading::strided>{}, tenon::no_slots{});
      for (tenon::index lane = 0; lane < width; ++lane) CHECK(lanes[lane] == static_cast<float>(first + lane * stride));
      if (stride == 1) CHECK(drawn == (first % 4 + width - 1) / 4 + 1);
    }
  }
}
