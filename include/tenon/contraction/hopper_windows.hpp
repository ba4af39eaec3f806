// tenon/contraction/hopper_windows.hpp: operands of convolutions as Hopper copies them, of images with channels last.
// A tile of results is a box of windows; its operand at a tap is the box of the image that they see, copied as it lies.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/hopper_tiles.hpp>
#include <tenon/device/divisor.hpp>

namespace tenon {

inline constexpr int window_axes = 4;  // up to three of an image, the innermost first, and that of images

/// How windows come in boxes: a power of two of them along each axis.
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
          boxes.counts[axis] = (windows[axis] + boxes.extent(axis) - 1) >> boxes.bits[axis];
          fits = fits && boxes.extent(axis) <= most[axis];
        }
        if (fits && (covered == 0 || boxes.covered() < covered)) best = boxes, covered = boxes.covered();
      }
    }
  }
  return best;
}

/// The windows of a box, as rows or columns of the result.
struct box_lines {
  static constexpr bool may_be_columns = true;
  array<int, window_axes> first, windows, bits;

  /// Whether `count` windows, a power of two, from each multiple of it on follow each other in the result.
  TENON_HOST_DEVICE bool has_runs_of(int count) const { return count <= 1 << bits[0] && windows[0] % count == 0; }

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
  divisor blocks;          // of channels
  array<divisor, 2> taps;  // along the two innermost axes
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

/// The boxes of windows by number.
struct numbered_boxes {
  array<int, window_axes> windows, bits;
  array<divisor, 3> counts;  // of boxes, along axes of the image

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
inline numbered_boxes number_boxes(const window_boxes& boxes) {
  numbered_boxes result{boxes.windows, boxes.bits, {}};
  for (int axis = 0; axis < 3; ++axis) result.counts[axis] = divisor(boxes.counts[axis]);
  return result;
}

/// How windows move over an image, the innermost axis first.
struct window_moves {
  array<int, 3> stride = filled_array<3>(1), dilation = filled_array<3>(1), padding{};

  /// Where a box begins in the image at a tap, its channels at `channel`.
  TENON_HOST_DEVICE array<int, 5> position(int channel, const array<int, window_axes>& window,
                                           const array<int, 3>& tap) const {
    array<int, 5> result{{channel, 0, 0, 0, window[3]}};
    for (int axis = 0; axis < 3; ++axis) {
      result[1 + axis] = window[axis] * stride[axis] + tap[axis] * dilation[axis] - padding[axis];
    }
    return result;
  }
};

/// The patches of images: lines are windows, tiles of them boxes.
template <class Map>
struct hopper_patches {
  static constexpr bool may_have_lines_adjacent = false, may_have_depth_adjacent = true;
  Map map;
  tap_steps steps;
  window_moves moves;
  numbered_boxes boxes;

  template <int Lines, class Unit, class Tiles, class Barriers>
  TENON_HOST_DEVICE void copy(Unit& unit, const array<int, 3>& place, const Tiles& tiles, const Barriers& full,
                              int stage) const {
    constexpr int size = Lines * hopper_depth<typename Tiles::value_type>;
    const auto at = steps.at(place[1]);
    unit.copy_image_tile(
        tiles.part(stage * size, size), map,
        moves.position(at.channel + place[2] * steps.channels_of_group, boxes.first_window(place[0] / Lines), at.tap),
        full, stage);
  }
  template <int Lines>
  TENON_HOST_DEVICE box_lines lines_of(int line) const {
    return {boxes.first_window(line / Lines), boxes.windows, boxes.bits};
  }
};

/// Images as a weight's gradient sums them: the depth are windows, a box of them in each step; lines are channels, 64
/// at a time of each tap.
template <class Map>
struct hopper_window_depth {
  static constexpr bool may_have_lines_adjacent = true, may_have_depth_adjacent = false, lines_are_adjacent = true;
  Map map;
  tap_steps lines;
  window_moves moves;
  numbered_boxes boxes;

  template <int Lines, class Unit, class Tiles, class Barriers>
  TENON_HOST_DEVICE void copy(Unit& unit, const array<int, 3>& place, const Tiles& tiles, const Barriers& full,
                              int stage) const {
    using adjacent = hopper_layout<typename Tiles::value_type, Lines, true>;
    const auto to = tiles.part(stage * Lines * adjacent::width, Lines * adjacent::width);
    const auto window = boxes.first_window(place[1]);
    for (int i = 0; i < adjacent::copies; ++i) {
      const auto at = lines.at(place[0] / adjacent::width + i);
      unit.copy_image_tile(to.part(i * adjacent::copy_size, adjacent::copy_size), map,
                           moves.position(at.channel + place[2] * lines.channels_of_group, window, at.tap), full,
                           stage);
    }
  }
  template <int Lines>
  TENON_HOST_DEVICE adjacent_lines lines_of(int first) const {
    return {first};
  }
};

/// The weights of a convolution: lines are channels of the result. The map's axes are the one along which neighbours
/// lie, three of taps, and the other of rows and channels, along which groups follow each other.
template <class Map>
struct hopper_weights {
  static constexpr bool may_have_lines_adjacent = true, may_have_depth_adjacent = true;
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

}  // namespace tenon
