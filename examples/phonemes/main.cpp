// examples/phonemes/main.cpp: prints how English words sound, as phonemes, by a network of two GRUs.
// The weights are those of g2p_en, a package of PyPI; docs/phonemes.md says how to get them.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <ctime>
#include <iostream>
#include <tenon/io/text.hpp>

#include "../command_line.hpp"
#include "words.hpp"

namespace {

struct settings {
  std::string weights = "g2p_en/checkpoint20.npz", text, words;
  bool check = false, processor_time = false;
  int rounds = 0;
  std::size_t batch = 32;
};

/// Words, and what is said to be their phonemes.
struct word_list {
  std::vector<std::string> words, sounds;
};

/// The lines of a file: a word, a blank, its phonemes.
word_list listed(const std::string& path) {
  word_list all;
  const std::string text = tenon::io::read_text(path);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    const std::size_t blank = std::min(line.find(' '), line.size());
    all.words.push_back(line.substr(0, blank));
    all.sounds.push_back(line.substr(std::min(blank + 1, line.size())));
    begin = end + 1;
  }
  return all;
}

void print_sounds(phonemes::network& net, const std::string& line, std::size_t batch) {
  const std::vector<std::string> words = phonemes::words_of(line);
  const auto said = phonemes::say_words(net, words, batch);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::printf("%s  %s\n", words[i].c_str(), phonemes::names_of(said[i]).c_str());
  }
  std::fflush(stdout);
}

int print_all(phonemes::network& net, const settings& given) {
  if (!given.text.empty()) {
    print_sounds(net, given.text, given.batch);
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) print_sounds(net, line, given.batch);
  return 0;
}

/// Compares the phonemes of words with those listed.
int check(phonemes::network& net, const settings& given) {
  const word_list list = listed(given.words);
  const auto said = phonemes::say_words(net, list.words, given.batch);
  int different = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    const std::string found = phonemes::names_of(said[i]);
    if (found == list.sounds[i]) continue;
    std::printf("%s  %s, expected %s\n", list.words[i].c_str(), found.c_str(), list.sounds[i].c_str());
    ++different;
  }
  std::printf("%zu words, %d of them with other phonemes than listed\n", said.size(), different);
  return different == 0 ? 0 : 1;
}

double seconds_now(bool of_processor) {
  if (of_processor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Prints how many words a second are said: the best of `rounds`.
int time_rounds(phonemes::network& net, const settings& given) {
  const std::vector<std::string> words = listed(given.words).words;
  double best = 0;
  for (int round = 0; round < given.rounds; ++round) {
    const double start = seconds_now(given.processor_time);
    (void)phonemes::say_words(net, words, given.batch);
    best = std::max(best, static_cast<double>(words.size()) / (seconds_now(given.processor_time) - start));
  }
  std::printf("%zu words, %.1f words/s\n", words.size(), best);
  return 0;
}

int run(const std::vector<std::string_view>& arguments) {
  settings given;
  example::command_line options(
      "phonemes [options]\n\nPrints the phonemes of each word of the text, or of the lines that it reads.");
  options.add("--weights FILE", given.weights, "checkpoint20.npz of the package g2p_en");
  options.add("--text TEXT", given.text, "what is said; without it what comes in");
  options.add("--words FILE", given.words, "a word a line, its phonemes behind it, for --check and --rounds");
  options.add("--check", given.check, "compare the phonemes of these words");
  options.add("--rounds N", given.rounds, 1, "say them N times and print words per second (default: do not)");
  options.add("--batch N", given.batch, std::size_t{1}, "at most so many words at once");
  options.add("--processor-time", given.processor_time, "rates are those of seconds that processors worked");
  options.require("--check", "--words FILE");
  options.require("--rounds", "--words FILE");
  if (!options.parse(arguments)) return 0;
  if (!std::filesystem::exists(given.weights)) {
    std::printf("skipped: there is no %s; pip install --no-deps --target . g2p_en\n", given.weights.c_str());
    return 77;
  }
  phonemes::network net = phonemes::load(given.weights);
  if (given.rounds > 0) return time_rounds(net, given);
  return given.check ? check(net, given) : print_all(net, given);
}

}  // namespace

int main(int count, char** arguments) { return example::run_example("phonemes", count, arguments, run); }
