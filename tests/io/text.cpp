// tests/io/text.cpp: text files and the characters of UTF-8.
// Every length of character goes in and out; every kind of ill-formed byte is refused at its place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/text.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;

TEST_CASE("a text file is read byte for byte", "[text]") {
  const tenon_test::scratch_file file("read.txt");
  const std::string content("line\r\nwith a zero\0byte\xff", 23);
  file.write(tenon_test::bytes_of(content));
  CHECK(io::read_text(file.path) == content);
  CHECK(tenon_test::has(tenon_test::text_of<tenon::file_error>([] { io::read_text("/no/such/text"); }),
                        "read_text: /no/such/text: there is no folder /no/such"));
}

TEST_CASE("characters of every length go in and out", "[text]") {
  const std::u32string characters{0, U'a', 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
  std::string text;
  for (const char32_t each : characters) io::append_character(text, each);
  CHECK(text.size() == 3 + 2 * 2 + 4 * 3 + 2 * 4);
  CHECK(io::characters_of(text) == characters);
  CHECK(io::characters_of("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80") == std::u32string{0xe4, 0x20ac, 0x1f600});
  CHECK(io::characters_of("").empty());
}

TEST_CASE("ill-formed text is refused at its place", "[text]") {
  const char* const bad[] = {
      "\x80",     "\xc3",         "\xc3(",        "\xe2\x82",         "\xe2(\xac",        "\xf0\x9f\x98", "\xc0\xaf",
      "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xff"};
  for (const char* each : bad) {
    CAPTURE(std::string(each).size(), static_cast<int>(static_cast<std::uint8_t>(each[0])));
    CHECK(tenon_test::text_of<tenon::file_error>([&] { io::characters_of(std::string("ab") + each); }) ==
          "characters_of: byte 2 begins no character of UTF-8; is it other text?");
  }
}
