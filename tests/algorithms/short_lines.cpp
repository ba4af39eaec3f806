// tests/algorithms/short_lines.cpp: lines that blocks order, of every length about the powers of two.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/short_lines.hpp>

#include <algorithm>
#include <numeric>

#include "device/spaces.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

/// Numbers of elements in order of their keys, line by line.
template <class Key>
std::vector<tenon::index> sorted_numbers(const std::vector<Key>& keys, std::size_t length) {
  std::vector<tenon::index> numbers(keys.size());
  std::iota(numbers.begin(), numbers.end(), tenon::index{0});
  for (auto first = numbers.begin(); first != numbers.end(); first += static_cast<std::ptrdiff_t>(length)) {
    std::sort(first, first + static_cast<std::ptrdiff_t>(length), [&](tenon::index left, tenon::index right) {
      const Key a = keys[static_cast<std::size_t>(left)], b = keys[static_cast<std::size_t>(right)];
      return a != b ? a < b : left < right;
    });
  }
  return numbers;
}

/// Keys of which many are equal, the least and the greatest among them.
template <class Key>
std::vector<Key> repeated_keys(std::size_t count, unsigned different) {
  std::vector<Key> keys;
  for (std::size_t i = 0; i < count; ++i) {
    keys.push_back(static_cast<Key>(static_cast<Key>(~Key{0}) - i * 7919 % 10007 % different));
  }
  return keys;
}

template <class Space, class Key>
void check_short_lines(std::size_t lines, std::size_t length, unsigned different) {
  CAPTURE(lines, length, different);
  const auto keys = repeated_keys<Key>(lines * length, different);
  const tenon_test::device_copy<Space, Key> given(keys);
  const tenon_test::device_copy<Space, tenon::index> numbers(std::vector<tenon::index>(keys.size(), -1));
  tenon::sort_short_lines<Space>(given.data(), numbers.data(), static_cast<tenon::index>(lines),
                                 static_cast<tenon::index>(length));
  CHECK(numbers.values() == sorted_numbers(keys, length));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("blocks order short lines, equal keys by their places", "[short_lines]",
                        tenon_test::kernel_spaces) {
  for (const std::size_t length : {1u, 2u, 3u, 31u, 32u, 33u, 64u, 65u, 128u, 200u}) {
    check_short_lines<TestType, std::uint32_t>(3, length, 5);
    check_short_lines<TestType, std::uint32_t>(3, length, 5000);
  }
  check_short_lines<TestType, std::uint8_t>(700, 5, 100);
  check_short_lines<TestType, std::uint16_t>(50, 100, 300);
  check_short_lines<TestType, std::uint32_t>(2, 1025, 3000);
  check_short_lines<TestType, std::uint32_t>(1, tenon::most_short_line, 9000);
}

TEST_CASE("which keys are short", "[short_lines]") {
  STATIC_REQUIRE(tenon::is_short_key<std::uint8_t>);
  STATIC_REQUIRE(tenon::is_short_key<std::uint32_t>);
  STATIC_REQUIRE_FALSE(tenon::is_short_key<std::uint64_t>);
}
