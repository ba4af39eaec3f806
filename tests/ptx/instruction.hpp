// tests/ptx/instruction.hpp: a kernel as the machine holds it: instructions, and where their operands lie.
// A register is 32 values side by side, one a lane, so that an instruction is a loop over lanes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/counts.hpp"

namespace tenon_test::ptx {

inline constexpr int warp_lanes = 32;
using lane_set = std::uint32_t;  ///< a bit a lane of a warp
inline constexpr lane_set all_lanes = ~lane_set{0};

/// Extents or a position.
struct triple {
  std::uint32_t x = 1, y = 1, z = 1;
  std::size_t count() const { return std::size_t{x} * y * z; }
  bool operator==(const triple&) const = default;
};

/// What stops a program: a fault of a kernel, or an instruction that the machine does not know.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The kinds of memory that instructions name.
enum class space : std::uint8_t { generic, global, shared, cluster, param, constant, local };

/// Where the 32 values of an operand lie: among the warp's registers or among the kernel's constants.
struct slot {
  std::uint32_t offset : 30 = 0;
  std::uint32_t is_constant : 1 = 0;
  std::uint32_t is_there : 1 = 0;
};

class warp;
struct instruction;
using handler = void (*)(warp&, const instruction&, lane_set);

/// What a warp does beside the handler's work.
enum class flow : std::uint8_t {
  next,        ///< goes on to the next instruction
  branch,      ///< lanes whose guard holds go to `target`
  leave,       ///< lanes whose guard holds end
  collective,  ///< waits until the lanes of `members`, or all, have come here; barriers and shuffles order them
  barrier      ///< the same, and may make the warp wait for others
};

/// One instruction of a kernel.
struct instruction {
  handler run = nullptr;
  slot guard;                 ///< a predicate
  slot to, to_other;          ///< results
  slot a, b, c, d, members;   ///< operands
  std::int64_t offset = 0;    ///< of an address, or another number of the instruction
  std::uint32_t target = 0;   ///< of a branch
  std::uint32_t first = 0;    ///< of the kernel's `lists`: operands in braces
  std::uint16_t count = 0;    ///< operands in the first braces
  std::uint16_t listed = 0;   ///< operands in all braces
  std::uint16_t bytes = 0;    ///< of one element in memory
  std::uint32_t watched = 0;  ///< of the kernel's `watched`, where it uses sums of a warpgroup's products
  flow then = flow::next;
  space where = space::generic;
  work counts_as = work::moves;
  bool is_guard_negated = false;
  bool is_wide_address = true;  ///< 64 bits, not 32
  bool is_strong = false;       ///< ordered with accesses of other threads: acquire, release, relaxed, volatile
  std::uint8_t orders = 0;      ///< of a strong access: what it does beside fences
  std::uint8_t kind = 0;        ///< for the handler's own use
};

/// An instruction that uses registers of sums of a warpgroup's products, by their numbers among all of these.
struct watched_instruction {
  handler run;  ///< what it does
  std::vector<std::uint32_t> sums;
};

/// A place of a source file.
struct source_line {
  int file = 0, line = 0;
};

/// One entry of a module, ready to run.
struct kernel {
  std::string name;
  std::vector<instruction> code;
  std::vector<slot> lists;
  std::vector<watched_instruction> watched;
  std::size_t sums = 0;            ///< registers of sums of a warpgroup's products
  std::vector<std::string> texts;  ///< of each instruction, for messages
  std::vector<source_line> lines;  ///< of each instruction
  std::vector<std::uint64_t> constants;
  std::vector<std::uint32_t> parameter_offsets, parameter_bytes;
  std::uint32_t all_parameter_bytes = 0;
  std::uint32_t register_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  ///< of a thread
  int most_threads = 1024;
  triple cluster;            ///< blocks of a cluster
  bool has_cluster = false;  ///< of its own, by __cluster_dims__
  bool has_fences = false;   ///< then its atomic operations order other accesses
};

/// A variable of a module in global or constant memory.
struct variable {
  std::string name;
  std::size_t bytes = 0, alignment = 1;
  std::vector<unsigned char> value = {};
  void* address = nullptr;
};

/// The bytes of a type by its PTX name: 4 of f32; 0 of a name that is no type.
int bytes_of_type(std::string_view name);

}  // namespace tenon_test::ptx
