// tenon/io/text.hpp: text files, and the characters of UTF-8.
// Ill-formed bytes are refused with their place, as RFC 3629 has it: no overlong forms, no surrogates.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <tenon/io/bytes.hpp>

namespace tenon::io {

/// A file as text, byte for byte.
/// throws    file_error
/// example   const std::string text = io::read_text("input.txt");
inline std::string read_text(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_text", path);
  return within_memory("read_text", path, bytes.size(), [&] { return std::string(bytes.begin(), bytes.end()); });
}

namespace detail {

/// How many bytes the character that begins with `lead` has; 0 where none does.
constexpr std::size_t utf8_length(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

}  // namespace detail

/// A code point, and how many bytes of UTF-8 it has.
struct utf8_character {
  char32_t code = 0;
  std::size_t length = 0;  ///< 0 where no character begins
};

/// The character that begins at a byte of a text.
/// source    RFC 3629
constexpr utf8_character character_at(std::string_view text, std::size_t at) {
  const auto lead = static_cast<std::uint8_t>(text[at]);
  const std::size_t length = detail::utf8_length(lead);
  if (length == 0 || length > text.size() - at) return {};
  char32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<std::uint8_t>(text[at + i]);
    if ((next & 0xc0) != 0x80) return {};
    code = code << 6 | (next & 0x3fu);
  }
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (is_overlong || is_surrogate || code > 0x10ffff) return {};
  return {code, length};
}

/// The code points of UTF-8.
/// throws    file_error naming the byte at which the text is ill-formed
inline std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  for (std::size_t at = 0; at < text.size();) {
    const auto [code, length] = character_at(text, at);
    if (length == 0) {
      throw file_error(compose_text("characters_of: byte ", at, " begins no character of UTF-8; is it other text?"));
    }
    characters.push_back(code);
    at += length;
  }
  return characters;
}

/// Appends a code point to a text of UTF-8.
inline void append_character(std::string& text, char32_t character) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80u | (character >> shift & 0x3fu)); };
  if (character < 0x80) return text.push_back(static_cast<char>(character));
  if (character < 0x800) return text += static_cast<char>(0xc0u | character >> 6), tail(0);
  if (character < 0x10000) return text += static_cast<char>(0xe0u | character >> 12), tail(6), tail(0);
  text += static_cast<char>(0xf0u | character >> 18), tail(12), tail(6), tail(0);
}

}  // namespace tenon::io
