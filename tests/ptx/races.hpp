// tests/ptx/races.hpp: checks of every access: bounds, alignment, values that nobody wrote, and races.
// Warps keep clocks. An access races with an earlier one of another thread that no barrier, fence or shuffle orders
// before it. Atomic accesses do not race with each other.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ptx/grid.hpp"

namespace tenon_test::ptx {

enum class use : std::uint8_t { read, write, change };

/// Which checks are made; TENON_PTX_CHECKS=bounds leaves out values and races, and =values races.
struct checks {
  bool values = true, races = true;
  static const checks& chosen();
};

/// Host addresses of an access.
using places = std::array<unsigned char*, warp_lanes>;

/// Where the active lanes' accesses of `bytes` bytes lie, after all checks. Throws fault.
places checked(warp& w, const instruction& in, lane_set active, int bytes, use how);
/// The same for one access of a lane to shared memory, by the copying units; `bytes` may be any number.
unsigned char* checked_shared(warp& w, std::uint32_t address, int bytes, use how, int lane);

/// Whether the earlier use is ordered before what the lane does now, or needs no order.
bool is_ordered(const warp& w, int lane, const stamp& earlier);

/// A place in the shared memory of a block.
struct shared_place {
  block* of;
  std::uint32_t address;

  unsigned char* memory() const { return reinterpret_cast<unsigned char*>(of->shared().begin() + address); }
};
/// Where an address of the kind `.shared::cluster` lies; throws fault where the cluster has no such block.
shared_place place_in_cluster(const warp& w, std::uint64_t address);
/// The address of that kind of a generic one.
std::uint32_t cluster_address(const warp& w, std::uintptr_t generic);
unsigned char* checked_shared(warp& w, shared_place at, int bytes, use how, int lane);
/// The same for global memory.
unsigned char* checked_global(warp& w, std::uintptr_t address, int bytes, use how, int lane);

/// The same for shared memory, by the units that copy tiles and multiply for warpgroups: what threads wrote there is
/// theirs to see only behind a fence.proxy.async.
unsigned char* checked_async(warp& w, shared_place at, int bytes, use how, int lane);
/// A fence.proxy.async: shows these units all of shared memory that was written before.
void show_to_units(warp& w);

/// Where a lane's own memory begins.
std::uintptr_t local_begin(const warp& w, int lane);

/// What an access to memory that others use at the same time orders, beside the fences around it.
enum ordering : std::uint8_t { acquires = 1, releases = 2, reads_word = 4, writes_word = 8, within_block = 16 };

/// Notes a strong access. What a warp of the block did before its latest fence is ordered before whoever reads the word
/// and has a fence behind that. Shared memory needs no fence, as the machine knows no weaker order there.
void exchange_clocks(warp& w, std::uintptr_t address, int how);
/// A fence for the whole device, and one for the cluster.
void fence(warp& w);
void fence_in_cluster(warp& w);

}  // namespace tenon_test::ptx
