// tests/ptx/warp.cpp: how a warp goes through its kernel, in fragments of lanes that are at one place.
// The fragment at the lowest place runs, so that the others are met where their ways join again. Where an instruction
// needs lanes that are elsewhere, the fragment waits for them; when all fragments wait, the kernel is wrong.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/decode.hpp"
#include "ptx/grid.hpp"

namespace tenon_test::ptx {

namespace {

/// Registers are kept from warp to warp: what a warp finds in them is no value.
std::vector<aligned_bytes<64>>& spare_registers() {
  static thread_local std::vector<aligned_bytes<64>> spare;
  return spare;
}

}  // namespace

void join(clocks& known, const clocks& more) {
  if (known.size() < more.size()) known.resize(more.size());
  for (std::size_t i = 0; i < more.size(); ++i) known[i] = std::max(known[i], more[i]);
}

warp::warp(block& in_block, int of_number, lane_set lanes)
    : in(in_block),
      code(*in_block.of.asked.code),
      number(of_number),
      place_in_cluster(in_block.rank * ((in_block.of.asked.block.count() + warp_lanes - 1) / warp_lanes) +
                       static_cast<std::size_t>(of_number)),
      live(lanes),
      here_(lanes) {
  auto& spare = spare_registers();
  if (!spare.empty()) {
    registers_ = std::move(spare.back());
    spare.pop_back();
  }
  if (registers_.bytes() < code.register_bytes) registers_ = aligned_bytes<64>(code.register_bytes);
  bases[0] = registers_.begin();
  bases[1] = reinterpret_cast<unsigned char*>(const_cast<std::uint64_t*>(code.constants.data()));
  if (code.local_bytes != 0) {
    const std::size_t bytes = std::size_t{code.local_bytes} * warp_lanes;
    local_bytes_ = aligned_bytes<16>(bytes);
    local = std::make_unique<region>(local_bytes_.begin(), bytes, "a thread's own memory");
  }
  sums_under_way.resize(code.sums), used_sums.resize(code.sums);
  fill_specials();
}

void warp::show_clock() {
  if (seen.size() <= place_in_cluster) seen.resize(place_in_cluster + 1);
  seen[place_in_cluster] = clock;
}

warp::~warp() { spare_registers().push_back(std::move(registers_)); }

void warp::fill_specials() {
  const triple extent = in.of.asked.block, grid = in.of.asked.grid, cluster = in.of.asked.cluster;
  const triple first = in.mates.first_block;
  for (std::uint32_t lane = 0; lane < warp_lanes; ++lane) {
    const std::uint32_t thread = static_cast<std::uint32_t>(number) * warp_lanes + lane, bit = 1u << lane;
    const std::uint32_t values[] = {thread % extent.x,
                                    thread / extent.x % extent.y,
                                    thread / extent.x / extent.y,
                                    extent.x,
                                    extent.y,
                                    extent.z,
                                    in.index.x,
                                    in.index.y,
                                    in.index.z,
                                    grid.x,
                                    grid.y,
                                    grid.z,
                                    lane,
                                    static_cast<std::uint32_t>(number),
                                    bit - 1,
                                    bit | (bit - 1),
                                    ~(bit | (bit - 1)),
                                    ~(bit - 1),
                                    bit,
                                    in.index.x - first.x,
                                    in.index.y - first.y,
                                    in.index.z - first.z,
                                    cluster.x,
                                    cluster.y,
                                    cluster.z,
                                    in.rank,
                                    static_cast<std::uint32_t>(cluster.count()),
                                    first.x / cluster.x,
                                    first.y / cluster.y,
                                    first.z / cluster.z,
                                    grid.x / cluster.x,
                                    grid.y / cluster.y,
                                    grid.z / cluster.z};
    static_assert(std::size(values) == std::size(special_slots::names));
    for (std::size_t i = 0; i < std::size(values); ++i)
      std::memcpy(bases[0] + i * special_slots::bytes_each + lane * 4, &values[i], 4);
    const std::uint64_t parameters = in.of.parameters.begin();
    std::memcpy(bases[0] + std::size(values) * special_slots::bytes_each + lane * 8, &parameters, 8);
  }
}

void warp::run(int steps, counts& done) {
  gives_way = false;
  is_out_of_order_ = false;
  if (!others_.empty() && in.of.random() % 8 == 0) {  // a fragment that spins must not hold up the one it waits for
    meet();
    choose(in.of.random() % others_.size());
    is_out_of_order_ = true;
  } else if (!others_.empty()) {
    choose_lowest();
  }
  for (; steps > 0 && live != 0 && !is_waiting && !gives_way; --steps) {
    const instruction& what = code.code[pc_];
    lane_set active = here_;
    if (what.guard.is_there != 0) active &= predicate(what.guard) ^ (what.is_guard_negated ? all_lanes : 0);
    const bool is_collective = what.then == flow::collective || what.then == flow::barrier;
    if (is_collective && active != 0 && !gather(what, active)) continue;
    ++done.warps[static_cast<std::size_t>(what.counts_as)];
    done.lanes[static_cast<std::size_t>(what.counts_as)] += static_cast<std::uint64_t>(std::popcount(active));
    switch (what.then) {
      case flow::next:
        if (active != 0) what.run(*this, what, active);
        ++pc_;
        break;
      case flow::branch:
        split(what.target, active);
        continue;
      case flow::leave:
        leave(active);
        continue;
      case flow::collective:
      case flow::barrier:
        if (active != 0) {
          if (what.counts_as == work::barriers || what.counts_as == work::shuffles) ++clock;
          what.run(*this, what, active);
        }
        ++pc_;
        break;
    }
    if (pc_ >= other_pc_) {
      meet();
      choose_lowest();
    }
  }
}

void warp::split(std::uint32_t target, lane_set taken) {
  if (taken == here_) {
    pc_ = target;
  } else if (taken == 0) {
    ++pc_;
  } else {
    others_.push_back({target, taken, false});
    here_ &= ~taken;
    ++pc_;
  }
  if (others_.empty()) return;
  meet();
  if (is_out_of_order_) choose(others_.size() - 1);
  else choose_lowest();
}

void warp::leave(lane_set lanes) {
  live &= ~lanes;
  here_ &= ~lanes;
  ++pc_;
  for (fragment& each : others_) {
    if (each.waits && lanes != 0 && code.code[each.pc].then == flow::barrier)
      throw fault("lanes end while others of their warp wait at a barrier: " + place());
    each.waits = false;
  }
  if (live == 0) return in.end(*this);
  if (here_ != 0 && others_.empty()) return;
  meet();
  choose_lowest();
}

/// Puts the running fragment to the others and joins those at one place; the running one is the last then.
void warp::meet() {
  if (here_ == 0) return;
  fragment mine{pc_, here_, false};
  std::erase_if(others_, [&](const fragment& each) {
    if (each.pc != mine.pc) return false;
    mine.lanes |= each.lanes;
    return true;
  });
  others_.push_back(mine);
  here_ = 0;
}

void warp::choose_lowest() {
  meet();
  std::size_t best = others_.size();
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (!others_[i].waits && (best == others_.size() || others_[i].pc < others_[best].pc)) best = i;
  }
  if (best == others_.size()) throw fault("divergent lanes wait for each other: " + place());
  choose(best);
}

void warp::choose(std::size_t which) {
  pc_ = others_[which].pc;
  here_ = others_[which].lanes;
  others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(which));
  other_pc_ = nowhere;
  for (const fragment& each : others_) {
    if (each.pc >= pc_) other_pc_ = std::min(other_pc_, each.pc);
  }
}

/// Whether all lanes that the instruction names are here; if not, this fragment waits and another one goes on.
bool warp::gather(const instruction& what, lane_set active) {
  lane_set members = live;
  if (what.members.is_there != 0) members &= at<lane_set>(what.members)[std::countr_zero(active)];
  if ((members & ~active) == 0) return true;
  if (others_.empty())
    throw fault("lanes " + std::to_string(members & ~active) + " (bits) pass by what the others wait at: " + place());
  meet();
  others_.back().waits = true;
  choose_lowest();
  return false;
}

std::string warp::place() const {
  std::string text = "warp " + std::to_string(number) + ":";
  const auto add = [&](std::uint32_t pc, lane_set lanes) {
    text += " " + std::to_string(std::popcount(lanes)) + " lanes at line " + std::to_string(code.lines[pc].line) +
            ", " + code.texts[pc] + ";";
  };
  if (here_ != 0) add(pc_, here_);
  for (const fragment& each : others_) add(each.pc, each.lanes);
  return text;
}

}  // namespace tenon_test::ptx
