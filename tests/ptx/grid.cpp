// tests/ptx/grid.cpp: blocks and grids: barriers, turns of warps, and what is said when something is wrong.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/grid.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/hopper.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

std::uint32_t numbered_blocks = 1;  ///< 0 is nobody's number

constexpr std::size_t resident_blocks = 4;
constexpr int longest_turn = 400, shortest_progress = 16, most_idle_turns = 20000;

std::string text_of(triple at) {
  return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

}  // namespace

block::block(grid& of_grid, cluster& within, triple at, std::uint32_t of_rank)
    : of(of_grid),
      mates(within),
      index(at),
      rank(of_rank),
      number(
          of_grid.first_block +
          static_cast<std::uint32_t>((std::size_t{at.z} * of_grid.asked.grid.y + at.y) * of_grid.asked.grid.x + at.x)) {
  const launch& asked = of.asked;
  const std::size_t bytes = first_shared_byte + asked.code->static_shared_bytes + asked.shared_bytes;
  memory_ = aligned_bytes<1024>(bytes);
  shared_ = std::make_unique<region>(memory_.begin(), bytes, "shared memory");
  const std::size_t threads = asked.block.count();
  for (std::size_t first = 0; first < threads; first += warp_lanes) {
    const std::size_t here = std::min<std::size_t>(warp_lanes, threads - first);
    warps.push_back(std::make_unique<warp>(*this, static_cast<int>(first / warp_lanes),
                                           here == warp_lanes ? all_lanes : (lane_set{1} << here) - 1));
  }
  live_warps_ = warps.size();
}

void block::show_clock() {
  const std::size_t place = of.block_place(number);
  if (seen.size() <= place) seen.resize(place + 1);
  seen[place] = clock++;
}

std::uint32_t block::live_threads() const {
  std::uint32_t count = 0;
  for (const auto& each : warps) count += each->is_done() ? 0 : warp_lanes;
  return count;
}

/// A warp comes to a barrier with all its threads, as warps do; those that ended are counted as present.
void block::arrive(warp& who, std::uint32_t id, std::uint32_t expected, bool waits, std::uint32_t votes) {
  if (id >= barriers_.size()) throw fault("barrier " + std::to_string(id) + ", expected one of 16");
  if (expected % warp_lanes != 0)
    throw fault("a barrier of " + std::to_string(expected) + " threads, expected whole warps");
  barrier& at = barriers_[id];
  if (at.threads != 0 && at.expected != expected)
    throw fault("barrier " + std::to_string(id) + " of " + std::to_string(expected) +
                " threads, where others came for one of " + std::to_string(at.expected));
  at.expected = expected;
  at.threads += warp_lanes;
  at.votes += votes;
  who.show_clock();
  join(at.known, who.seen);
  ++who.clock;
  if (waits) {
    at.waiting.push_back(&who);
    who.is_waiting = true;
  }
  if (at.threads >= (expected == 0 ? live_threads() : expected)) complete(at);
}

void block::complete(barrier& at) {
  const std::uint32_t threads = at.threads;
  for (warp* const each : at.waiting) {
    join(each->seen, at.known);
    each->is_waiting = false;
    const instruction& what = *each->barrier;
    if (what.to.is_there == 0) continue;
    const bool all = at.votes == threads, any = at.votes != 0;
    if (what.kind == 2) std::fill_n(each->at<std::uint32_t>(what.to), warp_lanes, at.votes);
    else *each->at<lane_set>(what.to) = (what.kind == 3 ? all : any) ? all_lanes : 0;
  }
  at = {};
}

void block::end(warp&) {
  --live_warps_;
  for (barrier& each : barriers_) {
    if (each.threads != 0 && each.expected == 0 && each.threads >= live_threads()) complete(each);
  }
  mates.complete_if_all_arrived();
  if (is_done()) check_end();
}

/// Nobody may use shared memory of a block that has ended, so what others did with it must be known to have happened.
void block::check_end() {
  for (const auto& each : warps) {
    finish_stores(*each);
    if (each->register_settings != register_settings[each->number / 4].size())
      throw fault("a setmaxnreg that only some warps of a warpgroup came to");
  }
  for (const auto& [address, each] : phases) {
    if (!each.copies.empty()) throw fault("a block ends while a copy to its shared memory is under way");
  }
  if (used_from_afar.empty()) return;
  clocks known = arrived_from_afar;
  for (const auto& each : warps) join(known, each->seen);
  for (std::size_t i = 0; i < used_from_afar.size(); ++i) {
    if (used_from_afar[i] > (i < known.size() ? known[i] : 0))
      throw fault("a block ends while warp " + std::to_string(i % warps.size()) + " of block " +
                  std::to_string(i / warps.size()) + " of its cluster may still use its shared memory");
  }
}

grid::grid(const launch& of)
    : asked(of),
      parameter_bytes(of.parameters.size()),
      first_block(numbered_blocks),
      parameters(parameter_bytes.begin(), of.parameters.size(), "the parameters"),
      random(of.seed) {
  numbered_blocks += static_cast<std::uint32_t>(of.grid.count());
  std::memcpy(reinterpret_cast<void*>(parameters.begin()), of.parameters.data(), of.parameters.size());
}

grid::~grid() {
  for (region* const each : touched) each->marks = 0;
}

void grid::run() {
  const triple step = asked.cluster;
  for (std::uint32_t z = 0; z < asked.grid.z; z += step.z)
    for (std::uint32_t y = 0; y < asked.grid.y; y += step.y)
      for (std::uint32_t x = 0; x < asked.grid.x; x += step.x) waiting_.push_back({x, y, z});
  if (asked.starts_in_order) std::reverse(waiting_.begin(), waiting_.end());
  else std::shuffle(waiting_.begin(), waiting_.end(), random);
  const std::size_t most = asked.is_cooperative ? asked.grid.count() : resident_blocks;
  while (!waiting_.empty() || !resident_.empty()) {
    while (resident_.size() < most && !waiting_.empty()) {
      start(waiting_.back());
      waiting_.pop_back();
    }
    const std::size_t chosen = random() % resident_.size();
    std::size_t tries = 0;
    while (tries < resident_.size() && !run_block(*resident_[(chosen + tries) % resident_.size()])) ++tries;
    if (tries == resident_.size()) report_deadlock();
    if (std::erase_if(resident_, [](const block* each) { return each->is_done(); }) != 0)
      std::erase_if(clusters_, [](const auto& each) { return each->is_done(); });
  }
}

/// The blocks of a cluster begin together.
void grid::start(triple first) {
  clusters_.push_back(std::make_unique<cluster>(first));
  cluster& made = *clusters_.back();
  for (std::uint32_t rank = 0; rank < asked.cluster.count(); ++rank) {
    const triple at{first.x + rank % asked.cluster.x, first.y + rank / asked.cluster.x % asked.cluster.y,
                    first.z + rank / asked.cluster.x / asked.cluster.y};
    made.blocks.push_back(std::make_unique<block>(*this, made, at, rank));
    resident_.push_back(made.blocks.back().get());
  }
}

/// Whether a warp of the block could run.
bool grid::run_block(block& each) {
  const std::size_t count = each.warps.size(), first = random() % count;
  for (std::size_t i = 0; i < count; ++i) {
    warp& candidate = *each.warps[(first + i) % count];
    if (candidate.is_done() || candidate.is_waiting) continue;
    run_warp(candidate);
    return true;
  }
  return false;
}

void grid::run_warp(warp& chosen) {
  const int steps = 1 + static_cast<int>(random() % (asked.is_cooperative ? longest_turn / 4 : longest_turn));
  try {
    chosen.run(steps, done);
  } catch (const fault& found) {
    throw fault(std::string(found.what()) + "\n  in " + chosen.code.name + "\n  block " + text_of(chosen.in.index) +
                ", " + chosen.place());
  }
  if (chosen.gives_way) ++idle_turns_;
  else if (steps >= shortest_progress) idle_turns_ = 0;
  if (idle_turns_ > most_idle_turns) report_deadlock();
}

void grid::report_deadlock() {
  std::string text = "all warps wait, in " + asked.code->name;
  for (const auto& each : resident_) {
    for (const auto& one : each->warps) {
      if (!one->is_done() && text.size() < 4000) text += "\n  block " + text_of(each->index) + ", " + one->place();
    }
  }
  throw fault(text);
}

}  // namespace tenon_test::ptx
