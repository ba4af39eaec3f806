// tests/house/operations.cpp: docs/operations.md names all that the headers offer, and nothing else.
// Functions are found in headers by how they are declared, on the page by how they are called in a first column.
// SPDX-License-Identifier: Apache-2.0
#include "house/page.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

using house::names;
using house::names_on;

/// The functions that a header declares for users, outside of `detail`: constants that are called, and templates that
/// take tensors or make them.
names functions_of(const std::string& text) {
  static const std::regex constant("(?:inline constexpr|TENON_FUNCTION_OBJECT) \\w*_function\\w*(?:<.*>)? (\\w+);.*");
  static const std::regex parameters(
      ".*(?:tensor_operand|operands_of_expression|scatter_destination|<dtype |printable).*");
  static const std::regex function("(?:TENON_INLINE )?(?:constexpr )?(?:auto|void|std::string|tensor<.*>) (\\w+)\\(.*");
  names found;
  bool is_detail = false, takes_tensors = false;
  std::smatch match;
  for (const std::string& line : house::split_lines(text)) {
    if (line == "namespace detail {") is_detail = true;
    if (line == "}  // namespace detail") is_detail = false;
    if (house::starts_with(line, "template <")) takes_tensors = false;
    takes_tensors = takes_tensors || std::regex_match(line, parameters);
    if (is_detail) continue;
    if (std::regex_match(line, match, constant)) found.insert(match[1]);
    if (takes_tensors && std::regex_match(line, match, function)) found.insert(match[1]);
  }
  return found;
}

/// The words of a header that are no comments.
names words_of(const std::string& text) {
  static const std::regex word("\\w+");
  names found;
  for (const std::string& line : house::split_lines(text)) {
    const std::string code = house::code_of(line);
    for (std::sregex_iterator at(code.begin(), code.end(), word), none; at != none; ++at) found.insert(at->str());
  }
  return found;
}

bool is_for_statements(const std::string& path) {
  for (const char* start :
       {"expr/", "algorithms/", "linalg/", "evaluate.hpp", "plan/explain.hpp", "io/print.hpp", "io/npy.hpp"}) {
    if (house::starts_with(path, std::string("include/tenon/") + start)) return true;
  }
  return false;
}

/// What statements are made with, but not by users.
const names made_inside = {"as_node", "as_read", "axes_apart", "in_memory"};

}  // namespace

TEST_CASE("functions are found where they are declared", "[operations]") {
  CHECK(functions_of("TENON_FUNCTION_OBJECT pointwise_function<exp_op> exp;  ///< e") == names{"exp"});
  CHECK(functions_of("inline constexpr pointwise_function_with_defaults<elu_op> elu;") == names{"elu"});
  CHECK(functions_of("inline constexpr variance_function variance;") == names{"variance"});
  CHECK(functions_of("inline constexpr index limit = 3;").empty());
  CHECK(functions_of("template <tensor_operand X>\nauto flip(X&& x) {\n") == names{"flip"});
  CHECK(functions_of("template <class F, class... X>\n  requires operands_of_expression<X...>\nauto map(F f) {") ==
        names{"map"});
  CHECK(functions_of("namespace detail {\ntemplate <tensor_operand X>\nauto part(X&& x) {\n}  // namespace detail")
            .empty());
  CHECK(functions_of("template <tensor_operand X>\nauto operator+(X&& x) {\ntemplate <class X>\nauto all(X x) {")
            .empty());
}

TEST_CASE("names are found where a table shows them", "[operations]") {
  CHECK(names_on("| `sum(x, axis<0>)`, `x + y` | `mean(x)` | |") == names{"sum", "axis"});
  CHECK(names_on("| `reflect` | a mode | |") == names{"reflect"});
  CHECK(names_on("Say `sum(x)` or `x`.").empty());
}

TEST_CASE("the page of operations is complete and true", "[operations]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  const names shown = names_on(tree.at("docs/operations.md"));
  names offered, words;
  for (const auto& [path, text] : tree) {
    if (is_for_statements(path)) offered.merge(functions_of(text));
    if (house::starts_with(path, "include/")) words.merge(words_of(text));
  }
  CHECK(offered.size() > 200);
  for (const std::string& name : offered) {
    if (shown.count(name) == 0 && made_inside.count(name) == 0) FAIL_CHECK(name + " is not on docs/operations.md");
  }
  for (const std::string& name : shown) {
    if (words.count(name) == 0) FAIL_CHECK(name + " of docs/operations.md is in no header");
  }
}
