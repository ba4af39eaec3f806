// tests/data/word_pieces.cpp: the tokenizer of examples/minilm, with a vocabulary of its own.
// Expected pieces are those of the package `tokenizers` with BERT's uncased settings and the same vocabulary.
// SPDX-License-Identifier: Apache-2.0
#include "../../examples/minilm/tokenizer.hpp"

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

using tenon_test::scratch_file;

namespace {

/// The pieces of a text, by a vocabulary of these lines, with blanks between.
std::string pieces_of(const std::string& text, std::size_t most = 100) {
  const std::vector<std::string> lines = {
      "[PAD]", "[UNK]", "[CLS]",   "[SEP]",   "un",   "##able", "##a", "able", "cafe", ",", "!", "東", "京",
      "eleve", "##s",   "strasse", "σισυφος", "елка", "ᄒ",     "##ᅡ", "##ᆫ",  "x",    "'", "$", "5",  "ab"};
  const scratch_file file("vocab.txt");
  std::string content;
  for (const std::string& line : lines) content += line + "\n";
  file.write(tenon_test::bytes_of(content));
  std::string pieces;
  for (const int number : minilm::tokenizer(file.path).encode(text, most)) {
    pieces += (pieces.empty() ? "" : " ") + lines[static_cast<std::size_t>(number)];
  }
  return pieces;
}

}  // namespace

TEST_CASE("words are the longest pieces", "[word_pieces]") {
  CHECK(pieces_of("unable able una") == "[CLS] un ##able able un ##a [SEP]");
  CHECK(pieces_of("unabler") == "[CLS] [UNK] [SEP]");  // whole words alone are unknown
  CHECK(pieces_of("") == "[CLS] [SEP]");
  CHECK(pieces_of("x" + std::string(100, 'a')) == "[CLS] [UNK] [SEP]");  // longer than 100 characters
  CHECK(pieces_of("x" + std::string(99, 'a')).substr(0, 15) == "[CLS] x ##a ##a");
}

TEST_CASE("case, accents and punctuation go", "[word_pieces]") {
  CHECK(pieces_of("CAFÉ,Café!") == "[CLS] cafe , cafe ! [SEP]");
  CHECK(pieces_of("Élèves cafe\u0301") == "[CLS] eleve ##s cafe [SEP]");
  CHECK(pieces_of("Σίσυφος Ёлка") == "[CLS] σισυφος елка [SEP]");
  CHECK(pieces_of("straße") == "[CLS] [UNK] [SEP]");  // ß has no accent
  CHECK(pieces_of("$5 able'x") == "[CLS] $ 5 able ' x [SEP]");
}

TEST_CASE("ideographs are words, and Korean syllables letters", "[word_pieces]") {
  CHECK(pieces_of("東京x東") == "[CLS] 東 京 x 東 [SEP]");
  CHECK(pieces_of("한") == "[CLS] ᄒ ##ᅡ ##ᆫ [SEP]");
}

TEST_CASE("controls, broken bytes and spaces of all kinds", "[word_pieces]") {
  CHECK(pieces_of("a\u200bb\u00a0x\tx\r\nx") == "[CLS] ab x x x [SEP]");
  CHECK(pieces_of(std::string("a\0b \xff\xc3 x", 8)) == "[CLS] ab x [SEP]");
}

TEST_CASE("what is too long is cut before the end", "[word_pieces]") {
  CHECK(pieces_of("x x x x", 4) == "[CLS] x x [SEP]");
  CHECK(pieces_of("unable unable", 4) == "[CLS] un ##able [SEP]");
}

TEST_CASE("a vocabulary without its marks is refused", "[word_pieces]") {
  const scratch_file file("vocab.txt");
  file.write(tenon_test::bytes_of("a\n[CLS]\n"));
  CHECK(tenon_test::text_of<tenon::file_error>([&] { minilm::tokenizer made(file.path); }) ==
        "tokenizer: the vocabulary lacks [SEP]");
}
