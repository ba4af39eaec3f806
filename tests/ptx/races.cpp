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

/// Whether the earlier use is ordered before what the lane does now, or needs no order.
bool is_ordered(const warp& w, int lane, const stamp& earlier) {
  const block& here = w.in;
  const launch& asked = here.of.asked;
  if (earlier.block < here.of.first_block)  // of an earlier launch
    return earlier.block < asked.first_unordered || asked.order->is_before(earlier.block);
  if (earlier.block != here.number)
    return earlier.block_clock <= clock_of(here.seen, here.of.block_place(earlier.block));
  const int other = earlier.thread / warp_lanes;
  if (other != w.number) return earlier.clock <= clock_of(w.seen, static_cast<std::size_t>(other));
  return earlier.thread % warp_lanes == lane || earlier.clock < w.clock;
}

[[noreturn]] void report_race(const warp& w, const access& now, const stamp& earlier, const char* what,
                              bool is_shared) {
  const std::string other = earlier.block == w.in.number          ? ""
                            : earlier.block < w.in.of.first_block ? " of an earlier kernel, on another stream,"
                                                                  : " of another block";
  throw fault(std::string("race in ") + (is_shared ? "shared" : "global") + " memory: thread " +
              std::to_string(w.number * warp_lanes + now.lane) + (now.how == use::read ? " reads" : " writes") +
              " what thread " + std::to_string(earlier.thread) + other + " " + what + " without order");
}

void note_word(warp& w, uses& of, const access& now, std::uint8_t bytes, bool is_shared) {
  const auto conflicts = [&](const stamp& earlier) {
    return earlier.block != 0 && (earlier.bytes & bytes) != 0 && !(earlier.is_atomic && now.is_atomic) &&
           (!is_shared || earlier.block == w.in.number) && !is_ordered(w, now.lane, earlier);
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

unsigned char* check_one(warp& w, space where, const access& now) {
  region& shared = w.in.shared();
  const auto bytes = static_cast<std::size_t>(now.bytes);
  auto* const place = reinterpret_cast<unsigned char*>(now.address);
  if (where == space::shared || (where == space::generic && shared.holds(now.address, 1))) {
    if (!shared.holds(now.address, bytes) || now.address - shared.begin() < first_shared_byte)
      throw fault("lane " + std::to_string(now.lane) + " uses byte " +
                  std::to_string(now.address - shared.begin() - first_shared_byte) +
                  " of shared memory, of which there are " + std::to_string(shared.bytes() - first_shared_byte));
    check(w, shared, now, true);
    return place;
  }
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
  if (in.where == space::shared || (is_generic && w.in.shared().holds(first, 1))) {
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
    address += base + distance * static_cast<std::uintptr_t>(lane);
    if (address % static_cast<std::uintptr_t>(bytes) != 0)
      throw fault("lane " + std::to_string(lane) + " uses " + std::to_string(bytes) +
                  " bytes at an address that is no multiple of that: " + std::to_string(address % 4096));
    result[static_cast<std::size_t>(lane)] =
        check_one(w, in.where, {address, bytes, lane, how, in.is_strong || how == use::change});
  }
  if (w.in.of.asked.counts_traffic) count_traffic(w, in, result, active, bytes, how);
  return result;
}

unsigned char* checked_shared(warp& w, std::uint32_t address, int bytes, use how, int lane) {
  return check_one(w, space::shared, {w.in.shared().begin() + address, bytes, lane, how, how == use::change});
}

unsigned char* checked_async(warp& w, std::uint32_t address, int bytes, use how, int lane) {
  region& shared = w.in.shared();
  const std::uintptr_t begin = shared.begin() + address;
  if (checks::chosen().values && shared.holds(begin, static_cast<std::size_t>(bytes))) {
    const unsigned char* const written = shared.written(begin);
    if (std::find(written, written + bytes, region::known_to_threads) != written + bytes)
      throw fault(std::string(how == use::read ? "a product of a warpgroup reads" : "a copy of a tile writes") +
                  " shared memory that a thread wrote, without a fence.proxy.async between");
  }
  return checked_shared(w, address, bytes, how, lane);
}

void show_to_units(warp& w) {
  region& shared = w.in.shared();
  if (shared.bytes() == 0) return;
  unsigned char* const written = shared.written(shared.begin());
  for (std::size_t i = 0; i < shared.bytes(); ++i) {
    if (written[i] != region::known_to_threads) continue;
    const stamp& writer = shared.used(shared.begin() + i).write;
    const bool is_own = writer.thread / warp_lanes == w.number;
    if (!checks::chosen().races || is_own || is_ordered(w, 0, writer)) written[i] = region::known;
  }
}

unsigned char* checked_global(warp& w, std::uintptr_t address, int bytes, use how, int lane) {
  return check_one(w, space::global, {address, bytes, lane, how, how == use::change});
}

void fence(warp& w) {
  block& here = w.in;
  const std::size_t place = here.of.block_place(here.number);
  join(here.seen, std::exchange(here.read, {}));
  if (here.seen.size() <= place) here.seen.resize(place + 1);
  here.seen[place] = here.clock++;
  here.fenced = here.seen;
}

void exchange_clocks(warp& w, std::uintptr_t address, int how) {
  block& here = w.in;
  if (here.shared().holds(address, 1)) {
    clocks& left = here.released[address];
    join(w.seen, left);
    if (w.seen.size() <= static_cast<std::size_t>(w.number)) w.seen.resize(static_cast<std::size_t>(w.number) + 1);
    w.seen[static_cast<std::size_t>(w.number)] = w.clock++;
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
