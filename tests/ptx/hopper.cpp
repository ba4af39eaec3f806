// tests/ptx/hopper.cpp: Hopper's barriers in shared memory, and stores that tell them.
// A barrier of another block can be told of arrivals and bytes, but only threads of its own block wait for it.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/hopper.hpp"

#include <algorithm>
#include <utility>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

constexpr int barrier_bytes = 8;

/// What an operation on a barrier orders, of its block or of its cluster.
enum order : std::uint8_t { nothing, within_own_block, within_cluster };

shared_place barrier_place(const warp& w, const instruction& in, int lane) {
  return place_of(w, in.a, static_cast<std::uint32_t>(in.offset), in.where, lane);
}

/// That of a barrier that is made, ended or waited for.
shared_place own_barrier_place(const warp& w, const instruction& in, int lane) {
  const shared_place at = barrier_place(w, in, lane);
  if (at.of != &w.in) throw fault("an mbarrier of another block is made, ended or waited for");
  return at;
}

void make_barrier(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const shared_place at = own_barrier_place(w, in, lane);
    const std::uint32_t expected = w.at<std::uint32_t>(in.b)[lane];
    if (at.address % barrier_bytes != 0) throw fault("mbarrier.init: an address that is no multiple of 8");
    if (expected == 0 || expected >= 1u << 20) throw fault("mbarrier.init: " + std::to_string(expected) + " arrivals");
    checked_shared(w, at, barrier_bytes, use::write, lane);
    phase& made = w.in.phases[at.address] = phase{.expected = expected, .pending = expected};
    if (!checks::chosen().races) return;
    for (const unsigned word : {0u, 4u}) {
      made.made = w.in.shared().used(w.in.shared().begin() + at.address + word).write;
      w.in.shared().used(w.in.shared().begin() + at.address + word).write.is_atomic = true;  // as all that follows
    }
  });
}

void end_barrier(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const shared_place at = own_barrier_place(w, in, lane);
    if (!barrier_at(w, at, lane).copies.empty()) throw fault("mbarrier.inval while a copy is under way");
    checked_shared(w, at, barrier_bytes, use::write, lane);
    w.in.phases.erase(at.address);
  });
}

void end_if_complete(phase& at) {
  if (at.pending != 0 || at.bytes != 0) return;
  ++at.number;
  at.pending = at.expected;
}

void note_arrival(const warp& w, bool is_from_afar, phase& at, std::uint8_t orders) {
  if (!is_from_afar) {
    if (orders != nothing) join(at.known, w.seen);
    return;
  }
  if (orders == within_cluster) join(at.known_in_cluster, w.seen);
  if (at.arrivals.size() <= w.place_in_cluster) at.arrivals.resize(w.place_in_cluster + 1);
  at.arrivals[w.place_in_cluster] = w.clock;
}

/// b: bytes to come; c: how many arrivals; without either, one arrival.
void arrive_at_barrier(warp& w, const instruction& in, lane_set active) {
  w.show_clock();
  each_lane(active, [&](int lane) {
    const shared_place place = barrier_place(w, in, lane);
    phase& at = barrier_at(w, place, lane);
    const std::uint32_t count = in.c.is_there != 0 ? w.at<std::uint32_t>(in.c)[lane] : 1;
    if (in.b.is_there != 0) at.bytes += w.at<std::uint32_t>(in.b)[lane];
    if (at.pending < count)
      throw fault("mbarrier.arrive: more arrivals than the " + std::to_string(at.expected) + " of a phase");
    at.pending -= count;
    note_arrival(w, place.of != &w.in, at, in.kind);
    end_if_complete(at);
  });
  ++w.clock;
}

/// Bytes to come, or that have come, without an arrival.
void count_bytes(warp& w, const instruction& in, lane_set active) {
  w.show_clock();
  each_lane(active, [&](int lane) {
    const shared_place place = barrier_place(w, in, lane);
    phase& at = barrier_at(w, place, lane);
    at.bytes +=
        in.target == 0 ? std::int64_t{w.at<std::uint32_t>(in.b)[lane]} : -std::int64_t{w.at<std::uint32_t>(in.b)[lane]};
    note_arrival(w, place.of != &w.in, at, nothing);
    if (in.target != 0) end_if_complete(at);
  });
  ++w.clock;
}

/// The copies under way arrive in a drawn order.
void finish_copies(warp& w, phase& at) {
  std::shuffle(at.copies.begin(), at.copies.end(), w.in.of.random);
  auto copies = std::exchange(at.copies, {});
  for (const auto& copy : copies) at.bytes -= copy();
  end_if_complete(at);
}

void wait(warp& w, const instruction& in, lane_set active) {
  lane_set ended = 0;
  each_lane(active, [&](int lane) {
    phase& at = barrier_at(w, own_barrier_place(w, in, lane), lane);
    const std::uint32_t parity = w.at<std::uint32_t>(in.b)[lane];
    if ((at.number & 1) == parity && at.pending == 0) finish_copies(w, at);
    if ((at.number & 1) == parity) return;
    ended |= lane_set{1} << lane;
    join(w.in.arrived_from_afar, at.arrivals);
    if (in.kind != nothing) join(w.seen, at.known);
    if (in.kind == within_cluster) join(w.seen, at.known_in_cluster);
  });
  lane_set& result = *w.at<lane_set>(in.to);
  result = (result & ~active) | ended;
  w.gives_way = ended != active;
}

/// st.async: words that arrive in shared memory of the cluster as copies do.
template <class Value>
void store_later(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    std::vector<Value> values;
    for (unsigned i = 0; i < in.count; ++i) values.push_back(w.at<Value>(w.code.lists[in.first + i])[lane]);
    const shared_place to = barrier_place(w, in, lane);
    const auto bytes = static_cast<int>(values.size() * sizeof(Value));
    if (to.address % static_cast<unsigned>(bytes) != 0) throw fault("st.async: an address that is not aligned");
    begin_arriving(w, {.to = to,
                       .barrier = place_of(w, in.c, in.target, in.where, lane),
                       .bytes = bytes,
                       .lane = lane,
                       .is_of_threads = true,
                       .write = [=] { std::memcpy(to.memory(), values.data(), values.size() * sizeof(Value)); }});
  });
}

std::uint8_t orders_of_arrival(const decoder& d) {
  if (d.has("relaxed")) return nothing;
  return d.has("cluster") || d.has("gpu") || d.has("sys") ? within_cluster : within_own_block;
}

bool decode_arrival(decoder& d) {
  const bool expects = d.has("expect_tx");
  if (d.at(0).text != "_" || (expects && d.operands() != 3)) return false;
  d.made.run = &arrive_at_barrier;
  d.address(1);
  if (d.operands() > 2) (expects ? d.made.b : d.made.c) = d.source(2, 4);
  return true;
}

bool decode_memory_barrier(decoder& d) {
  const std::string_view name = d.part(1);
  const bool is_of_cluster = d.has("shared::cluster");
  const bool is_of_block = d.has("shared") || d.has("shared::cta");
  d.made.where = is_of_cluster ? space::cluster : is_of_block ? space::shared : space::generic;
  d.made.kind = orders_of_arrival(d);
  if (name == "arrive") {
    if (!decode_arrival(d)) return false;
  } else if (name == "expect_tx" || name == "complete_tx") {
    d.made.run = &count_bytes;
    d.made.target = name == "complete_tx" ? 1 : 0;
    d.address(0);
    d.made.b = d.source(1, 4);
  } else if (is_of_cluster) {
    return false;  // only a block's own barriers are made and waited for
  } else if (name == "init" || name == "inval") {
    d.made.run = name == "init" ? &make_barrier : &end_barrier;
    d.address(0);
    if (name == "init") d.made.b = d.source(1, 4);
  } else if ((name == "try_wait" || name == "test_wait") && d.has("parity")) {
    d.made.run = &wait;
    d.made.to = d.target(0, 0);
    d.address(1);
    d.made.b = d.source(2, 4);
  } else {
    return false;
  }
  return d.made.is_wide_address == (d.made.where == space::generic);
}

/// st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [to], {values}, [barrier].
bool decode_store(decoder& d) {
  const int bytes = bytes_of_type(d.part(-1));
  if (!d.has("shared::cluster") || !d.has("mbarrier::complete_tx::bytes") || (bytes != 4 && bytes != 8)) return false;
  d.made.where = space::cluster;
  d.address(2, &instruction::c);
  if (d.made.is_wide_address) return false;
  d.made.target = static_cast<std::uint32_t>(d.made.offset);
  d.address(0);
  d.add_list(1, bytes, false);
  d.made.run = bytes == 4 ? &store_later<std::uint32_t> : &store_later<std::uint64_t>;
  return !d.made.is_wide_address;
}

}  // namespace

phase& barrier_at(warp& w, shared_place at, int lane) {
  const auto found = at.of->phases.find(at.address);
  if (found == at.of->phases.end())
    throw fault("no mbarrier was made at byte " + std::to_string(at.address - first_shared_byte) + " of shared memory");
  phase& here = found->second;
  checked_shared(w, at, barrier_bytes, use::change, lane);
  // A barrier of the cluster shows what was made, even where it orders no other memory.
  const bool is_known = here.is_shown && w.cluster_waits > here.shown_after;
  if (here.made.block != 0 && !is_known && !is_ordered(w, lane, here.made))
    throw fault("race in shared memory: thread " + std::to_string(w.number * warp_lanes + lane) +
                " uses an mbarrier that thread " + std::to_string(here.made.thread) + " made without order");
  return here;
}

void begin_arriving(warp& w, const arriving_copy& copy) {
  if (copy.to.of != copy.barrier.of) throw fault("a copy tells an mbarrier of another block than that of its target");
  phase& at = barrier_at(w, copy.barrier, copy.lane);
  if (!copy.is_of_threads && !at.is_shown)
    throw fault("a copy of a tile tells an mbarrier that no fence.mbarrier_init has shown to it");
  if (copy.is_of_threads) checked_shared(w, copy.to, copy.bytes, use::write, copy.lane);
  else checked_async(w, copy.to, copy.bytes, use::write, copy.lane);
  region& shared = copy.to.of->shared();
  const std::uintptr_t begin = shared.begin() + copy.to.address;
  shared.mark(begin, static_cast<std::size_t>(copy.bytes), false);
  at.copies.push_back([&w, &at, &shared, begin, copy, clock = w.clock] {
    if (at.known.size() <= w.place_in_cluster) at.known.resize(w.place_in_cluster + 1);
    at.known[w.place_in_cluster] = std::max(at.known[w.place_in_cluster], clock);
    copy.write();
    std::memset(shared.written(begin), copy.is_of_threads ? region::known_to_threads : region::known,
                static_cast<std::size_t>(copy.bytes));
    return std::int64_t{copy.bytes};
  });
}

void count_row(traffic& into, std::uintptr_t begin, std::size_t bytes) {
  constexpr std::size_t sector = 32;
  into.bytes += bytes;
  into.parts += (begin + bytes + sector - 1) / sector - begin / sector;
  into.fewest += (bytes + sector - 1) / sector;
}

bool decode_hopper(decoder& d) {
  if (d.part(0) == "mbarrier") return decode_memory_barrier(d);
  if (d.part(0) == "st" && d.part(1) == "async") return decode_store(d);
  if (d.part(0) == "cp" && d.has("bulk")) return d.has("tensor") ? decode_tiles(d) : decode_bulk(d);
  return d.part(0) == "wgmma" && decode_warpgroups(d);
}

}  // namespace tenon_test::ptx
