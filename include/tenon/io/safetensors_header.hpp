// tenon/io/safetensors_header.hpp: the JSON header of a safetensors file.
// A parser of just the JSON that the format allows; whatever else stands there is refused with its position.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tenon/base/array.hpp>
#include <tenon/io/text.hpp>
#include <vector>

namespace tenon::io {

/// One tensor of a safetensors file: element type, extents, and where its bytes begin and end in the data.
struct safetensors_entry {
  std::string dtype;
  std::vector<index> extents;
  std::uint64_t begin = 0, end = 0;
};

/// What a header says.
struct safetensors_header {
  std::map<std::string, safetensors_entry> tensors;
  std::map<std::string, std::string> metadata;
};

/// The name under which a header keeps its metadata; no tensor may have it.
inline constexpr std::string_view metadata_name = "__metadata__";

/// A text between quotes, as JSON writes it.
inline std::string quoted_json(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') quoted += {'\\', letter};
    else if (code < 0x20) quoted.append("\\u00").append({digits[code / 16u], digits[code % 16u]});
    else quoted += letter;
  }
  return quoted += '"';
}

/// Parses the header of a safetensors file: text of UTF-8, each name of an object once, whole numbers as JSON has them.
/// throws    file_error with the position of the first character that does not belong
/// source    RFC 8259
class safetensors_header_parser {
 public:
  explicit safetensors_header_parser(std::string_view text) : text_(text) {}

  TENON_IF_CALLED safetensors_header parse() {
    safetensors_header header;
    bool has_metadata = false;
    members([&](std::string name) {
      if (name == metadata_name) {
        take_once(has_metadata);
        members([&](std::string key) { insert(header.metadata, std::move(key), string()); });
      } else {
        insert(header.tensors, std::move(name), entry());
      }
    });
    if (skip_spaces() != '\0' || position_ != text_.size()) refuse("nothing after the last brace");
    return header;
  }

 private:
  static constexpr int greatest_rank = 64;

  TENON_IF_CALLED [[noreturn]] void refuse(const char* expected) const {
    throw file_error(compose_text("header: character ", position_, ": expected ", expected));
  }
  TENON_IF_CALLED char skip_spaces() {
    while (position_ < text_.size() && std::string_view(" \t\r\n").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool take(char wanted) {
    if (skip_spaces() != wanted) return false;
    ++position_;
    return true;
  }
  void must_take(char wanted, const char* expected) {
    if (!take(wanted)) refuse(expected);
  }
  template <class Map, class Value>
  void insert(Map& map, std::string&& key, Value&& value) {
    bool was_there = !map.emplace(std::move(key), std::forward<Value>(value)).second;
    take_once(was_there);
  }
  TENON_IF_CALLED void take_once(bool& was_there) {
    if (std::exchange(was_there, true)) refuse("a name that was not there before");
  }

  template <class Member>
  void members(Member&& member) {
    must_take('{', "{");
    if (take('}')) return;
    do {
      std::string name = string();
      must_take(':', ": after a name");
      member(std::move(name));
    } while (take(','));
    must_take('}', "} or ,");
  }
  TENON_IF_CALLED std::vector<std::uint64_t> numbers() {
    std::vector<std::uint64_t> result;
    must_take('[', "[");
    if (take(']')) return result;
    do {
      if (result.size() == greatest_rank) refuse("at most 64 numbers");
      result.push_back(number());
    } while (take(','));
    must_take(']', "] or ,");
    return result;
  }
  TENON_IF_CALLED std::uint64_t number() {
    constexpr std::uint64_t limit = std::uint64_t{1} << 62;
    char digit = skip_spaces();
    if (digit < '0' || digit > '9') refuse("a number");
    const std::size_t first = position_;
    std::uint64_t value = 0;
    for (; digit >= '0' && digit <= '9'; digit = ++position_ < text_.size() ? text_[position_] : '\0') {
      value = value * 10 + static_cast<std::uint64_t>(digit - '0');
      if (value > limit) refuse("a number up to 2^62");
    }
    if (text_[first] == '0' && position_ != first + 1) refuse("a number without leading zeros");
    return value;
  }
  TENON_IF_CALLED std::string string() {
    must_take('"', "a string");
    std::string result;
    while (position_ < text_.size() && text_[position_] != '"') {
      const auto [code, length] = character_at(text_, position_);
      if (length == 0) refuse("a character of UTF-8");
      if (code < 0x20) refuse("no control character in a string");
      result += text_.substr(position_, length);
      position_ += length;
      if (code == '\\') result.pop_back(), escape(result);
    }
    must_take('"', "the end of a string");
    return result;
  }
  TENON_IF_CALLED void escape(std::string& result) {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    const char letter = position_ < text_.size() ? text_[position_++] : '\0';
    if (const auto known = names.find(letter); known != std::string_view::npos) {
      result += values[known];
    } else if (letter == 'u') {
      append_character(result, escaped_character());
    } else {
      refuse("an escape of JSON");
    }
  }
  TENON_IF_CALLED unsigned four_digits() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char digit = position_ < text_.size() ? text_[position_++] : '\0';
      const auto value = std::string_view("0123456789abcdefABCDEF").find(digit);
      if (digit == '\0' || value == std::string_view::npos) refuse("four hexadecimal digits");
      code = code * 16 + static_cast<unsigned>(value < 16 ? value : value - 6);
    }
    return code;
  }
  /// Characters beyond 16 bits are two escapes: a high surrogate, then a low one.
  TENON_IF_CALLED char32_t escaped_character() {
    const auto is_surrogate = [](unsigned code, unsigned first) { return code >= first && code < first + 0x400; };
    const unsigned high = four_digits();
    if (!is_surrogate(high, 0xd800) && !is_surrogate(high, 0xdc00)) return high;
    const bool has_second = text_.substr(position_).starts_with("\\u");
    position_ += has_second ? 2 : 0;
    const unsigned low = has_second ? four_digits() : 0;
    if (!is_surrogate(high, 0xd800) || !is_surrogate(low, 0xdc00)) refuse("a pair of surrogates");
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
  }
  TENON_IF_CALLED safetensors_entry entry() {
    safetensors_entry result;
    bool has_dtype = false, has_shape = false, has_offsets = false;
    members([&](const std::string& name) {
      if (name == "dtype") {
        take_once(has_dtype);
        result.dtype = string();
      } else if (name == "shape") {
        take_once(has_shape);
        for (const std::uint64_t extent : numbers()) result.extents.push_back(static_cast<index>(extent));
      } else if (name == "data_offsets") {
        take_once(has_offsets);
        const auto offsets = numbers();
        if (offsets.size() != 2) refuse("two data_offsets");
        result.begin = offsets[0], result.end = offsets[1];
      } else {
        refuse("dtype, shape or data_offsets");
      }
    });
    if (!has_dtype || !has_shape || !has_offsets) refuse("dtype, shape and data_offsets, once each");
    return result;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace tenon::io
