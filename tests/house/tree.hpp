// tests/house/tree.hpp: the texts of the repository.
// Everything that the rules and the pages speak of is read once, by path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>

#include "house/rules.hpp"

namespace house {

/// Sources and pages below `root`.
inline texts read_tree(const std::filesystem::path& root) {
  texts tree;
  for (const char* folder : {"include", "tests", "examples", "benchmarks", "docs"}) {
    if (!std::filesystem::is_directory(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const auto ending = entry.path().extension();
      if (ending != ".hpp" && ending != ".cpp" && ending != ".md") continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      tree[entry.path().lexically_relative(root).generic_string()] = text.str();
    }
  }
  return tree;
}

}  // namespace house
