// tenon/device/hopper.hpp: what a multiprocessor of Hopper (sm_90a) offers beyond the primitives of every device.
// Tiles that a unit of its own copies, barriers that count phases, and products of four warps at a time.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <tenon/device/primitives.hpp>

namespace tenon {

inline constexpr int warpgroup_size = 128;      // threads that multiply together
inline constexpr int swizzle_row_bytes = 128;   // of a row of a swizzled tile
inline constexpr int swizzle_alignment = 1024;  // of a swizzled tile in shared memory: eight rows
inline constexpr int product_rows = 64;         // of a warpgroup's product
inline constexpr int product_depth_bytes = 32;  // of one instruction
inline constexpr int tile_copy_alignment = 16;  // bytes, of everything in global memory that tiles are copied of
inline constexpr int most_tile_extent = 256;    // elements of a tile along an axis

/// Where byte `offset` of a swizzled tile lies: the eight parts of 16 bytes of a row are exchanged by the row's number,
/// so that a column of parts meets all banks.
TENON_HOST_DEVICE constexpr int swizzled(int offset) { return offset ^ ((offset >> 3) & 0x70); }

/// A barrier in shared memory whose phase ends when as many threads as it was made for have arrived and all bytes that
/// they announced have landed. A phase is known by its parity; a new barrier acts as if a phase of parity 1 had ended.
struct phase_barrier {
  std::uint64_t state;
};

/// A tensor of three axes in global memory, the innermost first, of which tiles are copied. Elements of a tile outside
/// the tensor are zero; a tile has one element along the last axis and 128 bytes along the first.
struct tiled_tensor {
  const void* data;
  array<index, 3> extents;       // in elements
  array<index, 2> stride_bytes;  // of the second and the third axis
  array<int, 2> tile;            // extents of a tile along the first two axes

  friend bool operator==(const tiled_tensor&, const tiled_tensor&) = default;
};

/// The same with five axes, along each of which a tile may have any extent. Elements of a tile are `step` apart along
/// each axis; along the first one a tile has 128 bytes, as above.
struct tiled_images {
  const void* data;
  array<index, 5> extents;
  array<index, 4> stride_bytes;  // of the axes after the first
  array<int, 5> tile, step;

  friend bool operator==(const tiled_images&, const tiled_images&) = default;
};

/// The word by which an instruction finds an operand in swizzled tiles. Where depth lies along the rows of a tile,
/// `stride_bytes` is the distance from eight rows to the next eight. Otherwise it is that from eight steps of depth to
/// the next, and `leading_bytes` that from 64 rows or columns to the next.
struct operand_descriptor {
  std::uint64_t bits;

  static TENON_HOST_DEVICE constexpr operand_descriptor of(unsigned address, int leading_bytes, int stride_bytes) {
    constexpr std::uint64_t swizzle_of_128_bytes = std::uint64_t{1} << 62;
    return {swizzle_of_128_bytes | field(address) | field(static_cast<unsigned>(leading_bytes)) << 16 |
            field(static_cast<unsigned>(stride_bytes)) << 32};
  }
  TENON_HOST_DEVICE constexpr operand_descriptor advanced(int bytes) const {
    return {bits + static_cast<std::uint64_t>(bytes / 16)};
  }
  TENON_HOST_DEVICE constexpr int address() const { return bytes_at(0); }
  TENON_HOST_DEVICE constexpr int leading_bytes() const { return bytes_at(16); }
  TENON_HOST_DEVICE constexpr int stride_bytes() const { return bytes_at(32); }
  TENON_HOST_DEVICE constexpr int swizzle() const { return static_cast<int>(bits >> 62); }

 private:
  static constexpr unsigned field_mask = 0x3fff;
  static TENON_HOST_DEVICE constexpr std::uint64_t field(unsigned bytes) { return bytes / 16 & field_mask; }
  TENON_HOST_DEVICE constexpr int bytes_at(int bit) const { return static_cast<int>(bits >> bit & field_mask) * 16; }
};

/// Bytes of an element in memory, where a tf32 is a float.
template <class Element>
inline constexpr int stored_bytes = static_cast<int>(sizeof(fragment_storage<Element>));

/// Depth of one instruction.
template <class Element>
inline constexpr int product_depth = product_depth_bytes / stored_bytes<Element>;

/// Whether warpgroups multiply elements of a type, and whether they do so along the depth alone.
template <class Element>
inline constexpr bool has_warpgroup_products =
    is_short_float<Element> || std::is_same_v<Element, tf32> || std::is_same_v<Element, std::int8_t>;
template <class Element>
inline constexpr bool multiplies_along_depth = stored_bytes<Element> != 2;

/// Elements and columns of the products of a warpgroup, 64 x `Columns` x `product_depth`. `Left` is row_major where
/// depth lies side by side, `Right` is where columns do; of elements that have not 16 bits depth does in both. A thread
/// holds `sums` words, each the bits of a `fragment_accumulator`.
template <class Element, int Columns, class Left, class Right>
struct warpgroup_product {
  static_assert(has_warpgroup_products<Element>, "tenon: warpgroups multiply short floats, tf32 and int8");
  static_assert(Columns == 64 || Columns == 128 || Columns == 256, "tenon: products have 64, 128 or 256 columns");
  using element = Element;
  static constexpr int columns = Columns, sums = product_rows * Columns / warpgroup_size;
  static constexpr bool left_has_rows_adjacent = std::is_same_v<Left, column_major>;
  static constexpr bool right_has_columns_adjacent = std::is_same_v<Right, row_major>;
  static_assert(!multiplies_along_depth<Element> || (!left_has_rows_adjacent && !right_has_columns_adjacent),
                "tenon: warpgroups multiply elements of 8 and of 32 bits along the depth");
};

/// The sum that a word of a product is.
template <class Sum>
TENON_HOST_DEVICE TENON_INLINE Sum sum_of_word(std::uint32_t word) {
  Sum result;
  __builtin_memcpy(&result, &word, sizeof(result));
  return result;
}

/// Row and column of the first of the two adjacent results `2 * pair` and `2 * pair + 1` that a thread holds of a
/// warpgroup's product.
TENON_HOST_DEVICE constexpr int row_of_sum(int thread, int pair) {
  return thread % warpgroup_size / warp_size * 16 + thread % warp_size / 4 + pair % 2 * 8;
}
TENON_HOST_DEVICE constexpr int column_of_sum(int thread, int pair) { return pair / 2 * 8 + thread % 4 * 2; }

namespace detail {

/// Throws where no device copies tiles of such a tensor. Along the last axis of `tile` a tile may have one element.
template <int Axes, int TileAxes>
void check_tiles(const void* data, const array<index, Axes>& extents, const array<index, Axes - 1>& stride_bytes,
                 const array<int, TileAxes>& tile, const array<int, TileAxes>& step, int element_bytes) {
  constexpr int most_step = 8;
  const auto refuse = [](const char* what, const auto& is, const char* expected) {
    throw shape_error(compose_text("tiled_tensor: ", what, ": ", is, ", expected ", expected));
  };
  if (reinterpret_cast<std::uintptr_t>(data) % tile_copy_alignment != 0) {
    refuse("data", "a misaligned address", "a multiple of 16 bytes");
  }
  for (const index extent : extents) {
    if (extent < 1 || extent > index{1} << 32) refuse("extents", extents, "1 to 2^32");
  }
  for (const index stride : stride_bytes) {
    if (stride < tile_copy_alignment || stride % tile_copy_alignment != 0 || stride >= index{1} << 40) {
      refuse("strides", stride_bytes, "multiples of 16 bytes below 2^40");
    }
  }
  bool fits = tile[0] * element_bytes == swizzle_row_bytes && step[0] == 1;
  for (int axis = 1; axis < TileAxes; ++axis) {
    fits = fits && tile[axis] >= 1 && (tile[axis] - 1) * step[axis] < most_tile_extent;
    if (step[axis] < 1 || step[axis] > most_step) refuse("step", step, "1 to 8");
  }
  if (!fits) refuse("tile", tile, "rows of 128 bytes, 1 to 256 of them");
}

}  // namespace detail

/// Throws where no device copies tiles of such a tensor.
inline void check_tiled_tensor(const tiled_tensor& tensor, int element_bytes) {
  detail::check_tiles(tensor.data, tensor.extents, tensor.stride_bytes, tensor.tile, filled_array<2>(1), element_bytes);
}
inline void check_tiled_tensor(const tiled_images& images, int element_bytes) {
  detail::check_tiles(images.data, images.extents, images.stride_bytes, images.tile, images.step, element_bytes);
}

/// Whether each stride covers the axis before it and is a multiple of its stride. The driver's manual promises to take
/// such tensors; about others the driver itself must be asked.
template <class Tensor>
constexpr bool has_nested_strides(const Tensor& tensor, int element_bytes) {
  index step = element_bytes, least = tensor.extents[0] * step;
  for (int axis = 0; axis < tensor.stride_bytes.size(); ++axis) {
    const index stride = tensor.stride_bytes[axis];
    if (stride < least || stride % step != 0) return false;
    step = stride, least = stride * tensor.extents[axis + 1];
  }
  return true;
}

/// What `Space` makes of tiled tensors and images so that kernels can copy tiles of them: a type `map`,
/// `make<T>(tensor)` for elements of T, and `takes<T>(tensor)`, whether it can.
template <class Space>
struct tile_maps;

/// These operations for the kernels of a device object. Of all threads that call one with the same barrier or product,
/// each passes the same arguments.
template <class Device>
class hopper_unit;

}  // namespace tenon
