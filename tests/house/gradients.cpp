// tests/house/gradients.cpp: all that has a gradient has a row in a table of those that are checked.
// Rows are read where tests write them, `{"names", ...}`; what has none, and needs none, says here why.
// SPDX-License-Identifier: Apache-2.0
#include <iterator>

#include "house/page.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

using house::names;
using reasons = std::map<std::string, std::string>;

names words_in(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

/// All groups of `pattern` in the lines of a text.
names matches_of(const std::string& text, const std::regex& pattern) {
  names found;
  std::smatch match;
  for (const std::string& line : house::split_lines(text)) {
    if (std::regex_search(line, match, pattern)) found.merge(words_in(match[1].str()));
  }
  return found;
}

/// The names of rows of all tests whose path begins so.
names rows_of(const house::texts& tree, const std::string& start) {
  static const std::regex row("^ +\\{\"([\\w ]+)\",");
  names found;
  for (const auto& [path, text] : tree) {
    if (house::starts_with(path, start)) found.merge(matches_of(text, row));
  }
  return found;
}

/// A page but for the sections whose headings begin with one of the words of `without`.
std::string page_without(const std::string& page, const reasons& without) {
  std::string kept;
  bool is_kept = true;
  for (const std::string& line : house::split_lines(page)) {
    if (house::starts_with(line, "## ")) {
      is_kept = without.count(line.substr(3, line.find_first_of(" ,(", 3) - 3)) == 0;
    }
    if (is_kept) kept += line + "\n";
  }
  return kept;
}

/// The layers that headers of nn declare: by the name that they show, or as another one with arguments; and losses.
names layers_of(const house::texts& tree) {
  static const std::regex shown("^  static constexpr const char\\* name = \"(\\w+)\";");
  static const std::regex alias("^using (?!\\w+_options)(\\w+) =( [\\w:]+<|$)");
  static const std::regex loss("^auto (\\w+_loss|cross_entropy\\w*)\\(");
  names found;
  for (const auto& [path, text] : tree) {
    if (!house::starts_with(path, "include/tenon/nn/") || house::ends_with(path, "engines.hpp")) continue;
    for (const std::regex& pattern : {shown, alias, loss}) found.merge(matches_of(text, pattern));
  }
  return found;
}

/// What is offered, has no row and no reason; and reasons for what is not offered, or has a row.
names faults(const names& offered, const names& rows, const reasons& without) {
  names excused, found;
  for (const auto& [words, reason] : without) excused.merge(words_in(words));
  for (const auto& name : offered) {
    if (rows.count(name) == 0 && excused.count(name) == 0) found.insert(name + " has no row");
  }
  for (const auto& name : excused) {
    if (rows.count(name) != 0) found.insert(name + " has a row and a reason to have none");
    if (offered.count(name) == 0) found.insert(name + " has a reason to have no row, and is not offered");
  }
  for (const auto& name : rows) {
    if (offered.count(name) == 0) found.insert(name + " has a row, and is not offered");
  }
  return found;
}

/// Sections of docs/operations.md by the first word of their headings.
const reasons sections_without_gradients = {
    {"Comparison", "truth values"},
    {"Logical", "truth values"},
    {"Bitwise", "integers"},
    {"Classification", "truth values"},
    {"Complex", "complex numbers have no derivative"},
    {"Fourier", "complex numbers have no derivative"},
    {"Generators", "no operands"},
    {"Random", "no operands"},
    {"Linear", "tests/linalg/gradients.cpp checks them"},
    {"Statements", "no functions of elements"},
    {"Gradients", "they are the gradients"},
    {"Printing", "no functions of elements"},
};

const reasons functions_without_gradients = {
    {"quantise dequantise", "integers"},
    {"argmax argmin all any count_nonzero", "positions, truth values and counts"},
    {"argsort searchsorted nonzero histogram bincount find_peaks non_max_suppression", "positions and counts"},
    {"unique", "how many elements there are changes with them; of variables it does not compile"},
    {"scatter scatter_add scatter_nd overwrite", "they write in place; of variables they do not compile"},
    {"axis drop shape range only open_end trusted window_geometry", "arguments"},
    {"window_count", "extents"},
    {"x", "its parts are those of select"},
    {"write_attention_gradients", "it writes gradients; those of attention have a row"},
};

const reasons layers_without_gradients = {
    {"pad upsample", "of every border, of every size: they have rows"},
    {"sequential", "its layers have rows"},
    {"greatest_gradient", "a kernel of the backward pass of pools"},
    {"recurrent_steps recurrent_steps_backward", "kernels of recurrent layers, which have rows"},
    {"matrix_view path_sum table_row element_after space_after element_behind node_of_inputs arena_leaf "
     "plain_node stream_leaf viewed kept_parts",
     "no layers"},
    {"block_linear", "its weight has no gradient; tests/nn/block_linear.cpp holds that of its input"},
    {"conv_settings_of pool_settings_of attention_settings_of transformer_settings_of", "options of layers"},
};

}  // namespace

TEST_CASE("what has no row and no reason is found", "[gradients]") {
  CHECK(faults({"sin"}, {"sin"}, {}).empty());
  CHECK(faults({"sin", "argmax"}, {"sin"}, {{"argmax", "a position"}}).empty());
  CHECK(faults({"sin"}, {}, {}) == names{"sin has no row"});
  CHECK(faults({}, {}, {{"sin", "no"}}) == names{"sin has a reason to have no row, and is not offered"});
  CHECK(faults({"sin"}, {"sin"}, {{"sin", "no"}}) == names{"sin has a row and a reason to have none"});
  CHECK(faults({}, {"sin"}, {}) == names{"sin has a row, and is not offered"});
}

TEST_CASE("rows, functions and layers are found where they are written", "[gradients]") {
  CHECK(rows_of({{"tests/grad/a.cpp", "  rows({\n      {\"tril triu\", f()},\n"}}, "tests/grad/") ==
        names{"tril", "triu"});
  CHECK(house::names_on(page_without("## Choice, more\n| `where(c, x)` | |\n## Random numbers\n| `normal<T>(e)` | |",
                                     {{"Random", "no operands"}})) == names{"where"});
  CHECK(layers_of({{"include/tenon/nn/a.hpp",
                    "struct glu {\n  static constexpr const char* name = \"glu\";\n};\nusing relu = activation<op>;\n"
                    "auto l1_loss(const X& x) {"}}) == names{"glu", "relu", "l1_loss"});
}

TEST_CASE("every function that has a gradient has a row", "[gradients]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  const names offered = house::names_on(page_without(tree.at("docs/operations.md"), sections_without_gradients));
  CHECK(offered.size() > 120);
  CHECK(faults(offered, rows_of(tree, "tests/grad/"), functions_without_gradients) == names{});
}

TEST_CASE("every layer has a row", "[gradients]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  const names offered = layers_of(tree);
  CHECK(offered.size() > 90);
  CHECK(faults(offered, rows_of(tree, "tests/nn/"), layers_without_gradients) == names{});
}
