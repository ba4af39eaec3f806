// tests/ptx/hopper.cpp: Hopper's barriers in shared memory, and its copies of tiles.
// A tile arrives as late as the rules allow: when someone waits for its barrier and all else of the phase is done.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"
#include "ptx/tile_map.hpp"

namespace tenon_test::ptx {

namespace {

constexpr int barrier_bytes = 8;

template <class Visit>
void each_lane(lane_set active, Visit visit) {
  for (; active != 0; active &= active - 1) visit(std::countr_zero(active));
}

std::uint32_t address_of(const warp& w, const instruction& in, int lane) {
  return w.at<std::uint32_t>(in.a)[lane] + static_cast<std::uint32_t>(in.offset);
}

void make_barrier(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const std::uint32_t address = address_of(w, in, lane), expected = w.at<std::uint32_t>(in.b)[lane];
    if (address % barrier_bytes != 0) throw fault("mbarrier.init: an address that is no multiple of 8");
    if (expected == 0 || expected >= 1u << 20) throw fault("mbarrier.init: " + std::to_string(expected) + " arrivals");
    checked_shared(w, address, barrier_bytes, use::write, lane);
    w.in.phases[address] = phase{.expected = expected, .pending = expected};
  });
}

/// The barrier at an address, whose making must be ordered before.
phase& barrier_at(warp& w, std::uint32_t address, int lane) {
  const auto found = w.in.phases.find(address);
  if (found == w.in.phases.end())
    throw fault("no mbarrier was made at byte " + std::to_string(address - first_shared_byte) + " of shared memory");
  checked_shared(w, address, barrier_bytes, use::change, lane);
  return found->second;
}

void end_if_complete(phase& at) {
  if (at.pending != 0 || at.bytes != 0) return;
  ++at.number;
  at.pending = at.expected;
}

void arrive(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    phase& at = barrier_at(w, address_of(w, in, lane), lane);
    if (in.b.is_there != 0) at.bytes += w.at<std::uint32_t>(in.b)[lane];
    if (at.pending == 0)
      throw fault("mbarrier.arrive: more arrivals than the " + std::to_string(at.expected) + " of a phase");
    --at.pending;
    if (w.seen.size() <= static_cast<std::size_t>(w.number)) w.seen.resize(static_cast<std::size_t>(w.number) + 1);
    w.seen[static_cast<std::size_t>(w.number)] = w.clock;
    join(at.known, w.seen);
    end_if_complete(at);
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
    phase& at = barrier_at(w, address_of(w, in, lane), lane);
    const std::uint32_t parity = w.at<std::uint32_t>(in.b)[lane];
    if ((at.number & 1) == parity && at.pending == 0) finish_copies(w, at);
    if ((at.number & 1) == parity) return;
    ended |= lane_set{1} << lane;
    join(w.seen, at.known);
  });
  lane_set& result = *w.at<lane_set>(in.to);
  result = (result & ~active) | ended;
  w.gives_way = ended != active;
}

bool decode_barrier(decoder& d) {
  const std::string_view name = d.part(1);
  const auto shared = [](std::string_view part) { return part.substr(0, 6) == "shared"; };
  if (std::none_of(d.text->opcode.begin(), d.text->opcode.end(), shared)) return false;
  if (name == "init") {
    d.made.run = &make_barrier;
    d.address(0);
    d.made.b = d.source(1, 4);
  } else if (name == "arrive") {
    if (d.at(0).text != "_" || (d.operands() > 2) != d.has("expect_tx")) return false;
    d.made.run = &arrive;
    d.address(1);
    if (d.has("expect_tx")) d.made.b = d.source(2, 4);
  } else if ((name == "try_wait" || name == "test_wait") && d.has("parity")) {
    d.made.run = &wait;
    d.made.to = d.target(0, 0);
    d.address(1);
    d.made.b = d.source(2, 4);
  } else {
    return false;
  }
  return !d.made.is_wide_address;
}

/// A copy of one tile.
struct tile_copy {
  tile_map map;
  std::int64_t position[tile_map::most_axes]{};
  std::uint32_t to = 0;
  int lane = 0;

  std::int64_t bytes() const {
    std::int64_t result = map.element_bytes;
    for (int i = 0; i < map.rank; ++i) result *= map.box[i];
    return result;
  }
  /// The parts of 16 bytes of a row are exchanged by bits of their address.
  std::uint32_t swizzled(std::uint32_t address) const {
    const std::uint32_t parts = map.swizzle_bytes == 0 ? 0 : map.swizzle_bytes / 16u - 1;
    return address ^ (((address >> 7) & parts) << 4);
  }
};

void count_row(traffic& into, std::uintptr_t begin, std::size_t bytes) {
  constexpr std::size_t sector = 32;
  into.bytes += bytes;
  into.parts += (begin + bytes + sector - 1) / sector - begin / sector;
  into.fewest += (bytes + sector - 1) / sector;
}

/// One row of a tile, whose place along the later axes is `row`: elements outside of the tensor are zero.
void copy_row(warp& w, const tile_copy& copy, std::int64_t row) {
  const tile_map& map = copy.map;
  const std::int64_t row_bytes = std::int64_t{map.box[0]} * map.element_bytes;
  std::uint64_t from = map.address;
  bool is_inside = true;
  std::int64_t rest = row;
  for (int axis = 1; axis < map.rank; ++axis) {
    const std::int64_t at = copy.position[axis] + rest % map.box[axis] * map.steps[axis];
    rest /= map.box[axis];
    is_inside = is_inside && at >= 0 && at < static_cast<std::int64_t>(map.extents[axis]);
    from += static_cast<std::uint64_t>(at) * map.strides[axis - 1];
  }
  std::vector<unsigned char> values(static_cast<std::size_t>(row_bytes));
  const std::int64_t first = std::max<std::int64_t>(0, -copy.position[0]);
  const std::int64_t end =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.extents[0]) - copy.position[0]);
  if (is_inside && first < end) {
    const std::uint64_t begin = from + static_cast<std::uint64_t>((copy.position[0] + first) * map.element_bytes);
    const auto bytes = static_cast<std::size_t>((end - first) * map.element_bytes);
    count_row(w.in.of.done.global_loads, begin, bytes);
    std::memcpy(&values[static_cast<std::size_t>(first * map.element_bytes)],
                checked_global(w, begin, static_cast<int>(bytes), use::read, copy.lane), bytes);
  }
  const std::uint32_t to = copy.to + static_cast<std::uint32_t>(row * row_bytes);
  for (std::uint32_t part = 0; part < row_bytes; part += 16)
    std::memcpy(reinterpret_cast<void*>(w.in.shared().begin() + copy.swizzled(to + part)), &values[part], 16);
}

std::int64_t finish_copy(warp& w, const tile_copy& copy) {
  ++w.in.of.done.global_loads.accesses;
  const std::int64_t bytes = copy.bytes(), row_bytes = std::int64_t{copy.map.box[0]} * copy.map.element_bytes;
  for (std::int64_t row = 0; row < bytes / row_bytes; ++row) copy_row(w, copy, row);
  w.in.shared().mark(w.in.shared().begin() + copy.to, static_cast<std::size_t>(bytes), true);
  return bytes;
}

tile_map map_at(warp& w, std::uint64_t address) {
  tile_map map;
  if (!w.in.of.parameters.holds(address, 128) || address % 64 != 0)
    throw fault("a tensor map that is no parameter of the kernel");
  std::memcpy(static_cast<void*>(&map), reinterpret_cast<const void*>(address), sizeof(map));
  if (map.mark != tile_map::written) throw fault("a tensor map that was never encoded");
  return map;
}

/// Begins a copy: from here on the tile has no values, and it races with whoever still uses it.
void begin_tile(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    phase& at = barrier_at(w, w.at<std::uint32_t>(in.c)[lane] + in.target, lane);
    if (!at.is_shown) throw fault("a copy of a tile tells an mbarrier that no fence.mbarrier_init has shown to it");
    tile_copy copy{.map = map_at(w, w.at<std::uint64_t>(in.b)[lane])};
    if (copy.map.rank != in.count)
      throw fault("a copy of a tile at a position of " + std::to_string(in.count) + " axes, where the map has " +
                  std::to_string(copy.map.rank));
    for (unsigned i = 0; i < in.count; ++i) copy.position[i] = w.at<std::int32_t>(w.code.lists[in.first + i])[lane];
    copy.to = address_of(w, in, lane);
    copy.lane = lane;
    const std::uint32_t alignment = copy.map.swizzle_bytes == 0 ? 128 : copy.map.swizzle_bytes * 8u;
    if (copy.to % alignment != 0)
      throw fault("a copy of a tile to an address that is no multiple of " + std::to_string(alignment));
    const auto bytes = static_cast<int>(copy.bytes());
    checked_async(w, copy.to, bytes, use::write, lane);
    w.in.shared().mark(w.in.shared().begin() + copy.to, static_cast<std::size_t>(bytes), false);
    at.copies.push_back([&w, &at, copy, clock = w.clock] {
      const auto number = static_cast<std::size_t>(w.number);
      if (at.known.size() <= number) at.known.resize(number + 1);
      at.known[number] = std::max(at.known[number], clock);
      return finish_copy(w, copy);
    });
  });
}

bool decode_tile_copy(decoder& d) {
  if (!d.has("tensor") || !d.has("mbarrier::complete_tx::bytes") || d.operands() != 3) return false;
  d.address(2, &instruction::c);
  if (d.made.is_wide_address) return false;
  d.made.target = static_cast<std::uint32_t>(d.made.offset);
  d.address(1, &instruction::b);
  if (d.made.offset != 0 || !d.made.is_wide_address) return false;
  const operand position{.what = operand::list, .text = {}, .parts = d.at(1).parts};
  d.add_list(position, 4, false);
  d.address(0);
  d.made.run = &begin_tile;
  return !d.made.is_wide_address;
}

}  // namespace

bool decode_hopper(decoder& d) {
  if (d.part(0) == "mbarrier") return decode_barrier(d);
  if (d.part(0) == "cp" && d.part(2) == "bulk") return decode_tile_copy(d);
  return d.part(0) == "wgmma" && decode_warpgroups(d);
}

}  // namespace tenon_test::ptx
