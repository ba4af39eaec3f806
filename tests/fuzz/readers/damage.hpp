// tests/fuzz/readers/damage.hpp: damage that knows what files are made of.
// Numbers, binary and decimal, become those at the ends of their types; pieces between marks are lost, doubled, moved.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>

#include "fuzz/readers/format.hpp"

namespace fuzz {

inline constexpr std::uint64_t numbers_at_ends[] = {0,
                                                    1,
                                                    2,
                                                    3,
                                                    4,
                                                    7,
                                                    8,
                                                    127,
                                                    128,
                                                    255,
                                                    256,
                                                    65535,
                                                    65536,
                                                    0x7fffffff,
                                                    0x80000000,
                                                    0xffffffff,
                                                    0x100000000,
                                                    std::uint64_t{1} << 61,
                                                    (std::uint64_t{1} << 62) - 1,
                                                    std::uint64_t{1} << 62,
                                                    (std::uint64_t{1} << 63) - 1,
                                                    std::uint64_t{1} << 63,
                                                    ~std::uint64_t{0} - 7,
                                                    ~std::uint64_t{0}};

inline constexpr const char* texts_at_ends[] = {"-1",
                                                "-0",
                                                "00",
                                                "1e400",
                                                "1e-400",
                                                "-1e-46",
                                                "0x10",
                                                "1.5",
                                                "inf",
                                                "nan",
                                                "NA",
                                                "+1",
                                                "\"",
                                                "\"\"",
                                                "\\",
                                                "\\\"",
                                                "\\u0000",
                                                "\\ud800",
                                                "\\udc00",
                                                "\\ud83d\\ude00",
                                                "\xff",
                                                "\xc3",
                                                "\n",
                                                "\r\n",
                                                "\t",
                                                " ",
                                                ",",
                                                ";",
                                                "{",
                                                "}",
                                                "[",
                                                "]",
                                                "(",
                                                ")",
                                                ":",
                                                "#",
                                                "'",
                                                "True",
                                                "False",
                                                "__metadata__",
                                                "18446744073709551615",
                                                "18446744073709551616",
                                                "9223372036854775808",
                                                "4611686018427387904"};

/// Where a piece begins, and how long it is.
struct piece {
  std::size_t first, length;
};

/// A piece between two of a file's marks, or anywhere.
inline piece some_piece(const bytes& content, random_source& random) {
  const auto size = static_cast<std::int64_t>(content.size());
  auto first = static_cast<std::size_t>(random.below(size + 1));
  auto length =
      static_cast<std::size_t>(random.below(std::min<std::int64_t>(size - static_cast<std::int64_t>(first), 64) + 1));
  const auto is_mark = [](std::uint8_t byte) {
    return byte < 0x80 && std::string_view(" ,:;{}[]()\"'\n").find(static_cast<char>(byte)) != std::string_view::npos;
  };
  if (once_in(2, random)) {
    while (first > 0 && !is_mark(content[first - 1])) --first;
    length = 0;
    while (first + length < content.size() && !is_mark(content[first + length])) ++length;
    if (first + length < content.size() && once_in(2, random)) ++length;  // with its mark
  }
  return {first, length};
}

inline void replace(bytes& content, const piece& part, const bytes& by) {
  const auto begin = content.begin() + static_cast<std::ptrdiff_t>(part.first);
  content.insert(content.erase(begin, begin + static_cast<std::ptrdiff_t>(part.length)), by.begin(), by.end());
}

/// Writes a number at the end of its type over bytes anywhere, in either order.
inline void damage_number(bytes& content, random_source& random) {
  constexpr std::size_t widths[] = {1, 2, 4, 8};
  const std::size_t width = one_of(widths, random);
  if (content.size() < width) return;
  const auto at = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(content.size() - width + 1)));
  const std::uint64_t number = one_of(numbers_at_ends, random);
  const bool is_big = once_in(2, random);
  for (std::size_t i = 0; i < width; ++i) {
    content[at + i] = static_cast<std::uint8_t>(number >> 8 * (is_big ? width - 1 - i : i));
  }
}

/// Replaces a decimal number by another, or by a text.
inline void damage_decimal(bytes& content, random_source& random) {
  const auto is_digit = [](std::uint8_t byte) { return byte >= '0' && byte <= '9'; };
  const auto start = content.begin() + random.below(static_cast<std::int64_t>(content.size()) + 1);
  const auto first = std::find_if(start, content.end(), is_digit);
  const auto end = std::find_if_not(first, content.end(), is_digit);
  const piece part{static_cast<std::size_t>(first - content.begin()), static_cast<std::size_t>(end - first)};
  const std::string number =
      once_in(3, random) ? one_of(texts_at_ends, random) : std::to_string(one_of(numbers_at_ends, random));
  replace(content, part, tenon_test::bytes_of(number));
}

/// One change of a file.
inline void damage_once(bytes& content, random_source& random) {
  const piece part = some_piece(content, random), other = some_piece(content, random);
  const auto begin = content.begin() + static_cast<std::ptrdiff_t>(part.first);
  const bytes taken(begin, begin + static_cast<std::ptrdiff_t>(part.length));
  switch (random.below(10)) {
    case 0:
      if (part.first < content.size()) content[part.first] = static_cast<std::uint8_t>(random.bits());
      break;
    case 1:
      if (part.first < content.size()) content[part.first] ^= static_cast<std::uint8_t>(1u << random.below(8));
      break;
    case 2:
      content.resize(part.first);
      break;
    case 3:
      replace(content, {part.first, 0},
              bytes(static_cast<std::size_t>(random.below(9)), static_cast<std::uint8_t>(random.bits())));
      break;
    case 4:
      replace(content, {part.first, 0}, taken);  // twice
      break;
    case 5:
      replace(content, part, {});
      break;
    case 6:
      replace(content, other, taken);
      break;
    case 7:
      replace(content, {part.first, once_in(2, random) ? part.length : 0},
              tenon_test::bytes_of(one_of(texts_at_ends, random)));
      break;
    case 8:
      damage_decimal(content, random);
      break;
    default:
      damage_number(content, random);
  }
}

/// One to four changes.
inline bytes damaged(bytes content, random_source& random) {
  for (auto changes = 1 + random.below(4); changes > 0; --changes) damage_once(content, random);
  return content;
}

/// A damaged file of some kind; its sums are set right once in two times.
inline bytes attack(const format& kind, bytes content, random_source& random) {
  content = damaged(std::move(content), random);
  if (kind.repair != nullptr && once_in(2, random)) kind.repair(content);
  return content;
}

}  // namespace fuzz
