// tests/house/layers.cpp: docs/guide/layers.md names every layer, loss, optimizer and schedule, and nothing else.
// They are found in headers by how they are declared, on the page by the code of first columns.
// SPDX-License-Identifier: Apache-2.0
#include "house/page.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

using house::names;

/// The lines of a header outside of `detail`.
house::words public_lines(const std::string& text) {
  house::words found;
  bool is_detail = false;
  for (const std::string& line : house::split_lines(text)) {
    is_detail = is_detail || line == "namespace detail {";
    if (!is_detail) found.push_back(line);
    is_detail = is_detail && line != "}  // namespace detail";
  }
  return found;
}

/// Structs that are a base's layer by their own name, `struct glu : expression_layer<glu<Axis>>`, and what aliases make
/// of such structs, `using relu = activation<relu_op>`; of those with an alias, the alias alone.
names layers_of(const std::string& text) {
  static const std::regex own("struct (\\w+)\\b.*");
  static const std::regex base("(?:callable|expression_layer|affine_layer|row_table|reshaping)<(\\w+)\\b");
  static const std::regex alias("using (\\w+) = ?(\\w*).*");
  static const std::regex made(
      "\\s*(?:\\w+_layer|activation|along_axis|masked_dropout|recurrent|recurrent_cell|flatten_axes)<.*");
  names found, behind;
  const house::words lines = public_lines(text);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    std::smatch match;
    if (std::regex_match(lines[at], match, alias)) {
      const std::size_t begin = lines[at].find('=') + 1;
      const bool is_long = begin == lines[at].size() && at + 1 < lines.size();
      const std::string value = is_long ? lines[at + 1] : lines[at].substr(begin);
      if (std::regex_match(value, made)) found.insert(match[1]), behind.insert(match[2]);
    } else if (std::regex_match(lines[at], match, own)) {
      const std::string name = match[1];
      std::string head = lines[at];
      for (std::size_t next = at + 1; head.back() != '{' && head.back() != ';' && next < lines.size(); ++next) {
        head += lines[next].empty() ? ";" : lines[next];
      }
      for (std::sregex_iterator each(head.begin(), head.end(), base), none; each != none; ++each) {
        if ((*each)[1] == name && !std::regex_match(name, std::regex("\\w+_layer"))) found.insert(name);
      }
    }
  }
  for (const std::string& name : behind) found.erase(name);
  return found;
}

/// Functions whose names end in `_loss`, optimizers, and what is called with a rate and a step.
names parts_of_training(const std::string& text) {
  static const std::regex loss("auto (\\w+_loss|cross_entropy)\\(.*"), optimizer("using (\\w+) = optimizer<.*");
  static const std::regex type("(?:struct|class) (\\w+)\\b.*"), rate("  double operator\\(\\)\\(double.*");
  names found;
  std::string inside;
  for (const std::string& line : public_lines(text)) {
    std::smatch match;
    if (std::regex_match(line, match, loss) || std::regex_match(line, match, optimizer)) found.insert(match[1]);
    if (std::regex_match(line, match, type)) inside = match[1];
    if (std::regex_match(line, rate)) found.insert(inside);
  }
  return found;
}

}  // namespace

TEST_CASE("layers are found where they are declared", "[layers]") {
  CHECK(layers_of("using relu = activation<relu_op>;") == names{"relu"});
  CHECK(layers_of("using conv2d =\n    conv_layer<false, In>;") == names{"conv2d"});
  CHECK(layers_of("struct glu : stateless, expression_layer<glu<Axis>> {") == names{"glu"});
  CHECK(layers_of("struct max_pool_layer\n    : callable<max_pool_layer<Kernel>> {").empty());
  CHECK(layers_of("struct a : callable<a<1>> {\nusing b = a_layer<2>;") == names{"a", "b"});
  CHECK(layers_of("struct row_table : callable<Layer> {\nusing conv1d_options = conv_options<1>;").empty());
  CHECK(layers_of("namespace detail {\nusing relu = activation<relu_op>;\n}  // namespace detail").empty());
}

TEST_CASE("losses, optimizers and schedules are found where they are declared", "[layers]") {
  CHECK(parts_of_training("auto mse_loss(X&& x, Target&& target) {") == names{"mse_loss"});
  CHECK(parts_of_training("auto loss_at_labels(const X& x) {\nusing rule = sgd_rule<T>;").empty());
  CHECK(parts_of_training("using sgd = optimizer<sgd_options, Space, T, Weight>;") == names{"sgd"});
  CHECK(parts_of_training("struct step_lr {\n  double operator()(double first, index step) const {") ==
        names{"step_lr"});
}

TEST_CASE("the page of layers is complete", "[layers]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  const names shown = house::names_on(tree.at("docs/guide/layers.md"));
  names layers, others, words;
  for (const auto& [path, text] : tree) {
    if (house::starts_with(path, "include/tenon/nn/")) layers.merge(layers_of(text));
    if (house::starts_with(path, "include/tenon/nn/") || house::starts_with(path, "include/tenon/train/")) {
      others.merge(parts_of_training(text));
    }
  }
  CHECK(layers.size() > 100);
  CHECK(others.size() > 25);
  layers.merge(others);
  for (const std::string& name : layers) {
    if (shown.count(name) == 0) FAIL_CHECK(name + " is not on docs/guide/layers.md");
  }
}
