// tests/ptx/decode.hpp: statements become instructions: a handler, and slots for the operands.
// Each family of instructions has a function that says whether it knows a statement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/module.hpp"

namespace tenon_test::ptx {

/// An entry as a kernel; throws fault, which names the statement, where no family knows it.
kernel decode(const entry_text& entry, module& of);

/// What a family's function sees of a statement and what it makes.
class decoder {
 public:
  decoder(kernel& into, const entry_text& entry, module& of);

  const statement* text = nullptr;
  instruction made;

  void begin(const statement& next);
  /// Part i of the opcode, counted from behind where negative; empty where there is none.
  std::string_view part(int i) const;
  bool has(std::string_view part) const;
  /// The operand i; throws fault where there is none.
  const operand& at(std::size_t i) const;
  std::size_t operands() const { return text->operands.size(); }
  /// A register, a number or an address as an operand of so many bytes (0: a predicate).
  slot source(const operand& each, int bytes);
  slot source(std::size_t i, int bytes) { return source(at(i), bytes); }
  /// A register that is written. `_` is one that nobody reads.
  slot target(const operand& each, int bytes);
  slot target(std::size_t i, int bytes) { return target(at(i), bytes); }
  /// The bytes of the registers of an operand; those of `otherwise` for a number.
  int width(const operand& each, int otherwise) const;
  /// Operands in braces, or a single one, go to the end of the kernel's lists: the first sets `first` and `count`.
  void add_list(std::size_t i, int bytes, bool is_target) { add_list(at(i), bytes, is_target); }
  void add_list(const operand& each, int bytes, bool is_target);
  /// `[register + offset]` or `[name + offset]` into `made.a`, `made.offset` and `made.is_wide_address`.
  void address(std::size_t i, slot instruction::* into = &instruction::a);
  bool is_parameter(const operand& each) const { return parameters_.count(each.text) != 0; }
  /// The address of a parameter as `made.a` plus `made.offset`.
  void parameter_address(const operand& each);
  /// Registers for the handler's own use.
  slot add_register(int bytes);
  /// The carry of each lane, which instructions hand on to the next.
  slot carry();
  slot add_constant(std::uint64_t bits, int bytes);
  bool is_register(const operand& each) const;
  /// A label's place is known when all statements are read.
  void branch_to(std::string_view label) { labels_used_.push_back({into_.code.size(), label}); }
  void add(bool is_label);
  void finish();
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void place_shared(const entry_text& entry);
  void place_local(const declaration& each);
  void declare(const declaration& each);

  kernel& into_;
  module& module_;
  struct place {
    slot where;
    int bytes;
  };
  std::map<std::string_view, place> registers_;
  struct family {
    std::string_view prefix;
    std::uint32_t first;
    int bytes, count;
  };
  std::vector<family> families_;
  const place* find_register(std::string_view name) const;
  mutable place found_;
  std::map<std::string_view, std::uint64_t> symbols_;  ///< addresses in their kind of memory
  std::map<std::string_view, std::uint32_t> parameters_;
  std::map<std::string_view, std::uint32_t> labels_;
  std::vector<std::pair<std::size_t, std::string_view>> labels_used_;
  std::map<std::pair<std::uint64_t, int>, slot> known_constants_;
  slot carry_;
};

bool decode_integers(decoder& d);
bool decode_carries(decoder& d);
bool decode_floats(decoder& d);
bool decode_compares(decoder& d);
bool decode_moves(decoder& d);
bool decode_conversions(decoder& d);
bool decode_accesses(decoder& d);
bool decode_clusters(decoder& d);
bool decode_control(decoder& d);
bool decode_shuffles(decoder& d);
bool decode_copies(decoder& d);
bool decode_matrices(decoder& d);
bool decode_hopper(decoder& d);
bool decode_tiles(decoder& d);
bool decode_bulk(decoder& d);
bool decode_bulk_reduction(decoder& d);
bool decode_fragments(decoder& d);
bool decode_warpgroups(decoder& d);
/// Lets the instructions that use registers of sums of a warpgroup's products tell of that.
void watch_sums(kernel& code);

/// The slots of special registers and of parameters' addresses, in front of all registers.
struct special_slots {
  static constexpr const char* names[] = {"%tid.x",
                                          "%tid.y",
                                          "%tid.z",
                                          "%ntid.x",
                                          "%ntid.y",
                                          "%ntid.z",
                                          "%ctaid.x",
                                          "%ctaid.y",
                                          "%ctaid.z",
                                          "%nctaid.x",
                                          "%nctaid.y",
                                          "%nctaid.z",
                                          "%laneid",
                                          "%warpid",
                                          "%lanemask_lt",
                                          "%lanemask_le",
                                          "%lanemask_gt",
                                          "%lanemask_ge",
                                          "%lanemask_eq",
                                          "%cluster_ctaid.x",
                                          "%cluster_ctaid.y",
                                          "%cluster_ctaid.z",
                                          "%cluster_nctaid.x",
                                          "%cluster_nctaid.y",
                                          "%cluster_nctaid.z",
                                          "%cluster_ctarank",
                                          "%cluster_nctarank",
                                          "%clusterid.x",
                                          "%clusterid.y",
                                          "%clusterid.z",
                                          "%nclusterid.x",
                                          "%nclusterid.y",
                                          "%nclusterid.z"};
  static constexpr std::uint32_t bytes_each = 128;
};

}  // namespace tenon_test::ptx
