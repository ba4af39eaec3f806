// tests/ptx/clusters.cpp: blocks of a cluster: their barrier, and addresses in each other's shared memory.
// An address of another block's shared memory has the block's rank, plus one, above 24 bits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <utility>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

constexpr std::uint32_t rank_bit = 24, place_bits = (1u << rank_bit) - 1;

/// The same place in the shared memory of the block of a rank.
std::uint32_t address_at_rank(const block& of, std::uint32_t rank, std::uint32_t address) {
  if (rank >= of.mates.blocks.size())
    throw fault("block " + std::to_string(rank) + " of a cluster of " + std::to_string(of.mates.blocks.size()));
  return (rank + 1) << rank_bit | (address & place_bits);
}

/// The block whose shared memory holds a generic address.
block& block_at(const warp& w, std::uintptr_t address) {
  block* const found = w.in.mates.find(address);
  if (found == nullptr) throw fault("a generic address that is in no shared memory of the cluster");
  return *found;
}

template <class Address>
void map_address(warp& w, const instruction& in, lane_set active) {
  alignas(64) Address values[warp_lanes]{};
  for (lane_set left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint32_t rank = w.at<std::uint32_t>(in.b)[lane];
    const Address a = w.at<Address>(in.a)[lane] + static_cast<Address>(in.offset);
    if (in.where == space::cluster) {
      values[lane] = address_at_rank(w.in, rank, static_cast<std::uint32_t>(a));
    } else {
      const std::uintptr_t begin = block_at(w, a).shared().begin();
      address_at_rank(w.in, rank, 0);
      values[lane] = static_cast<Address>(a - begin + w.in.mates.blocks[rank]->shared().begin());
    }
  }
  keep(w.at<Address>(in.to), values, active);
}

template <class Address>
void find_rank(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint32_t values[warp_lanes]{};
  for (lane_set left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Address a = w.at<Address>(in.a)[lane];
    values[lane] =
        in.where == space::cluster ? place_in_cluster(w, static_cast<std::uint32_t>(a)).of->rank : block_at(w, a).rank;
  }
  keep(w.at<std::uint32_t>(in.to), values, active);
}

/// Whether a generic address leads to the kind of memory `where`; global memory is what no other kind has.
void ask_space(warp& w, const instruction& in, lane_set active) {
  lane_set found = 0;
  for (lane_set left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t a = w.at<std::uint64_t>(in.a)[lane];
    const bool is_local = w.local != nullptr && w.local->holds(a, 1), is_parameter = w.in.of.parameters.holds(a, 1);
    const block* const shared = w.in.mates.find(a);
    const bool is = in.where == space::shared    ? shared == &w.in
                    : in.where == space::cluster ? shared != nullptr
                    : in.where == space::local   ? is_local
                    : in.where == space::param   ? is_parameter
                                                 : shared == nullptr && !is_local && !is_parameter;
    found |= lane_set{is} << lane;
  }
  lane_set& result = *w.at<lane_set>(in.to);
  result = (result & ~active) | found;
}

bool decode_question(decoder& d) {
  static constexpr std::pair<std::string_view, space> kinds[] = {
      {"global", space::global},           {"shared", space::shared}, {"shared::cta", space::shared},
      {"shared::cluster", space::cluster}, {"local", space::local},   {"param", space::param},
      {"param::entry", space::param}};
  const auto* const kind =
      std::find_if(std::begin(kinds), std::end(kinds), [&](const auto& each) { return each.first == d.part(1); });
  if (kind == std::end(kinds)) return false;
  d.made.where = kind->second;
  d.made.to = d.target(0, 0);
  d.made.a = d.source(1, 8);
  d.made.run = &ask_space;
  return true;
}

void arrive_at_cluster(warp& w, const instruction& in, lane_set) { w.in.mates.arrive(w, in.kind != 0); }

void wait_for_cluster(warp& w, const instruction&, lane_set) { w.in.mates.wait(w); }

bool decode_cluster_barrier(decoder& d) {
  d.made.then = flow::barrier;
  d.made.kind = d.has("relaxed") ? 0 : 1;
  d.made.run = d.part(2) == "arrive" ? &arrive_at_cluster : &wait_for_cluster;
  return d.part(2) == "arrive" || d.part(2) == "wait";
}

/// mapa{.shared::cluster}.u32 d, a, rank; getctarank{.shared::cluster}.u32 d, a.
bool decode_rank(decoder& d, bool is_map) {
  const int bytes = bytes_of_type(d.part(-1));
  d.made.where = d.has("shared::cluster") ? space::cluster : space::generic;
  if (bytes != 8 && (bytes != 4 || d.made.where == space::generic)) return false;
  d.made.to = d.target(0, is_map ? bytes : 4);
  d.made.a = d.source(1, bytes);
  if (is_map) {
    d.made.b = d.source(2, 4);
    d.made.run = bytes == 8 ? &map_address<std::uint64_t> : &map_address<std::uint32_t>;
  } else {
    d.made.run = bytes == 8 ? &find_rank<std::uint64_t> : &find_rank<std::uint32_t>;
  }
  return true;
}

}  // namespace

shared_place place_in_cluster(const warp& w, std::uint64_t address) {
  if (address >> 32 != 0) throw fault("an address beyond the shared memory of a cluster");
  const auto number = static_cast<std::uint32_t>(address) >> rank_bit;
  if (number > w.in.mates.blocks.size())
    throw fault("block " + std::to_string(number - 1) + " of a cluster of " + std::to_string(w.in.mates.blocks.size()));
  block* const of = number == 0 ? &w.in : w.in.mates.blocks[number - 1].get();
  return {of, static_cast<std::uint32_t>(address) & place_bits};
}

std::uint32_t cluster_address(const warp& w, std::uintptr_t generic) {
  block& of = block_at(w, generic);
  const auto address = static_cast<std::uint32_t>(generic - of.shared().begin());
  return &of == &w.in ? address : address_at_rank(w.in, of.rank, address);
}

bool cluster::is_done() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const auto& each) { return each->is_done(); });
}

block* cluster::find(std::uintptr_t address) const {
  for (const auto& each : blocks) {
    if (each->shared().holds(address, 1)) return each.get();
  }
  return nullptr;
}

void cluster::arrive(warp& who, bool releases) {
  if (who.cluster_arrivals != who.cluster_waits)
    throw fault("barrier.cluster.arrive twice, without a barrier.cluster.wait between");
  ++who.cluster_arrivals;
  if (releases) {
    who.show_clock();
    join(coming_.warps, who.seen);
    ++who.clock;
    who.in.show_clock();
    join(coming_.blocks, who.in.seen);
  }
  complete_if_all_arrived();
}

void cluster::wait(warp& who) {
  if (who.cluster_arrivals == who.cluster_waits)
    throw fault("barrier.cluster.wait without a barrier.cluster.arrive before it");
  if (phases_ >= who.cluster_arrivals) pass(who);
  else who.is_waiting = who.waits_for_cluster = true;
}

/// A warp that waits for a phase cannot have come for the next one, so that what is known is that of its own.
void cluster::pass(warp& who) {
  ++who.cluster_waits;
  ++who.clock;
  join(who.seen, known_.warps);
  join(who.in.seen, known_.blocks);
}

void cluster::complete_if_all_arrived() {
  for (const auto& each : blocks) {
    for (const auto& one : each->warps) {
      if (!one->is_done() && one->cluster_arrivals == phases_) return;
    }
  }
  ++phases_;
  known_ = std::exchange(coming_, {});
  for (const auto& each : blocks) {
    for (const auto& one : each->warps) {
      if (!one->waits_for_cluster) continue;
      one->is_waiting = one->waits_for_cluster = false;
      pass(*one);
    }
  }
}

bool decode_clusters(decoder& d) {
  const std::string_view name = d.part(0);
  if (name == "barrier" && d.part(1) == "cluster") return decode_cluster_barrier(d);
  if (name == "isspacep") return decode_question(d);
  return (name == "mapa" || name == "getctarank") && decode_rank(d, name == "mapa");
}

}  // namespace tenon_test::ptx
