// tests/ptx/bulk.cpp: cp.async.bulk: copies of bytes that lie side by side, to shared memory and from it.
// Those to global memory read as late as their groups are waited for, and write then or when their block ends.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ptx/decode.hpp"
#include "ptx/hopper.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

/// The lists of a copy hold its bytes and what is added to the address of its source.
int bytes_of(const warp& w, const instruction& in, int lane) {
  const std::uint32_t bytes = w.at<std::uint32_t>(w.code.lists[in.first])[lane];
  if (bytes % 16 != 0 || bytes >= 1u << 20) throw fault("cp.async.bulk of " + std::to_string(bytes) + " bytes");
  return static_cast<int>(bytes);
}
std::uint64_t source_offset(const warp& w, const instruction& in) {
  return *w.at<std::uint64_t>(w.code.lists[in.first + 1]);
}

void check_alignment(std::uintptr_t address) {
  if (address % 16 != 0) throw fault("cp.async.bulk: an address that is no multiple of 16");
}

void begin_load(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const int bytes = bytes_of(w, in, lane);
    const shared_place to = place_of(w, in.a, static_cast<std::uint32_t>(in.offset), in.where, lane);
    const std::uintptr_t from = w.at<std::uint64_t>(in.b)[lane] + source_offset(w, in);
    check_alignment(to.address), check_alignment(from);
    bool is_counted = true;
    each_target(w, in, lane, to, place_of(w, in.c, in.target, in.where, lane),
                [&](shared_place target, shared_place barrier) {
                  const auto write = [=, &w] {
                    const auto size = static_cast<std::size_t>(bytes);
                    if (is_counted)
                      ++w.in.of.done.global_loads.accesses, count_row(w.in.of.done.global_loads, from, size);
                    std::memcpy(target.memory(), checked_global(w, from, bytes, use::read, lane), size);
                  };
                  begin_arriving(w, {.to = target, .barrier = barrier, .bytes = bytes, .lane = lane, .write = write});
                  is_counted = false;
                });
  });
}

/// From the block's shared memory to that of another one.
void begin_send(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const int bytes = bytes_of(w, in, lane);
    const shared_place to = place_of(w, in.a, static_cast<std::uint32_t>(in.offset), in.where, lane);
    const shared_place from = place_of(w, in.b, static_cast<std::uint32_t>(source_offset(w, in)), space::shared, lane);
    check_alignment(to.address), check_alignment(from.address);
    checked_async(w, from, bytes, use::read, lane);
    const auto write = [=] {
      if (from.of->is_done()) throw fault("a copy reads shared memory of a block that has ended");
      std::memcpy(to.memory(), from.memory(), static_cast<std::size_t>(bytes));
    };
    begin_arriving(w, {.to = to,
                       .barrier = place_of(w, in.c, in.target, in.where, lane),
                       .bytes = bytes,
                       .lane = lane,
                       .write = write});
  });
}

void begin_store(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const int bytes = bytes_of(w, in, lane);
    const std::uintptr_t to = w.at<std::uint64_t>(in.a)[lane] + static_cast<std::uint64_t>(in.offset);
    const shared_place from = place_of(w, in.b, static_cast<std::uint32_t>(source_offset(w, in)), space::shared, lane);
    check_alignment(to), check_alignment(from.address);
    if (bytes == 0) return;
    const combiner how = reduction_of(in.target, in.kind);
    begin_storing(w, {.lane = lane, .from = from.address, .to = to, .bytes = bytes, .combine = how});
    ++traffic_of(w, how).accesses;
    count_row(traffic_of(w, how), to, static_cast<std::size_t>(bytes));
  });
}

void commit_bulk(warp& w, const instruction&, lane_set active) {
  each_lane(active, [&](int lane) { ++w.store_groups[static_cast<std::size_t>(lane)]; });
}

void read(warp& w, bulk_store& each) {
  if (!each.values.empty()) return;
  checked_shared(w, each.from, each.bytes, use::read, each.lane);  // whoever writes there must know of the wait
  --w.in.unread_stores;
  each.values.resize(static_cast<std::size_t>(each.bytes));
  std::memcpy(each.values.data(), shared_place{&w.in, each.from}.memory(), each.values.size());
}

void write(const bulk_store& each) {
  auto* const to = reinterpret_cast<unsigned char*>(each.to);
  if (each.combine != nullptr) return each.combine(to, each.values.data(), each.values.size());
  std::memcpy(to, each.values.data(), each.values.size());
  device_memory::of_process().find(each.to)->mark(each.to, each.values.size(), true);
}

/// All groups but the latest `offset` have read their source, and are done where `kind` says so.
void wait_for_bulk(warp& w, const instruction& in, lane_set active) {
  std::erase_if(w.stores, [&](bulk_store& each) {
    const std::int64_t later = std::int64_t{w.store_groups[static_cast<std::size_t>(each.lane)]} - 1 - each.group;
    if ((active >> each.lane & 1) == 0 || later < in.offset) return false;
    read(w, each);
    if (in.kind != 0) write(each);
    return in.kind != 0;
  });
}

/// cp{.reduce}.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}{.add.u32} [to], [from], bytes{, policy}.
bool decode_store(decoder& d, int to, std::size_t operands) {
  if (d.part(to + 1) != "shared::cta" || d.part(to + 2) != "bulk_group" || d.operands() != operands + 3) return false;
  d.address(1, &instruction::b);
  if (d.made.is_wide_address) return false;
  const std::int64_t from = d.made.offset;
  d.address(0);
  d.add_list(2, 4, false);
  d.add_list({.what = operand::number, .bits = static_cast<std::uint64_t>(from)}, 8, false);
  d.made.run = &begin_store;
  return d.made.is_wide_address;
}

bool decode_load(decoder& d, std::size_t operands) {
  const bool is_of_global = d.part(4) == "global", is_to_many = d.has("multicast::cluster");
  if (!is_of_global && (d.part(4) != "shared::cta" || is_to_many)) return false;
  if (d.part(5) != "mbarrier::complete_tx::bytes" || d.operands() != operands + 4 + (is_to_many ? 1 : 0)) return false;
  d.made.where = d.part(3) == "shared::cluster" ? space::cluster : space::shared;
  d.address(3, &instruction::c);
  if (d.made.is_wide_address) return false;
  d.made.target = static_cast<std::uint32_t>(d.made.offset);
  d.address(1, &instruction::b);
  if (d.made.is_wide_address != is_of_global) return false;
  d.add_list(2, 4, false);
  d.add_list({.what = operand::number, .bits = static_cast<std::uint64_t>(d.made.offset)}, 8, false);
  if (is_to_many) d.made.d = d.source(4, 2);
  d.address(0);
  d.made.run = is_of_global ? &begin_load : &begin_send;
  return !d.made.is_wide_address;
}

}  // namespace

void begin_storing(warp& w, const bulk_store& each) {
  checked_async(w, {&w.in, each.from}, each.bytes, use::read, each.lane);
  checked_global(w, each.to, each.bytes, each.combine == nullptr ? use::write : use::change, each.lane);
  if (each.combine == nullptr) w.recent->mark(each.to, static_cast<std::size_t>(each.bytes), false);
  w.stores.push_back(each);
  w.stores.back().group = w.store_groups[static_cast<std::size_t>(each.lane)];
  ++w.in.unread_stores;
}

traffic& traffic_of(warp& w, combiner how) {
  return how == nullptr ? w.in.of.done.global_stores : w.in.of.done.global_atomics;
}

void finish_stores(warp& w) {
  for (const bulk_store& each : w.stores) {
    if (each.values.empty()) throw fault("a block ends while cp.async.bulk still reads its shared memory");
    write(each);
  }
  w.stores.clear();
}

bool decode_bulk(decoder& d) {
  const bool reduces = d.part(1) == "reduce";
  const std::string_view to = d.part(reduces ? 4 : 3);
  const bool is_wait = to == "wait_group";
  if (to == "commit_group" || is_wait) {
    d.made.run = is_wait ? &wait_for_bulk : &commit_bulk;
    d.made.kind = d.has("read") ? 0 : 1;
    if (is_wait) d.made.offset = static_cast<std::int64_t>(d.at(0).bits);
    return true;
  }
  if (d.has("cp_mask")) return false;
  const std::size_t hints = d.has("L2::cache_hint") ? 1 : 0;
  if (reduces && !decode_bulk_reduction(d)) return false;
  if (to == "global") return decode_store(d, reduces ? 4 : 3, hints);
  return !reduces && (to == "shared::cluster" || to == "shared::cta") && decode_load(d, hints);
}

}  // namespace tenon_test::ptx
