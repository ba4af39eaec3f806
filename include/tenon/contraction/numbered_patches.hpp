// tenon/contraction/numbered_patches.hpp: the patches of images as kernels read them, many elements at a time.
// Where a run of them lies is found once, without a division; along it, places are counted on.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/matrix_memory.hpp>
#include <tenon/device/divisor.hpp>

namespace tenon {

/// A patch_matrix in the order of its images' memory: where channels lie side by side, rows number them within each
/// tap, (r, s, c), else taps within each channel, (c, r, s).
template <class Program, int Rank, int GroupAxis>
struct numbered_patches {
  using value_type = typename Program::value_type;
  using places = array<int, Rank>;
  static constexpr int channel_axis = 2, first_axis = 3;  // of the program

  patch_matrix<Program, Rank, GroupAxis> matrix;
  bool channels_last;
  index images;
  bool is_narrow = true;  // numbers of rows, columns and places fit 31 bits; what follows holds where they do
  divisor channels{};
  array<divisor, Rank> kernel{}, output{}, image_step{};
  places image{}, stride{}, dilation{}, padding{};
  bool is_spread = false;  // image steps are not all 1
  int image_pitch = 0;     // elements from image to image, where chunks of channels are copied
  places pitches{};        // and from place to place along each axis

  /// The channel and tap that a row stands for.
  struct tap {
    int channel;
    places at;
  };
  TENON_HOST_DEVICE tap tap_of(index row) const {
    tap result{};
    auto rest = static_cast<std::uint32_t>(row);
    if (channels_last) result.channel = take_last(channels, rest);
    for (int axis = Rank - 1; axis > 0; --axis) result.at[axis] = take_last(kernel[axis], rest);
    result.at[0] = channels_last ? static_cast<int>(rest) : take_last(kernel[0], rest);
    if (!channels_last) result.channel = static_cast<int>(rest);
    return result;
  }
  /// The image and window that a column stands for.
  struct window {
    int image;
    places at;
  };
  TENON_HOST_DEVICE window window_of(index column) const {
    window result{};
    auto rest = static_cast<std::uint32_t>(column);
    for (int axis = Rank - 1; axis >= 0; --axis) result.at[axis] = take_last(output[axis], rest);
    result.image = static_cast<int>(rest);
    return result;
  }
  /// The place along an axis of the image that a tap of a window sees, beyond the image (as a number without sign)
  /// where it is zero.
  TENON_HOST_DEVICE int place(int axis, int at_window, int at_tap) const {
    const int spread = at_window * stride[axis] + at_tap * dilation[axis] - padding[axis];
    if (!is_spread || spread < 0) return spread;
    auto rest = static_cast<std::uint32_t>(spread);
    return take_last(image_step[axis], rest) == 0 ? static_cast<int>(rest) : -1;
  }
  TENON_HOST_DEVICE bool is_inside(int axis, int found) const {
    return static_cast<std::uint32_t>(found) < static_cast<std::uint32_t>(image[axis]);
  }

  /// Reads `count` elements of a row from `column` on: one tap of neighbouring windows.
  template <class T, int Size>
  TENON_HOST_DEVICE void read_along_row(array<T, Size>& values, index row, index column, int count) const {
    if (!is_narrow) return read_one_by_one<false>(values, row, column, count);
    constexpr int last = Rank - 1;
    const tap taps = tap_of(row);
    window windows = window_of(column);
    auto line = line_of(taps, windows);
    for (int k = 0; k < Size; ++k) {
      const int x = place(last, windows.at[last], taps.at[last]);
      if (k < count && line.is_seen && is_inside(last, x)) values[k] = static_cast<T>(line.cursor.value(x, no_slots{}));
      if (++windows.at[last] == static_cast<int>(output[last].number())) {
        next_line(windows);
        line = line_of(taps, windows);
      }
    }
  }
  /// Reads `count` elements of a column from `row` on. With channels last, `row` and the number of channels are
  /// multiples of `Size`, so that they are channels of one tap.
  template <class T, int Size>
  TENON_HOST_DEVICE void read_along_column(array<T, Size>& values, index row, index column, int count) const {
    if (!is_narrow || !channels_last) return read_one_by_one<true>(values, row, column, count);
    const tap taps = tap_of(row);
    array<index, Rank + 3> position{};
    if (!find(position, taps, window_of(column))) return;
    for (int k = 0; k < Size; ++k) {
      position[channel_axis] = taps.channel + k;
      if (k < count) values[k] = static_cast<T>(matrix.program.at(position).value(0, no_slots{}));
    }
  }
  /// Where the channels of a tap lie, from the first of the group's elements on; -1 where the tap sees zeros.
  TENON_HOST_DEVICE int offset_of_channels(const tap& taps, const window& windows) const {
    int offset = windows.image * image_pitch + taps.channel;
    bool sees_image = true;
    for (int axis = 0; axis < Rank; ++axis) {
      const int found = place(axis, windows.at[axis], taps.at[axis]);
      sees_image = sees_image && is_inside(axis, found);
      offset += found * pitches[axis];
    }
    return sees_image ? offset : -1;
  }
  template <int ResultRank>
  TENON_HOST_DEVICE numbered_patches at_batch(const array<index, ResultRank>& position) const {
    auto result = *this;
    result.matrix = matrix.at_batch(position);
    return result;
  }

 private:
  /// A line of an image: its elements along the last axis.
  struct image_line {
    bool is_seen;
    decltype(std::declval<const Program&>().at(array<index, Rank + 3>{})) cursor;
  };

  /// The remainder of a number; the quotient stays.
  TENON_HOST_DEVICE static int take_last(const divisor& by, std::uint32_t& number) {
    const std::uint32_t quotient = by.quotient(number), rest = number - quotient * by.number();
    number = quotient;
    return static_cast<int>(rest);
  }
  /// The position of the first channel that a tap sees, up to axis `end` of the image; false where it sees zeros.
  TENON_HOST_DEVICE bool find(array<index, Rank + 3>& position, const tap& taps, const window& windows,
                              int end = Rank) const {
    bool sees_image = true;
    position[0] = matrix.group, position[1] = windows.image, position[channel_axis] = taps.channel;
    for (int axis = 0; axis < end; ++axis) {
      const int found = place(axis, windows.at[axis], taps.at[axis]);
      sees_image = sees_image && is_inside(axis, found);
      position[first_axis + axis] = is_inside(axis, found) ? found : 0;
    }
    return sees_image;
  }
  TENON_HOST_DEVICE image_line line_of(const tap& taps, const window& windows) const {
    array<index, Rank + 3> position{};
    const bool sees_image = find(position, taps, windows, Rank - 1);
    return {sees_image, matrix.program.at(position)};
  }
  TENON_HOST_DEVICE void next_line(window& windows) const {
    for (int axis = Rank - 1; axis >= 0; --axis) {
      windows.at[axis] = 0;
      if (axis == 0) return static_cast<void>(++windows.image);
      if (++windows.at[axis - 1] < static_cast<int>(output[axis - 1].number())) return;
    }
  }
  /// As the definition has it, of numbers of any size.
  template <bool MovesRow, class T, int Size>
  TENON_HOST_DEVICE void read_one_by_one(array<T, Size>& values, index row, index column, int count) const {
    for (int k = 0; k < count; ++k) {
      values[k] = static_cast<T>(matrix.value(MovesRow ? row + k : row, MovesRow ? column : column + k));
    }
  }
};

namespace detail {

/// Counts the sources of images that lie side by side along their channels, and along their last axis.
template <int Rank>
struct channel_steps {
  int along_channels = 0, along_last = 0;

  template <class Start>
  void operator()(const array<index, Rank>& stride, const Start&) {
    along_channels += stride[2] == 1 ? 1 : 0;
    along_last += stride[Rank - 1] == 1 ? 1 : 0;
  }
};

/// Convolutions and gradients whose patches are those of images.
template <class Node>
inline constexpr bool has_patches_of_images =
    requires(const Node& node) { node.lower_image(); } && !requires(const Node& node) { node.right(); };

/// The channels of a window.
template <class Node>
index channels_of_window(const Node& node) {
  if constexpr (Node::patches_transposed) return node.result_extents()[2];
  else return node.left_extents()[2];
}

}  // namespace detail

/// Whether kernels number the channels of the convolution `product` of a statement within each tap: channels lie side
/// by side in its images, and chunks of 16 bytes of them have one tap.
template <class Product, class E>
bool numbers_channels_last(const Product& product, const E& node) {
  if constexpr (detail::has_patches_of_images<Product>) {
    using image = decltype(product.lower_image());
    using moved =
        decltype([](const auto& of, const auto& statement) {  // what has an axis of channels beside the images
          if constexpr (std::remove_cvref_t<decltype(of)>::patches_transposed) {
            return statement.template lower<0>(of.result_map());
          } else {
            return of.lower_left();
          }
        }(product, node));
    if constexpr (visits_all_reads<image> && visits_all_reads<moved>) {
      constexpr index chunk = 16 / static_cast<index>(sizeof(typename Product::element));
      auto program = product.lower_image();
      detail::channel_steps<Product::spatial_axes + 3> steps;
      program.visit(steps);
      return steps.along_channels > steps.along_last && detail::channels_of_window(product) % chunk == 0;
    }
  }
  return false;
}

/// Moves the channels, axis `channels`, behind the axes of taps that follow it, as kernels number them.
template <int Rank, class... Parts>
void move_channels_last(array<index, Rank>& extents, int channels, Parts&... parts) {
  stride_list<Rank> strides;
  (parts.visit(strides), ...);
  for (int axis = channels; axis + 1 < Rank; ++axis) {
    strides.exchange(axis, axis + 1);
    std::swap(extents[axis], extents[axis + 1]);
  }
}

/// The order of a weight's gradient, for `make_kernel_epilogue`: with channels last where its patches have them there.
template <class Product>
struct channels_last_order {
  bool channels_last;

  template <class Extents, class... Parts>
  void operator()(Extents& extents, Parts&... parts) const {
    if constexpr (detail::has_patches_of_images<Product>) {
      if (Product::patches_transposed && channels_last) move_channels_last(extents, 2, parts...);
    }
  }
};

/// The patches of a convolution, batch 0, for kernels.
template <class Program, int Rank, int GroupAxis>
auto number_patches(const patch_matrix<Program, Rank, GroupAxis>& matrix, index images, index channels,
                    bool channels_last) {
  const auto& of = matrix.geometry;
  numbered_patches<Program, Rank, GroupAxis> result{matrix, channels_last, images};
  const auto narrow = [&](index number) {
    result.is_narrow = result.is_narrow && number < dividend_limit;
    return static_cast<int>(number);
  };
  const auto divisor_of = [&](index number) { return divisor(narrow(number) < 1 ? 1 : number % dividend_limit); };
  narrow(images * of.windows()), narrow(channels * of.taps());
  result.channels = divisor_of(channels);
  for (int axis = 0; axis < Rank; ++axis) {
    narrow(of.image[axis] * of.image_step[axis]);
    narrow(of.output[axis] * of.stride[axis] + of.kernel[axis] * of.dilation[axis]);
    result.kernel[axis] = divisor_of(of.kernel[axis]), result.output[axis] = divisor_of(of.output[axis]);
    result.image_step[axis] = divisor_of(of.image_step[axis]);
    result.image[axis] = narrow(of.image[axis]), result.stride[axis] = narrow(of.stride[axis]);
    result.dilation[axis] = narrow(of.dilation[axis]), result.padding[axis] = narrow(of.padding[axis]);
    result.is_spread = result.is_spread || of.image_step[axis] != 1;
  }
  return result;
}

namespace detail {

/// How images in memory are copied in chunks of `bytes` of channels; false where they cannot be.
template <class T, int Rank, int GroupAxis>
bool find_pitches(numbered_patches<strided_source<T, Rank + 3>, Rank, GroupAxis>& patches, int bytes) {
  const auto& source = patches.matrix.program;
  auto bits = reinterpret_cast<std::uintptr_t>(source.data);
  if (!patches.channels_last || !patches.is_narrow || source.stride[2] != 1) return false;
  index most = static_cast<index>(patches.channels.number());
  const auto pitch = [&](int axis, index extent) {
    const index step = extent == 1 ? 0 : source.stride[axis];
    bits |= static_cast<std::uintptr_t>(step) * sizeof(T);
    most += (step < 0 ? -step : step) * extent;
    return static_cast<int>(step);
  };
  patches.image_pitch = pitch(1, patches.images);
  for (int axis = 0; axis < Rank; ++axis) {
    patches.pitches[axis] = pitch(3 + axis, patches.matrix.geometry.image[axis]);
    if (patches.pitches[axis] < 0) return false;
  }
  bits |= static_cast<std::uintptr_t>(source.stride[0]) * sizeof(T);  // from group to group
  return patches.image_pitch >= 0 && most < dividend_limit && bits % static_cast<std::uintptr_t>(bytes) == 0;
}

}  // namespace detail

/// The operands of a contraction for kernels, batch 0.
template <class Node>
auto kernel_left_matrix(const Node& node, bool channels_last) {
  if constexpr (detail::has_patches_of_images<Node>) {
    auto program = node.lower_left();
    auto extents = node.left_extents();
    if constexpr (!Node::patches_transposed && visits_all_reads<decltype(program)>) {
      if (channels_last) move_channels_last(extents, 2, program);
    }
    return merged_matrix<typename Node::left_axes>(program, extents);
  } else {
    return left_matrix(node);
  }
}
template <class Node>
auto kernel_right_matrix(const Node& node, bool channels_last) {
  if constexpr (detail::has_patches_of_images<Node>) {
    auto patches = patches_of_images(node);
    merge_plain_axes(patches.geometry, [&](auto&& visitor) { patches.program.visit(visitor); });
    const index images = Node::patches_transposed ? node.left_extents()[2] : node.result_extents()[0];
    const auto numbered = number_patches(patches, images, detail::channels_of_window(node), channels_last);
    if constexpr (Node::patches_transposed) return transposed_matrix<std::remove_const_t<decltype(numbered)>>{numbered};
    else return numbered;
  } else {
    return right_matrix(node);
  }
}

}  // namespace tenon
