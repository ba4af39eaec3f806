// tests/ptx/accesses.cpp: loads, stores, atomic operations, fences.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

/// The elements of an access, one after another in memory, each in a register that may be wider.
template <class Memory, class Register>
places load_values(warp& w, const instruction& in, lane_set active) {
  const places from = checked(w, in, active, static_cast<int>(sizeof(Memory)) * in.count, use::read);
  for (unsigned element = 0; element < in.count; ++element) {
    Register* const to = w.at<Register>(w.code.lists[in.first + element]);
    for (lane_set left = active; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      Memory value;
      std::memcpy(&value, from[static_cast<std::size_t>(lane)] + element * sizeof(Memory), sizeof(Memory));
      to[lane] = static_cast<Register>(value);
    }
  }
  return from;
}

template <class Memory, class Register>
void load(warp& w, const instruction& in, lane_set active) {
  load_values<Memory, Register>(w, in, active);
}

template <class Memory, class Register>
void load_in_order(warp& w, const instruction& in, lane_set active) {
  const places from = load_values<Memory, Register>(w, in, active);
  if (!w.code.has_fences) return;
  exchange_clocks(w, reinterpret_cast<std::uintptr_t>(from[static_cast<std::size_t>(std::countr_zero(active))]),
                  in.orders | reads_word);
  w.gives_way = true;
}

template <class Memory, class Register>
void store(warp& w, const instruction& in, lane_set active) {
  const places to = checked(w, in, active, static_cast<int>(sizeof(Memory)) * in.count, use::write);
  for (unsigned element = 0; element < in.count; ++element) {
    const Register* const from = w.at<Register>(w.code.lists[in.first + element]);
    for (lane_set left = active; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto value = static_cast<Memory>(from[lane]);
      std::memcpy(to[static_cast<std::size_t>(lane)] + element * sizeof(Memory), &value, sizeof(Memory));
    }
  }
  if (in.is_strong)
    exchange_clocks(w, reinterpret_cast<std::uintptr_t>(to[static_cast<std::size_t>(std::countr_zero(active))]),
                    in.orders | writes_word);
}

template <class Register, class Memory>
handler access_handler(bool is_load, bool is_strong) {
  if (!is_load) return &store<std::make_unsigned_t<Memory>, Register>;
  return is_strong ? &load_in_order<Memory, Register> : &load<Memory, Register>;
}

template <class Register>
handler for_memory(std::string_view type, bool is_load, bool is_strong) {
  if (type == "s8") return access_handler<Register, std::int8_t>(is_load, is_strong);
  if (type == "s16") return access_handler<Register, std::int16_t>(is_load, is_strong);
  if (type == "s32") return access_handler<Register, std::int32_t>(is_load, is_strong);
  switch (bytes_of_type(type)) {
    case 1:
      return access_handler<Register, std::uint8_t>(is_load, is_strong);
    case 2:
      return access_handler<Register, std::uint16_t>(is_load, is_strong);
    case 4:
      return access_handler<Register, std::uint32_t>(is_load, is_strong);
    case 8:
      return access_handler<Register, std::uint64_t>(is_load, is_strong);
    default:
      return nullptr;
  }
}

space space_of(const decoder& d) {
  for (const std::string_view part : d.text->opcode) {
    if (part == "shared::cluster") return space::cluster;
    const std::string_view name = part.substr(0, part.find(':'));
    if (name == "global") return space::global;
    if (name == "shared") return space::shared;
    if (name == "param") return space::param;
    if (name == "const") return space::constant;
    if (name == "local") return space::local;
  }
  return space::generic;
}

bool is_strong(const decoder& d) {
  return d.has("volatile") || d.has("relaxed") || d.has("acquire") || d.has("release") || d.has("acq_rel");
}

std::uint8_t orders_of(const decoder& d) {
  const bool both = d.has("acq_rel");
  return static_cast<std::uint8_t>((both || d.has("acquire") ? acquires : 0) |
                                   (both || d.has("release") ? releases : 0) | (d.has("cta") ? within_block : 0));
}

bool decode_access(decoder& d) {
  const bool is_load = d.part(0) != "st";
  const std::string_view type = d.part(-1);
  const std::size_t values = is_load ? 0 : 1, address = is_load ? 1 : 0;
  const operand& list = d.at(values);
  const int bytes = std::max(2, bytes_of_type(type));
  int width = bytes;
  if (list.what == operand::list) {
    for (const operand& each : list.parts) width = std::max(width, d.width(each, bytes));
  } else {
    width = d.width(list, bytes);
  }
  d.made.where = space_of(d);
  d.made.is_strong = is_strong(d);
  d.made.orders = orders_of(d);
  if (width == 2) d.made.run = for_memory<std::uint16_t>(type, is_load, d.made.is_strong);
  else if (width == 4) d.made.run = for_memory<std::uint32_t>(type, is_load, d.made.is_strong);
  else if (width == 8) d.made.run = for_memory<std::uint64_t>(type, is_load, d.made.is_strong);
  if (d.made.run == nullptr) return false;
  d.address(address);
  d.add_list(values, width, is_load);
  return true;
}

/// Each active lane changes its value, one lane after another from a drawn one on, and gets the old value.
template <class Value, class Function>
void change(warp& w, const instruction& in, lane_set active) {
  const places at = checked(w, in, active, static_cast<int>(sizeof(Value)), use::change);
  const auto first = static_cast<int>(w.in.of.random() % warp_lanes);
  for (int i = 0; i < warp_lanes; ++i) {
    const int lane = (first + i) % warp_lanes;
    if ((active >> lane & 1) == 0) continue;
    const Value b = w.at<Value>(in.b)[lane], c = in.c.is_there != 0 ? w.at<Value>(in.c)[lane] : b;
    Value old;
    std::memcpy(&old, at[static_cast<std::size_t>(lane)], sizeof(Value));
    const Value made = static_cast<Value>(Function{}(old, b, c));
    std::memcpy(at[static_cast<std::size_t>(lane)], &made, sizeof(Value));
    if (in.to.is_there != 0) w.at<Value>(in.to)[lane] = old;
    exchange_clocks(w, reinterpret_cast<std::uintptr_t>(at[static_cast<std::size_t>(lane)]),
                    in.orders | reads_word | writes_word);
  }
}

template <class T>
handler change_of(std::string_view name) {
  return for_change<handler, T>(name, []<class Function>(Function) -> handler { return &change<T, Function>; });
}

bool decode_atomic(decoder& d) {
  const std::string_view type = d.part(-1);
  const int bytes = bytes_of_type(type);
  std::string_view name;
  for (const std::string_view part : d.text->opcode) {
    static constexpr const char* known[] = {"add", "min", "max", "exch", "cas", "and", "or", "xor", "inc", "dec"};
    if (std::find(std::begin(known), std::end(known), part) != std::end(known)) name = part;
  }
  if (bytes < 4) return false;
  if (type[0] == 'f') d.made.run = for_float(type, [&]<class T>() { return change_of<T>(name); });
  else d.made.run = for_integer(type, [&]<class T>() { return change_of<T>(name); });
  if (d.made.run == nullptr) return false;
  const std::size_t address = d.part(0) == "red" ? 0 : 1;
  d.made.orders = orders_of(d);
  d.made.where = space_of(d);
  d.address(address);
  if (address == 1) d.made.to = d.target(0, bytes);
  d.made.b = d.source(address + 1, bytes);
  if (name == "cas") d.made.c = d.source(address + 2, bytes);
  return true;
}

void make_fence(warp& w, const instruction&, lane_set) { fence(w); }
void make_cluster_fence(warp& w, const instruction&, lane_set) { fence_in_cluster(w); }
void show_barriers(warp& w, const instruction&, lane_set) {
  for (auto& [address, barrier] : w.in.phases) {
    if (!std::exchange(barrier.is_shown, true)) barrier.shown_after = w.cluster_arrivals;
  }
}

void show_written(warp& w, const instruction&, lane_set) { show_to_units(w); }

/// What a fence of the order of memory does, beyond a block.
handler fence_of(const decoder& d) {
  return d.has("cta") ? &do_nothing : d.has("cluster") ? &make_cluster_fence : &make_fence;
}

}  // namespace

bool decode_accesses(decoder& d) {
  const std::string_view name = d.part(0);
  if (d.part(1) == "async") return false;  // which an mbarrier is told of
  if (name == "ld" || name == "ldu" || name == "st") return decode_access(d);
  if (name == "atom" || name == "red") return decode_atomic(d);
  if (name == "prefetch" || name == "prefetchu" || name == "membar" || name == "fence") {
    const bool is_of_memory = name == "membar" || d.part(1) == "sc" || d.part(1) == "acq_rel";
    d.made.run = is_of_memory                                                ? fence_of(d)
                 : d.part(1) == "mbarrier_init"                              ? &show_barriers
                 : d.part(1) == "proxy" && d.part(2).substr(0, 5) == "async" ? &show_written
                                                                             : &do_nothing;
    return true;
  }
  return false;
}

}  // namespace tenon_test::ptx
