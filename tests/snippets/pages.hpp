// tests/snippets/pages.hpp: what the programs made of pages and the program that runs them have in common.
// A page registers its snippets; a snippet tells what it was shown to print, which is compared with what it printed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace snippets {

/// How numbers with a fraction are compared: to two or three digits, or not at all. Whole ones must be equal.
enum class numbers { close, vary };

struct snippet {
  int line;
  void (*run)();
};

/// What extract.cpp counted on a page.
struct counts {
  int compiled = 0, run = 0, compared = 0, rows = 0, of_files = 0, not_compiled = 0;
};

struct page {
  std::string path;
  counts found;
  std::vector<snippet> to_run;
};

/// All pages of the program.
inline std::vector<page>& pages() {
  static std::vector<page> all;
  return all;
}

struct registration {
  explicit registration(const page& each) { pages().push_back(each); }
};

/// Takes what was printed since the last call, and compares it with what the page shows below `line`.
void compare(int line, const std::string& shown, numbers how);
/// The same where the page shows nothing: then nothing may be printed.
void expect_silence(int line);
/// What a table's rows print is of no interest.
void discard();

}  // namespace snippets
