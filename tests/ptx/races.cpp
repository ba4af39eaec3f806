// tests/ptx/races.cpp: checks of every access.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/races.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tenon_test::ptx {

namespace {

struct access {
  std::uintptr_t address;
  int bytes, lane;
  use how;
  bool is_atomic;
};

std::uint32_t clock_of(const clocks& known, std::size_t of) { return of < known.size() ? known[of] : 0; }

/// The block of the cluster that has a number; nullptr: none.
const block* mate(const block& here, std::uint32_t number) {
  if (here.mates.blocks.size() == 1) return nullptr;
  for (const auto& each : here.mates.blocks) {
    if (each->number == number) return each.get();
  }
  return nullptr;
}

[[noreturn]] void report_race(const warp& w, const access& now, const stamp& earlier, const char* what,
                              bool is_shared) {
  const std::string other = earlier.block == w.in.number           ? ""
                            : mate(w.in, earlier.block) != nullptr ? " of another block of its cluster"
                            : earlier.block < w.in.of.first_block  ? " of an earlier kernel, on another stream,"
                                                                   : " of another block";
  throw fault(std::string("race in ") + (is_shared ? "shared" : "global") + " memory: thread " +
              std::to_string(w.number * warp_lanes + now.lane) + (now.how == use::read ? " reads" : " writes") +
              " what thread " + std::to_string(earlier.thread) + other + " " + what + " without order");
}

void note_word(warp& w, uses& of, const access& now, std::uint8_t bytes, bool is_shared) {
  const auto conflicts = [&](const stamp& earlier) {
    return earlier.block != 0 && (earlier.bytes & bytes) != 0 && !(earlier.is_atomic && now.is_atomic) &&
           !is_ordered(w, now.lane, earlier);
  };
  if (conflicts(of.write)) report_race(w, now, of.write, "wrote", is_shared);
  const stamp mine{.clock = w.clock,
                   .block = w.in.number,
                   .block_clock = w.in.clock,
                   .thread = static_cast<std::uint16_t>(w.number * warp_lanes + now.lane),
                   .bytes = bytes,
                   .is_atomic = now.is_atomic};
  if (now.how == use::read) {
    const bool is_same_warp = of.read[0].block == mine.block && of.read[0].thread / warp_lanes == w.number;
    if (!is_same_warp) of.read[1] = of.read[0];
    of.read[0] = mine;
    return;
  }
  for (const stamp& reader : of.read) {
    if (conflicts(reader)) report_race(w, now, reader, "read", is_shared);
  }
  of.write = mine;
}

void note(warp& w, region& in, const access& now, bool is_shared) {
  for (std::uintptr_t word = now.address / 4 * 4; word < now.address + static_cast<std::uintptr_t>(now.bytes);
       word += 4) {
    unsigned bytes = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const std::uintptr_t byte = word + i;
      if (byte >= now.address && byte < now.address + static_cast<std::uintptr_t>(now.bytes)) bytes |= 1u << i;
    }
    note_word(w, in.used(word), now, static_cast<std::uint8_t>(bytes), is_shared);
  }
}

void check_values(region& in, const access& now, unsigned char after_write = region::known) {
  unsigned char* const written = in.written(now.address);
  if (now.how == use::write) {
    std::memset(written, after_write, static_cast<std::size_t>(now.bytes));
    return;
  }
  for (int i = 0; i < now.bytes; ++i) {
    if (written[i] == region::unwritten)
      throw fault("lane " + std::to_string(now.lane) + " reads byte " +
                  std::to_string(now.address + static_cast<std::uintptr_t>(i) - in.begin()) + " of " + in.name() +
                  ", which nobody wrote");
  }
}

void check(warp& w, region& in, const access& now, bool is_shared) {
  if (checks::chosen().values) check_values(in, now, is_shared ? region::known_to_threads : region::known);
  if (checks::chosen().races) note(w, in, now, is_shared);
}

region& region_of(warp& w, const access& now, const char* what) {
  if (w.recent != nullptr && w.recent->holds(now.address, static_cast<std::size_t>(now.bytes))) return *w.recent;
  w.recent = device_memory::of_process().find(now.address);
  if (w.recent == nullptr || !w.recent->holds(now.address, static_cast<std::size_t>(now.bytes)))
    throw fault("lane " + std::to_string(now.lane) + (now.how == use::read ? " reads " : " writes ") +
                std::to_string(now.bytes) + " bytes of " + what +
                " memory, out of bounds: " + device_memory::of_process().describe(now.address));
  return *w.recent;
}

/// Another block must have begun, and it must not have ended, which its end finds out, too.
void note_use_from_afar(warp& w, block& of, const access& now) {
  const std::string text = "lane " + std::to_string(now.lane) + " uses shared memory of block " +
                           std::to_string(of.rank) + " of its cluster, which ";
  if (of.is_done()) throw fault(text + "has ended");
  if (!checks::chosen().races) return;
  const auto is_known = [&](const auto& each) { return clock_of(w.seen, each->place_in_cluster) != 0; };
  if (w.cluster_waits == 0 && std::none_of(of.warps.begin(), of.warps.end(), is_known))
    throw fault(text + "may not have begun: no barrier of the cluster lies before");
  if (of.used_from_afar.size() <= w.place_in_cluster) of.used_from_afar.resize(w.place_in_cluster + 1);
  of.used_from_afar[w.place_in_cluster] = w.clock;
}

/// A write while a copy to global memory still reads the bytes.
void check_unread(const block& of, const access& now, std::uintptr_t place) {
  const auto is_read = [&](const bulk_store& each) {
    return each.values.empty() && place < each.from + static_cast<std::uintptr_t>(each.bytes) &&
           each.from < place + static_cast<std::uintptr_t>(now.bytes);
  };
  for (const auto& each : of.warps) {
    if (std::any_of(each->stores.begin(), each->stores.end(), is_read))
      throw fault("lane " + std::to_string(now.lane) +
                  " writes shared memory that cp.async.bulk still reads: no wait_group comes before");
  }
}

unsigned char* check_shared(warp& w, block& of, const access& now) {
  region& shared = of.shared();
  if (!shared.holds(now.address, static_cast<std::size_t>(now.bytes)) ||
      now.address - shared.begin() < first_shared_byte)
    throw fault("lane " + std::to_string(now.lane) + " uses byte " +
                std::to_string(now.address - shared.begin() - first_shared_byte) +
                " of shared memory, of which there are " + std::to_string(shared.bytes() - first_shared_byte));
  if (&of != &w.in) note_use_from_afar(w, of, now);
  if (of.unread_stores != 0 && now.how != use::read) check_unread(of, now, now.address - shared.begin());
  check(w, shared, now, true);
  return reinterpret_cast<unsigned char*>(now.address);
}

/// The block of the cluster that a generic address leads to; nullptr: none.
block* block_of(const warp& w, std::uintptr_t address) {
  if (w.in.shared().holds(address, 1)) return &w.in;
  return w.in.mates.blocks.size() == 1 ? nullptr : w.in.mates.find(address);
}

unsigned char* check_one(warp& w, space where, const access& now) {
  const auto bytes = static_cast<std::size_t>(now.bytes);
  auto* const place = reinterpret_cast<unsigned char*>(now.address);
  block* const of = where == space::shared ? &w.in : where == space::generic ? block_of(w, now.address) : nullptr;
  if (of != nullptr) return check_shared(w, *of, now);
  if (where == space::local || (where == space::generic && w.local != nullptr && w.local->holds(now.address, 1))) {
    const std::uintptr_t begin = local_begin(w, now.lane);
    if (now.address < begin || now.address + bytes > begin + w.code.local_bytes)
      throw fault("an access outside of the thread's own memory");
    if (checks::chosen().values) check_values(*w.local, now);
    return place;
  }
  region& parameters = w.in.of.parameters;
  if (where == space::param || (where == space::generic && parameters.holds(now.address, 1))) {
    if (!parameters.holds(now.address, bytes) || now.how != use::read)
      throw fault("an access outside of the kernel's parameters");
    return place;
  }
  region& in = region_of(w, now, "global");
  const auto mark = static_cast<std::uint8_t>(now.how == use::read ? region::was_read : region::was_written);
  if ((in.marks & mark) == 0) {
    if (in.marks == 0) w.in.of.touched.push_back(&in);
    in.marks |= mark;
  }
  check(w, in, now, false);
  return place;
}

void count_traffic(warp& w, const instruction& in, const places& at, lane_set active, int bytes, use how) {
  std::uintptr_t addresses[warp_lanes];
  std::memcpy(addresses, at.data(), sizeof(addresses));
  counts& done = w.in.of.done;
  const std::uintptr_t first = addresses[std::countr_zero(active)];
  const auto size = static_cast<unsigned>(bytes);
  const bool is_generic = in.where == space::generic;
  const bool is_shared = in.where == space::shared || in.where == space::cluster;
  if (is_shared || (is_generic && block_of(w, first) != nullptr)) {
    count_shared(how == use::read    ? done.shared_loads
                 : how == use::write ? done.shared_stores
                                     : done.shared_atomics,
                 addresses, active, size);
  } else if (in.where == space::global || (is_generic && device_memory::of_process().find(first) != nullptr)) {
    count_global(how == use::read    ? done.global_loads
                 : how == use::write ? done.global_stores
                                     : done.global_atomics,
                 addresses, active, size);
  }
}

}  // namespace

bool is_ordered(const warp& w, int lane, const stamp& earlier) {
  const block& here = w.in;
  const launch& asked = here.of.asked;
  if (earlier.block < here.of.first_block)  // of an earlier launch
    return earlier.block < asked.first_unordered || asked.order->is_before(earlier.block);
  const auto other = static_cast<std::size_t>(earlier.thread / warp_lanes);
  if (earlier.block != here.number) {
    if (earlier.block_clock <= clock_of(here.seen, here.of.block_place(earlier.block))) return true;
    const block* const near = mate(here, earlier.block);
    return near != nullptr && earlier.clock <= clock_of(w.seen, near->warps[other]->place_in_cluster);
  }
  if (other != static_cast<std::size_t>(w.number))
    return earlier.clock <= clock_of(w.seen, here.warps[other]->place_in_cluster);
  return earlier.thread % warp_lanes == lane || earlier.clock < w.clock;
}

const checks& checks::chosen() {
  static const checks made = [] {
    const char* const text = std::getenv("TENON_PTX_CHECKS");
    const std::string name = text == nullptr ? "all" : text;
    return checks{.values = name != "bounds", .races = name != "bounds" && name != "values"};
  }();
  return made;
}

std::uintptr_t local_begin(const warp& w, int lane) {
  if (w.local == nullptr) throw fault("local memory, of which the kernel has none");
  return w.local->begin() + static_cast<std::uintptr_t>(lane) * w.code.local_bytes;
}

places checked(warp& w, const instruction& in, lane_set active, int bytes, use how) {
  places result{};
  std::uintptr_t base = in.where == space::shared ? w.in.shared().begin() : 0;
  if (in.where == space::local) base = local_begin(w, 0);
  const std::uintptr_t distance = in.where == space::local ? w.code.local_bytes : 0;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if ((active >> lane & 1) == 0) continue;
    std::uintptr_t address = 0;
    if (in.is_wide_address) address = w.at<std::uint64_t>(in.a)[lane] + static_cast<std::uint64_t>(in.offset);
    else address = static_cast<std::uint32_t>(w.at<std::uint32_t>(in.a)[lane] + static_cast<std::uint32_t>(in.offset));
    block* of = nullptr;
    if (in.where == space::cluster) {
      const shared_place at = place_in_cluster(w, address);
      of = at.of;
      address = at.of->shared().begin() + at.address;
    } else {
      address += base + distance * static_cast<std::uintptr_t>(lane);
    }
    if (address % static_cast<std::uintptr_t>(bytes) != 0)
      throw fault("lane " + std::to_string(lane) + " uses " + std::to_string(bytes) +
                  " bytes at an address that is no multiple of that: " + std::to_string(address % 4096));
    const access now{address, bytes, lane, how, in.is_strong || how == use::change};
    result[static_cast<std::size_t>(lane)] = of != nullptr ? check_shared(w, *of, now) : check_one(w, in.where, now);
  }
  if (w.in.of.asked.counts_traffic) count_traffic(w, in, result, active, bytes, how);
  return result;
}

unsigned char* checked_shared(warp& w, std::uint32_t address, int bytes, use how, int lane) {
  return checked_shared(w, shared_place{&w.in, address}, bytes, how, lane);
}

unsigned char* checked_shared(warp& w, shared_place at, int bytes, use how, int lane) {
  return check_shared(w, *at.of, {at.of->shared().begin() + at.address, bytes, lane, how, how == use::change});
}

unsigned char* checked_async(warp& w, shared_place at, int bytes, use how, int lane) {
  region& shared = at.of->shared();
  const std::uintptr_t begin = shared.begin() + at.address;
  if (checks::chosen().values && shared.holds(begin, static_cast<std::size_t>(bytes))) {
    const unsigned char* const written = shared.written(begin);
    if (std::find(written, written + bytes, region::known_to_threads) != written + bytes)
      throw fault(std::string(how == use::read ? "a product of a warpgroup or a copy reads" : "a copy writes") +
                  " shared memory that a thread wrote, without a fence.proxy.async between");
  }
  return checked_shared(w, at, bytes, how, lane);
}

void show_to_units(warp& w) {
  for (const auto& each : w.in.mates.blocks) {
    region& shared = each->shared();
    unsigned char* const written = shared.written(shared.begin());
    for (std::size_t i = 0; i < shared.bytes(); ++i) {
      if (written[i] != region::known_to_threads) continue;
      const stamp& writer = shared.used(shared.begin() + i).write;
      const bool is_own = writer.block == w.in.number && writer.thread / warp_lanes == w.number;
      if (!checks::chosen().races || is_own || is_ordered(w, 0, writer)) written[i] = region::known;
    }
  }
}

unsigned char* checked_global(warp& w, std::uintptr_t address, int bytes, use how, int lane) {
  return check_one(w, space::global, {address, bytes, lane, how, how == use::change});
}

void fence(warp& w) {
  block& here = w.in;
  join(here.seen, std::exchange(here.read, {}));
  here.show_clock();
  here.fenced = here.seen;
  fence_in_cluster(w);
}

void fence_in_cluster(warp& w) {
  if (w.in.mates.blocks.size() == 1) return;
  join(w.seen, std::exchange(w.read, {}));
  w.show_clock();
  ++w.clock;
  w.fenced = w.seen;
}

namespace {

void exchange_in_cluster(warp& w, std::uintptr_t address, int how) {
  const bool is_wide = (how & within_block) == 0;
  if (is_wide && (how & releases) != 0) fence_in_cluster(w);
  clocks& left = w.in.mates.released[address];
  if ((how & reads_word) != 0) join(w.read, left);
  if ((how & writes_word) != 0) join(left, w.fenced);
  if (is_wide && (how & acquires) != 0) fence_in_cluster(w);
}

}  // namespace

void exchange_clocks(warp& w, std::uintptr_t address, int how) {
  block& here = w.in;
  if (here.mates.blocks.size() != 1) {
    exchange_in_cluster(w, address, how);
    const block* const of = block_of(w, address);
    if (of != nullptr && of != &here) return;
  }
  if (here.shared().holds(address, 1)) {
    clocks& left = here.released[address];
    join(w.seen, left);
    w.show_clock();
    ++w.clock;
    join(left, w.seen);
    return;
  }
  if (!w.code.has_fences) return;
  if ((how & releases) != 0) fence(w);
  clocks& left = here.of.released[address];
  if ((how & reads_word) != 0) join(here.read, left);
  if ((how & writes_word) != 0) join(left, here.fenced);
  if ((how & acquires) != 0) fence(w);
}

}  // namespace tenon_test::ptx
