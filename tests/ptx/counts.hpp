// tests/ptx/counts.hpp: what a launch did, as numbers: instructions by class, traffic of memory, tensor operations.
// Global memory is counted in sectors of 32 bytes, shared memory in passes over its 32 banks of 4 bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tenon_test::ptx {

/// Classes of instructions.
enum class work : std::uint8_t {
  integers,
  floats,
  conversions,
  moves,     ///< parameters that are read, too
  compares,  ///< selections and operations on predicates, too
  control,
  barriers,  ///< fences, what acquires as they do, and mbarriers, too
  shuffles,
  loads,
  stores,
  atomics,
  copies,   ///< that are asynchronous
  matrices  ///< products
};
inline constexpr std::array work_names{"integers", "floats",   "conversions", "moves", "compares",
                                       "control",  "barriers", "shuffles",    "loads", "stores",
                                       "atomics",  "copies",   "matrices"};

/// Accesses of one kind to one memory.
struct traffic {
  std::uint64_t accesses = 0;  ///< of warps
  std::uint64_t bytes = 0;     ///< that lanes asked for
  std::uint64_t parts = 0;     ///< sectors of global memory; passes over the banks of shared memory
  std::uint64_t fewest = 0;    ///< of these parts, had lanes asked for neighbours, from the start of a part on

  std::uint64_t conflicts() const { return parts - fewest; }
  bool operator==(const traffic&) const = default;
};

struct counts {
  std::array<std::uint64_t, work_names.size()> warps{};  ///< instructions of warps, by class
  std::array<std::uint64_t, work_names.size()> lanes{};  ///< the same, counted for each lane that took part
  traffic global_loads, global_stores, global_atomics, shared_loads, shared_stores, shared_atomics;
  std::uint64_t tensor_operations = 0;  ///< of matrix instructions: multiplications and additions

  std::uint64_t warps_of(work kind) const { return warps[static_cast<std::size_t>(kind)]; }
  std::uint64_t lanes_of(work kind) const { return lanes[static_cast<std::size_t>(kind)]; }
  std::uint64_t instructions() const;
  std::uint64_t lane_instructions() const;
  counts& operator+=(const counts& more);
};

/// A kernel's counts.
struct counted_launch {
  std::string kernel, entry;  ///< its name in C++ and in PTX
  std::array<std::uint32_t, 3> grid{}, block{};
  std::uint32_t shared_bytes = 0;  ///< all of a block
  counts done;
};

/// One line of JSON.
std::string json_of(const counted_launch& launch);

/// What a program, which nvcc compiled and the stand-in for CUDA's runtime runs, launches in `body`.
std::vector<counted_launch> launches_of(const std::function<void()>& body);

/// Counts an access of a warp: where its lanes' bytes lie.
void count_global(traffic& into, const std::uintptr_t* addresses, std::uint32_t active, unsigned bytes);
void count_shared(traffic& into, const std::uintptr_t* addresses, std::uint32_t active, unsigned bytes);

}  // namespace tenon_test::ptx
