// tests/ptx/tiles.cpp: copies of tiles, by TMA: boxes of a tensor, and pixels of images as a convolution asks for them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ptx/decode.hpp"
#include "ptx/hopper.hpp"
#include "ptx/lanes.hpp"
#include "ptx/tile_map.hpp"

namespace tenon_test::ptx {

namespace {

/// A copy of one tile: rows of elements side by side.
struct tile_copy {
  tile_map map;
  std::int64_t position[tile_map::most_axes]{};
  std::int64_t offsets[tile_map::most_axes - 2]{};  ///< of pixels: where a filter looks, from their position on
  shared_place to{};
  int lane = 0;
  bool is_counted = true;

  std::int64_t row_bytes() const { return std::int64_t{map.box[0]} * map.element_bytes; }
  std::int64_t rows() const {
    std::int64_t result = 1;
    for (int i = 1; i < (map.is_of_pixels != 0 ? 2 : map.rank); ++i) result *= map.box[i];
    return result;
  }
  /// The parts of 16 bytes of a row are exchanged by bits of their address.
  std::uint32_t swizzled(std::uint32_t address) const {
    const std::uint32_t parts = map.swizzle_bytes == 0 ? 0 : map.swizzle_bytes / 16u - 1;
    return address ^ (((address >> 7) & parts) << 4);
  }
  /// Where the row lies along the later axes.
  void place_row(std::int64_t row, std::int64_t (&at)[tile_map::most_axes]) const {
    if (map.is_of_pixels != 0) return place_pixel(row, at);
    for (int axis = 1; axis < map.rank; ++axis) {
      at[axis] = position[axis] + row % map.box[axis] * map.steps[axis];
      row /= map.box[axis];
    }
  }
  /// Pixels follow each other from the tile's position on through a box within each image, then through the images. An
  /// image's box ends `upper` behind its last pixel.
  void place_pixel(std::int64_t pixel, std::int64_t (&at)[tile_map::most_axes]) const {
    std::copy(std::begin(position), std::end(position), std::begin(at));
    const std::uint32_t images = map.rank - 1u;
    std::int64_t carried = pixel;
    for (std::uint32_t axis = 1; axis < images; ++axis) {
      const std::int64_t lower = map.lower[axis - 1], step = map.steps[axis];
      const std::int64_t count = (map.last_pixel(axis) - lower) / step + 1,
                         number = (at[axis] - lower) / step + carried;
      at[axis] = lower + number % count * step + offsets[axis - 1];
      carried = number / count;
    }
    at[images] += carried;
  }
};

/// What lies in the tensor of a row: bytes from `begin` on, `first` bytes behind the row's begin.
struct row_part {
  std::uint64_t begin = 0;
  std::size_t first = 0, bytes = 0;
};

row_part part_of(const tile_copy& copy, std::int64_t row) {
  const tile_map& map = copy.map;
  std::int64_t at[tile_map::most_axes]{};
  copy.place_row(row, at);
  std::uint64_t from = map.address;
  bool is_inside = true;
  for (int axis = 1; axis < map.rank; ++axis) {
    is_inside = is_inside && at[axis] >= 0 && at[axis] < static_cast<std::int64_t>(map.extents[axis]);
    from += static_cast<std::uint64_t>(at[axis]) * map.strides[axis - 1];
  }
  const std::int64_t first = std::max<std::int64_t>(0, -copy.position[0]);
  const std::int64_t end =
      std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.extents[0]) - copy.position[0]);
  if (!is_inside || first >= end) return {};
  return {.begin = from + static_cast<std::uint64_t>((copy.position[0] + first) * map.element_bytes),
          .first = static_cast<std::size_t>(first * map.element_bytes),
          .bytes = static_cast<std::size_t>((end - first) * map.element_bytes)};
}

/// Rounds floats to the 10 bits of mantissa that tf32 has. Which way ties go is not documented: here away from zero.
void round_to_tf32(std::vector<unsigned char>& floats) {
  for (std::size_t at = 0; at < floats.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &floats[at], sizeof(bits));
    const bool is_finite = (bits & 0x7f800000u) != 0x7f800000u;
    if (is_finite) bits = (bits + 0x1000u) & 0xffffe000u;
    std::memcpy(&floats[at], &bits, sizeof(bits));
  }
}

/// One row of a tile: elements outside of the tensor are zero.
void copy_row(warp& w, const tile_copy& copy, std::int64_t row) {
  const std::int64_t row_bytes = copy.row_bytes();
  std::vector<unsigned char> values(static_cast<std::size_t>(row_bytes));
  if (const row_part part = part_of(copy, row); part.bytes != 0) {
    if (copy.is_counted) count_row(w.in.of.done.global_loads, part.begin, part.bytes);
    std::memcpy(&values[part.first], checked_global(w, part.begin, static_cast<int>(part.bytes), use::read, copy.lane),
                part.bytes);
  }
  if (copy.map.element_type == tile_map::tfloat32) round_to_tf32(values);
  const std::uint32_t to = copy.to.address + static_cast<std::uint32_t>(row * row_bytes);
  for (std::uint32_t part = 0; part < row_bytes; part += 16)
    std::memcpy(shared_place{copy.to.of, copy.swizzled(to + part)}.memory(), &values[part], 16);
}

void finish_tile(warp& w, const tile_copy& copy) {
  if (copy.is_counted) ++w.in.of.done.global_loads.accesses;
  for (std::int64_t row = 0; row < copy.rows(); ++row) copy_row(w, copy, row);
}

tile_map map_at(warp& w, std::uint64_t address) {
  tile_map map;
  if (!w.in.of.parameters.holds(address, 128) || address % 64 != 0)
    throw fault("a tensor map that is no parameter of the kernel");
  std::memcpy(static_cast<void*>(&map), reinterpret_cast<const void*>(address), sizeof(map));
  if (map.mark != tile_map::written) throw fault("a tensor map that was never encoded");
  return map;
}

/// Kinds of copies by their instructions.
enum mode : std::uint8_t { boxes, pixels };

tile_copy read_tile(warp& w, const instruction& in, int lane) {
  tile_copy copy{.map = map_at(w, w.at<std::uint64_t>(in.b)[lane])};
  const std::uint32_t rank = in.count;
  if (copy.map.rank != rank)
    throw fault("a copy of a tile at a position of " + std::to_string(rank) + " axes, where the map has " +
                std::to_string(copy.map.rank));
  if ((copy.map.is_of_pixels != 0) != (in.kind == pixels))
    throw fault(std::string("a copy of a ") + (in.kind == pixels ? "tile of pixels" : "box") +
                " by a tensor map that was encoded for the other kind");
  for (unsigned i = 0; i < rank; ++i) copy.position[i] = w.at<std::int32_t>(w.code.lists[in.first + i])[lane];
  for (unsigned i = 0; in.kind == pixels && i < rank - 2; ++i)
    copy.offsets[i] = w.at<std::uint16_t>(w.code.lists[in.first + rank + i])[lane];
  for (std::uint32_t axis = 1; in.kind == pixels && axis + 1 < rank; ++axis) {
    const std::int64_t at = copy.position[axis], last = copy.map.last_pixel(axis);
    if (at < copy.map.lower[axis - 1] || at > last)
      throw fault("a copy of pixels begins at " + std::to_string(at) + " of axis " + std::to_string(axis) +
                  ", outside of the box from " + std::to_string(copy.map.lower[axis - 1]) + " to " +
                  std::to_string(last));
  }
  copy.lane = lane;
  return copy;
}

void check_alignment(const tile_map& map, shared_place at) {
  const std::uint32_t alignment = map.swizzle_bytes == 0 ? 128 : map.swizzle_bytes * 8u;
  if (at.address % alignment != 0)
    throw fault("a copy of a tile at an address that is no multiple of " + std::to_string(alignment));
}

/// A tile to global memory, in parts of 16 bytes as they are exchanged. What is outside of the tensor stays.
void begin_tile_store(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    tile_copy copy = read_tile(w, in, lane);
    copy.to = place_of(w, in.a, static_cast<std::uint32_t>(in.offset), space::shared, lane);
    check_alignment(copy.map, copy.to);
    const combiner how = reduction_of(in.target, copy.map.element_type);
    if (in.target != 0 && how == nullptr) throw fault("a copy reduces to a tensor whose type has no such operation");
    ++traffic_of(w, how).accesses;
    for (std::int64_t row = 0; row < copy.rows(); ++row) {
      const row_part part = part_of(copy, row);
      if (part.bytes != 0) count_row(traffic_of(w, how), part.begin, part.bytes);
      const auto from = copy.to.address + static_cast<std::uint32_t>(row * copy.row_bytes());
      for (std::size_t at = part.first, next = 0; at < part.first + part.bytes; at = next) {
        next = std::min(at / 16 * 16 + 16, part.first + part.bytes);
        begin_storing(w, {.lane = lane,
                          .from = copy.swizzled(from + static_cast<std::uint32_t>(at)),
                          .to = part.begin + (at - part.first),
                          .bytes = static_cast<int>(next - at),
                          .combine = how});
      }
    }
  });
}

void begin_tile(warp& w, const instruction& in, lane_set active) {
  each_lane(active, [&](int lane) {
    const shared_place to = place_of(w, in.a, static_cast<std::uint32_t>(in.offset), in.where, lane);
    const shared_place barrier = place_of(w, in.c, in.target, in.where, lane);
    if (!barrier_at(w, barrier, lane).is_shown)
      throw fault("a copy of a tile tells an mbarrier that no fence.mbarrier_init has shown to it");
    tile_copy copy = read_tile(w, in, lane);
    check_alignment(copy.map, to);
    each_target(w, in, lane, to, barrier, [&](shared_place target, shared_place told) {
      copy.to = target;
      begin_arriving(w, {.to = target,
                         .barrier = told,
                         .bytes = static_cast<int>(copy.rows() * copy.row_bytes()),
                         .lane = lane,
                         .write = [&w, copy] { finish_tile(w, copy); }});
      copy.is_counted = false;  // the others get what has been read
    });
  });
}

bool has_only(const decoder& d, int first, std::initializer_list<std::string_view> known) {
  const auto is_known = [&](std::string_view part) {
    return std::find(known.begin(), known.end(), part) != known.end();
  };
  return std::all_of(d.text->opcode.begin() + first, d.text->opcode.end(), is_known);
}

/// The map and the position of a copy, which are operand `i`.
bool decode_position(decoder& d, std::size_t i) {
  d.address(i, &instruction::b);
  if (d.made.offset != 0 || !d.made.is_wide_address) return false;
  d.add_list({.what = operand::list, .text = {}, .parts = d.at(i).parts}, 4, false);
  return true;
}

/// cp{.reduce}.async.bulk.tensor.2d.global.shared::cta{.add}.tile.bulk_group.L2::cache_hint [map, {position}], [from],
/// policy.
bool decode_tile_store(decoder& d, int to) {
  const bool reduces = d.part(1) == "reduce";
  if (d.part(to + 1) != "shared::cta" || !d.has("bulk_group")) return false;
  if (reduces) d.made.target = number_of_reduction(d.part(to + 2));
  if (reduces != (d.made.target != 0)) return false;
  if (!has_only(d, to + (reduces ? 3 : 2), {"tile", "bulk_group", "L2::cache_hint"})) return false;
  if (d.operands() != std::size_t{2} + (d.has("L2::cache_hint") ? 1 : 0) || !decode_position(d, 0)) return false;
  d.made.kind = boxes;
  d.made.run = &begin_tile_store;
  d.address(1);
  return !d.made.is_wide_address;
}

}  // namespace

/// cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint
/// [to], [map, {position}], [barrier], {offsets}, mask, policy.
bool decode_tiles(decoder& d) {
  if (d.part(1) == "reduce") return d.part(6) == "global" && decode_tile_store(d, 6);
  if (d.part(5) == "global") return decode_tile_store(d, 5);
  const bool is_of_pixels = d.has("im2col"), is_to_many = d.has("multicast::cluster");
  const std::size_t operands =
      std::size_t{3} + (is_of_pixels ? 1 : 0) + (is_to_many ? 1 : 0) + (d.has("L2::cache_hint") ? 1 : 0);
  const std::string_view to = d.part(5);
  if (!d.has("mbarrier::complete_tx::bytes") || d.operands() != operands || d.part(6) != "global") return false;
  if (!has_only(d, 7, {"tile", "im2col", "mbarrier::complete_tx::bytes", "multicast::cluster", "L2::cache_hint"}))
    return false;
  if (to != "shared::cluster" && to != "shared::cta") return false;
  d.made.where = to == "shared::cluster" ? space::cluster : space::shared;
  d.made.kind = is_of_pixels ? pixels : boxes;
  d.address(2, &instruction::c);
  if (d.made.is_wide_address) return false;
  d.made.target = static_cast<std::uint32_t>(d.made.offset);
  if (!decode_position(d, 1)) return false;
  if (is_of_pixels) {
    if (d.made.count < 3 || d.at(3).parts.size() + 2 != d.made.count) return false;
    d.add_list(3, 2, false);
  }
  if (is_to_many) d.made.d = d.source(is_of_pixels ? 4 : 3, 2);
  d.address(0);
  d.made.run = &begin_tile;
  return !d.made.is_wide_address;
}

}  // namespace tenon_test::ptx
