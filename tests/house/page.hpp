// tests/house/page.hpp: what the tables of a page name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex>
#include <set>

#include "house/rules.hpp"

namespace house {

using names = std::set<std::string>;

/// The names that the first column of tables shows as code: called, given template arguments, or alone.
inline names names_on(const std::string& page) {
  static const std::regex code("`([^`]*)`?"), used("(\\w*[a-z_]\\w*)(?=[(<{])"), alone("\\w+");
  names found;
  for (const std::string& line : split_lines(page)) {
    const words cells = table_cells(line);
    if (cells.empty()) continue;
    for (std::sregex_iterator at(cells[0].begin(), cells[0].end(), code), none; at != none; ++at) {
      const std::string text = (*at)[1];
      if (std::regex_match(text, alone)) found.insert(text);
      for (std::sregex_iterator name(text.begin(), text.end(), used); name != none; ++name) found.insert((*name)[1]);
    }
  }
  return found;
}

}  // namespace house
