// tests/house/docstrings.cpp: every public name that the doors bring has a docstring, or is described by what it names.
// The rule is that of docs/site/headers.py, which makes a page of each: what a namespace holds begins at column one.
// SPDX-License-Identifier: Apache-2.0
#include "house/page.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

/// A name with its namespaces, whether a docstring stands before it, and what it names.
struct public_name {
  std::string name;
  bool is_described;
  house::words others;
};

/// What a declaration says in front of its body or its end, behind template parameters and constraints.
std::string head_of(const house::words& block) {
  std::string head;
  for (const std::string& line : block) {
    if (head.empty() && (line[0] == ' ' || house::starts_with(line, "template"))) continue;
    const std::string code = house::code_of(line);
    head += code + ' ';
    if (code.find_first_of("{;") != std::string::npos) break;
  }
  static const std::regex markers("(TENON_[A-Z_]+|inline|constexpr|static|explicit|extern|\\[\\[[^\\]]*\\]\\]) +"),
      deduced("decltype\\(auto\\)"), alignment("alignas\\([^{]*\\) (?=\\w+ \\{)");
  head = std::regex_replace(std::regex_replace(head, markers, ""), deduced, "auto");
  return std::regex_replace(head, alignment, "");
}

/// Without template arguments, which may hold any sign.
std::string without_arguments(std::string head) {
  static const std::regex arguments("<[^<>]*>");
  for (std::string before; before != head;) before = head, head = std::regex_replace(head, arguments, "@");
  return head;
}

/// The name that a declaration gives; none for specialisations, deduction guides and what only repeats.
std::string name_of(const house::words& block) {
  static const std::regex type("(?:struct|class|union|enum class|enum) (\\w+)(?: final)? *(?::[^:].*|\\{.*)");
  static const std::regex alias("(?:using|concept) (\\w+) *=.*");
  static const std::regex none(
      "(?:using|struct|class|enum|friend|static_assert|template)\\b.*|\\w+\\(.*\\) *->.*|[A-Z_]+\\(.*");
  static const std::regex sign("[^({;=]*\\boperator *(\"\" *\\w+|[^\\s\\w(]+) *\\(.*");
  static const std::regex other("[^({=;]*[^({=;\\w:@](\\w+) *(?:\\[[^\\]]*\\] *)?[({=;].*");
  const std::string head = head_of(block), flat = without_arguments(head);
  std::smatch match;
  if (std::regex_match(head, match, type) || std::regex_match(head, match, alias)) return match[1];
  if (std::regex_match(head, none)) return "";
  if (std::regex_match(head, match, sign)) return "operator" + std::string(match[1]);
  return std::regex_match(flat, match, other) ? std::string(match[1]) : "";
}

/// Of a variable or an alias all words, of a function what it returns first.
house::words named_by(const house::words& block) {
  static const std::regex word("\\w+"), returned("\\{\\s*return (\\w+)[(<]");
  std::string text;
  for (const std::string& line : block) text += line + '\n';
  house::words found;
  const bool has_body = text.find("{\n") != std::string::npos;
  for (std::sregex_iterator at(text.begin(), text.end(), has_body ? returned : word), end; at != end; ++at) {
    found.push_back(has_body ? (*at)[1] : (*at)[0]);
  }
  return found;
}

/// The lines of a declaration, which ends where its brackets are closed.
house::words block_at(const house::words& lines, std::size_t& at) {
  static const std::regex literal("\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])'"), separator("(\\d)'(?=\\d)");
  house::words block;
  for (int depth = 0; at < lines.size();) {
    const std::string numbers = std::regex_replace(lines[at], separator, "$1");
    const std::string code = house::code_of(std::regex_replace(numbers, literal, "0"));
    for (const char each : code) depth += (each == '(') + (each == '{') - (each == ')') - (each == '}');
    block.push_back(lines[at++]);
    const auto last = code.find_last_not_of(' ');
    const bool ends = last != std::string::npos && (code[last] == ';' || code[last] == '}');
    if (depth == 0 && ends && !head_of(block).empty()) break;
  }
  return block;
}

/// The names of a header outside of `detail`, `engine` and `simd`.
std::vector<public_name> names_in(const std::string& text) {
  static const std::regex opening("(?:inline )?namespace ([\\w:]+) \\{"), hidden(".*\\b(?:detail|engine|simd)\\b.*");
  const house::words lines = house::split_lines(text);
  std::vector<public_name> found;
  house::words spaces;
  bool has_docs = false, shares_docs = false;
  for (std::size_t at = 0; at < lines.size();) {
    const std::string& line = lines[at];
    std::smatch match;
    if (house::starts_with(line, "///") || house::starts_with(line, "#")) {
      has_docs = has_docs || line[0] == '/';
      while (line[0] == '#' && house::ends_with(lines[at], "\\")) ++at;
      ++at;
      continue;
    }
    if (line.empty() || line[0] == '/' || line[0] == '}' || std::regex_match(line, match, opening)) {
      if (!match.empty()) spaces.push_back((spaces.empty() ? "" : spaces.back()) + std::string(match[1]) + "::");
      if (line[0] == '}' && !spaces.empty()) spaces.pop_back();
      has_docs = shares_docs = false, ++at;
      continue;
    }
    const house::words block = block_at(lines, at);
    const std::string name = spaces.empty() || std::regex_match(spaces.back(), hidden) ? "" : name_of(block);
    if (!name.empty()) {
      shares_docs = has_docs || shares_docs || line.find("///<") != std::string::npos;
      found.push_back({spaces.back() + name, shares_docs, named_by(block)});
    }
    has_docs = false;
  }
  return found;
}

/// Headers that the doors bring, of rooms that programs name.
house::names headers_of_doors(const house::texts& tree) {
  static const std::regex include("#include <tenon/([^>]+)>");
  house::words waiting{"expressions.hpp", "products.hpp", "algorithms.hpp", "linalg.hpp", "tenon.hpp", "train.hpp"};
  house::names seen, found;
  while (!waiting.empty()) {
    const std::string header = waiting.back();
    waiting.pop_back();
    if (!seen.insert(header).second) continue;
    if (house::names{"plan", "host", "kernels", "contraction", "device"}.count(house::room_of(header)) == 0) {
      found.insert(header);
    }
    for (const std::string& line : house::split_lines(tree.at("include/tenon/" + header))) {
      std::smatch match;
      if (std::regex_match(line, match, include)) waiting.push_back(match[1]);
    }
  }
  return found;
}

/// Those of which no declaration has a docstring or names, in its own namespace, something that has one.
house::names undescribed(const std::vector<public_name>& all) {
  house::names described, left;
  for (const public_name& each : all) {
    if (each.is_described) described.insert(each.name);
  }
  for (int round = 0; round < 2; ++round) {
    for (const public_name& each : all) {
      const std::string space = each.name.substr(0, each.name.rfind("::") + 2);
      for (const std::string& other : each.others) {
        if (space + other != each.name && described.count(space + other) != 0) described.insert(each.name);
      }
    }
  }
  for (const public_name& each : all) {
    if (described.count(each.name) == 0) left.insert(each.name);
  }
  return left;
}

}  // namespace

TEST_CASE("public names and their docstrings are found", "[docstrings]") {
  const auto left = [](const std::string& text) { return undescribed(names_in("namespace tenon {\n" + text)); };
  CHECK(left("struct a {\n  int b;\n};\n") == house::names{"tenon::a"});
  CHECK(left("/// Docs.\nstruct a {};\nstruct b {};\n\nstruct c {};\n") == house::names{"tenon::c"});
  CHECK(left("template <class T>\n  requires(sizeof(T) > 1)\nconstexpr map<T, 2> f(T x) {\n  return x;\n}\n") ==
        house::names{"tenon::f"});
  CHECK(left("struct a;\ntemplate <>\nstruct a<int> {};\na(int) -> a<int>;\nvoid a<int>::b() {}\n").empty());
  CHECK(left("/// Docs.\nstruct a_op {};\n\ninline constexpr function<a_op> a;\n\nauto b() {\n  return a(1);\n}\n")
            .empty());
  CHECK(left("namespace detail {\nstruct a {};\n}  // namespace detail\nint b = 0;  ///< docs\n").empty());
  CHECK(left("inline constexpr char c[] = {'{', '\"'};\n") == house::names{"tenon::c"});
}

TEST_CASE("every public name of the doors has a docstring", "[docstrings]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  std::ifstream file(std::string(TENON_SOURCE_DIR) + "/docs/site/reference.py");
  std::ostringstream known;  // with the names that may still be without one
  known << file.rdbuf();
  std::vector<public_name> all;
  for (const std::string& header : headers_of_doors(tree)) {
    for (public_name& each : names_in(tree.at("include/tenon/" + header))) all.push_back(std::move(each));
  }
  house::names distinct;
  for (const public_name& each : all) distinct.insert(each.name);
  CHECK(distinct.size() > 1200);
  for (const std::string& name : undescribed(all)) {
    if (known.str().find('"' + name + '"') == std::string::npos) FAIL_CHECK(name + " has no docstring");
  }
}
