// tests/house/links.cpp: what a page links to is there: the file, and its heading where one is named.
// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "house/page.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

/// The name that GitHub gives a heading: words in small letters, joined by hyphens, without punctuation.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char each : heading.substr(heading.find(' ') + 1)) {
    const auto letter = static_cast<unsigned char>(each);
    if (each == ' ') anchor += '-';
    else if (std::isalnum(letter) != 0 || each == '-' || each == '_') anchor += static_cast<char>(std::tolower(letter));
  }
  return anchor;
}

house::names anchors_of(const std::string& page) {
  house::names anchors;
  bool is_code = false;
  for (const std::string& line : house::split_lines(page)) {
    if (house::starts_with(line, "```")) is_code = !is_code;
    if (!is_code && house::starts_with(line, "#")) anchors.insert(anchor_of(line));
  }
  return anchors;
}

struct page_link {
  std::string file, anchor;
};

/// Links to other pages and to headings of this one; code holds none.
std::vector<page_link> links_of(const std::string& page) {
  static const std::regex code("`[^`]*`"), pattern("\\]\\(([^)#: ]*)(?:#([^) ]*))?\\)");
  std::vector<page_link> links;
  bool is_code = false;
  for (const std::string& line : house::split_lines(page)) {
    if (house::starts_with(line, "```")) is_code = !is_code;
    if (is_code) continue;
    const std::string text = std::regex_replace(line, code, "");
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), none; at != none; ++at) {
      links.push_back({(*at)[1], (*at)[2]});
    }
  }
  return links;
}

std::string whole_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("links and headings are found", "[links]") {
  CHECK(anchor_of("## Networks in use") == "networks-in-use");
  CHECK(anchor_of("# Views (expr/views)") == "views-exprviews");
  CHECK(anchors_of("# A b\n```\n# c\n```\n") == house::names{"a-b"});
  const auto links = links_of("[a](b.md#c) and [d](#e), `[f](g)`\n```\n[h](i)\n```\n");
  REQUIRE(links.size() == 2);
  CHECK(links[0].file == "b.md");
  CHECK(links[0].anchor == "c");
  CHECK(links[1].anchor == "e");
}

TEST_CASE("what pages link to is there", "[links]") {
  const std::filesystem::path root(TENON_SOURCE_DIR);
  house::texts pages = house::read_tree(root);
  for (const char* each : {"README.md", "examples/README.md"}) pages[each] = whole_text(root / each);
  std::size_t count = 0;
  for (const auto& [path, text] : pages) {
    if (!std::regex_match(path, std::regex(".*[.]md"))) continue;
    for (const page_link& each : links_of(text)) {
      const auto target = each.file.empty() ? root / path : (root / path).parent_path() / each.file;
      ++count;
      if (!std::filesystem::exists(target)) {
        FAIL_CHECK(path + " links to " + each.file);
      } else if (!each.anchor.empty() && anchors_of(whole_text(target)).count(each.anchor) == 0) {
        FAIL_CHECK(path + " links to " + each.file + "#" + each.anchor);
      }
    }
  }
  CHECK(count > 100);
}
