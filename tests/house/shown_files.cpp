// tests/house/shown_files.cpp: what a page shows of a file is what stands there.
// Behind a line `<!-- file: PATH -->` a block of code holds the file, without the comments and includes that open it.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "house/rules.hpp"
#include "support/catch.hpp"

namespace {

bool begins_with_one_of(const std::string& line, const house::words& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const auto& each) { return line.rfind(each, 0) == 0; });
}

/// The lines of a C++ or Python file from its first declaration on.
house::words declarations_of(const std::string& text) {
  house::words lines = house::split_lines(text);
  const auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return !line.empty() && !begins_with_one_of(line, {"//", "#", "import ", "from "});
  });
  lines.erase(lines.begin(), first);
  return lines;
}

/// The blocks of code behind lines that name a file, by the name.
std::map<std::string, house::words> shown_files(const std::string& page) {
  std::map<std::string, house::words> shown;
  const std::string opening = "<!-- file: ", closing = " -->";
  const house::words lines = house::split_lines(page);
  for (std::size_t at = 0; at + 1 < lines.size(); ++at) {
    if (!begins_with_one_of(lines[at], {opening}) || !begins_with_one_of(lines[at + 1], {"```"})) continue;
    auto& block = shown[lines[at].substr(opening.size(), lines[at].size() - opening.size() - closing.size())];
    for (at += 2; at < lines.size() && lines[at] != "```"; ++at) block.push_back(lines[at]);
  }
  return shown;
}

std::string read_text(const std::string& path) {
  std::ifstream file(std::filesystem::path(TENON_SOURCE_DIR) / path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::ptrdiff_t line_count(const house::words& lines) {
  return std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return !line.empty(); });
}

}  // namespace

TEST_CASE("a shown file begins behind its comments and includes", "[house]") {
  CHECK(declarations_of("// a\n#include <b>\n\nint c;\n\n// d\nint e;\n") ==
        house::words{"int c;", "", "// d", "int e;"});
  CHECK(declarations_of("# a\nimport b\nfrom c import d\n\n\ne = 1\n") == house::words{"e = 1"});
  const auto shown = shown_files("a\n<!-- file: b.py -->\n```python\nc\n\nd\n```\n```\ne\n```\n");
  REQUIRE(shown.size() == 1);
  CHECK(shown.at("b.py") == house::words{"c", "", "d"});
}

TEST_CASE("the page of PyTorch's and Tenon's programs shows their files", "[house]") {
  const auto shown = shown_files(read_text("docs/beside_pytorch.md"));
  CHECK(shown.size() == 12);
  for (const auto& [path, block] : shown) {
    INFO(path);
    CHECK(block == declarations_of(read_text(path)));
    if (path.find(".cpp") == std::string::npos) continue;
    const std::string other = path.substr(0, path.size() - 4) + ".py";
    REQUIRE(shown.count(other) == 1);
    CHECK(line_count(block) <= line_count(shown.at(other)));
  }
}

TEST_CASE("the page of the small GPT shows its file, in which network and training come first", "[house]") {
  const auto shown = shown_files(read_text("docs/gpt.md"));
  REQUIRE(shown.count("examples/gpt/gpt.hpp") == 1);
  const std::string file = read_text("examples/gpt/gpt.hpp");
  CHECK(shown.at("examples/gpt/gpt.hpp") == declarations_of(file));
  const house::words lines = house::split_lines(file);
  const auto training = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return begins_with_one_of(line, {"inline void train"});
  });
  CHECK(std::find(training, lines.end(), "}") - lines.begin() < 60);
}

TEST_CASE("the page of phonemes shows its network", "[house]") {
  const auto shown = shown_files(read_text("docs/phonemes.md"));
  REQUIRE(shown.count("examples/phonemes/network.hpp") == 1);
  CHECK(shown.at("examples/phonemes/network.hpp") == declarations_of(read_text("examples/phonemes/network.hpp")));
}
