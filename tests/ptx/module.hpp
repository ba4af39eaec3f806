// tests/ptx/module.hpp: the text of a module, taken apart: entries, their registers, statements and operands.
// Nothing is understood here but names and punctuation; decode.hpp makes instructions of statements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "ptx/calls.hpp"
#include "ptx/instruction.hpp"

namespace tenon_test::ptx {

/// An operand as it is written.
struct operand {
  enum kind : std::uint8_t { name, number, address, list };
  kind what = name;
  std::string_view text = {};       ///< a name, or the base of an address
  std::uint64_t bits = 0;           ///< of a number
  std::int64_t offset = 0;          ///< of an address
  bool is_float = false;            ///< a number that was written as 0f... or 0d...
  bool is_negated = false;          ///< !%p
  std::vector<operand> parts = {};  ///< of a list; of an address with coordinates: those
};

/// One statement: a label, or an instruction with its guard.
struct statement {
  std::string_view text = {}, label = {}, guard = {};
  bool is_guard_negated = false;
  std::vector<std::string_view> opcode = {};  ///< split at the points
  std::vector<operand> operands = {};
  source_line line = {};
};

/// A declaration `.reg .b32 %r<5>;` or `.shared .align 16 .b8 name[64];`, within an entry or before it.
struct declaration {
  std::string_view state, type, name;
  std::size_t count = 1, alignment = 1;
  int most = -1;  ///< of a family %r<N>: N
};

/// An entry as text.
struct entry_text {
  std::string name;
  std::vector<declaration> parameters, declarations;
  std::vector<statement> statements;
  int most_threads = 1024;
  triple cluster;
  bool has_cluster = false;
};

/// A module: its entries are taken apart and decoded when they are first launched.
class module {
 public:
  explicit module(std::string text);

  /// The kernel of that name; throws fault where there is none or where it holds an unknown instruction.
  const kernel& entry(const std::string& name);
  bool has_entry(const std::string& name) const { return entries_.count(name) != 0; }
  variable* find_variable(std::string_view name);
  std::map<std::string, variable, std::less<>>& variables() { return variables_; }
  std::vector<std::string> entry_names() const;
  const std::string& file(int number) const;
  /// The architecture that the text is for; 0 where it has no kernels.
  int architecture() const;
  const std::vector<declaration>& shared_declarations() const { return shared_; }

 private:
  std::string text_;
  std::map<std::string, std::string_view> entries_;
  function_texts functions_;
  std::map<std::string, std::unique_ptr<kernel>> kernels_;
  std::map<std::string, variable, std::less<>> variables_;
  std::vector<declaration> shared_;
  std::map<int, std::string> files_;
  std::mutex mutex_;
};

/// Takes the text of an entry apart, from `.entry` to its closing brace. Names of inner scopes are made unique in
/// `names`, which must live as long as the result.
entry_text parse_entry(std::string_view text, std::list<std::string>& names);

/// The declaration that `text` holds, without its last character.
declaration parse_declaration(std::string_view text);

}  // namespace tenon_test::ptx
