// tenon/contraction/host_byte_windows.hpp: convolutions of bytes on the host.
// Four channels lie side by side as the bytes of one number: images of such numbers serve the windows of host_windows.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_windows.hpp>

namespace tenon {

/// Products of four unsigned bytes of an image and four signed ones of a weight, added modulo 2^32.
struct byte_window_products {
  using left_element = std::uint32_t;
  using right_element = std::uint32_t;
  using unit = std::uint32_t;
  using sum = std::uint32_t;
  static constexpr int group = 1, lanes = simd::native_width<unit>;
  static constexpr bool shifts_left = false;
  using pack = simd::pack<unit, lanes>;

  static TENON_INLINE pack add(pack sums, unit left, pack right) { return simd::add_byte_dot(sums, right, left); }
};

namespace detail {

/// Whether a product of matrices with elements of type T is a convolution of bytes by signed bytes, and whether the
/// machine has an instruction for it.
template <class T, class Left, class Right>
inline constexpr bool is_byte_convolution = false;
template <class T, class Left, class Program, int Rank, int GroupAxis>
inline constexpr bool is_byte_convolution<T, Left, patch_matrix<Program, Rank, GroupAxis>> =
    simd::has_byte_dot && is_integer<T> && sizeof(T) <= 4 && std::is_same_v<typename Left::value_type, std::int8_t> &&
    is_byte<typename before_casts<Program>::type::value_type>;

/// Adds to the sums of each row what they begin with before they are stored.
template <class Epilogue>
struct shifted_results {
  const Epilogue& epilogue;
  const std::uint32_t* beginnings;  // of rows

  void store_tile(index row, index column, const array<index, 2>& extents, std::uint32_t* sums, index pitch) const {
    for (index i = 0; i < extents[0]; ++i) {
      for (index j = 0; j < extents[1]; ++j) sums[i * pitch + j] += beginnings[row + i];
    }
    epilogue.store_tile(row, column, extents, sums, pitch);
  }
};

}  // namespace detail

/// The product of a weight of signed bytes and the patches of images of bytes. The instruction wants images of unsigned
/// bytes: 128 is added to signed ones and to the zeros around them, and its part of the sums is subtracted again.
/// cost      one pass over the image, which keeps its size; then as window_product with a quarter of the channels
template <class Products, class Left, class Patches, class Epilogue>
struct byte_window_product {
  using unit = typename Products::unit;
  static constexpr int rank = decltype(Patches::geometry)::rank;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    auto seen = patches.geometry;  // of images that end where windows do
    index pixels = 1;
    for (int axis = 0; axis < rank; ++axis) {
      seen.image[axis] =
          (seen.output[axis] - 1) * seen.stride[axis] + (seen.kernel[axis] - 1) * seen.dilation[axis] + 1;
      seen.padding[axis] = 0, pixels *= seen.image[axis];
    }
    const index taps = seen.taps(), channels = depth / taps, quads = (channels + 3) / 4;
    const index images = columns / seen.windows();
    const detail::scratch memory;
    unit* const weight = memory.take<unit>(rows * quads * taps);
    unit* const beginnings = memory.take<unit>(rows);
    unit* const image = memory.take<unit>(images * quads * pixels);
    for (index row = 0; row < rows; ++row) {
      beginnings[row] = pack_weight(row, channels, taps, weight + row * quads * taps);
    }
    parallel_for(images * quads, 1 + packing_grain / pixels, [&](index first, index last) {
      for (index item = first; item < last; ++item) {
        pack_plane(seen, item / quads, item % quads * 4, channels, image + item * pixels);
      }
    });
    array<index, rank + 3> strides{{0, quads * pixels, pixels}};
    index step = 1;
    for (int axis = rank - 1; axis >= 0; step *= seen.image[axis], --axis) strides[3 + axis] = step;
    using matrix = folded_matrix<strided_source<unit, 2>, 2, matrix_axes<0, 1>>;
    using image_matrix = patch_matrix<strided_source<unit, rank + 3>, rank, 0>;
    using results = detail::shifted_results<Epilogue>;
    const window_product<Products, matrix, image_matrix, results> product{
        matrix{{weight, {{quads * taps, 1}}}, {{rows, quads * taps}}, {}}, image_matrix{{image, strides}, seen},
        results{epilogue, beginnings}};
    product.run(rows, columns, quads * taps);
  }

 private:
  using program = detail::before_casts<decltype(Patches::program)>;
  using byte = typename program::type::value_type;
  static constexpr index packing_grain = 32768;
  static constexpr unit shift = std::is_signed_v<byte> ? 0x80808080u : 0u;

  /// Writes the units of a row of the weight: four channels of a tap each. Returns what the row's sums begin with.
  unit pack_weight(index row, index channels, index taps, unit* to) const {
    const detail::scratch memory;
    auto* const bytes = memory.take<std::int8_t>(channels * taps);
    detail::copy_row(left, row, 0, channels * taps, bytes);
    int total = 0;
    for (index first = 0; first < channels; first += 4) {
      for (index tap = 0; tap < taps; ++tap, ++to) {
        *to = 0;
        for (index c = first; c < detail::least(first + 4, channels); ++c) {
          const std::int8_t number = bytes[c * taps + tap];
          *to |= static_cast<unit>(static_cast<std::uint8_t>(number)) << 8 * (c - first);
          total += number;
        }
      }
    }
    return shift == 0 ? 0 : static_cast<unit>(-128 * total);
  }
  /// Copies up to four channels of an image from `first` on, with the zeros around them.
  void pack_plane(const patch_geometry<rank>& seen, index image, index first, index channels, unit* to) const {
    const auto& given = patches.geometry;
    constexpr int last = rank - 1;
    const index width = seen.image[last], before = detail::least(given.padding[last], width);
    const index count = detail::least(given.image[last], width - before);
    index lines = 1;
    for (int axis = 0; axis < last; ++axis) lines *= seen.image[axis];
    array<index, rank + 3> position{{patches.group, image}};
    for (index line = 0; line < lines; ++line, to += width) {
      bool inside = true;
      index rest = line;
      for (int axis = last - 1; axis >= 0; --axis) {
        const index place = rest % seen.image[axis] - given.padding[axis];
        rest /= seen.image[axis];
        position[3 + axis] = place, inside = inside && place >= 0 && place < given.image[axis];
      }
      if (!inside) {
        std::fill(to, to + width, shift);
        continue;
      }
      std::fill(to, to + before, shift);
      pack_line(position, first, channels, count, to + before);
      std::fill(to + before + count, to + width, shift);
    }
  }
  void pack_line(array<index, rank + 3> position, index first, index channels, index count, unit* to) const {
    const detail::scratch memory;
    byte* const copies = memory.take<byte>(4 * count);
    const byte* channel[4];
    for (index c = 0; c < 4; ++c) {
      byte* const copy = copies + c * count;
      channel[c] = copy;
      position[2] = first + c;
      if (position[2] >= channels) {
        std::fill(copy, copy + count, byte(0));
        continue;
      }
      const auto cursor = program::of(patches.program).at(position);
      if constexpr (requires { cursor.data; }) {
        if (cursor.stride == 1) {
          channel[c] = cursor.data;
          continue;
        }
      }
      detail::copy_run(cursor, 0, count, copy);
    }
    constexpr int lanes = Products::lanes;
    for (index j = 0; j < count; j += lanes) {
      const index part = detail::least(lanes, count - j);
      const auto numbers = [&](index c) {
        const auto* const from = reinterpret_cast<const std::uint8_t*>(channel[c]) + j;
        return simd::convert<std::uint8_t, unit>(simd::load_part<std::uint8_t, lanes>(from, part));
      };
      const auto bytes = numbers(0) | numbers(1) << 8 | numbers(2) << 16 | numbers(3) << 24;
      simd::store_part<lanes>(to + j, bytes ^ (shift - decltype(bytes){}), part);
    }
  }
};

namespace on_host {

/// Convolutions of bytes whose images are not spread, where something is summed.
struct byte_windows {
  static constexpr const char* name = "byte windows";
  template <class Problem>
  static constexpr bool can_take =
      Problem::takes_any_tile && detail::is_byte_convolution<typename Problem::product_type::element,
                                                             typename Problem::left_type, typename Problem::right_type>;
  static bool takes(const auto& problem) {
    const auto& [rows, columns, depth] = problem.extents;
    return rows != 0 && columns != 0 && depth != 0 && !detail::are_spread(problem.right.geometry);
  }
  static void run(const auto& problem) {
    problem.template run_engine<byte_window_product, byte_window_products>(problem.right);
  }
};

}  // namespace on_host

}  // namespace tenon
