// tenon/contraction/arranged_operand.hpp: operands with the channels of a pixel, the depth of a product, side by side.
// Memory has them so, or a kernel copies planes of pixels that way; the copy lives as long as its product needs it.
// Floor 4: may include base, core, device, expr, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/storage.hpp>
#include <tenon/device/divisor.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/device/primitives.hpp>
#include <tenon/expr/program.hpp>

namespace tenon {

/// The address of copies that are still to be made.
inline constexpr std::uintptr_t copy_to_come = 4096;

/// Planes in memory: `images`, each `image_step` elements behind the one before, of `channels` planes of `pixels`, each
/// `plane_step` elements behind the one before.
template <class T>
struct plane_memory {
  const T* data = nullptr;
  index images = 0, image_step = 0, channels = 1, pixels = 1, plane_step = 1;

  /// Elements from pixel to pixel in a copy with channels last: pixels begin at multiples of 16 bytes.
  index pitch() const {
    constexpr index chunk = 16 / static_cast<index>(sizeof(T));
    return (channels + chunk - 1) / chunk * chunk;
  }
  index copied() const { return images * pixels * pitch(); }
};

/// Copies planes of elements of 1, 2 or 4 bytes with channels last. A block takes up to 64 pixels of 128 bytes of
/// channels by way of shared memory, where a pixel is a row. Threads read `Size` pixels of the channels of a word, and
/// write 16 bytes of a pixel.
template <class T, int Size>
struct plane_kernel {
  static constexpr int bytes = static_cast<int>(sizeof(T));
  static_assert(bytes == 1 || bytes == 2 || bytes == 4, "tenon: channels of a pixel fill words");
  static constexpr const char* name = "channels_last";
  static constexpr int threads = 256, pixel_side = 64, packet = 16 / bytes, packets = 8,
                       channel_side = packets * packet;
  static constexpr int of_word = 4 / bytes;               // channels
  static constexpr int words = 4, row = packets * words;  // of a packet, of a pixel
  static constexpr int shared_bytes = shared_bytes_of<std::uint32_t>(pixel_side * row);

  plane_memory<T> from;
  T* to;
  index pitch;
  divisor pixel_tiles, channel_tiles;
  divisor units;  // that a tile reads of a plane

  plane_kernel(const plane_memory<T>& planes, T* copy)
      : from(planes),
        to(copy),
        pitch(planes.pitch()),
        pixel_tiles((planes.pixels + pixel_side - 1) / pixel_side),
        channel_tiles((planes.channels + channel_side - 1) / channel_side),
        units((planes.pixels < pixel_side ? planes.pixels : pixel_side) / Size) {}
  index blocks() const { return from.images * channel_tiles.number() * pixel_tiles.number(); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto block = static_cast<number>(device.block().x), line = pixel_tiles.quotient(block);
    const number image = channel_tiles.quotient(line), first_pixel = (block - line * pixel_tiles.number()) * pixel_side;
    const number first_channel = (line - image * channel_tiles.number()) * channel_side;
    const number channels = at_most<channel_side>(from.channels - first_channel),
                 pixels = at_most<pixel_side>(from.pixels - first_pixel);
    const int used_packets = static_cast<int>(channels + packet - 1) / packet, width = static_cast<int>(units.number());
    const auto tile = device.template shared<std::uint32_t>(pixel_side * row);
    const T* const source = from.data + image * from.image_step + first_channel * from.plane_step + first_pixel;
    for (int i = device.thread(); i < used_packets * words * width; i += threads) {
      const number word = units.quotient(static_cast<number>(i));
      const number pixel = (static_cast<number>(i) - word * units.number()) * Size;
      if (pixel < pixels) leave_words(tile, source, word, pixel, channels);
    }
    device.sync();
    T* const copy = to + (index{image} * from.pixels + first_pixel) * pitch + first_channel;
    for (int i = device.thread(); i < static_cast<int>(pixels) * packets; i += threads) {
      const int pixel = i / packets, own = i % packets;
      if (own >= used_packets) continue;
      const int place = turned(static_cast<number>(pixel), static_cast<number>(own));
      const auto read = tile.template load_vector<words>(pixel * row + place);
      store_packet(reinterpret_cast<std::uint32_t*>(copy + pixel * pitch + own * packet),
                   tenon::packet<std::uint32_t, words>{{read[0], read[1], read[2], read[3]}});
    }
  }

 private:
  using number = std::uint32_t;

  template <int Most>
  TENON_HOST_DEVICE static number at_most(index count) {
    return count < index{Most} ? static_cast<number>(count) : Most;
  }
  /// Where in a pixel's row its packet `own` lies hangs on the pixel, so that threads meet few banks twice.
  TENON_HOST_DEVICE static int turned(number pixel, number own) {
    return static_cast<int>(own ^ pixel / 8 ^ pixel % 8) * words;
  }
  /// Leaves the channels of a word of `Size` pixels; zeros in the place of channels that are not there.
  template <class Tile>
  TENON_HOST_DEVICE TENON_INLINE void leave_words(const Tile& tile, const T* source, number word, number pixel,
                                                  number channels) const {
    using bits = std::conditional_t<bytes == 1, std::uint8_t, std::conditional_t<bytes == 2, std::uint16_t, number>>;
    bits read[of_word][Size];
    TENON_UNROLLED
    for (int channel = 0; channel < of_word; ++channel) {
      const number own = of_word * word + static_cast<number>(channel);
      tenon::packet<T, Size> values{};
      if (own < channels) values = load_packet<Size>(source + own * from.plane_step + pixel);
      __builtin_memcpy(read[channel], &values, sizeof(values));
    }
    const int at = static_cast<int>(pixel * row + word % words), turn = turned(pixel, word / words);
    TENON_UNROLLED
    for (int k = 0; k < Size; ++k) {  // pixels are multiples of Size, so that adding k turns as k alone would
      number left = 0;
      for (int channel = 0; channel < of_word; ++channel) {
        left |= static_cast<number>(read[channel][k]) << (8 * bytes * channel);
      }
      tile.store(at + k * row + (turn ^ turned(static_cast<number>(k), 0)), left);
    }
  }
};

/// Copies planes to `copy` with channels last, reading packets of `Size` pixels or the fewer that are aligned.
template <class Space, int Size, class T>
void copy_planes(const plane_memory<T>& planes, T* copy) {
  if constexpr (Size > 1) {
    const bool in_packets = planes.pixels % Size == 0 && planes.image_step % Size == 0 &&
                            planes.plane_step % Size == 0 &&
                            reinterpret_cast<std::uintptr_t>(planes.data) % (Size * sizeof(T)) == 0;
    constexpr int fewer = Size > 4 ? 4 : 1;
    if (!in_packets) return copy_planes<Space, fewer>(planes, copy);
  }
  using kernel_type = plane_kernel<T, Size>;
  const kernel_type kernel(planes, copy);
  launch<Space>(launch_shape{.grid = {static_cast<int>(kernel.blocks())},
                             .block = kernel_type::threads,
                             .shared_bytes = kernel_type::shared_bytes},
                kernel);
}

/// The axes of an operand [groups, ..., ..., pixels ...] of a convolution that are its channels and its images. Groups
/// follow each other along one of the two.
struct operand_axes {
  int channels, images;
  bool groups_are_channels;
};

/// An operand of a convolution as a product reads it. Where planes are `copied`, it is that of a copy which is still to
/// be made, at an address that nobody reads.
template <class T, int Rank>
struct arranged_operand {
  strided_source<T, Rank> source;
  plane_memory<T> copied{};
  index first = 0;  // the element of the copy at which `source` begins

  bool is_copied() const { return copied.images != 0; }
  /// Makes the copy, if there is one; from here on `source` is in it, and must not outlive it.
  template <memory_space Space>
  [[nodiscard]] storage<T, Space> copy() {
    if (!is_copied()) return {};
    storage<T, Space> memory(copied.copied());
    source.data = memory.data() + first;
    copy_planes<Space, 16 / static_cast<int>(sizeof(T))>(copied, memory.data());
    return memory;
  }
};

/// The operand `source` over `extents` with channels side by side: as it lies, or of planes whose pixels lie so, all in
/// one direction, in a copy. What is neither stays as it lies.
template <class T, int Rank>
arranged_operand<T, Rank> arranged(const strided_source<T, Rank>& source, const array<index, Rank>& extents,
                                   const operand_axes& axes) {
  constexpr index most = index{1} << 30;
  arranged_operand<T, Rank> result{source, {}, 0};
  const auto& stride = source.stride;
  const index channels = extents[axes.channels], images = extents[axes.images], groups = extents[0];
  const index direction = stride[Rank - 1] < 0 ? -1 : 1;
  index pixels = 1;
  bool lie_in_planes = true;
  for (int axis = Rank - 1; axis >= 3; --axis) {
    lie_in_planes = lie_in_planes && (extents[axis] == 1 || stride[axis] == direction * pixels);
    pixels *= extents[axis];
  }
  if (!lie_in_planes || pixels < 2 || stride[axes.channels] != pixels || channels < 2) return result;
  const index group_step = axes.groups_are_channels ? channels * pixels : images * stride[axes.images];
  if (groups != 1 && stride[0] != group_step) return result;

  plane_memory<T> planes{
      source.data - (direction < 0 ? pixels - 1 : 0), images, stride[axes.images], channels, pixels, pixels};
  (axes.groups_are_channels ? planes.channels : planes.images) *= groups;
  if (planes.images == 1) planes.image_step = 0;
  else if (planes.image_step <= 0) return result;
  if (planes.images < 1 || planes.copied() >= most) return result;
  const index pitch = planes.pitch();
  auto& own = result.source.stride;
  own[axes.channels] = 1, own[axes.images] = pixels * pitch;
  own[0] = axes.groups_are_channels ? channels : images * pixels * pitch;
  for (int axis = 3; axis < Rank; ++axis) own[axis] *= pitch;
  result.copied = planes;
  result.first = direction < 0 ? (pixels - 1) * pitch : 0;
  result.source.data = reinterpret_cast<const T*>(copy_to_come) + result.first;
  return result;
}

/// The same of the images of a convolution or gradient, [groups, n, c, ...].
template <class Node>
auto arranged_image(const Node& node) {
  const auto image = node.patches().image;
  const bool is_gradient = Node::patches_transposed;
  const auto left = node.left_extents();
  array<index, Node::spatial_axes + 3> extents{
      {left[0], is_gradient ? left[2] : node.result_extents()[0], is_gradient ? node.result_extents()[2] : left[2]}};
  for (int axis = 0; axis < Node::spatial_axes; ++axis) extents[3 + axis] = image[axis];
  return arranged(node.lower_image(), extents, {.channels = 2, .images = 1, .groups_are_channels = true});
}
/// The same of the weight of a convolution, [groups, rows, channels, taps ...].
template <class Node>
auto arranged_weight(const Node& node) {
  const auto source = node.lower_left();
  const int channels = source.stride[1] < source.stride[2] ? 1 : 2;
  return arranged(source, node.left_extents(),
                  {.channels = channels, .images = 3 - channels, .groups_are_channels = false});
}
/// The same of the gradient that the gradient of a weight sums, [groups, rows, n, ...].
template <class Node>
auto arranged_gradient(const Node& node) {
  return arranged(node.lower_left(), node.left_extents(), {.channels = 1, .images = 2, .groups_are_channels = true});
}

}  // namespace tenon
