// tenon/io/safetensors_header.hpp: the JSON header of a safetensors file.
// A parser of just the JSON that the format allows; whatever else stands there is refused with its position.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
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

/// Parses the header of a safetensors file.
/// throws    file_error with the position of the first character that does not belong
class safetensors_header_parser {
 public:
  explicit safetensors_header_parser(std::string_view text) : text_(text) {}

  safetensors_header parse() {
    safetensors_header header;
    members([&](std::string name) {
      if (name == "__metadata__") {
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

  [[noreturn]] void refuse(const char* expected) const {
    throw file_error(compose_text("header: character ", position_, ": expected ", expected));
  }
  char skip_spaces() {
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
    if (!map.emplace(std::move(key), std::forward<Value>(value)).second) refuse("a name that was not there before");
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
  std::vector<std::uint64_t> numbers() {
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
  std::uint64_t number() {
    constexpr std::uint64_t limit = std::uint64_t{1} << 62;
    char digit = skip_spaces();
    if (digit < '0' || digit > '9') refuse("a number");
    std::uint64_t value = 0;
    for (; digit >= '0' && digit <= '9'; digit = ++position_ < text_.size() ? text_[position_] : '\0') {
      value = value * 10 + static_cast<std::uint64_t>(digit - '0');
      if (value > limit) refuse("a number below 2^62");
    }
    return value;
  }
  std::string string() {
    must_take('"', "a string");
    std::string result;
    while (position_ < text_.size() && text_[position_] != '"') {
      const char letter = text_[position_++];
      if (static_cast<unsigned char>(letter) < 0x20) refuse("no control character in a string");
      if (letter == '\\') escape(result);
      else result += letter;
    }
    must_take('"', "the end of a string");
    return result;
  }
  void escape(std::string& result) {
    constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    const char letter = position_ < text_.size() ? text_[position_++] : '\0';
    if (const auto known = names.find(letter); known != std::string_view::npos) {
      result += values[known];
    } else if (letter == 'u') {
      append_utf8(result, four_digits());
    } else {
      refuse("an escape of JSON");
    }
  }
  unsigned four_digits() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char digit = position_ < text_.size() ? text_[position_++] : '\0';
      const auto value = std::string_view("0123456789abcdefABCDEF").find(digit);
      if (digit == '\0' || value == std::string_view::npos) refuse("four hexadecimal digits");
      code = code * 16 + static_cast<unsigned>(value < 16 ? value : value - 6);
    }
    return code;
  }
  static void append_utf8(std::string& result, unsigned code) {
    if (code < 0x80) {
      result += static_cast<char>(code);
    } else if (code < 0x800) {
      result += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
    } else {
      result += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
                 static_cast<char>(0x80 | (code & 0x3f))};
    }
  }
  safetensors_entry entry() {
    safetensors_entry result;
    int fields = 0;
    members([&](const std::string& name) {
      ++fields;
      if (name == "dtype") {
        result.dtype = string();
      } else if (name == "shape") {
        for (const std::uint64_t extent : numbers()) result.extents.push_back(static_cast<index>(extent));
      } else if (name == "data_offsets") {
        const auto offsets = numbers();
        if (offsets.size() != 2) refuse("two data_offsets");
        result.begin = offsets[0], result.end = offsets[1];
      } else {
        refuse("dtype, shape or data_offsets");
      }
    });
    if (fields != 3 || result.dtype.empty()) refuse("dtype, shape and data_offsets, once each");
    return result;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace tenon::io
