// tenon/data/vocabulary.hpp: text as numbers, and back.
// A token is a byte or a character; tokens are numbered in the order of their codes.
// Floor 6: may include base, core, io, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/core/tensor.hpp>
#include <tenon/io/text.hpp>

namespace tenon::data {

/// What a token of a text is: a byte, or a character of UTF-8.
enum class token { byte, character };

/// The distinct tokens of a text, and the numbers that stand for them.
/// throws    file_error where characters are asked of a text that is not UTF-8
/// example   const std::string text = io::read_text("input.txt");
///           const data::vocabulary words(text);
///           const data::token_windows examples(words.encode(text), {.length = 128});
class vocabulary {
 public:
  TENON_IF_CALLED explicit vocabulary(std::string_view text, token kind = token::character)
      : kind_(kind), codes_(codes_of(text)) {
    std::sort(codes_.begin(), codes_.end());
    codes_.erase(std::unique(codes_.begin(), codes_.end()), codes_.end());
  }

  index size() const { return static_cast<index>(codes_.size()); }
  /// The number of every token.
  /// throws    index_error naming the first token that the vocabulary lacks, and its place in the text
  TENON_IF_CALLED tensor<std::int64_t, rank<1>> encode(std::string_view text) const {
    const std::u32string codes = codes_of(text);
    tensor<std::int64_t, rank<1>> numbers({static_cast<index>(codes.size())});
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const auto found = std::lower_bound(codes_.begin(), codes_.end(), codes[i]);
      if (found == codes_.end() || *found != codes[i]) refuse_code(codes[i], i);
      numbers.data()[i] = found - codes_.begin();
    }
    return numbers;
  }
  /// The text of one token.
  /// throws    index_error when there is no such number
  TENON_IF_CALLED std::string decode(std::int64_t number) const {
    if (number < 0 || number >= size()) {
      throw index_error(
          compose_text("vocabulary: decode: number ", number, ", expected at least 0 and below ", size()));
    }
    const char32_t code = codes_[static_cast<std::size_t>(number)];
    std::string text;
    if (kind_ == token::byte) text += static_cast<char>(code);
    else io::append_character(text, code);
    return text;
  }
  /// The text of a row of tokens.
  template <shape_type Shape, memory_space Space>
  std::string decode(const tensor<std::int64_t, Shape, Space>& numbers) const {
    std::string text;
    for (index i = 0; i < numbers.size(); ++i) text += decode(numbers.data()[i]);
    return text;
  }

 private:
  TENON_IF_CALLED std::u32string codes_of(std::string_view text) const {
    if (kind_ == token::character) return io::characters_of(text);
    std::u32string codes;
    for (const char byte : text) codes.push_back(static_cast<std::uint8_t>(byte));
    return codes;
  }
  TENON_IF_CALLED [[noreturn]] void refuse_code(char32_t code, std::size_t place) const {
    std::string text;
    io::append_character(text, code);
    throw index_error(compose_text("vocabulary: encode: token ", place, ": `", text, "` (", std::uint32_t{code},
                                   ") is not one of its ", size(), " tokens"));
  }

  token kind_;
  std::u32string codes_;
};

}  // namespace tenon::data
