// tests/ptx/tile_map.hpp: what the machine keeps of a tensor map in the 128 bytes that a program holds for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

namespace tenon_test::ptx {

/// A tensor whose tiles are copied. The first axis is the one whose elements lie side by side.
struct tile_map {
  static constexpr int most_axes = 5;
  std::uint32_t mark = 0;  ///< `written` of a map that was encoded
  std::uint8_t rank = 0, element_bytes = 0, swizzle_bytes = 0, fills_nan = 0;
  std::uint64_t address = 0;
  std::uint64_t strides[most_axes - 1]{};  ///< in bytes, of the axes after the first
  std::uint64_t extents[most_axes]{};
  std::uint16_t box[most_axes]{};
  std::uint16_t no_value = 0;
  std::uint8_t steps[8]{1, 1, 1, 1, 1, 1, 1, 1};  ///< from element to element of a tile, along each axis
  std::uint32_t element_type = 0;                 ///< the driver's number: maps of types of one size differ
  // Of images: box[0] is how many channels, box[1] how many pixels a tile has. Pixels lie in a box within each image.
  std::uint32_t is_of_pixels = 0;
  std::int16_t lower[most_axes - 2]{}, upper[most_axes - 2]{};  ///< of the box: from the first and the last pixel
  static constexpr std::uint32_t written = 0x70416d31;
  static constexpr std::uint32_t tfloat32 = 11;  ///< the driver's number of floats that copies round

  /// Of the box along an axis of an image.
  std::int64_t last_pixel(std::uint32_t axis) const {
    return static_cast<std::int64_t>(extents[axis]) - 1 + upper[axis - 1];
  }
};
/// How the machine encodes maps.
struct tile_map_encoding {
  static inline std::uint64_t maps = 0;              ///< that were asked for
  static inline bool demands_nested_strides = true;  ///< as the driver's manual describes them
};

static_assert(sizeof(tile_map) <= 128);
static_assert(std::has_unique_object_representations_v<tile_map>);  // equal maps are equal bytes

}  // namespace tenon_test::ptx
