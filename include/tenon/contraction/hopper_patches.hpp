// tenon/contraction/hopper_patches.hpp: convolutions of images with channels last on Hopper's warpgroups.
// A tile of results is a box of windows; its operand at a tap is the box of the image that they see, copied as it lies.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/hopper.hpp>
#include <tenon/contraction/plain_convolution.hpp>
#include <tenon/device/divisor.hpp>

namespace tenon {

inline constexpr int window_axes = 4;  // up to three of an image, the innermost first, and that of images

/// How windows come in boxes of 128: a power of two of them along each axis.
struct window_boxes {
  array<int, window_axes> windows{};  // of all images
  array<int, window_axes> bits{};     // of a box
  array<int, window_axes> counts{};   // boxes

  constexpr int extent(int axis) const { return 1 << bits[axis]; }
  constexpr index count() const {
    index result = 1;
    for (const int each : counts) result *= each;
    return result;
  }
  constexpr index covered() const { return count() << (bits[0] + bits[1] + bits[2] + bits[3]); }
};

/// The boxes of `1 << bits` windows that cover the fewest windows too many; among equals those that are longer along
/// inner axes. `most[axis]` is the longest box that can be copied.
inline window_boxes boxes_of_windows(const array<int, window_axes>& windows, int bits,
                                     const array<int, window_axes>& most) {
  window_boxes best;
  index covered = 0;
  for (int x = bits; x >= 0; --x) {
    for (int y = bits - x; y >= 0; --y) {
      for (int z = bits - x - y; z >= 0; --z) {
        window_boxes boxes{windows, {{x, y, z, bits - x - y - z}}, {}};
        bool fits = true;
        for (int axis = 0; axis < window_axes; ++axis) {
          boxes.counts[axis] = (windows[axis] + boxes.extent(axis) - 1) / boxes.extent(axis);
          fits = fits && boxes.extent(axis) <= most[axis];
        }
        if (fits && (covered == 0 || boxes.covered() < covered)) best = boxes, covered = boxes.covered();
      }
    }
  }
  return best;
}

/// The windows of a box, as rows of the result.
struct box_lines {
  array<int, window_axes> first, windows, bits;

  TENON_HOST_DEVICE index operator[](int i) const {
    index line = 0;
    bool is_inside = true;
    int axis_stride = 1, rest = i;
    for (int axis = 0; axis < window_axes; ++axis) {
      const int at = first[axis] + (rest & ((1 << bits[axis]) - 1));
      rest >>= bits[axis];
      is_inside = is_inside && at < windows[axis];
      line += at * axis_stride;
      axis_stride *= windows[axis];
    }
    return is_inside ? line : outside;
  }

 private:
  static constexpr index outside = index{1} << 31;
};

/// The steps of a convolution: 64 channels at a time of each tap. The last channels may be fewer: zeros are copied in
/// their place.
struct tap_steps {
  divisor blocks;           // of channels
  array<divisor, 2> taps;   // along the two innermost axes
  int channels_of_block, channels_of_group;

  struct place {
    int channel;
    array<int, 3> tap;
  };
  TENON_HOST_DEVICE place at(int step) const {
    const auto number = static_cast<std::uint32_t>(step);
    const std::uint32_t tap = blocks.quotient(number), line = taps[0].quotient(tap), plane = taps[1].quotient(line);
    return {static_cast<int>(number - tap * blocks.number()) * channels_of_block,
            {{static_cast<int>(tap - line * taps[0].number()), static_cast<int>(line - plane * taps[1].number()),
              static_cast<int>(plane)}}};
  }
};

/// The patches of images: lines are windows, tiles of them boxes.
template <class Map>
struct hopper_patches {
  static constexpr bool may_have_lines_adjacent = false;
  Map map;
  tap_steps steps;
  array<int, 3> stride, dilation, padding;
  array<int, window_axes> windows, bits;
  array<divisor, 3> counts;  // of boxes

  template <int Lines, class Unit, class Tiles, class Barriers>
  TENON_HOST_DEVICE void copy(Unit& unit, const array<int, 3>& place, const Tiles& tiles, const Barriers& full,
                              int stage) const {
    const auto at = steps.at(place[1]);
    const auto first = first_window(place[0] / Lines);
    array<int, 5> position{{at.channel + place[2] * steps.channels_of_group, 0, 0, 0, first[3]}};
    for (int axis = 0; axis < 3; ++axis) {
      position[1 + axis] = first[axis] * stride[axis] + at.tap[axis] * dilation[axis] - padding[axis];
    }
    constexpr int size = Lines * hopper_depth<typename Tiles::value_type>;
    unit.copy_image_tile(tiles.part(stage * size, size), map, position, full, stage);
  }
  template <int Lines>
  TENON_HOST_DEVICE box_lines lines_of(int line) const {
    return {first_window(line / Lines), windows, bits};
  }

 private:
  TENON_HOST_DEVICE array<int, window_axes> first_window(int box) const {
    array<int, window_axes> result{};
    auto rest = static_cast<std::uint32_t>(box);
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint32_t quotient = counts[axis].quotient(rest);
      result[axis] = static_cast<int>(rest - quotient * counts[axis].number()) << bits[axis];
      rest = quotient;
    }
    result[3] = static_cast<int>(rest) << bits[3];
    return result;
  }
};

/// The weights of a convolution: lines are channels of the result. The map's axes are the one along which neighbours
/// lie, three of taps, and the other of rows and channels, along which groups follow each other.
template <class Map>
struct hopper_weights {
  Map map;
  tap_steps steps;
  bool lines_are_adjacent;
  int group_step;
  array<int, 3> last_tap;  // where taps run backwards, else 0
  array<int, 3> tap_step;  // -1 there, else 1

  template <int Lines, class Unit, class Tiles, class Barriers>
  TENON_HOST_DEVICE void copy(Unit& unit, const array<int, 3>& place, const Tiles& tiles, const Barriers& full,
                              int stage) const {
    using adjacent = hopper_layout<typename Tiles::value_type, Lines, true>;
    const auto to = tiles.part(stage * Lines * adjacent::width, Lines * adjacent::width);
    const auto at = steps.at(place[1]);
    const int line = place[0], group = place[2] * group_step;
    array<int, 5> position{};
    for (int axis = 0; axis < 3; ++axis) position[1 + axis] = last_tap[axis] + at.tap[axis] * tap_step[axis];
    if (lines_are_adjacent) {
      position[4] = at.channel + group;
      for (int i = 0; i < adjacent::copies; ++i) {
        position[0] = line + i * adjacent::width;
        unit.copy_image_tile(to.part(i * adjacent::copy_size, adjacent::copy_size), map, position, full, stage);
      }
    } else {
      position[0] = at.channel, position[4] = line + group;
      unit.copy_image_tile(to, map, position, full, stage);
    }
  }
};

/// What Hopper's kernel is told of a convolution; `exists` where it takes it.
struct hopper_convolution {
  bool exists = false;
  tiled_images image{}, weight{};  // tiles of the weight have as many lines as those of the kernel
  tap_steps steps{};
  int step_count = 0;
  array<int, 3> stride{}, dilation{}, padding{}, last_tap{}, tap_step{};
  window_boxes boxes{};
  array<divisor, 3> counts{};
  bool lines_are_adjacent = false;  // of the weight
  int group_step = 0;
};

namespace detail {

inline constexpr int hopper_box_bits = 7;  // of the 128 windows of a tile

/// Takes the strides of an operand for axes of a map; false where tiles cannot be copied.
inline bool take_stride(tiled_images& of, int axis, index extent, index stride, int bytes) {
  const bool moves = extent != 1;
  of.extents[axis] = extent;
  if (axis > 0) of.stride_bytes[axis - 1] = moves ? stride * bytes : tile_copy_alignment;
  return !moves || (axis == 0 ? stride == 1
                              : stride > 0 && stride * bytes % tile_copy_alignment == 0 &&
                                    stride * bytes < (index{1} << 40));
}

}  // namespace detail

/// How Hopper's kernel takes the convolution `node` of images and weights in memory.
template <class Node>
hopper_convolution hopper_convolution_of(const Node& node) {
  using element = typename Node::element;
  constexpr int rank = Node::spatial_axes, bytes = static_cast<int>(sizeof(element));
  constexpr index most = index{1} << 30;
  hopper_convolution result;
  const auto image = node.lower_image();
  const auto weight = node.lower_left();
  const auto extents = node.left_extents();  // [groups, rows, channels, taps ...]
  const auto patches = node.patches();
  const index images = node.result_extents()[0], groups = extents[0], channels = extents[2];
  if (images * patches.windows() >= most || groups * channels >= most || node.depth() >= most) return result;
  constexpr int channel_block = hopper_depth<element>;
  const bool ends_evenly = channels % channel_block == 0;
  if (!ends_evenly && groups != 1) return result;  // zeros are only behind the last group
  result.image.data = image.data, result.image.step = filled_array<5>(1);
  bool fits = detail::take_stride(result.image, 0, groups * channels, groups * channels == 1 ? 1 : image.stride[2], bytes);
  fits = fits && (groups == 1 || image.stride[0] == channels);
  array<int, window_axes> windows = filled_array<window_axes>(1), longest = filled_array<window_axes>(most_tile_extent);
  array<index, 3> taps = filled_array<3>(index{1});
  for (int place = 0; place < 3; ++place) {
    const int axis = rank - 1 - place;  // of the windows
    result.stride[place] = 1, result.dilation[place] = 1, result.tap_step[place] = 1;
    if (axis < 0) {
      fits = fits && detail::take_stride(result.image, 1 + place, 1, 0, bytes);
      continue;
    }
    const index stride = patches.stride[axis];
    fits = fits && patches.image_step[axis] == 1 && stride <= 8 && patches.image[axis] < most &&
           patches.dilation[axis] * patches.kernel[axis] < most;
    fits = fits && detail::take_stride(result.image, 1 + place, patches.image[axis], image.stride[3 + axis], bytes);
    windows[place] = static_cast<int>(patches.output[axis]), taps[place] = patches.kernel[axis];
    longest[place] = static_cast<int>((most_tile_extent - 1) / stride + 1);
    result.stride[place] = static_cast<int>(stride), result.dilation[place] = static_cast<int>(patches.dilation[axis]);
    result.padding[place] = static_cast<int>(patches.padding[axis]);
    result.image.step[1 + place] = result.stride[place];
  }
  windows[3] = static_cast<int>(images);
  fits = fits && detail::take_stride(result.image, 4, images, image.stride[1], bytes);
  if (!fits) return result;

  const index row_stride = weight.stride[1], channel_stride = weight.stride[2];
  result.lines_are_adjacent = channel_stride != 1 && channels != 1;
  const index across = result.lines_are_adjacent ? channel_stride : row_stride;
  const index across_extent = groups * (result.lines_are_adjacent ? channels : extents[1]);
  result.weight.step = filled_array<5>(1);
  const auto* data = weight.data;
  fits = detail::take_stride(result.weight, 0, result.lines_are_adjacent ? extents[1] : channels,
                             result.lines_are_adjacent ? row_stride : index{1}, bytes);
  for (int place = 0; place < 3; ++place) {
    const int axis = rank - 1 - place;
    const index stride = axis < 0 ? 0 : weight.stride[3 + axis];
    if (stride < 0) {  // taps run backwards: the map begins at the last one
      result.last_tap[place] = static_cast<int>(taps[place] - 1), result.tap_step[place] = -1;
      data += stride * (taps[place] - 1);
    }
    fits = fits && detail::take_stride(result.weight, 1 + place, taps[place], stride < 0 ? -stride : stride, bytes);
  }
  fits = fits && detail::take_stride(result.weight, 4, across_extent, across, bytes);
  if (groups != 1) {
    fits = fits && across != 0 && weight.stride[0] % across == 0;
    result.group_step = fits ? static_cast<int>(weight.stride[0] / across) : 0;
  }
  const auto is_aligned = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % tile_copy_alignment == 0; };
  if (!fits || !is_aligned(data) || !is_aligned(image.data)) return result;
  result.weight.data = data;

  result.boxes = boxes_of_windows(windows, detail::hopper_box_bits, longest);
  for (int axis = 0; axis < 3; ++axis) result.counts[axis] = divisor(result.boxes.counts[axis]);
  for (int axis = 0; axis < window_axes; ++axis) result.image.tile[1 + axis] = result.boxes.extent(axis);
  result.image.tile[0] = channel_block;
  const index blocks = (channels + channel_block - 1) / channel_block;
  result.steps = {divisor(blocks), {{divisor(taps[0]), divisor(taps[1])}}, channel_block, static_cast<int>(channels)};
  result.step_count = static_cast<int>(blocks * taps[0] * taps[1] * taps[2]);
  result.exists = result.boxes.covered() < most && 2 * channels >= channel_block;
  return result;
}

/// Computes a convolution that Hopper's kernel takes, in one launch of at most `blocks`. Rows of the kernel are windows,
/// columns channels of the result, so the epilogue is an exchanged one.
template <class Space, class Tile, class Element, int Rank, class Epilogue>
void launch_hopper_convolution(const product_extents<Rank>& extents, const hopper_convolution& of,
                               const Epilogue& epilogue, int blocks) {
  using maps = tile_maps<Space>;
  using map = typename maps::map;
  using kernel_type = hopper_product_kernel<Tile, Element, hopper_patches<map>, hopper_weights<map>, Rank, Epilogue>;
  tiled_images weight = of.weight;
  constexpr int width = hopper_depth<Element>;
  weight.tile = {{width, 1, 1, 1, of.lines_are_adjacent ? width : Tile::columns}};
  auto turned = extents;
  std::swap(turned.rows, turned.columns);
  const kernel_type kernel{{maps::template make<Element>(of.image), of.steps, of.stride, of.dilation, of.padding,
                            of.boxes.windows, of.boxes.bits, of.counts},
                           {maps::template make<Element>(weight), of.steps, of.lines_are_adjacent, of.group_step,
                            of.last_tap, of.tap_step},
                           turned,
                           order_of_tiles<Tile>(of.boxes.covered(), turned.columns, extents.batch_count()),
                           of.step_count,
                           epilogue};
  const launch_shape shape{.grid = {kernel.order.count < blocks ? kernel.order.count : blocks},
                           .block = Tile::threads,
                           .shared_bytes = kernel_type::shared_bytes};
  launch<Space>(shape, kernel);
}

using narrow_hopper_tile = hopper_tile<128, 64, 8>;

namespace on_device {

/// Convolutions, and gradients to images without strides, of short floats in memory with channels last, on Hopper's
/// warpgroups; one launch.
struct warpgroup_windows {
  static constexpr const char* name = "windows of warpgroups";
  template <class Problem>
  static constexpr bool can_take = [] {
    using product = typename Problem::product_type;
    using element = typename product::element;
    if constexpr (detail::is_convolution<product> && is_short_float<element> && !is_float8<element> &&
                  detail::has_processors<typename Problem::space>) {
      using image = std::remove_cvref_t<decltype(std::declval<const product&>().lower_image())>;
      using weight = std::remove_cvref_t<decltype(std::declval<const product&>().lower_left())>;
      return product::spatial_axes <= 3 &&
             std::is_same_v<image, strided_source<element, product::spatial_axes + 3>> &&
             std::is_same_v<weight, image>;
    }
    return false;
  }();
  template <class Problem>
  static bool takes(const Problem& problem) {
    constexpr index least_rows = 16, least_windows = 64;
    const auto& extents = problem.extents;
    return extents.rows >= least_rows && extents.columns >= least_windows && extents.batch_count() > 0 &&
           problem.exchangeable_epilogue().is_exchanged && hopper_convolution_of(problem.product).exists &&
           processors_for(problem) != 0;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using element = typename Problem::product_type::element;
    const auto& extents = problem.extents;
    const auto of = hopper_convolution_of(problem.product);
    const auto epilogue = problem.exchangeable_epilogue();
    const int processors = processors_for(problem);
    const auto tiles_of = [&](auto tile) {
      return order_of_tiles<decltype(tile)>(of.boxes.covered(), extents.rows, extents.batch_count()).count;
    };
    if (extents.rows <= narrow_hopper_tile::columns) {
      launch_hopper_convolution<space, narrow_hopper_tile, element>(extents, of, epilogue, processors);
    } else if (prefers_wide_tiles(tiles_of(wide_hopper_tile{}), tiles_of(square_hopper_tile{}), processors)) {
      launch_hopper_convolution<space, wide_hopper_tile, element>(extents, of, epilogue, processors);
    } else {
      launch_hopper_convolution<space, square_hopper_tile, element>(extents, of, epilogue, processors);
    }
  }

 private:
  template <class Problem>
  static int processors_for(const Problem& problem) {
    using space = typename Problem::space;
    using map = typename tile_maps<space>::map;
    using kernel =
        hopper_product_kernel<narrow_hopper_tile, typename Problem::product_type::element, hopper_patches<map>,
                              hopper_weights<map>, Problem::product_type::shape_type::rank, decltype(problem.epilogue())>;
    return detail::hopper_processors<space, kernel>();
  }
};

}  // namespace on_device

}  // namespace tenon
