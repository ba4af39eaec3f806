// tests/snippets/main.cpp: runs the snippets of the pages that are named, and compares what they print.
// Without names it runs all; `--counts` prints how many snippets there are on each page, and runs none.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "snippets/pages.hpp"

namespace {

std::ostringstream printed;
std::string path;
int failures = 0, compared = 0;

void fail(int line, const std::string& what) {
  ++failures;
  std::fprintf(stderr, "%s:%d: %s\n", path.c_str(), line, what.c_str());
}

/// And whatever a snippet said of the form of numbers is over.
std::string take_printed() {
  std::cout.copyfmt(std::ios(nullptr));
  std::string text = printed.str();
  printed.str("");
  return text;
}

/// The text without white space but for a space between numbers or words, so that layout may differ.
std::string without_space(const std::string& text) {
  std::string result;
  for (const char each : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(each)) != 0;
    if (!is_space) result += each;
    else if (!result.empty() && result.back() != ' ') result += ' ';
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

bool begins_number(const std::string& text, std::size_t at) {
  const bool inside_word = at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
  const std::size_t digit = at + (text[at] == '-' ? 1U : 0U);
  return !inside_word && digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit])) != 0;
}

bool are_whole(double left, double right) { return left == std::round(left) && right == std::round(right); }
bool are_close(double left, double right) {
  return left == right || (!are_whole(left, right) && std::abs(left - right) <= 1e-5 + 2e-3 * std::abs(right));
}

bool agree(const std::string& found, const std::string& shown, snippets::numbers how) {
  std::size_t i = 0, j = 0;
  while (i < found.size() && j < shown.size()) {
    if (begins_number(found, i) && begins_number(shown, j)) {
      char *found_end = nullptr, *shown_end = nullptr;
      const double left = std::strtod(found.c_str() + i, &found_end);
      const double right = std::strtod(shown.c_str() + j, &shown_end);
      if (!are_close(left, right) && (how == snippets::numbers::close || are_whole(left, right))) return false;
      i = static_cast<std::size_t>(found_end - found.c_str());
      j = static_cast<std::size_t>(shown_end - shown.c_str());
    } else if (found[i] == ' ' || shown[j] == ' ') {  // numbers of other widths are set apart in another way
      i += found[i] == ' ' ? 1U : 0U;
      j += shown[j] == ' ' ? 1U : 0U;
    } else if (found[i++] != shown[j++]) {
      return false;
    }
  }
  return i == found.size() && j == shown.size();
}

void run_page(const snippets::page& page) {
  path = page.path;
  // Of this process alone: pages run side by side, and each folder is removed at its end.
  const auto folder = std::filesystem::temp_directory_path() / ("tenon_snippets_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::streambuf* const console = std::cout.rdbuf(printed.rdbuf());
  for (const auto& each : page.to_run) {
    try {
      each.run();
    } catch (const std::exception& error) {
      fail(each.line, std::string("a snippet threw: ") + error.what());
      take_printed();
    }
  }
  std::cout.rdbuf(console);
  std::filesystem::current_path(std::filesystem::temp_directory_path());
  std::filesystem::remove_all(folder);
}

void print_counts() {
  std::printf("%-36s %8s %8s %8s %8s %8s %8s\n", "page", "compiled", "run", "compared", "rows", "of files", "not");
  snippets::counts all;
  for (const auto& page : snippets::pages()) {
    const auto& n = page.found;
    std::printf("%-36s %8d %8d %8d %8d %8d %8d\n", page.path.c_str(), n.compiled, n.run, n.compared, n.rows, n.of_files,
                n.not_compiled);
    all.compiled += n.compiled, all.run += n.run, all.compared += n.compared;
    all.rows += n.rows, all.of_files += n.of_files, all.not_compiled += n.not_compiled;
  }
  std::printf("%-36s %8d %8d %8d %8d %8d %8d\n", "all", all.compiled, all.run, all.compared, all.rows, all.of_files,
              all.not_compiled);
}

}  // namespace

namespace snippets {

void compare(int line, const std::string& shown, numbers how) {
  const std::string found = take_printed();
  ++compared;
  if (!agree(without_space(found), without_space(shown), how)) {
    fail(line, "the page shows\n" + shown + "\nbut the snippet prints\n" + found);
  }
}

void expect_silence(int line) {
  const std::string found = take_printed();
  if (!found.empty()) fail(line, "the page does not show what the snippet prints, in a block of text:\n" + found);
}

void discard() { take_printed(); }

}  // namespace snippets

int main(int count, char** arguments) {
  auto& pages = snippets::pages();
  std::sort(pages.begin(), pages.end(), [](const auto& left, const auto& right) { return left.path < right.path; });
  const std::vector<std::string> chosen(arguments + 1, arguments + count);
  if (!chosen.empty() && chosen[0] == "--counts") return print_counts(), 0;
  int run = 0, found = 0;
  for (const auto& page : pages) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), page.path) == chosen.end()) continue;
    run_page(page);
    ++found;
    run += static_cast<int>(page.to_run.size());
  }
  std::printf("%d snippets run, %d outputs compared, %d failed\n", run, compared, failures);
  return failures == 0 && found > 0 ? 0 : 1;
}
