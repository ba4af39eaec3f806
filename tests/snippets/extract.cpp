// tests/snippets/extract.cpp: makes a program of a page's blocks of C++: extract PAGE SHOWN_PATH OUTPUT.
// docs/CONTRIBUTING.md says what comments on a page tell it: `<!-- snippet: continues -->` and the like.
// SPDX-License-Identifier: Apache-2.0
#include <cctype>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "snippets/pages.hpp"

namespace {

using lines_of_text = std::vector<std::string>;

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whether a comment says this, and behind it why.
bool has_reason(const std::string& comment, const std::string& what) {
  return starts_with(comment, what) && comment.size() > what.size() + 4 && comment[what.size()] != '-';
}

/// What comments said of the block that follows.
struct marks {
  bool continues = false, declarations = false, is_run = true, is_compiled = true, is_of_file = false;
  bool is_emulated = false;  ///< `tn::emulated` stands for `tn::cuda`
  lines_of_text before;      ///< lines of code that the page does not show
  int before_line = 0;
};

/// A page becomes parts of a program while it is read.
class page_program {
 public:
  explicit page_program(std::string path) : path_(std::move(path)) {}

  void read(const lines_of_text& lines) {
    for (at_ = 0; at_ < lines.size(); ++at_) {
      const std::string& line = lines[at_];
      if (starts_with(line, "<!--")) read_comment(lines);
      else if (starts_with(line, "```cpp")) take_block(block_of(lines));
      else if (starts_with(line, "```text")) take_output(block_of(lines));
      else if (starts_with(line, "```")) block_of(lines);
      else if (starts_with(line, "|") && table_) take_table(lines);
    }
    if (table_) refuse("a comment speaks of a table that does not follow");
    close_function();
  }

  std::string text() const {
    std::ostringstream out;
    out << "// " << path_ << " as a program.\n#include \"snippets/pages.hpp\"\n#include <iostream>\n";
    for (const auto& each : includes_) out << each << "\n";
    const bool has_code = found_.compiled + found_.rows != 0;
    if (has_code && prelude_.empty()) out << "#include <tenon/train.hpp>\n";
    out << (is_in_tenon_ ? "namespace tenon {\n" : "") << "namespace {\nnamespace " << page_name() << " {\n";
    if (has_code && prelude_.empty()) out << "namespace tn = tenon;\nnamespace nn = tenon::nn;\n";
    for (const auto& each : prelude_) out << each << "\n";
    out << code_.str() << "#line 1 \"program\"\nconst snippets::registration page({\"" << path_ << "\", {"
        << found_.compiled << ", " << found_.run << ", " << found_.compared << ", " << found_.rows << ", "
        << found_.of_files << ", " << found_.not_compiled << "}, {";
    for (const int each : run_) out << "{" << each << ", snippet_" << each << "}, ";
    out << "}});\n}\n}  // namespace\n" << (is_in_tenon_ ? "}\n" : "");
    return out.str();
  }

 private:
  /// A namespace of its own, since pages are compiled together.
  std::string page_name() const {
    std::string name = "page_";
    for (const char each : path_) name += std::isalnum(static_cast<unsigned char>(each)) != 0 ? each : '_';
    return name;
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw std::runtime_error(path_ + ":" + std::to_string(at_ + 1) + ": " + why);
  }
  void place(int line) { code_ << "#line " << line << " \"" << path_ << "\"\n"; }

  /// The lines up to the fence, at which `at_` stands then.
  lines_of_text block_of(const lines_of_text& lines) {
    first_line_ = static_cast<int>(at_) + 2;
    lines_of_text block;
    for (++at_; at_ < lines.size() && lines[at_] != "```"; ++at_) block.push_back(lines[at_]);
    if (at_ == lines.size()) refuse("a block has no end");
    return block;
  }

  /// A comment of one line, or of several whose last one is `-->`.
  void read_comment(const lines_of_text& lines) {
    const std::size_t first = at_;
    lines_of_text rest;
    if (!contains(lines[at_], "-->")) {
      for (++at_; at_ < lines.size() && lines[at_] != "-->"; ++at_) rest.push_back(lines[at_]);
    }
    const std::string& line = lines[first];
    if (starts_with(line, "<!-- snippets: begin")) {
      is_in_tenon_ = contains(line, "inside tenon");
      return take_prelude(rest);
    }
    if (starts_with(line, "<!-- file: ")) next_.is_of_file = true;
    if (starts_with(line, "<!-- output: numbers vary")) how_ = "vary";
    if (!starts_with(line, "<!-- snippet: ")) return;
    const std::string what = line.substr(14);
    if (starts_with(what, "continues")) next_.continues = true;
    else if (starts_with(what, "declarations")) next_.declarations = true;
    else if (starts_with(what, "emulated")) next_.is_emulated = true;
    else if (starts_with(what, "table")) table_ = true;
    else if (has_reason(what, "not run: ")) next_.is_run = false;
    else if (has_reason(what, "not compiled: ")) next_.is_compiled = false;
    else if (!starts_with(what, "with")) refuse("unknown: " + line);
    if (rest.empty()) return;
    next_.before = rest;
    next_.before_line = static_cast<int>(first) + 2;
  }

  void take_prelude(const lines_of_text& lines) {
    for (const auto& each : lines) (starts_with(each, "#include") ? includes_ : prelude_).push_back(each);
    if (prelude_.empty()) prelude_.push_back("namespace tn = tenon;");
  }

  void take_block(lines_of_text block) {
    const marks now = std::exchange(next_, {});
    awaits_output_ = false;
    if (now.is_emulated) {
      for (auto& each : block) put_emulated(each);
    }
    if (now.is_of_file) {
      ++found_.of_files;
    } else if (!now.is_compiled) {
      ++found_.not_compiled;
    } else {
      ++found_.compiled;
      if (now.declarations || is_of_file_scope(block)) declare(block, now);
      else extend_function(block, now);
    }
  }

  static void put_emulated(std::string& line) {
    for (auto at = line.find("cuda>"); at != std::string::npos; at = line.find("cuda>"))
      line.replace(at, 4, "emulated");
  }

  /// What opens with an include, a type, a template or a function stands outside of functions.
  static bool is_of_file_scope(const lines_of_text& block) {
    for (const auto& each : block) {
      if (starts_with(each, "int main(")) return true;
    }
    if (block.empty()) return false;
    for (const char* start : {"struct ", "template <"}) {
      if (starts_with(block[0], start)) return true;
    }
    return starts_with(block[0], "namespace ") && !contains(block[0], "=");
  }

  void declare(const lines_of_text& block, const marks& now) {
    close_function();
    emit(now.before, now.before_line);
    bool has_main = false;
    lines_of_text changed = block;
    for (auto& each : changed) {
      if (!starts_with(each, "int main(")) continue;
      each = "void snippet_" + std::to_string(first_line_) + each.substr(8);
      has_main = true;
    }
    emit(changed, first_line_);
    if (!has_main) return;
    // A program's output is looked at behind it, by a function that calls it.
    open_function(first_line_ + 1, now.is_run);
    code_ << "snippet_" << first_line_ << "();\n";
    if (is_run_) await_output();
  }

  void open_function(int line, bool is_run) {
    code_ << "void snippet_" << line << "() {\n";
    is_open_ = true;
    is_run_ = is_run;
    if (is_run) run_.push_back(line);
  }

  void extend_function(const lines_of_text& block, const marks& now) {
    if (!now.continues) {
      close_function();
      open_function(first_line_, now.is_run);
    } else if (!is_open_) {
      refuse("nothing to continue");
    } else {
      end_output();
    }
    emit(now.before, now.before_line);
    emit(block, first_line_);
    if (is_run_) await_output();
  }
  void await_output() {
    ++found_.run;
    awaits_output_ = true;
    output_line_ = first_line_;
    pending_ = "snippets::expect_silence(" + std::to_string(output_line_) + ");\n";
  }
  void end_output() { code_ << std::exchange(pending_, ""); }

  void take_output(const lines_of_text& block) {
    const std::string how = std::exchange(how_, "close");
    if (!awaits_output_) return;
    std::string shown;
    for (const auto& each : block) shown += each + "\n";
    pending_ = "snippets::compare(" + std::to_string(output_line_) + ", R\"__(" + shown +
               ")__\", snippets::numbers::" + how + ");\n";
    awaits_output_ = false;
    ++found_.compared;
  }

  void close_function() {
    if (!is_open_) return;
    end_output();
    code_ << "}\n";
    is_open_ = false;
  }

  /// The code of the column `Tenon`, each row in a scope of its own.
  void take_table(const lines_of_text& lines) {
    const marks now = std::exchange(next_, {});
    table_ = false;
    const lines_of_text header = cells_of(lines[at_]);
    std::size_t column = 0;
    while (column < header.size() && !contains(header[column], "Tenon") && header[column] != " write ") ++column;
    if (column == header.size()) refuse("no column of this table is called Tenon or write");
    first_line_ = static_cast<int>(at_) + 1;
    if (now.continues && is_open_) {
      end_output();
    } else {
      close_function();
      open_function(first_line_, now.is_run);
    }
    emit(now.before, now.before_line);
    for (at_ += 2; at_ < lines.size() && starts_with(lines[at_], "|"); ++at_) {
      const lines_of_text cells = cells_of(lines[at_]);
      if (column < cells.size()) take_row(cells[column]);
    }
    --at_;
    pending_ = "snippets::discard();\n";
    awaits_output_ = false;
  }
  void take_row(const std::string& cell) {
    place(static_cast<int>(at_) + 1);
    code_ << "{ ";
    bool is_code = false, has_code = false;
    std::string code;
    for (const char each : cell) {
      if (each != '`') {
        if (is_code) code += each;
        continue;
      }
      if (is_code && starts_with(code, "#include")) includes_.push_back(code);
      else if (is_code && !contains(code, "..")) code_ << code << (code.back() == ';' ? " " : "; ");
      has_code = true;
      is_code = !is_code;
      code.clear();
    }
    code_ << "}\n";
    if (has_code) ++found_.rows;
  }
  static lines_of_text cells_of(const std::string& row) {
    lines_of_text cells(1);
    for (std::size_t i = 1; i < row.size(); ++i) {
      if (row[i] == '\\' && i + 1 < row.size() && row[i + 1] == '|') cells.back() += row[++i];
      else if (row[i] == '|') cells.emplace_back();
      else cells.back() += row[i];
    }
    return cells;
  }

  void emit(const lines_of_text& lines, int line) {
    if (lines.empty()) return;
    place(line);
    for (const auto& each : lines) {
      const bool is_include = starts_with(each, "#include");
      if (is_include) includes_.push_back(each);
      code_ << (is_include ? "" : each) << "\n";
    }
  }

  std::string path_, how_ = "close", pending_;
  std::size_t at_ = 0;
  int first_line_ = 0, output_line_ = 0;
  bool is_open_ = false, is_run_ = false, awaits_output_ = false, table_ = false, is_in_tenon_ = false;
  marks next_;
  lines_of_text includes_, prelude_;
  std::ostringstream code_;
  std::vector<int> run_;
  snippets::counts found_;
};

lines_of_text read_lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  lines_of_text lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return std::fprintf(stderr, "extract PAGE SHOWN_PATH OUTPUT\n"), 2;
  try {
    page_program program(arguments[2]);
    program.read(read_lines(arguments[1]));
    std::ofstream(arguments[3]) << program.text();
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
