// tests/house/rules.hpp: the rules of docs/house.md as a program.
// It reads texts by path, from the disk or made up, so that each rule can be tested on a house of three lines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "house/standard_names.hpp"

namespace house {

using texts = std::map<std::string, std::string>;  ///< text by path, relative to the root of the repository
using words = std::vector<std::string>;

inline constexpr std::size_t most_lines = 400, most_columns = 120, most_includes = 8;

/// What one header may bring with it, itself included.
struct budget {
  std::string header;
  std::size_t most_headers, most_lines, longest_chain;
  words apart;  ///< rooms and headers of std that it never reaches
};

/// The tables of docs/house.md.
struct floor_plan {
  std::map<std::string, int> floors;                         ///< by room
  std::set<std::pair<std::string, std::string>> exceptions;  ///< header, what it may do
  std::vector<budget> budgets;
};

inline words split_lines(const std::string& text) {
  words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The cells of a row of a Markdown table; none for another line.
inline words table_cells(const std::string& line) {
  words cells;
  if (line.empty() || line[0] != '|') return cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return cells;
}

inline words split_words(const std::string& text) {
  std::istringstream stream(text);
  words found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

/// Rows that begin with a number are floors; those of a table headed `exception` are exceptions, `header` budgets.
inline floor_plan read_floor_plan(const std::string& page) {
  floor_plan plan;
  bool in_exceptions = false, in_budgets = false;
  for (const std::string& line : split_lines(page)) {
    const words cells = table_cells(line);
    in_exceptions = !cells.empty() && (in_exceptions || cells[0] == "exception");
    in_budgets = !cells.empty() && (in_budgets || cells[0] == "header");
    if (in_budgets && cells.size() >= 5 && cells[0].find(".hpp") != std::string::npos) {
      plan.budgets.push_back(
          {cells[0], std::stoul(cells[1]), std::stoul(cells[2]), std::stoul(cells[3]), split_words(cells[4])});
    }
    if (cells.size() < 3) continue;
    if (cells[0].find_first_not_of("0123456789") == std::string::npos) plan.floors[cells[1]] = std::stoi(cells[0]);
    if (in_exceptions && cells[0].find(".hpp") != std::string::npos) {
      for (const std::string& what : split_words(cells[1])) plan.exceptions.insert({cells[0], what});
    }
  }
  return plan;
}

inline bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

inline bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// `expr` of `expr/views/slice.hpp`, `evaluate.hpp` of itself.
inline std::string room_of(const std::string& header) { return header.substr(0, header.find('/')); }

/// The room that line 3 of a file header names: a header directly in tenon/ goes without its ending.
inline std::string named_room(const floor_plan& plan, const std::string& word) {
  return plan.floors.count(word) == 0 && plan.floors.count(word + ".hpp") != 0 ? word + ".hpp" : word;
}

/// Columns of a line: bytes that begin a character of UTF-8.
inline std::size_t columns(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// The line without its comment and without what its string literals hold.
inline std::string code_of(const std::string& line) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!quoted && line.compare(i, 2, "//") == 0) break;
    if (line[i] == '"' && (i == 0 || (line[i - 1] != '\\' && line[i - 1] != '\''))) quoted = !quoted;
    if (!quoted || line[i] == '"') code += line[i];
    if (quoted && line[i] == '\\') ++i;
  }
  return code;
}

/// Every rule on one tree.
class inspection {
 public:
  explicit inspection(const texts& tree) : tree_(tree) {
    const auto page = tree.find("docs/house.md");
    if (page != tree.end()) plan_ = read_floor_plan(page->second);
    if (plan_.floors.empty()) complain("docs/house.md", 0, "has no table of floors");
    for (const auto& [path, text] : tree) inspect(path, split_lines(text));
    inspect_circles();
    inspect_exceptions();
    for (const budget& each : plan_.budgets) inspect_budget(each);
    inspect_standard_names();
  }

  const words& complaints() const { return complaints_; }

 private:
  void complain(const std::string& path, std::size_t line, const std::string& what) {
    complaints_.push_back(path + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + what);
  }
  bool is_allowed(const std::string& header, const std::string& what) const {
    return plan_.exceptions.count({header, what}) != 0;
  }

  void inspect(const std::string& path, const words& lines) {
    if (!ends_with(path, ".hpp") && !ends_with(path, ".cpp")) return;
    inspect_size(path, lines);
    inspect_name(path);
    if (starts_with(path, "include/tenon/")) {
      inspect_header(path, path.substr(14), lines);
    } else if (!starts_with(path, "tests/compile_fail/")) {
      inspect_opening(path, path, lines);
    }
  }

  void inspect_size(const std::string& path, const words& lines) {
    if (lines.size() > most_lines) complain(path, 0, std::to_string(lines.size()) + " lines, at most 400");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (columns(lines[i]) > most_columns) complain(path, i + 1, "more than 120 columns");
    }
  }

  void inspect_name(const std::string& path) {
    static const std::regex empty_name("(util|utils|misc|common|helper|helpers)\\.[ch]pp");
    if (std::regex_match(path.substr(path.rfind('/') + 1), empty_name)) complain(path, 0, "a name without an idea");
  }

  void inspect_opening(const std::string& path, const std::string& shown, const words& lines) {
    if (lines.empty() || !starts_with(lines[0], "// " + shown + ": ")) {
      complain(path, 1, "must open with `// " + shown + ": what it is`");
    }
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(lines.size(), 4));
    if (std::find(lines.begin(), end, "// SPDX-License-Identifier: Apache-2.0") == end) {
      complain(path, 1, "no SPDX line among the first four");
    }
  }

  void inspect_header(const std::string& path, const std::string& header, const words& lines) {
    if (plan_.floors.count(room_of(header)) == 0) return complain(path, 0, "its room is not in docs/house.md");
    inspect_opening(path, "tenon/" + header, lines);
    if (lines.size() < 5 || lines[4] != "#pragma once") complain(path, 5, "must be `#pragma once`");
    const std::string test = "tests/" + header.substr(0, header.size() - 4) + ".cpp";
    if (tree_.count(test) == 0 && !is_allowed(header, "no-test")) complain(path, 0, "has no " + test);
    inspect_floor_line(path, header, lines);
    inspect_includes(path, header, lines);
    inspect_code(path, header, lines);
  }

  /// `// Floor 2: may include base, core, expr.`: the floor of the table, rooms below it or its own.
  void inspect_floor_line(const std::string& path, const std::string& header, const words& lines) {
    const int floor = plan_.floors[room_of(header)];
    const std::string opening = "// Floor " + std::to_string(floor) + ": ";
    if (lines.size() < 3 || !starts_with(lines[2], opening))
      return complain(path, 3, "must open with `" + opening + "`");
    if (lines[2].back() != '.') complain(path, 3, "must end with a full stop");
    static const std::regex word("[a-z_.]+[a-z_]");
    const std::string names = lines[2].substr(opening.size());
    if (!starts_with(names, "may include ") || names == "may include everything below.") return;
    for (std::sregex_iterator at(names.begin() + 12, names.end(), word), none; at != none; ++at) {
      const std::string room = named_room(plan_, at->str());
      if (plan_.floors.count(room) == 0) {
        complain(path, 3, "no room is called " + room);
      } else if (!may_include(room_of(header), room)) {
        complain(path, 3, room + " is not below floor " + std::to_string(floor));
      }
    }
  }

  bool may_include(const std::string& from, const std::string& to) {
    return from == to || plan_.floors[to] < plan_.floors[from];
  }

  void inspect_includes(const std::string& path, const std::string& header, const words& lines) {
    static const std::regex include("\\s*#\\s*include <tenon/([^>]+)>.*"), standard("\\s*#\\s*include <([a-z_]+)>.*");
    std::size_t count = 0;
    bool is_for_others = false;  // what only programs that link tenon::compiled read, or nvcc
    std::smatch found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (starts_with(lines[i], "#if")) {
        is_for_others = starts_with(lines[i], "#if TENON_COMPILED != 0") || lines[i] == "#if defined(__CUDACC__)";
      }
      if (starts_with(lines[i], "#endif") || starts_with(lines[i], "#else")) is_for_others = false;
      if (std::regex_match(lines[i], found, standard)) standard_includes_[header].insert(found[1]);
      if (!std::regex_match(lines[i], found, include)) continue;
      if (!is_for_others) ++count, includes_[header].push_back(found[1]);
      inspect_include(path + ":" + std::to_string(i + 1), header, found[1], lines[std::min<std::size_t>(i, 2)]);
    }
    if (count > most_includes && !is_allowed(header, "many-includes")) {
      complain(path, 0, std::to_string(count) + " includes of Tenon's headers, at most 8");
    }
  }

  void inspect_include(const std::string& place, const std::string& header, const std::string& target,
                       const std::string& floor_line) {
    const std::string room = room_of(target);
    if (tree_.count("include/tenon/" + target) == 0) return complain(place, 0, "there is no tenon/" + target);
    if (plan_.floors.count(room) == 0) return;
    if (!may_include(room_of(header), room)) {
      complain(place, 0,
               room_of(header) + " is on floor " + std::to_string(plan_.floors[room_of(header)]) +
                   " and must not include " + room + " on floor " + std::to_string(plan_.floors[room]));
    }
    const bool is_named = std::regex_search(floor_line, std::regex("\\b" + room + "\\b")) || ends_with(room, ".hpp");
    if (!is_named && floor_line.find("everything below") == std::string::npos) {
      complain(place, 0, "includes " + room + ", which line 3 does not name");
    }
  }

  void inspect_code(const std::string& path, const std::string& header, const words& lines) {
    static const std::regex device_syntax(
        "__(global|device|host|shared|constant|launch_bounds|forceinline)__|<<<|\\b(threadIdx|blockIdx|blockDim|"
        "gridDim|warpSize|asm|nvcuda)\\b");
    static const std::regex macro("\\s*#\\s*(define|undef)\\b.*"), bad_ending("\\b\\w+_(impl|helper)\\b");
    static const std::regex underscore("\\b_[a-z]\\w*"), numbered("(class|typename)(\\.\\.\\.)? [A-Z][0-9]+\\b");
    const bool may_use_device_syntax = is_allowed(header, "cuda-syntax");
    const bool may_define_macros = header == "base/config.hpp" || is_allowed(header, "macros");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string code = code_of(lines[i]);
      if (!may_use_device_syntax && std::regex_search(code, device_syntax))
        complain(path, i + 1, "CUDA syntax or assembly");
      if (!may_define_macros && std::regex_match(code, macro)) complain(path, i + 1, "a macro");
      if (std::regex_search(code, bad_ending)) complain(path, i + 1, "a name in _impl or _helper");
      if (std::regex_search(code, underscore)) complain(path, i + 1, "a name with a leading underscore");
      if (std::regex_search(code, numbered)) complain(path, i + 1, "a numbered template parameter");
    }
  }

  void inspect_circles() {
    for (const auto& [header, ignored] : includes_) {
      words chain;
      follow(header, chain);
    }
  }

  void follow(const std::string& header, words& chain) {
    const auto before = std::find(chain.begin(), chain.end(), header);
    if (before != chain.end()) {
      std::string circle;
      for (auto each = before; each != chain.end(); ++each) circle += *each + " -> ";
      return complain("include/tenon/" + header, 0, "a circle: " + circle + header);
    }
    if (!visited_.insert(header).second) return;
    chain.push_back(header);
    for (const std::string& next : includes_[header]) follow(next, chain);
    chain.pop_back();
  }

  void inspect_exceptions() {
    for (const auto& [header, what] : plan_.exceptions) {
      if (tree_.count("include/tenon/" + header) == 0)
        complain("docs/house.md", 0, "exception of a header that is gone: " + header);
    }
  }

  /// All that a header brings, itself included.
  std::set<std::string> closure_of(const std::string& header) {
    std::set<std::string> found = {header};
    words open = {header};
    while (!open.empty()) {
      const std::string at = open.back();
      open.pop_back();
      for (const std::string& next : includes_[at]) {
        if (found.insert(next).second) open.push_back(next);
      }
    }
    return found;
  }

  /// Headers on the longest way down from one; a circle, of which others complain, ends it.
  std::size_t chain_of(const std::string& header) {
    const auto [at, is_new] = chains_.insert({header, 0});
    if (!is_new) return at->second;
    std::size_t longest = 0;
    for (const std::string& next : includes_[header]) longest = std::max(longest, chain_of(next));
    return chains_[header] = longest + 1;
  }

  void inspect_budget(const budget& most) {
    const std::string path = "include/tenon/" + most.header;
    if (tree_.count(path) == 0) return complain("docs/house.md", 0, "budget of a header that is gone: " + most.header);
    std::size_t lines = 0;
    const auto brought = closure_of(most.header);
    for (const std::string& each : brought) {
      const auto text = tree_.find("include/tenon/" + each);
      if (text != tree_.end()) lines += split_lines(text->second).size();
      if (std::count(most.apart.begin(), most.apart.end(), room_of(each)) != 0) complain(path, 0, "reaches " + each);
      for (const std::string& name : standard_includes_[each]) {
        if (std::count(most.apart.begin(), most.apart.end(), "`<" + name + ">`") == 0) continue;
        complain(path, 0, "reaches <" + name + "> by way of " + each);
      }
    }
    compare(path, brought.size(), most.most_headers, "headers");
    compare(path, lines, most.most_lines, "lines");
    compare(path, chain_of(most.header), most.longest_chain, "headers in a chain");
  }

  void compare(const std::string& path, std::size_t count, std::size_t most, const std::string& what) {
    if (count > most) {
      complain(path, 0, "brings " + std::to_string(count) + " " + what + ", at most " + std::to_string(most));
    }
  }

  /// Names of std whose header is brought neither by this one nor by those of Tenon that it includes.
  void inspect_standard_names() {
    static const std::regex name("\\bstd::([a-z_0-9]+|FILE)");
    const auto headers = headers_of_standard_names();
    for (const auto& [path, text] : tree_) {
      if (!starts_with(path, "include/tenon/") || !ends_with(path, ".hpp")) continue;
      std::set<std::string> brought;
      for (const std::string& each : closure_of(path.substr(14))) brought.merge(std::set(standard_includes_[each]));
      const words lines = split_lines(text);
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (lines[i].find("std::") == std::string::npos) continue;
        const std::string code = code_of(lines[i]);
        for (std::sregex_iterator at(code.begin(), code.end(), name), none; at != none; ++at) {
          const auto found = headers.find((*at)[1]);
          if (found != headers.end() && brought.insert(found->second).second) {
            complain(path, i + 1, "std::" + found->first + " without <" + found->second + ">");
          }
        }
      }
    }
  }

  const texts& tree_;
  floor_plan plan_;
  std::map<std::string, words> includes_;
  std::map<std::string, std::set<std::string>> standard_includes_;
  std::map<std::string, std::size_t> chains_;
  std::set<std::string> visited_;
  words complaints_;
};

/// What breaks the rules, a line each; nothing when the house stands.
inline words complaints_of(const texts& tree) { return inspection(tree).complaints(); }

}  // namespace house
