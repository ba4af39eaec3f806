// tenon/contraction/phase_weights.hpp: the weight of a strided image gradient, cut into those of its phases.
// A phase sees some of the taps. Their columns of the weight lie side by side and are listed with what they see.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_windows.hpp>

namespace tenon {

/// The windows of an image that is spread by zeros. Windows whose numbers differ by multiples of the spread are a
/// phase: they see elements side by side and none of the zeros. `dense` describes the windows of one phase; its kernel
/// has every place that a tap of any phase sees.
template <int Rank>
struct window_phases {
  patch_geometry<Rank> spread, dense;
  array<index, Rank> counts{};  // phases along each axis

  explicit window_phases(const patch_geometry<Rank>& geometry) : spread(geometry), dense(geometry) {
    for (int axis = 0; axis < Rank; ++axis) {
      const index step = spread.image_step[axis];
      counts[axis] = detail::least(step, spread.output[axis]);
      const auto seen = find_places(axis);
      dense.kernel[axis] = seen[1] - seen[0] + 1, dense.padding[axis] = -seen[0];
      dense.output[axis] = (spread.output[axis] + step - 1) / step;
      dense.stride[axis] = dense.dilation[axis] = dense.image_step[axis] = 1;
    }
  }
  /// The number of phases along the axes `first` to `last` - 1.
  index count(int first, int last) const {
    index result = 1;
    for (int axis = first; axis < last; ++axis) result *= counts[axis];
    return result;
  }
  /// Calls `use(tap, place)` for each tap that a phase sees; `place` is the number of its place in the dense kernel.
  template <class Use>
  void for_each_tap(index phase, const Use& use) const {
    array<index, Rank> begin{};
    for (int axis = Rank - 1; axis >= 0; phase /= counts[axis], --axis) begin[axis] = phase % counts[axis];
    for (index tap = 0; tap < spread.taps(); ++tap) {
      index rest = tap, place = 0, step = 1;
      bool is_seen = true;
      for (int axis = Rank - 1; axis >= 0; rest /= spread.kernel[axis], step *= dense.kernel[axis], --axis) {
        const index at = spread_place(axis, begin[axis], rest % spread.kernel[axis]);
        is_seen = is_seen && at % spread.image_step[axis] == 0;
        place += (at / spread.image_step[axis] + dense.padding[axis]) * step;
      }
      if (is_seen) use(tap, place);
    }
  }
  /// The plane of results that a plane of dense windows becomes in a phase of the axes before the last two, or -1.
  index result_plane(index plane, index phase) const {
    index result = 0, step = 1;
    for (int axis = Rank - 3; axis >= 0; --axis) {
      const index at = plane % dense.output[axis] * spread.image_step[axis] + phase % counts[axis];
      if (at >= spread.output[axis]) return -1;
      result += at * step, step *= spread.output[axis];
      plane /= dense.output[axis], phase /= counts[axis];
    }
    return result + plane * step;
  }

 private:
  index spread_place(int axis, index phase, index tap) const {
    return phase + tap * spread.dilation[axis] - spread.padding[axis];
  }
  /// The first and the last place that any tap of any phase sees, counted from the window's own.
  array<index, 2> find_places(int axis) const {
    array<index, 2> seen{{0, 0}};
    bool is_first = true;
    for (index phase = 0; phase < counts[axis]; ++phase) {
      for (index tap = 0; tap < spread.kernel[axis]; ++tap) {
        const index at = spread_place(axis, phase, tap), place = at / spread.image_step[axis];
        if (at % spread.image_step[axis] != 0) continue;
        seen = is_first ? array<index, 2>{{place, place}}
                        : array<index, 2>{{detail::least(seen[0], place), std::max(seen[1], place)}};
        is_first = false;
      }
    }
    return seen;
  }
};

/// The weights of all phases. Columns follow one another by blocks of channels, in a block by taps, and then by
/// channels: so a weight whose taps lie side by side is transposed in registers.
template <class Products, class Left, int Rank>
struct phase_weights {
  using unit = typename Products::unit;
  using weight = detail::listed_weight<unit>;
  static constexpr index channels_together = 16;
  const Left& left;
  const window_phases<Rank>& phases;
  index rows, channels;

  /// Rows are rounded up to a tile's step: the lowest tile makes poor use of registers.
  static index padded_rows(index rows) { return rows == 1 ? 1 : detail::round_up(rows, host_tile<Products>::step); }

  /// Packs the weight of each phase, and lists what it sees of `lines` that have room for `strip_rows` rows.
  const weight* pack(const detail::scratch& memory, const window_lines<Rank>& lines, index strip_rows) const {
    const index count = phases.count(0, Rank), taps = phases.spread.taps(), depth = channels * taps;
    const index all_places = phases.dense.taps(), line = 64 / static_cast<index>(sizeof(unit));
    index* const seen = memory.take<index>(channels * all_places);
    lines.find_taps(channels, strip_rows, seen);
    weight* const weights = memory.take<weight>(count);
    index *const places = memory.take<index>(taps), *const numbers = memory.take<index>(taps);
    index* offsets = memory.take<index>(depth + count * detail::listed_ahead);
    unit* packed = memory.take<unit>(padded_rows(rows) * (depth + 2 * line * count));  // conflict_free_pitch adds less
    const source from = find_source(memory, taps);
    packed_tap* const targets = memory.take<packed_tap>(taps);
    std::fill_n(targets, taps, packed_tap{});
    for (index phase = 0; phase < count; ++phase) {
      index own = 0;
      phases.for_each_tap(phase, [&](index tap, index place) { numbers[own] = tap, places[own++] = place; });
      const index own_depth = channels * own, pitch = detail::conflict_free_pitch<unit>(own_depth);
      for (index i = 0; i < own; ++i) targets[from.slot(numbers[i])] = {packed, pitch, i, own};
      weights[phase] = {{packed, pitch, 1}, own_depth, offsets};
      offsets = list_offsets({{own, all_places}}, places, seen, offsets);
      std::fill(packed + rows * pitch, packed + padded_rows(rows) * pitch, unit(0));
      packed += padded_rows(rows) * pitch;
    }
    if (depth == 0) return weights;
    parallel_for(rows, 1 + 32768 / depth, [&](index first, index last) {
      for (index c = 0; c < channels; c += channels_together) pack_block(from, targets, {{first, last}}, c);
    });
    return weights;
  }

 private:
  /// The place of a tap in the packed rows of its phase: the first row, and which of how many taps it is.
  struct packed_tap {
    unit* rows = nullptr;
    index pitch = 0, number = 0, count = 0;
  };
  /// The weight in memory, where the taps of a row and a channel lie side by side, from the first or the last one on.
  struct source {
    const unit* data;
    index row_step, channel_step, taps;
    bool is_reversed;

    index slot(index tap) const { return is_reversed ? taps - 1 - tap : tap; }
  };
  /// A weight that lies in another way is copied first.
  source find_source(const detail::scratch& memory, index taps) const {
    if (channels == 0 || taps == 0) return {nullptr, 0, 0, taps, false};
    if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
      const auto place = [&](index row, index column) { return left.program.at(left.position(row, column)).data; };
      const unit* const first = place(0, 0);
      const index step = taps == 1 || place(0, 1) - first == 1 ? 1 : -1;
      const index row_step = rows == 1 ? 0 : place(1, 0) - first,
                  channel_step = channels == 1 ? 0 : place(0, taps) - first;
      bool fits = place(rows - 1, 0) - first == (rows - 1) * row_step &&
                  place(0, (channels - 1) * taps) - first == (channels - 1) * channel_step;
      for (index tap = 0; tap < taps; ++tap) fits = fits && place(0, tap) - first == tap * step;
      if (fits) return {step == 1 ? first : first - (taps - 1), row_step, channel_step, taps, step != 1};
    }
    const auto whole = detail::prepare_weight<Products>(memory, left, rows, channels * taps);
    return {whole.data, whole.row_step, taps, taps, false};
  }
  /// Writes the offsets of a phase's columns and those behind them; returns the place for the next phase's.
  /// `counts` are the numbers of taps and of places.
  index* list_offsets(const array<index, 2>& counts, const index* places, const index* seen, index* to) const {
    index* next = to;
    for (index c = 0; c < channels; c += channels_together) {
      const index end = detail::least(c + channels_together, channels);
      for (index i = 0; i < counts[0]; ++i) {
        for (index channel = c; channel < end; ++channel) *next++ = seen[channel * counts[1] + places[i]];
      }
    }
    weight::pad(to, next - to);
    return next + detail::listed_ahead;
  }
  /// Packs rows `ends[0]` to `ends[1]` - 1 of the channels from `channel` on. Taps of rows that follow one another are
  /// transposed together.
  void pack_block(const source& from, const packed_tap* targets, const array<index, 2>& ends, index channel) const {
    constexpr index most = 64;
    unit block[most * channels_together];
    const index count = detail::least(channels_together, channels - channel), taps = from.taps;
    const index together = from.row_step == taps ? ends[1] - ends[0] : 1;
    for (index first = ends[0]; first < ends[1]; first += together) {
      const unit* const data = from.data + first * from.row_step + channel * from.channel_step;
      index row = first, slot = 0;
      for (index i = 0; i < together * taps; i += most) {
        const index part = detail::least(most, together * taps - i);
        simd::copy_matrix(block, data + i, {part, count, 1, from.channel_step, channels_together});
        for (index j = 0; j < part; ++j) {
          if (targets[slot].rows != nullptr) store(targets[slot], row, channel, block + j * channels_together);
          if (++slot == taps) slot = 0, ++row;
        }
      }
    }
  }
  /// Writes a tap of the channels from `channel` on in a row.
  void store(const packed_tap& tap, index row, index channel, const unit* from) const {
    const index count = detail::least(channels_together, channels - channel);
    unit* const to = tap.rows + row * tap.pitch + channel * tap.count + tap.number * count;
    if (count == channels_together) std::memcpy(to, from, sizeof(unit) * channels_together);
    else std::copy_n(from, count, to);
  }
};

}  // namespace tenon
