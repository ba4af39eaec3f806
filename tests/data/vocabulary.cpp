// tests/data/vocabulary.cpp: text as numbers.
// What is encoded is decoded again; tokens that a vocabulary lacks are named.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/vocabulary.hpp>

#include "support/text_of.hpp"

using tenon::data::vocabulary;

TEST_CASE("tokens are numbered in the order of their codes", "[vocabulary]") {
  const vocabulary letters("banana\n");
  REQUIRE(letters.size() == 4);
  const auto numbers = letters.encode("ban\n");
  const std::int64_t expected[] = {2, 1, 3, 0};
  REQUIRE(numbers.size() == 4);
  for (tenon::index i = 0; i < 4; ++i) CHECK(numbers(i) == expected[i]);
  CHECK(letters.decode(numbers) == "ban\n");
  CHECK(letters.encode("").size() == 0);
}

TEST_CASE("a character is one token, or its bytes are", "[vocabulary]") {
  const std::string text =
      "\xe2\x82\xac"
      "a\xc3\xa4";
  const vocabulary characters(text), bytes(text, tenon::data::token::byte);
  CHECK(characters.size() == 3);
  CHECK(bytes.size() == 6);
  CHECK(characters.encode(text).size() == 3);
  CHECK(bytes.encode(text).size() == 6);
  CHECK(characters.decode(2) == "\xe2\x82\xac");
  CHECK(characters.decode(characters.encode(text)) == text);
  CHECK(bytes.decode(bytes.encode(text)) == text);
}

TEST_CASE("what a vocabulary lacks is refused", "[vocabulary]") {
  const vocabulary letters("ab");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { letters.encode("abc"); }) ==
        "vocabulary: encode: token 2: `c` (99) is not one of its 2 tokens");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { letters.decode(2); }) ==
        "vocabulary: decode: number 2, expected at least 0 and below 2");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { letters.decode(-1); }) ==
        "vocabulary: decode: number -1, expected at least 0 and below 2");
  CHECK(vocabulary("").size() == 0);
}
