// tests/ptx/control.cpp: branches, ends, barriers, and what moves values between the lanes of a warp.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

void trap(warp&, const instruction&, lane_set) { throw fault("trap: the kernel ended itself"); }

void give_way(warp& w, const instruction&, lane_set) { w.gives_way = true; }

std::uint32_t number_in(const warp& w, slot from, lane_set active) {
  return w.at<std::uint32_t>(from)[std::countr_zero(active)];
}

enum barrier_kind : std::uint8_t { waits, arrives, counts_votes, all_votes, any_votes };

/// The barrier a, for b threads; c is a predicate of which votes are made.
void meet(warp& w, const instruction& in, lane_set active) {
  const std::uint32_t expected = in.b.is_there != 0 ? number_in(w, in.b, active) : 0;
  const lane_set votes = in.c.is_there != 0 ? (w.predicate(in.c) ^ (in.offset != 0 ? all_lanes : 0)) & active : 0;
  w.barrier = &in;
  w.in.arrive(w, number_in(w, in.a, active), expected, in.kind != arrives,
              static_cast<std::uint32_t>(std::popcount(votes)));
}

bool decode_barrier(decoder& d) {
  const bool is_reduction = d.has("red");
  d.made.then = flow::barrier;
  d.made.run = &meet;
  std::size_t next = is_reduction ? 1 : 0;
  const std::size_t end = d.operands() - (is_reduction ? 1 : 0);
  d.made.a = d.source(next++, 4);
  if (next < end) d.made.b = d.source(next++, 4);
  d.made.kind = d.has("arrive") ? arrives : waits;
  if (!is_reduction) return true;
  d.made.kind = d.has("popc") ? counts_votes : d.has("and") ? all_votes : any_votes;
  d.made.to = d.target(0, d.made.kind == counts_votes ? 4 : 0);
  d.made.c = d.source(end, 0);
  d.made.offset = d.at(end).is_negated ? 1 : 0;
  return true;
}

void add_collective(decoder& d, handler run) {
  d.made.then = flow::collective;
  d.made.run = run;
}

/// setmaxnreg: the warps of a warpgroup come to the same one, and all have been at the one before.
void set_registers(warp& w, const instruction& in, lane_set) {
  auto& settings = w.in.register_settings[w.number / 4];
  const std::size_t own = w.register_settings++;
  const auto count = [](const instruction& each) { return each.offset; };
  if (own == settings.size()) settings.push_back({&in, {}});
  if (settings[own].what != &in) throw fault("warps of a warpgroup come to different setmaxnreg");
  settings[own].clocks[static_cast<std::size_t>(w.number % 4)] = w.clock;
  if (own == 0) return;
  const register_setting& before = settings[own - 1];
  if (in.kind != 0 ? count(in) < count(*before.what) : count(in) > count(*before.what))
    throw fault("setmaxnreg." + std::string(in.kind != 0 ? "inc" : "dec") + " from " +
                std::to_string(count(*before.what)) + " registers to " + std::to_string(count(in)));
  const std::size_t first = static_cast<std::size_t>(w.number / 4 * 4), end = std::min(first + 4, w.in.warps.size());
  for (std::size_t i = first; i < end && checks::chosen().races; ++i) {
    const std::size_t place = w.in.warps[i]->place_in_cluster;
    const std::uint32_t known = place < w.seen.size() ? w.seen[place] : 0;
    if (i != static_cast<std::size_t>(w.number) && (before.clocks[i % 4] == 0 || known < before.clocks[i % 4]))
      throw fault("a setmaxnreg follows another one without a barrier of its warpgroup between");
  }
}

void decode_registers(decoder& d) {
  constexpr std::uint64_t fewest = 24, most = 256, step = 8;
  const std::uint64_t registers = d.at(0).bits;
  if (registers < fewest || registers > most || registers % step != 0)
    d.refuse("setmaxnreg of " + std::to_string(registers) + " registers, expected a multiple of 8 from 24 to 256");
  add_collective(d, &set_registers);
  d.made.offset = static_cast<std::int64_t>(registers);
  d.made.kind = d.has("inc") ? 1 : 0;
}

enum direction : std::uint8_t { index, butterfly, up, down };

/// Lanes read another's value, within a segment that `c` describes.
void shuffle(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint32_t values[warp_lanes];
  lane_set in_range = 0;
  const std::uint32_t* const a = w.at<std::uint32_t>(in.a);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const auto b = static_cast<int>(w.at<std::uint32_t>(in.b)[lane] & 31);
    const auto c = static_cast<int>(w.at<std::uint32_t>(in.c)[lane]);
    const int clamp = c & 31, segment = c >> 8 & 31;
    const int first = lane & segment, last = first | (clamp & ~segment);
    int from = in.kind == index       ? (first | (b & ~segment))
               : in.kind == butterfly ? lane ^ b
               : in.kind == up        ? lane - b
                                      : lane + b;
    const bool is_inside = in.kind == up ? from >= last : from <= last;
    if (!is_inside) from = lane;
    in_range |= lane_set{is_inside} << lane;
    const bool takes_part = (active >> from & 1) != 0;
    if (!takes_part && (active >> lane & 1) != 0 && (w.live >> from & 1) != 0)
      throw fault("lane " + std::to_string(lane) + " reads lane " + std::to_string(from) +
                  ", which takes no part in the shuffle");
    values[lane] = takes_part ? a[from] : 0x7fffdeadu;
  }
  keep(w.at<std::uint32_t>(in.to), values, active);
  if (in.to_other.is_there == 0) return;
  lane_set& old = *w.at<lane_set>(in.to_other);
  old = (old & ~active) | (in_range & active);
}

bool decode_shuffle(decoder& d) {
  add_collective(d, &shuffle);
  d.made.kind = d.has("idx") ? index : d.has("bfly") ? butterfly : d.has("up") ? up : down;
  d.made.to = d.target(0, 4);
  if (!d.at(0).parts.empty()) d.made.to_other = d.target(d.at(0).parts[0], 0);
  d.made.a = d.source(1, 4);
  d.made.b = d.source(2, 4);
  d.made.c = d.source(3, 4);
  d.made.members = d.source(4, 4);
  return d.has("sync");
}

template <class Function>
handler vote(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    const lane_set flags = (w.predicate(in.a) ^ (in.offset != 0 ? all_lanes : 0)) & active;
    const std::uint32_t result = Function{}(flags, active);
    if (in.kind == 0) {
      alignas(64) std::uint32_t values[warp_lanes];
      for (std::uint32_t& value : values) value = result;
      keep(w.at<std::uint32_t>(in.to), values, active);
    } else {
      lane_set& old = *w.at<lane_set>(in.to);
      old = (old & ~active) | (result != 0 ? active : 0);
    }
  };
}

bool decode_vote(decoder& d) {
  if (d.has("ballot")) add_collective(d, vote([](lane_set flags, lane_set) { return flags; }));
  else if (d.has("all"))
    add_collective(d, vote([](lane_set flags, lane_set active) { return lane_set{flags == active}; }));
  else if (d.has("any")) add_collective(d, vote([](lane_set flags, lane_set) { return lane_set{flags != 0}; }));
  else add_collective(d, vote([](lane_set flags, lane_set active) { return lane_set{flags == 0 || flags == active}; }));
  d.made.kind = d.has("ballot") ? 0 : 1;
  d.made.to = d.target(0, d.has("ballot") ? 4 : 0);
  d.made.a = d.source(1, 0);
  d.made.offset = d.at(1).is_negated ? 1 : 0;
  d.made.members = d.source(2, 4);
  return d.has("sync");
}

template <class T, class Function>
handler reduction(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    const T* const a = w.at<T>(in.a);
    T result = a[std::countr_zero(active)];
    for (lane_set left = active & (active - 1); left != 0; left &= left - 1)
      result = static_cast<T>(Function{}(result, a[std::countr_zero(left)]));
    alignas(64) T values[warp_lanes];
    for (T& value : values) value = result;
    keep(w.at<T>(in.to), values, active);
  };
}

bool decode_reduction(decoder& d) {
  using word = std::uint32_t;
  const bool is_signed = d.part(-1) == "s32";
  if (d.has("add")) add_collective(d, reduction<word>([](word a, word b) { return a + b; }));
  else if (d.has("and")) add_collective(d, reduction<word>([](word a, word b) { return a & b; }));
  else if (d.has("or")) add_collective(d, reduction<word>([](word a, word b) { return a | b; }));
  else if (d.has("xor")) add_collective(d, reduction<word>([](word a, word b) { return a ^ b; }));
  else if (d.has("min") && is_signed) add_collective(d, reduction<int>([](int a, int b) { return a < b ? a : b; }));
  else if (d.has("max") && is_signed) add_collective(d, reduction<int>([](int a, int b) { return a < b ? b : a; }));
  else if (d.has("min")) add_collective(d, reduction<word>([](word a, word b) { return a < b ? a : b; }));
  else add_collective(d, reduction<word>([](word a, word b) { return a < b ? b : a; }));
  d.made.to = d.target(0, 4);
  d.made.a = d.source(1, 4);
  d.made.members = d.source(2, 4);
  return bytes_of_type(d.part(-1)) == 4;
}

void find_active(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint32_t values[warp_lanes];
  for (std::uint32_t& value : values) value = active;
  keep(w.at<std::uint32_t>(in.to), values, active);
}

/// One lane of the warp is elected: the first.
void elect(warp& w, const instruction& in, lane_set active) {
  const int chosen = std::countr_zero(active);
  alignas(64) std::uint32_t values[warp_lanes];
  for (std::uint32_t& value : values) value = static_cast<std::uint32_t>(chosen);
  keep(w.at<std::uint32_t>(in.to), values, active);
  lane_set& old = *w.at<lane_set>(in.to_other);
  old = (old & ~active) | lane_set{1} << chosen;
}

}  // namespace

bool decode_control(decoder& d) {
  const std::string_view name = d.part(0);
  if (name == "bra") {
    d.made.then = flow::branch;
    d.branch_to(d.at(0).text);
  } else if (name == "ret" || name == "exit") {
    d.made.then = flow::leave;
  } else if (name == "trap") {
    d.made.run = &trap;
  } else if (name == "nanosleep") {
    d.made.run = &give_way;
  } else if (name == "bar" && d.has("warp")) {
    add_collective(d, &do_nothing);
    d.made.members = d.source(0, 4);
  } else if (name == "bar" || name == "barrier") {
    return decode_barrier(d);
  } else if (name == "setmaxnreg") {
    decode_registers(d);
  } else if (name == "griddepcontrol") {  // the launch before is done
    d.made.run = &do_nothing;
  } else {
    return false;
  }
  return true;
}

bool decode_shuffles(decoder& d) {
  const std::string_view name = d.part(0);
  if (name == "shfl") return decode_shuffle(d);
  if (name == "vote") return decode_vote(d);
  if (name == "redux") return decode_reduction(d);
  if (name == "activemask") {
    d.made.run = &find_active;
    d.made.to = d.target(0, 4);
    return true;
  }
  if (name == "elect") {
    add_collective(d, &elect);
    d.made.to = d.target(0, 4);
    d.made.to_other = d.target(d.at(0).parts.at(0), 0);
    d.made.members = d.source(1, 4);
    return true;
  }
  return false;
}

}  // namespace tenon_test::ptx
