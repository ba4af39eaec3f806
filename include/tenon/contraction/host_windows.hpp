// tenon/contraction/host_windows.hpp: convolutions on the host.
// A strip of an image is laid out so that taps read along lines; then the tile loop of host_product runs unchanged.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/host_blocks.hpp>
#include <tenon/contraction/pack.hpp>

namespace tenon {

/// The taps along an axis. Taps `period` apart see the same line, which holds every `stride`-th element: tap t sees
/// what tap t % period sees, shift(t) - shift(t % period) elements further on. Taps that are apart share no line.
struct tap_axis {
  index stride = 1, dilation = 1, taps = 1, period = 1;
  bool are_apart = false;

  index phases() const { return detail::least(taps, period); }
  index phase(index tap) const { return tap % period; }
  index shift(index tap) const { return are_apart ? 0 : tap * dilation / stride; }
  index reach() const { return shift(taps - 1); }
};

/// How the windows of patches see lines. Windows are numbered along rows that are `pitch` apart, as lines are: a number
/// and the offset of a tap give the element. Axes before the last two stay fixed; each of their taps has its own lines.
/// So have taps along columns that are `apart`: then nothing lies between the rows of windows.
template <int Rank>
class window_lines {
 public:
  explicit window_lines(const patch_geometry<Rank>& geometry, bool apart = false)
      : geometry_(geometry), column_(axis(Rank - 1, apart)) {
    if constexpr (Rank > 1) row_ = axis(Rank - 2, false);
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

  /// The offsets of the taps of all channels, in the order of a weight's columns.
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
    constexpr index together = 8;  // their lines stay in the first cache while blocks are laid out
    const index block = (part.room + reach()) * pitch_;
    for (index c = channels[0]; c < channels[1]; c += together) {
      const array<index, 2> part_of_channels{{c, detail::least(c + together, channels[1])}};
      T* place = to + (c - channels[0]) * blocks() * block;
      for (index outer = 0; outer < outer_taps_; ++outer) {
        for (index row = 0; row < row_.phases(); ++row) {
          for (index column = 0; column < column_.phases(); ++column, place += block) {
            copy_blocks(patches, {outer, row, column}, part, part_of_channels, place);
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
  tap_axis axis(int i, bool are_apart) const {
    const index stride = geometry_.stride[i], dilation = geometry_.dilation[i], taps = geometry_.kernel[i];
    return {stride, dilation, taps, are_apart ? std::max(taps, index{1}) : stride / std::gcd(stride, dilation),
            are_apart};
  }
  /// Rows may share the zeros between them: zeros behind one row are those before the next.
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
  /// Finds the image of a plane and the place that a tap of the axes before the last two sees; false where it sees
  /// zeros.
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
  /// The taps whose lines are one block: a tap along the axes before the last two, and a phase along each of the last
  /// two.
  struct block_taps {
    index outer, row, column;
  };
  /// Lays out a block of each channel. What the taps see is found once for all channels.
  template <class Patches, class T>
  void copy_blocks(const Patches& patches, const block_taps& taps, const strip& part, const array<index, 2>& channels,
                   T* to) const {
    const auto run = detail::find_seen(geometry_, taps.column, -column_.shift(taps.column), pitch_);
    const index lines = part.rows + reach(), apart = blocks() * (part.room + reach()) * pitch_;
    array<index, Rank + 3> position{};
    position[0] = patches.group;
    index plane = part.first_row / rows(), row = part.first_row % rows();
    for (index line = 0, count = 0; line < lines; line += count, ++plane, row = 0) {
      count = crosses_planes() ? detail::least(rows() - row, lines - line) : lines;
      const bool is_last = line + count == lines;
      const bool is_inside = find_plane(plane, taps.outer, position) && run.count > 0;
      detail::seen_run seen{0, 1, is_inside ? count : 0};
      if constexpr (Rank > 1) {
        if (is_inside) seen = detail::find_seen(geometry_, taps.row, row - row_.shift(taps.row), count, Rank - 2);
      }
      const bool is_whole = seen.count == count && run.count == pitch_ && shared_ == 0;
      T* block = to + line * pitch_;
      for (index c = channels[0]; c < channels[1]; ++c, block += apart) {
        position[2] = c;
        if (!is_whole) std::fill(block, block + count * pitch_ + (is_last ? shared_ : 0), T(0));
        if (seen.count > 0) copy_rows(patches.program, position, {seen, run}, block);
      }
    }
  }
  /// Copies what a tap sees along `seen[0]`, the rows of a plane, and `seen[1]`.
  template <class Program, class T>
  void copy_rows(const Program& program, array<index, Rank + 3>& position, const array<detail::seen_run, 2>& seen,
                 T* to) const {
    const auto cursor_at = [&](index row) {
      if constexpr (Rank > 1) position[Rank + 1] = seen[0].first + row * seen[0].step;
      return program.at(position);
    };
    to += seen[0].to * pitch_;
    const index line = seen[0].to_step * pitch_;
    if constexpr (std::is_same_v<decltype(cursor_at(0)), strided_cursor<T>>) {
      const auto first = cursor_at(0);
      if (seen[1].to_step == 1 && seen[1].step * first.stride == 1) {
        const T* from = first.data + seen[1].first * first.stride;
        const index step = cursor_at(1).data - first.data;
        to += seen[1].to;
        const bool is_one_run = step == seen[1].count && line == seen[1].count;
        const index runs = is_one_run ? 1 : seen[0].count, count = is_one_run ? line * seen[0].count : seen[1].count;
        for (index i = 0; i < runs; ++i) detail::copy_elements(from + i * step, count, to + i * line);
        return;
      }
    }
    for (index i = 0; i < seen[0].count; ++i) detail::copy_seen<Rank>(cursor_at(i), seen[1], to + i * line);
  }

  patch_geometry<Rank> geometry_;
  tap_axis row_{}, column_;
  index outer_taps_ = 1, pitch_ = 0, shared_ = 0;  // of a line, zeros at the end that are the next one's first
};

namespace detail {

/// A multiplied tile of windows; its heights are those of host_tile, or 1.
template <class Products>
void multiply_window_tile(const tile_operands<Products>& operands, index height, index width,
                          typename Products::sum* to, index pitch) {
  using tile = host_tile<Products>;
  constexpr auto rows = right_rows::listed;
  using function = void (*)(const tile_operands<Products>&, typename Products::sum*, index);
  static constexpr function functions[3][3] = {
      {multiply_tile<Products, 1, 1, rows>, multiply_tile<Products, 1, 2, rows>, multiply_tile<Products, 1, 3, rows>},
      {multiply_tile<Products, tile::step, 1, rows>, multiply_tile<Products, tile::step, 2, rows>,
       multiply_tile<Products, tile::step, 3, rows>},
      {multiply_tile<Products, tile::height, 1, rows>, multiply_tile<Products, tile::height, 2, rows>,
       multiply_tile<Products, tile::height, 3, rows>}};
  functions[height / tile::step][width / tile::lanes - 1](operands, to, pitch);
}

/// A weight whose columns see lines of an image. Column k multiplies the element `offsets[k]` behind a window's place.
/// There are `listed_ahead` more offsets than columns.
template <class Unit>
struct listed_weight {
  matrix_memory<Unit> left;
  index depth;
  const index* offsets;

  /// Writes the offsets behind the last one, which are prefetched and not used.
  static void pad(index* offsets, index depth) {
    std::fill_n(offsets + depth, listed_ahead, depth == 0 ? 0 : offsets[depth - 1]);
  }
};

/// The sums of `height` rows of a weight from `row` on for all windows. They are added block after block of k, as in
/// products of matrices, and lie as the windows do, in rows `panels.padded()` apart.
template <class Products>
void multiply_windows(const listed_weight<typename Products::unit>& weight, const array<index, 2>& row_and_height,
                      const column_panels<Products>& panels, const typename Products::unit* image,
                      typename Products::sum* sums) {
  const index step = product_blocks<Products>::depth(weight.depth), pitch = panels.padded();
  for (index panel = 0; panel < panels.panels; ++panel) {
    const index number = panels.first_column(panel);
    auto* const to = sums + number;
    for (index k = 0; k == 0 || k < weight.depth; k += step) {
      tile_operands<Products> operands{weight.left.at(row_and_height[0], k), image + number, weight.left.row_step, 1, 0,
                                       least(step, weight.depth - k)};
      operands.right_offsets = weight.offsets + k;
      if (k != 0) operands.before = to, operands.before_pitch = pitch;
      multiply_window_tile(operands, row_and_height[1], panels.width(panel), to, pitch);
    }
  }
}

/// As many rows of windows as fit half of the second cache; fewer where `threads` would have unequal shares. `extents`
/// are the number of planes and of rows in each.
template <class Unit, class Lines>
index rows_of_strip(const Lines& lines, index channels, const array<index, 2>& extents, index threads) {
  constexpr index most_columns = 2048;
  const index bytes_of_line = channels * lines.blocks() * lines.pitch() * static_cast<index>(sizeof(Unit));
  const index fit = least(caches().second / 2 / (bytes_of_line + 1) - lines.reach(), most_columns / lines.pitch());
  index strips = (extents[1] + std::max(fit, index{1}) - 1) / std::max(fit, index{1});
  const auto has_unequal_shares = [&] {
    return extents[0] * strips % threads != 0 && extents[0] * strips < 4 * threads;
  };
  while (has_unequal_shares() && 2 * strips <= extents[1]) strips *= 2;
  return (extents[1] + strips - 1) / strips;
}

/// A weight where it lies, or a copy with adjacent rows in scratch memory.
template <class Products, class Left>
matrix_memory<typename Products::unit> prepare_weight(const scratch& memory, const Left& left, index rows,
                                                      index depth) {
  using unit = typename Products::unit;
  if constexpr (std::is_same_v<memory_element_of<Left>, unit>) {
    const auto lines = memory_of(left);
    if (lines.data != nullptr && lines.column_step == 1) return lines;
  }
  const index pitch = conflict_free_pitch<unit>(depth);
  unit* copy = memory.take<unit>(rows * pitch);
  parallel_for(rows, 1 + 32768 / (depth + 1), [&](index first, index last) {
    pack_left<Products>(left, {first, last - first, 0, depth}, last - first, copy + first * pitch, pitch);
  });
  return {copy, pitch, 1};
}

/// How many of the `rest` rows the next tile takes.
template <class Products>
constexpr index tile_rows(index rest) {
  using tile = host_tile<Products>;
  return rest >= tile::height ? tile::height : rest >= tile::step ? tile::step : 1;
}

template <class Matrix>
inline constexpr bool is_patch_matrix = false;
template <class Program, int Rank, int GroupAxis>
inline constexpr bool is_patch_matrix<patch_matrix<Program, Rank, GroupAxis>> = true;

/// Whether zeros lie between the elements of images.
template <int Rank>
bool are_spread(const patch_geometry<Rank>& geometry) {
  for (const index step : geometry.image_step) {
    if (step != 1) return true;
  }
  return false;
}

}  // namespace detail

/// The product of a weight and the patches of images: row (o), columns (n, p, q).
/// cost      as host_product; each element of the image is read and computed once for each strip that it is in, and
///           no patch is copied. Strips take half of the second cache, or one row of windows
template <class Products, class Left, class Patches, class Epilogue>
struct window_product {
  using tile = host_tile<Products>;
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  static_assert(Products::group == 1 && std::is_same_v<unit, sum>);
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    if (rows == 0 || columns == 0) return;
    const lines_type lines(patches.geometry);
    const index channels = depth / patches.geometry.taps(), all_rows = columns / lines.columns();
    const bool crosses = rows_together == 1 && lines.crosses_planes();
    const index plane_rows = crosses ? all_rows : lines.rows(), planes = all_rows / plane_rows;
    const index threads = detail::threads_for(rows * columns * depth);
    const index wanted_rows = detail::rows_of_strip<unit>(lines, channels, {{planes, plane_rows}}, threads);
    const index strip_rows = detail::round_up(wanted_rows, rows_together);
    const detail::scratch scratch;
    index* offsets = scratch.take<index>(depth + detail::listed_ahead);
    lines.find_taps(channels, strip_rows, offsets);
    weight::pad(offsets, depth);
    const product shared{rows,
                         channels,
                         strip_rows,
                         lines,
                         {detail::prepare_weight<Products>(scratch, left, rows, depth), depth, offsets}};
    const index used_rows = plane_rows / rows_together * rows_together;
    const index strips = (used_rows + strip_rows - 1) / strip_rows, work = rows * depth * strip_rows * lines.columns();
    const index grain = 1 + detail::multiplying_grain / (work + 1), parts = part_count(planes * strips, grain);
    const index image_size = detail::conflict_free_pitch<unit>(lines.size(channels, strip_rows) + tile::width);
    const index result_size =
        detail::conflict_free_pitch<sum>(tile::height * column_panels<Products>(lines.numbers(strip_rows)).padded());
    unit* const images = scratch.take<unit>(parts * image_size);
    sum* const results = scratch.take<sum>(parts * result_size);
    parallel_parts(planes * strips, 1, parts, [&](index first, index last, index part) {
      for (index item = first; item < last; ++item) {
        const index row = item % strips * strip_rows, count = detail::least(strip_rows, used_rows - row);
        run_strip(shared, {item / strips * plane_rows + row, count},
                  {images + part * image_size, results + part * result_size});
      }
    });
  }

 private:
  using lines_type = decltype(window_lines(std::declval<const Patches&>().geometry));
  using weight = detail::listed_weight<unit>;

  /// What all strips share.
  struct product {
    index rows, channels, strip_rows;
    lines_type lines;
    weight listed;
  };
  /// The scratch memory of a thread.
  struct strip_memory {
    unit* image;
    sum* results;
  };
  /// `rows[1]` rows of windows from `rows[0]` on.
  void run_strip(const product& shared, const array<index, 2>& rows, const strip_memory& memory) const {
    const lines_type& lines = shared.lines;
    const index first_row = rows[0], count = rows[1];
    unit* const image = memory.image;
    sum* const results = memory.results;
    lines.copy(patches, {first_row, count, shared.strip_rows}, {{0, shared.channels}}, image);
    const column_panels<Products> panels(lines.numbers(count));
    const index pitch = panels.padded();
    index height = 0;
    for (index row = 0; row < shared.rows; row += height) {
      height = detail::tile_rows<Products>(shared.rows - row);
      detail::multiply_windows<Products>(shared.listed, {{row, height}}, panels, image, results);
      lines.close_gaps(results, height, count, pitch);
      epilogue.store_tile(row, first_row * lines.columns(), {{height, count * lines.columns()}}, results, pitch);
    }
  }

  static constexpr index rows_together = detail::rows_together<Epilogue>;  // strips hold a multiple of them
};

namespace on_host {

/// Every convolution that no algorithm before it takes.
struct windows {
  static constexpr const char* name = "windows";
  template <class Problem>
  static constexpr bool can_take = detail::is_patch_matrix<typename Problem::right_type>;
  static void run(const auto& problem) { problem.template run_engine<window_product>(problem.right); }
};

}  // namespace on_host

}  // namespace tenon
