// tests/ptx/hopper.hpp: what Hopper's copies have in common: an mbarrier that they tell, and places of their targets.
// A copy arrives as late as the rules allow: when someone waits for its barrier and all else of the phase is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <functional>

#include "ptx/races.hpp"

namespace tenon_test::ptx {

template <class Visit>
void each_lane(lane_set active, Visit visit) {
  for (; active != 0; active &= active - 1) visit(std::countr_zero(active));
}

/// Where a lane's address of shared memory lies: `address + offset`, of the kind `where`.
inline shared_place place_of(const warp& w, slot address, std::uint32_t offset, space where, int lane) {
  if (where == space::generic)
    return place_in_cluster(w, cluster_address(w, w.at<std::uint64_t>(address)[lane] + offset));
  const std::uint32_t at = w.at<std::uint32_t>(address)[lane] + offset;
  return where == space::cluster ? place_in_cluster(w, at) : shared_place{&w.in, at};
}

/// The barrier at a place, whose making must be ordered before.
phase& barrier_at(warp& w, shared_place at, int lane);

/// What is copied to shared memory.
struct arriving_copy {
  shared_place to, barrier;
  int bytes = 0, lane = 0;
  bool is_of_threads = false;  ///< no proxy writes it
  std::function<void()> write = {};
};
/// Begins a copy: from here on its target has no values, and it races with whoever still uses it.
void begin_arriving(warp& w, const arriving_copy& copy);

/// The blocks that a copy goes to: that of its target, or those of a mask, at the same place in each.
template <class Visit>
void each_target(warp& w, const instruction& in, int lane, shared_place to, shared_place barrier, Visit visit) {
  if (in.d.is_there == 0) return visit(to, barrier);
  const std::uint32_t mask = w.at<std::uint16_t>(in.d)[lane];
  for (std::uint32_t rank = 0; rank < 16; ++rank) {
    if ((mask >> rank & 1) == 0) continue;
    if (rank >= w.in.mates.blocks.size())
      throw fault("a copy to block " + std::to_string(rank) + " of a cluster of " +
                  std::to_string(w.in.mates.blocks.size()));
    block* const of = w.in.mates.blocks[rank].get();
    visit(shared_place{of, to.address}, shared_place{of, barrier.address});
  }
}

/// How a copy changes global memory: by the number of an operation and that of a type, which the driver has for maps.
/// nullptr: there is no such reduction.
combiner reduction_of(std::uint32_t operation, std::uint32_t type);
/// The number of an operation by its name; 0: none.
std::uint32_t number_of_reduction(std::string_view name);

/// Begins a copy of bytes from shared memory to global memory; a wait for its group reads and ends it.
void begin_storing(warp& w, const bulk_store& each);
/// Where the traffic of such a copy counts.
traffic& traffic_of(warp& w, combiner how);

/// At the end of a block: what it stores arrives; throws fault where its shared memory has not been read before.
void finish_stores(warp& w);

/// Counts bytes that lie side by side in global memory.
void count_row(traffic& into, std::uintptr_t begin, std::size_t bytes);

}  // namespace tenon_test::ptx
