// examples/phonemes/letters.hpp: letters as numbers, numbers as phonemes, and the words of a text.
// Numbers are those of the package g2p_en, whose weights the network has; phonemes are ARPABET's, vowels with a stress.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace phonemes {

inline constexpr int unknown_letter = 1, end_of_letters = 2, first_letter = 3, letter_count = 29;
inline constexpr int begin_of_sounds = 2, end_of_sounds = 3;

inline constexpr std::array<std::string_view, 74> sound_names = {
    "<pad>", "<unk>", "<s>", "</s>", "AA0", "AA1", "AA2", "AE0", "AE1", "AE2", "AH0", "AH1", "AH2", "AO0", "AO1",
    "AO2",   "AW0",   "AW1", "AW2",  "AY0", "AY1", "AY2", "B",   "CH",  "D",   "DH",  "EH0", "EH1", "EH2", "ER0",
    "ER1",   "ER2",   "EY0", "EY1",  "EY2", "F",   "G",   "HH",  "IH0", "IH1", "IH2", "IY0", "IY1", "IY2", "JH",
    "K",     "L",     "M",   "N",    "NG",  "OW0", "OW1", "OW2", "OY0", "OY1", "OY2", "P",   "R",   "S",   "SH",
    "T",     "TH",    "UH0", "UH1",  "UH2", "UW",  "UW0", "UW1", "UW2", "V",   "W",   "Y",   "Z",   "ZH"};

/// A letter of ASCII in lower case; 0 for any other byte.
inline char letter_of(char byte) {
  if (byte >= 'A' && byte <= 'Z') return static_cast<char>(byte - 'A' + 'a');
  return byte >= 'a' && byte <= 'z' ? byte : '\0';
}

/// Whether a byte goes on with a character of UTF-8 that began before it.
inline bool goes_on(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// A word as numbers, the end behind them. What is no letter of ASCII counts as unknown, once a character.
inline std::vector<int> letters_of(std::string_view word) {
  std::vector<int> numbers;
  for (const char byte : word) {
    if (goes_on(byte)) continue;
    const char letter = letter_of(byte);
    numbers.push_back(letter == '\0' ? unknown_letter : first_letter + (letter - 'a'));
  }
  numbers.push_back(end_of_letters);
  return numbers;
}

/// The words of a text: runs of letters, apostrophes and characters beyond ASCII in which there is a letter.
inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool has_letter = false;
  const auto end_word = [&] {
    if (has_letter) words.push_back(word);
    word.clear(), has_letter = false;
  };
  for (const char byte : text) {
    const bool is_letter = letter_of(byte) != '\0', is_beyond = static_cast<unsigned char>(byte) >= 0x80;
    if (!is_letter && !is_beyond && byte != '\'') {
      end_word();
    } else {
      word += is_letter ? letter_of(byte) : byte;
      has_letter = has_letter || is_letter;
    }
  }
  end_word();
  return words;
}

/// Phonemes by name, with blanks between.
inline std::string names_of(const std::vector<int>& sounds) {
  std::string text;
  for (const int sound : sounds) {
    if (!text.empty()) text += ' ';
    text += sound_names[static_cast<std::size_t>(sound)];
  }
  return text;
}

}  // namespace phonemes
