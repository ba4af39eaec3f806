// examples/minilm/tokenizer.hpp: text as the numbers of word pieces, as BERT's uncased tokenizer makes them.
// Text is cleaned, put into lower case and parted into words; a word is the longest pieces of a vocabulary.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tenon/io/text.hpp>
#include <unordered_map>
#include <vector>

#include "letters.hpp"

namespace minilm {

/// Whether a character lies in one of the sorted ranges of a table.
template <std::size_t Count>
bool lies_in(const character_range (&ranges)[Count], char32_t code) {
  const auto* const behind = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                              [](char32_t c, const character_range& each) { return c < each.first; });
  return behind != std::begin(ranges) && code <= std::prev(behind)->last;
}

inline bool is_space(char32_t code) {
  return code == ' ' || (code >= '\t' && code <= '\r' && code != '\v' && code != '\f') || code == 0xa0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x202f || code == 0x205f || code == 0x3000;
}

/// Whether a character is a word of its own: Chinese, and what Japanese and others took from it.
inline bool is_ideograph(char32_t code) {
  return (code >= 0x4e00 && code <= 0x9fff) || (code >= 0x3400 && code <= 0x4dbf) ||
         (code >= 0x20000 && code <= 0x2a6df) || (code >= 0x2a700 && code <= 0x2ceaf) ||
         (code >= 0xf900 && code <= 0xfaff) || (code >= 0x2f800 && code <= 0x2fa1f);
}

/// A letter in lower case and without its accents.
inline char32_t plain_letter(char32_t code) {
  const auto* run = std::upper_bound(std::begin(letters), std::end(letters), code,
                                     [](char32_t c, const letter_run& each) { return c < each.first; });
  for (int back = 0; back < 4 && run != std::begin(letters); ++back) {  // runs of every second letter interlock
    --run;
    if (code > run->last || (code - run->first) % run->step != 0) continue;
    return run->moves ? run->target + (code - run->first) : run->target;
  }
  return code;
}

/// Appends a character; a Korean syllable as the letters that it is made of.
inline void append_letters(std::u32string& word, char32_t code) {
  if (code < 0xac00 || code > 0xd7a3) return word.push_back(code);
  const char32_t syllable = code - 0xac00, last = syllable % 28;
  word.push_back(0x1100 + syllable / 588);
  word.push_back(0x1161 + syllable % 588 / 28);
  if (last != 0) word.push_back(0x11a7 + last);
}

/// The words of a text, in lower case and without accents; each mark of punctuation is one.
inline std::vector<std::u32string> words_of(std::string_view text) {
  std::vector<std::u32string> words;
  bool is_inside = false;
  const auto append_alone = [&](char32_t code) { words.emplace_back(1, code), is_inside = false; };
  for (std::size_t at = 0; at < text.size();) {
    const auto [given, length] = tenon::io::character_at(text, at);
    at += length == 0 ? 1 : length;
    if (length == 0 || given == 0 || given == 0xfffd) continue;
    const char32_t code = plain_letter(given);
    if (is_space(code)) is_inside = false;
    else if (lies_in(controls, code) || lies_in(accents, code)) continue;
    else if (is_ideograph(code) || lies_in(punctuation, code)) append_alone(code);
    else {
      if (!is_inside) words.emplace_back();
      is_inside = true;
      append_letters(words.back(), code);
    }
  }
  return words;
}

/// The word pieces of a vocabulary, one a line; those that begin with `##` go on a word.
class tokenizer {
 public:
  explicit tokenizer(const std::filesystem::path& vocabulary) {
    const std::string text = tenon::io::read_text(vocabulary);
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::size_t length = end - begin - (end > begin && text[end - 1] == '\r' ? 1 : 0);
      numbers_.emplace(text.substr(begin, length), static_cast<int>(numbers_.size()));
      begin = end + 1;
    }
    begin_ = number_of("[CLS]"), end_ = number_of("[SEP]"), unknown_ = number_of("[UNK]");
  }

  /// The numbers of a text's pieces between [CLS] and [SEP], at most `most` of all.
  std::vector<int> encode(std::string_view text, std::size_t most) const {
    std::vector<int> numbers{begin_};
    for (const std::u32string& word : words_of(text)) {
      if (numbers.size() + 1 >= most) break;
      append_pieces(numbers, word);
    }
    numbers.resize(std::min(numbers.size(), most - 1));
    numbers.push_back(end_);
    return numbers;
  }

 private:
  static constexpr std::size_t longest_word = 100;

  int number_of(const std::string& text) const {
    const auto found = numbers_.find(text);
    if (found == numbers_.end()) throw tenon::file_error("tokenizer: the vocabulary lacks " + text);
    return found->second;
  }
  /// The longest piece with which the word begins, then the longest that goes on; one unknown where none does.
  void append_pieces(std::vector<int>& numbers, const std::u32string& word) const {
    const std::size_t before = numbers.size();
    for (std::size_t begin = 0; begin < word.size();) {
      const auto [number, length] = longest_piece(word, begin);
      if (length == 0 || word.size() > longest_word) {
        numbers.resize(before);
        numbers.push_back(unknown_);
        return;
      }
      numbers.push_back(number);
      begin += length;
    }
  }
  struct piece {
    int number;
    std::size_t length;  ///< in characters; 0: none fits
  };
  piece longest_piece(const std::u32string& word, std::size_t begin) const {
    std::string text = begin == 0 ? "" : "##";
    piece longest{unknown_, 0};
    for (std::size_t end = begin; end < std::min(word.size(), begin + longest_word); ++end) {
      tenon::io::append_character(text, word[end]);
      const auto found = numbers_.find(text);
      if (found != numbers_.end()) longest = {found->second, end + 1 - begin};
    }
    return longest;
  }

  std::unordered_map<std::string, int> numbers_;
  int begin_ = 0, end_ = 0, unknown_ = 0;
};

}  // namespace minilm
