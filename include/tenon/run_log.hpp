// tenon/run_log.hpp: what a thread runs, statement by statement: as a list, and as a drawing of who reads what.
// Every statement and launch is told to the observer of its thread; a log notes them, and where operands come from.
// Floor 6: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <tenon/core/tensor.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/plan/describe.hpp>
#include <vector>

namespace tenon {

/// A statement that ran, or a launch of what is no statement, such as the steps of a recurrence or an optimizer.
struct logged_statement {
  std::string text;      ///< as `explain` writes it; empty of what is no statement
  std::string kernel;    ///< the name of its last kernel or loop
  int launches = 0;      ///< kernels or loops
  index bytes_read = 0;  ///< of distinct tensors
  index bytes_written = 0;
  std::vector<int> from;           ///< the places in the log of the statements whose elements it reads
  std::vector<std::string> names;  ///< of the named tensors that it reads
};

/// Notes what the calling thread runs while it lives. Logs may be nested, also with profiles: the outer one sees all.
/// They end on their thread, in any order.
/// cost      some text for each statement
/// example   tenon::run_log seen;
///           optimizer.step([&] { return mean(nn::cross_entropy(net(x), y)); });
///           std::cout << seen;                        // the whole step: there, back, and the move
///           std::ofstream("step.dot") << seen.dot();  // dot -Tsvg step.dot > step.svg
class run_log final : private launch_observer {
 public:
  run_log() : scope_(this) {}

  /// From here on statements that read the elements of `operand`, which stays where it is, say so by its name.
  template <dtype T, shape_type Shape, memory_space Space>
  void name(const tensor<T, Shape, Space>& operand, std::string text) {
    const auto begin = reinterpret_cast<std::uintptr_t>(operand.data());
    names_.push_back({{begin, begin + static_cast<std::size_t>(operand.size()) * sizeof(T)}, std::move(text)});
  }

  const std::vector<logged_statement>& statements() const { return statements_; }
  /// How many kernels and loops ran.
  int launches() const {
    int count = 0;
    for (const auto& each : statements_) count += each.launches;
    return count;
  }
  /// One line for each statement, and their sum.
  std::string text() const {
    std::string lines;
    index read = 0, written = 0;
    for (std::size_t place = 0; place < statements_.size(); ++place) {
      const logged_statement& each = statements_[place];
      read += each.bytes_read, written += each.bytes_written;
      lines +=
          compose_text(place + 1, "  ", each.kernel, each.text.empty() ? "" : "  ", each.text, sources_of(each), "\n");
    }
    return lines + compose_text(statements_.size(), " statements, ", launches(), " launches, ", describe_bytes(read),
                                " read, ", describe_bytes(written), " written\n");
  }
  friend std::ostream& operator<<(std::ostream& out, const run_log& seen) { return out << seen.text(); }
  /// The same as a graph in the language of Graphviz: statements are boxes, named tensors are ellipses.
  std::string dot() const {
    std::string text = "digraph run {\n  node [shape=box, fontname=monospace];\n";
    std::vector<std::string> shown;
    for (std::size_t place = 0; place < statements_.size(); ++place) {
      const auto& each = statements_[place];
      const std::string own = compose_text("s", place + 1);
      text += compose_text("  ", own, " [label=\"", place + 1, " ", each.kernel, "\\n", escaped(each.text), "\"];\n");
      for (const int from : each.from) text += compose_text("  s", from + 1, " -> ", own, ";\n");
      for (const auto& name : each.names) {
        if (std::find(shown.begin(), shown.end(), name) == shown.end()) {
          shown.push_back(name);
          text += compose_text("  \"", escaped(name), "\" [shape=ellipse];\n");
        }
        text += compose_text("  \"", escaped(name), "\" -> ", own, ";\n");
      }
    }
    return text + "}\n";
  }

 private:
  struct named_elements {
    address_range range;
    std::string name;
  };
  struct written_elements {
    address_range range;
    int place;
  };

  /// A text between quotes of Graphviz.
  static std::string escaped(const std::string& text) {
    std::string result;
    for (const char each : text) {
      if (each == '"' || each == '\\') result += '\\';
      result += each == '\n' ? ' ' : each;
    }
    return result;
  }
  static bool holds(const address_range& range, std::uintptr_t start) {
    return range.begin <= start && start < range.end;
  }
  template <class Source>
  static void add_once(std::vector<Source>& sources, const Source& source) {
    if (std::find(sources.begin(), sources.end(), source) == sources.end()) sources.push_back(source);
  }
  /// Where the elements from `start` on come from.
  void add_source(logged_statement& reader, std::uintptr_t start) const {
    const auto is_there = [&](const auto& each) { return holds(each.range, start); };
    const auto last = std::find_if(written_.rbegin(), written_.rend(), is_there);
    if (last != written_.rend()) return add_once(reader.from, last->place);
    const auto named = std::find_if(names_.begin(), names_.end(), is_there);
    if (named != names_.end()) add_once(reader.names, named->name);
  }

  void statement(const statement_facts& facts) override {
    if (scope_.outer() != nullptr) scope_.outer()->statement(facts);
    statement_text words;
    words.result(facts.dtype, facts.extents, facts.rank, 0);
    append_operation(words, *facts.words);
    statements_.push_back({words.text(), "", 0, facts.bytes_read, facts.bytes_written, {}, {}});
    for (std::size_t k = 0; k < facts.read_count; ++k) add_source(statements_.back(), facts.reads[k].start);
    is_open_ = true;
  }
  bool begin(const launch_facts& facts) override {
    if (scope_.outer() != nullptr && !scope_.outer()->begin(facts)) return false;
    if (!is_open_) statements_.push_back({});
    statements_.back().kernel = facts.kernel;
    ++statements_.back().launches;
    return true;
  }
  void end() noexcept override {
    if (scope_.outer() != nullptr) scope_.outer()->end();
  }
  void wrote(const statement_result& result) override {
    if (scope_.outer() != nullptr) scope_.outer()->wrote(result);
    const address_range range = addresses(*result.elements);
    std::erase_if(written_, [&](const auto& each) { return overlap(each.range, range); });
    written_.push_back({range, static_cast<int>(statements_.size()) - 1});
    is_open_ = false;
  }
  std::string sources_of(const logged_statement& each) const {
    std::string text;
    const auto tell = [&](const std::string& source) { text += (text.empty() ? "  <- " : ", ") + source; };
    for (const int from : each.from) tell(std::to_string(from + 1));
    for (const auto& name : each.names) tell(name);
    return text;
  }

  observer_scope scope_;
  std::vector<logged_statement> statements_;
  std::vector<named_elements> names_;
  std::vector<written_elements> written_;  // by the statement that wrote them last
  bool is_open_ = false;                   // whether launches belong to the last statement
};

}  // namespace tenon
