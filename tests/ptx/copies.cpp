// tests/ptx/copies.cpp: cp.async, whose bytes arrive as late as the rules allow: when they are waited for.
// Until then nobody has written the target, so that a missing wait is found.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

void count(warp& w, const instruction& in, lane_set active) {
  std::uintptr_t from[warp_lanes], to[warp_lanes];
  lane_set reads = active;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    to[lane] = w.at<std::uint32_t>(in.a)[lane] + static_cast<std::uint32_t>(in.offset);
    from[lane] = w.at<std::uint64_t>(in.b)[lane] + in.target;
    if (in.c.is_there != 0 && w.at<std::uint32_t>(in.c)[lane] == 0) reads &= ~(lane_set{1} << lane);
  }
  count_shared(w.in.of.done.shared_stores, to, active, in.bytes);
  if (reads != 0) count_global(w.in.of.done.global_loads, from, reads, in.bytes);
}

void begin_copy(warp& w, const instruction& in, lane_set active) {
  if (w.in.of.asked.counts_traffic) count(w, in, active);
  for (lane_set left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left), bytes = in.bytes;
    const auto to = static_cast<std::uint32_t>(w.at<std::uint32_t>(in.a)[lane] + static_cast<std::uint32_t>(in.offset));
    const std::uintptr_t from = w.at<std::uint64_t>(in.b)[lane] + in.target;
    const int valid = in.c.is_there != 0 ? static_cast<int>(w.at<std::uint32_t>(in.c)[lane]) : bytes;
    if (to % in.bytes != 0 || (valid != 0 && from % in.bytes != 0))
      throw fault("lane " + std::to_string(lane) + " copies " + std::to_string(bytes) +
                  " bytes at an address that is no multiple of that");
    if (valid > bytes) throw fault("a copy of more bytes than it has");
    checked_shared(w, to, bytes, use::write, lane);
    w.in.shared().mark(w.in.shared().begin() + to, static_cast<std::size_t>(bytes), false);
    w.copies.push_back({lane, w.copy_groups[static_cast<std::size_t>(lane)], to,
                        reinterpret_cast<const unsigned char*>(from), bytes, valid});
  }
}

void finish(warp& w, const async_copy& each) {
  unsigned char* const to = checked_shared(w, each.to, each.bytes, use::write, each.lane);
  std::memset(to, 0, static_cast<std::size_t>(each.bytes));
  if (each.valid == 0) return;
  std::memcpy(to, checked_global(w, reinterpret_cast<std::uintptr_t>(each.from), each.valid, use::read, each.lane),
              static_cast<std::size_t>(each.valid));
}

void commit_copies(warp& w, const instruction&, lane_set active) {
  for (int lane = 0; lane < warp_lanes; ++lane) w.copy_groups[static_cast<std::size_t>(lane)] += active >> lane & 1;
}

/// The copies of all groups but the latest `offset` arrive; of all whatever, where it is negative.
void wait(warp& w, const instruction& in, lane_set active) {
  std::deque<async_copy> left;
  for (const async_copy& each : w.copies) {
    const std::int64_t later =
        static_cast<std::int64_t>(w.copy_groups[static_cast<std::size_t>(each.lane)]) - 1 - each.group;
    const bool arrives = (active >> each.lane & 1) != 0 && (in.offset < 0 || later >= in.offset);
    if (arrives) finish(w, each);
    else left.push_back(each);
  }
  w.copies.swap(left);
}

}  // namespace

bool decode_copies(decoder& d) {
  if (d.part(0) != "cp" || d.part(1) != "async" || d.has("bulk") || d.has("mbarrier")) return false;
  if (d.has("commit_group")) {
    d.made.run = &commit_copies;
  } else if (d.has("wait_group") || d.has("wait_all")) {
    d.made.run = &wait;
    d.made.offset = d.has("wait_all") ? -1 : static_cast<std::int64_t>(d.at(0).bits);
  } else {
    d.made.run = &begin_copy;
    d.address(1, &instruction::b);
    d.made.target = static_cast<std::uint32_t>(d.made.offset);
    d.address(0);
    if (d.made.is_wide_address) return false;
    d.made.bytes = static_cast<std::uint16_t>(d.at(2).bits);
    if (d.operands() > 3) d.made.c = d.source(3, 4);
  }
  return true;
}

}  // namespace tenon_test::ptx
