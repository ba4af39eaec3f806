// tenon/contraction/hopper_convolution.hpp: which convolutions and gradients Hopper's kernel takes, and how.
// Images with channels last are described to the machine that copies; planes are copied so first.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/arranged_operand.hpp>
#include <tenon/contraction/hopper_matrices.hpp>
#include <tenon/contraction/hopper_windows.hpp>
#include <tenon/contraction/numbered_patches.hpp>
#include <tenon/contraction/plain_convolution.hpp>

namespace tenon {

/// What Hopper's kernel is told of the images that windows move over; `exists` where it takes them.
struct hopper_images {
  bool exists = false;
  tiled_images map{};  // but for its tile
  window_moves moves{};
  array<int, window_axes> windows = filled_array<window_axes>(1), longest = filled_array<window_axes>(most_tile_extent);
  array<index, 3> taps = filled_array<3>(index{1});
};

namespace detail {

/// Takes the strides of an operand for axes of a map, the innermost first; false where tiles cannot be copied. An axis
/// of one element steps over all before it.
inline bool take_stride(tiled_images& of, int axis, index extent, index stride, int bytes) {
  const bool moves = extent != 1;
  of.extents[axis] = extent;
  if (extent < 1) return false;
  if (axis > 0) {
    const index line = (of.extents[0] * bytes + tile_copy_alignment - 1) / tile_copy_alignment * tile_copy_alignment;
    const index over = axis == 1 ? line : of.stride_bytes[axis - 2] * of.extents[axis - 1];
    of.stride_bytes[axis - 1] = moves ? stride * bytes : over;
  }
  if (!moves) return true;
  if (axis == 0) return stride == 1;
  return stride > 0 && stride * bytes % tile_copy_alignment == 0 && stride * bytes < (index{1} << 40);
}
inline bool is_aligned_to_tiles(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % tile_copy_alignment == 0;
}
template <class Element>
tap_steps steps_of_taps(index channels, const array<index, 3>& taps) {
  constexpr int block = hopper_depth<Element>;
  return {divisor((channels + block - 1) / block),
          {{divisor(taps[0]), divisor(taps[1])}},
          block,
          static_cast<int>(channels)};
}

}  // namespace detail

/// Images [groups, n, c, ...] in memory under windows, as tiles are copied of them.
template <class T, int Rank>
hopper_images hopper_images_of(const strided_source<T, Rank + 3>& source, index groups, index images, index channels,
                               const patch_geometry<Rank>& patches) {
  constexpr index most = index{1} << 30, most_stride = 8;
  constexpr int bytes = static_cast<int>(sizeof(T));
  hopper_images result;
  result.map.data = source.data, result.map.step = filled_array<5>(1);
  if (images * patches.windows() >= most || groups * channels * patches.taps() >= most) return result;
  bool fits = groups == 1 || source.stride[0] == channels;
  fits = fits && detail::take_stride(result.map, 0, groups * channels, source.stride[2], bytes);
  for (int place = 0; place < 3; ++place) {
    const int axis = Rank - 1 - place;  // of the windows
    if (axis < 0) {
      detail::take_stride(result.map, 1 + place, 1, 0, bytes);
      continue;
    }
    const index stride = patches.stride[axis];
    fits = fits && patches.image_step[axis] == 1 && stride <= most_stride && patches.image[axis] < most &&
           patches.dilation[axis] * patches.kernel[axis] < most &&
           detail::take_stride(result.map, 1 + place, patches.image[axis], source.stride[3 + axis], bytes);
    if (!fits) return result;
    result.windows[place] = static_cast<int>(patches.output[axis]), result.taps[place] = patches.kernel[axis];
    result.longest[place] = static_cast<int>((most_tile_extent - 1) / stride + 1);
    result.moves.stride[place] = result.map.step[1 + place] = static_cast<int>(stride);
    result.moves.dilation[place] = static_cast<int>(patches.dilation[axis]);
    result.moves.padding[place] = static_cast<int>(patches.padding[axis]);
  }
  result.windows[3] = static_cast<int>(images);
  fits = fits && detail::take_stride(result.map, 4, images, source.stride[1], bytes);
  result.exists = fits && detail::is_aligned_to_tiles(source.data);
  return result;
}

/// What Hopper's kernel is told of a convolution; `exists` where it takes it.
struct hopper_convolution {
  bool exists = false;
  hopper_images image{};
  window_boxes boxes{};
  tap_steps steps{};
  int step_count = 0;
  tiled_images weight{};  // but for its tile
  bool lines_are_adjacent = false;
  int group_step = 0;
  array<int, 3> last_tap{}, tap_step = filled_array<3>(1);
};

/// How Hopper's kernel takes the convolution `node`, of images and weights in memory as `image` and `weight` say.
template <class Node, class Source>
hopper_convolution hopper_convolution_of(const Node& node, const Source& image, const Source& weight) {
  using element = typename Node::element;
  constexpr int rank = Node::spatial_axes, bytes = static_cast<int>(sizeof(element)), box_bits = 7;
  constexpr index block = hopper_depth<element>;
  hopper_convolution result;
  const auto extents = node.left_extents();  // [groups, rows, channels, taps ...]
  const index groups = extents[0], channels = extents[2];
  // The rest of a block of channels is zeros behind the last group alone.
  if ((channels % block != 0 && groups != 1) || 2 * channels < block) return result;
  result.image = hopper_images_of<element, rank>(image, groups, node.result_extents()[0], channels, node.patches());
  if (!result.image.exists) return result;
  result.lines_are_adjacent = weight.stride[2] != 1;
  const index across = weight.stride[result.lines_are_adjacent ? 2 : 1];
  result.weight.data = weight.data, result.weight.step = filled_array<5>(1);
  bool fits = detail::take_stride(result.weight, 0, result.lines_are_adjacent ? extents[1] : channels,
                                  result.lines_are_adjacent ? weight.stride[1] : 1, bytes);
  for (int place = 0; place < 3; ++place) {
    const int axis = rank - 1 - place;
    const index stride = axis < 0 ? 0 : weight.stride[3 + axis], last = result.image.taps[place] - 1;
    if (stride < 0) {  // taps run backwards: the map begins at the last one
      result.last_tap[place] = static_cast<int>(last), result.tap_step[place] = -1;
      result.weight.data = static_cast<const element*>(result.weight.data) + stride * last;
    }
    fits = fits && detail::take_stride(result.weight, 1 + place, last + 1, stride < 0 ? -stride : stride, bytes);
  }
  fits = fits && detail::take_stride(result.weight, 4, groups * (result.lines_are_adjacent ? channels : extents[1]),
                                     across, bytes);
  if (groups != 1) {
    fits = fits && across > 0 && weight.stride[0] % across == 0;
    result.group_step = fits ? static_cast<int>(weight.stride[0] / across) : 0;
  }
  if (!fits || !detail::is_aligned_to_tiles(result.weight.data)) return result;
  result.boxes = boxes_of_windows(result.image.windows, box_bits, result.image.longest);
  result.steps = detail::steps_of_taps<element>(channels, result.image.taps);
  result.step_count = static_cast<int>(result.steps.blocks.number() * node.patches().taps());
  result.exists = result.boxes.covered() < (index{1} << 30);
  return result;
}

/// What Hopper's kernel is told of the gradient of a weight; `exists` where it takes it.
struct hopper_weight_gradient {
  bool exists = false;
  hopper_images gradient{}, image{};
  window_boxes boxes{};
  tap_steps gradient_lines{}, image_lines{};
};

/// How Hopper's kernel takes the gradient `node` of a weight, of images and gradients in memory as `image` and
/// `gradient` say. Boxes must hold all windows and no other place, where a gradient of zero would meet elements that no
/// window sees there.
template <class Node, class Source>
hopper_weight_gradient hopper_weight_gradient_of(const Node& node, const Source& image, const Source& gradient) {
  using element = typename Node::element;
  constexpr int rank = Node::spatial_axes, box_bits = 6;
  constexpr index block = hopper_depth<element>;
  hopper_weight_gradient result;
  const auto result_extents = node.result_extents();  // [groups, rows, channels, taps ...]
  const index groups = result_extents[0], rows = result_extents[1], channels = result_extents[2],
              images = node.left_extents()[2];
  if (channels % block != 0 || (groups != 1 && rows % block != 0)) return result;
  const auto patches = node.patches();
  auto own = gradient.stride;  // [groups, rows, n, ...]
  std::swap(own[1], own[2]);
  const auto one = filled_array<rank>(index{1});
  const patch_geometry<rank> places{patches.output, one, patches.output, one, one, {}, one};
  result.gradient = hopper_images_of<element, rank>({gradient.data, own}, groups, images, rows, places);
  result.image = hopper_images_of<element, rank>(image, groups, images, channels, patches);
  if (!result.gradient.exists || !result.image.exists) return result;
  result.boxes = boxes_of_windows(result.image.windows, box_bits, result.image.longest);
  result.gradient_lines = detail::steps_of_taps<element>(rows, result.gradient.taps);
  result.image_lines = detail::steps_of_taps<element>(channels, result.image.taps);
  result.exists = result.boxes.covered() == images * patches.windows();
  return result;
}

namespace detail {
/// Images, tiles of which are boxes of windows.
template <class Element>
tiled_images images_in_boxes(const hopper_images& of, const window_boxes& boxes) {
  tiled_images images = of.map;
  images.tile[0] = hopper_depth<Element>;
  for (int axis = 0; axis < window_axes; ++axis) images.tile[1 + axis] = boxes.extent(axis);
  return images;
}
/// The weights of a convolution in tiles of `columns` channels of the result.
template <class Element>
tiled_images weight_in_tiles(const hopper_convolution& of, int columns) {
  constexpr int width = hopper_depth<Element>;
  tiled_images weight = of.weight;
  weight.tile = {{width, 1, 1, 1, of.lines_are_adjacent ? width : columns}};
  return weight;
}
/// Whether `Space` makes maps of what Hopper's kernel is told.
template <class Space, class Element>
bool has_maps(const hopper_convolution& of) {
  using maps = tile_maps<Space>;
  return of.exists && maps::template takes<Element>(images_in_boxes<Element>(of.image, of.boxes)) &&
         maps::template takes<Element>(weight_in_tiles<Element>(of, hopper_depth<Element>));
}
template <class Space, class Element>
bool has_maps(const hopper_weight_gradient& of) {
  using maps = tile_maps<Space>;
  return of.exists && maps::template takes<Element>(images_in_boxes<Element>(of.gradient, of.boxes)) &&
         maps::template takes<Element>(images_in_boxes<Element>(of.image, of.boxes));
}
}  // namespace detail

/// Computes a convolution that Hopper's kernel takes, in one launch of at most `blocks`. Rows of the kernel are
/// windows, columns channels of the result: an exchanged epilogue stores rows, another one columns.
template <class Space, class Tile, class Element, int Rank, class Epilogue>
void launch_hopper_convolution(const product_extents<Rank>& extents, const hopper_convolution& of,
                               const Epilogue& epilogue, int blocks) {
  using maps = tile_maps<Space>;
  using map = typename maps::map;
  using kernel_type = hopper_product_kernel<Tile, Element, hopper_patches<map>, hopper_weights<map>, Rank, Epilogue>;
  auto turned = extents;
  std::swap(turned.rows, turned.columns);
  const kernel_type kernel{{maps::template make<Element>(detail::images_in_boxes<Element>(of.image, of.boxes)),
                            of.steps, of.image.moves, number_boxes(of.boxes)},
                           {maps::template make<Element>(detail::weight_in_tiles<Element>(of, Tile::columns)), of.steps,
                            of.lines_are_adjacent, of.group_step, of.last_tap, of.tap_step},
                           turned,
                           order_of_tiles<Tile>(of.boxes.covered(), turned.columns, extents.batch_count()),
                           of.step_count,
                           {},
                           epilogue};
  launch_hopper_kernel<Space, Tile>(kernel, blocks, 1);
}

/// Computes the gradient of a weight that Hopper's kernel takes. Columns are numbered with channels last.
template <class Space, class Tile, class Element, int Rank, class Epilogue>
void launch_hopper_weight_gradient(const product_extents<Rank>& extents, const hopper_weight_gradient& of,
                                   const Epilogue& epilogue, int blocks, int parts) {
  using maps = tile_maps<Space>;
  using operand = hopper_window_depth<typename maps::map>;
  using kernel_type = hopper_product_kernel<Tile, Element, operand, operand, Rank, Epilogue>;
  const auto boxes = number_boxes(of.boxes);
  const kernel_type kernel{{maps::template make<Element>(detail::images_in_boxes<Element>(of.gradient, of.boxes)),
                            of.gradient_lines, of.gradient.moves, boxes},
                           {maps::template make<Element>(detail::images_in_boxes<Element>(of.image, of.boxes)),
                            of.image_lines, of.image.moves, boxes},
                           extents,
                           order_of_tiles<Tile>(extents.rows, extents.columns, extents.batch_count()),
                           static_cast<int>(of.boxes.count()),
                           {},
                           epilogue};
  launch_hopper_kernel<Space, Tile>(kernel, blocks, parts);
}

using narrow_hopper_tile = hopper_tile<128, 64, 8>;  // of few channels of the result
using flat_hopper_tile = hopper_tile<64, 128, 8>;    // of few rows of a weight's gradient

namespace detail {

/// Whether a convolution or a gradient of a weight is of short floats in memory, along axes of which maps have enough.
template <class Problem>
inline constexpr bool copies_boxes = [] {
  using product = typename Problem::product_type;
  using element = typename product::element;
  using source = strided_source<element, product::spatial_axes + 3>;
  using image = std::remove_cvref_t<decltype(std::declval<const product&>().lower_image())>;
  using other = std::remove_cvref_t<decltype(std::declval<const product&>().lower_left())>;
  return is_short_float<element> && !is_float8<element> && has_processors<typename Problem::space> &&
         product::spatial_axes < window_axes && std::is_same_v<image, source> && std::is_same_v<other, source>;
}();

template <class Problem>
bool is_worth_copies(const Problem& problem) {
  const auto& extents = problem.extents;
  return extents.rows * extents.columns * extents.depth * extents.batch_count() >= worth_copies;
}

}  // namespace detail

namespace on_device {

/// Convolutions, and gradients to images without strides, of short floats in memory, on Hopper's warpgroups. One launch
/// with channels last; planes of images and of weights are copied so by one launch each, where there is much to do.
struct warpgroup_windows {
  static constexpr const char* name = "windows of warpgroups";
  template <class Problem>
  static constexpr bool can_take = [] {
    if constexpr (detail::is_convolution<typename Problem::product_type>) return detail::copies_boxes<Problem>;
    else return false;
  }();
  template <class Problem>
  static bool takes(const Problem& problem) {
    constexpr index least_rows = 16, least_windows = 64;
    const auto& extents = problem.extents;
    if (extents.rows < least_rows || extents.columns < least_windows || extents.batch_count() == 0) return false;
    const auto image = arranged_image(problem.product), weight = arranged_weight(problem.product);
    const bool is_worth = image.is_copied() ? !detail::is_plain(problem.product) && detail::is_worth_copies(problem)
                                            : !weight.is_copied() || detail::is_worth_copies(problem);
    return is_worth && processors_for(problem) != 0 &&
           detail::has_maps<typename Problem::space, typename Problem::product_type::element>(
               hopper_convolution_of(problem.product, image.source, weight.source));
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using element = typename Problem::product_type::element;
    const auto& extents = problem.extents;
    auto image = arranged_image(problem.product), weight = arranged_weight(problem.product);
    const auto image_copy = image.template copy<space>(), weight_copy = weight.template copy<space>();
    const auto of = hopper_convolution_of(problem.product, image.source, weight.source);
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
  static int processors_for(const Problem&) {
    using map = typename tile_maps<typename Problem::space>::map;
    using element = typename Problem::product_type::element;
    return detail::hopper_processors<Problem, element, narrow_hopper_tile, hopper_patches<map>, hopper_weights<map>>();
  }
};

/// Gradients of weights, of short floats in memory, on Hopper's warpgroups. One launch with channels last; planes of
/// images and of gradients are copied so by one launch each, where there is much to do.
struct warpgroup_weight_gradients {
  static constexpr const char* name = "weight gradients of warpgroups";
  template <class Problem>
  static constexpr bool can_take = [] {
    if constexpr (detail::is_weight_gradient<typename Problem::product_type>) return detail::copies_boxes<Problem>;
    else return false;
  }();
  template <class Problem>
  static bool takes(const Problem& problem) {
    constexpr index least_rows = 16;
    if (problem.extents.rows < least_rows || problem.extents.batch_count() == 0) return false;
    const auto image = arranged_image(problem.product), gradient = arranged_gradient(problem.product);
    const bool is_worth = (!image.is_copied() && !gradient.is_copied()) || detail::is_worth_copies(problem);
    return is_worth && processors_for(problem) != 0 &&
           detail::has_maps<typename Problem::space, typename Problem::product_type::element>(
               hopper_weight_gradient_of(problem.product, image.source, gradient.source));
  }
  template <class Problem>
  static void run(const Problem& problem) {
    const int processors = processors_for(problem);
    if (problem.extents.rows <= flat_hopper_tile::rows) run_in<flat_hopper_tile>(problem, processors);
    else run_in<square_hopper_tile>(problem, processors);
  }

 private:
  template <class Tile, class Problem>
  static void run_in(const Problem& problem, int processors) {
    using space = typename Problem::space;
    using product = typename Problem::product_type;
    const auto& extents = problem.extents;
    auto image = arranged_image(problem.product), gradient = arranged_gradient(problem.product);
    const auto image_copy = image.template copy<space>(), gradient_copy = gradient.template copy<space>();
    const auto of = hopper_weight_gradient_of(problem.product, image.source, gradient.source);
    const int tiles = order_of_tiles<Tile>(extents.rows, extents.columns, extents.batch_count()).count;
    launch_hopper_weight_gradient<space, Tile, typename product::element>(
        extents, of, make_kernel_epilogue<product>(problem.target, problem.node, channels_last_order<product>{true}),
        processors, parts_of_tiles<Tile>(tiles, static_cast<int>(of.boxes.count()), processors));
  }
  template <class Problem>
  static int processors_for(const Problem&) {
    using operand = hopper_window_depth<typename tile_maps<typename Problem::space>::map>;
    return detail::hopper_processors<Problem, typename Problem::product_type::element, flat_hopper_tile, operand>();
  }
};

}  // namespace on_device

}  // namespace tenon
