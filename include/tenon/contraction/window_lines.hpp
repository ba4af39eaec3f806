// tenon/contraction/window_lines.hpp: a strip of an image as lines that all taps of its windows share.
// Neighbouring windows see neighbouring elements of a line, whatever the stride: taps differ by an offset only.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <tenon/contraction/pack.hpp>

namespace tenon {

/// The taps along an axis. Those `period` apart see the same line, which holds every `stride`-th element: tap t sees
/// what tap t % period sees, shift(t) - shift(t % period) elements further on.
struct tap_axis {
  index stride = 1, dilation = 1, taps = 1, period = 1;

  index phases() const { return detail::least(taps, period); }
  index phase(index tap) const { return tap % period; }
  index shift(index tap) const { return tap * dilation / stride; }
  index reach() const { return shift(taps - 1); }
};

/// How the windows of patches see lines. Windows are numbered along rows that are `pitch` apart, as lines are: a number
/// and the offset of a tap give the element. Axes before the last two stay fixed; each of their taps has its own lines.
template <int Rank>
class window_lines {
 public:
  explicit window_lines(const patch_geometry<Rank>& geometry) : geometry_(geometry), column_(axis(Rank - 1)) {
    if constexpr (Rank > 1) row_ = axis(Rank - 2);
    for (int i = 0; i < Rank - 2; ++i) outer_taps_ *= geometry.kernel[i];
    pitch_ = find_pitch();
    shared_ = std::max(columns() + column_.reach() - pitch_, index{0});
  }
  /// Windows of a plane.
  index rows() const { return Rank == 1 ? 1 : geometry_.output[Rank == 1 ? 0 : Rank - 2]; }
  index columns() const { return geometry_.output[Rank - 1]; }
  index pitch() const { return pitch_; }
  /// How many more lines than rows of windows there are.
  index reach() const { return row_.reach(); }
  /// Blocks of lines of a channel.
  index blocks() const { return outer_taps_ * row_.phases() * column_.phases(); }
  /// Elements of a strip of `strip_rows` rows of windows.
  index size(index channels, index strip_rows) const {
    return channels * blocks() * (strip_rows + reach()) * pitch_ + shared_;
  }
  /// Windows of `count` rows, with the gaps between rows.
  index numbers(index count) const { return (count - 1) * pitch_ + columns(); }

  /// The offsets of the taps of all channels in the order in which a weight has them.
  void find_taps(index channels, index strip_rows, index* offsets) const {
    const index lines = strip_rows + reach(), row_taps = row_.taps, column_taps = column_.taps;
    for (index outer = 0; outer < channels * outer_taps_; ++outer) {
      for (index r = 0; r < row_taps; ++r) {
        const index rows_before = (outer * row_.phases() + row_.phase(r)) * column_.phases();
        const index row_shift = row_.shift(r) * pitch_;
        for (index s = 0; s < column_taps; ++s) {
          *offsets++ = (rows_before + column_.phase(s)) * lines * pitch_ + row_shift + column_.shift(s);
        }
      }
    }
  }

  /// Whether rows of windows share no line: then a strip may go on in the next plane.
  bool crosses_planes() const { return reach() == 0; }
  /// Rows of windows, numbered through all planes; there is room for `room` of them.
  struct strip {
    index first_row, rows, room;
  };
  /// Lays out what the windows of a strip see in the channels `channels[0]` to `channels[1]` - 1.
  template <class Patches, class T>
  void copy(const Patches& patches, const strip& part, const array<index, 2>& channels, T* to) const {
    const index block = (part.room + reach()) * pitch_;
    array<index, Rank + 3> position{};
    position[0] = patches.group;
    for (index c = channels[0]; c < channels[1]; ++c) {
      position[2] = c;
      for (index outer = 0; outer < outer_taps_; ++outer) {
        for (index row = 0; row < row_.phases(); ++row) {
          for (index column = 0; column < column_.phases(); ++column, to += block) {
            copy_block(patches.program, {outer, row, column}, part, position, to);
          }
        }
      }
    }
  }

  /// Moves the windows of `count` rows together, in each of `height` rows of results.
  template <class T>
  void close_gaps(T* results, index height, index count, index results_pitch) const {
    if (pitch_ == columns()) return;
    for (index i = 0; i < height; ++i, results += results_pitch) {
      for (index row = 1; row < count; ++row) {
        detail::copy_elements(results + row * pitch_, columns(), results + row * columns());  // to before from
      }
    }
  }

 private:
  tap_axis axis(int i) const {
    const index stride = geometry_.stride[i], dilation = geometry_.dilation[i];
    return {stride, dilation, geometry_.kernel[i], stride / std::gcd(stride, dilation)};
  }
  /// Rows may share the zeros between them: those behind one are those before the next.
  index find_pitch() const {
    constexpr int last = Rank - 1;
    const index needed = columns() + column_.reach();
    const index span = geometry_.image[last] == 0 ? 0 : (geometry_.image[last] - 1) * geometry_.image_step[last] + 1;
    index pitch = columns(), shared = needed;
    for (index phase = 0; phase < column_.phases(); ++phase) {
      const index from = phase * column_.dilation - column_.shift(phase) * column_.stride - geometry_.padding[last];
      shared = detail::least(shared, detail::steps_until(from, 0, column_.stride));
      pitch = std::max(pitch, detail::least(needed, detail::steps_until(from, span, column_.stride)));
    }
    return std::max(pitch, needed - shared);
  }
  struct place_of_plane {
    index plane, row;
  };
  /// The image of a plane, and where a tap along the axes before the last two sees it; false where that is nowhere.
  bool find_plane(index plane, index tap, array<index, Rank + 3>& position) const {
    bool inside = true;
    for (int i = Rank - 3; i >= 0; --i) {
      position[3 + i] = geometry_.place(i, plane % geometry_.output[i], tap % geometry_.kernel[i]);
      plane /= geometry_.output[i], tap /= geometry_.kernel[i];
      inside = inside && position[3 + i] >= 0;
    }
    position[1] = plane;
    return inside;
  }
  bool find_row(index phase, index line, array<index, Rank + 3>& position) const {
    if constexpr (Rank == 1) return true;
    else return (position[Rank + 1] = geometry_.place(Rank - 2, line - row_.shift(phase), phase)) >= 0;
  }
  /// The taps whose lines are a block: one along the axes before the last two, a phase along each of these.
  struct block_taps {
    index outer, row, column;
  };
  template <class Program, class T>
  void copy_block(const Program& program, const block_taps& taps, const strip& part, array<index, Rank + 3>& position,
                  T* to) const {
    const auto run = detail::find_seen(geometry_, taps.column, -column_.shift(taps.column), pitch_);
    const index lines = part.rows + reach();
    std::fill(to, to + lines * pitch_ + shared_, T(0));
    if (run.count == 0) return;
    place_of_plane place{part.first_row / rows(), part.first_row % rows()};
    bool inside = find_plane(place.plane, taps.outer, position);
    for (index line = 0; line < lines; ++line, ++place.row, to += pitch_) {
      if (crosses_planes() && place.row == rows()) {
        place = {place.plane + 1, 0};
        inside = find_plane(place.plane, taps.outer, position);
      }
      if (find_row(taps.row, place.row, position) && inside) detail::copy_seen<Rank>(program.at(position), run, to);
    }
  }

  patch_geometry<Rank> geometry_;
  tap_axis row_{}, column_;
  index outer_taps_ = 1, pitch_ = 0, shared_ = 0;  // of a line, zeros at the end that are the next one's first
};

}  // namespace tenon
