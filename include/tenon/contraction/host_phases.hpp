// tenon/contraction/host_phases.hpp: image gradients of strided convolutions on the host.
// Results a stride apart see the same taps: each such phase is a dense convolution, and rows are joined in cache.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/phase_weights.hpp>

namespace tenon {

namespace detail {

#if !defined(__CUDACC__)
/// The first `count` lanes of two packs in turn.
template <class T, class Pack, int... Lane>
TENON_INLINE void store_in_turn(Pack even, Pack odd, index count, T* to, std::integer_sequence<int, Lane...>) {
  constexpr int lanes = static_cast<int>(sizeof...(Lane));
  const Pack low = __builtin_shufflevector(even, odd, (Lane / 2 + Lane % 2 * lanes)...);
  const Pack high = __builtin_shufflevector(even, odd, (Lane / 2 + lanes / 2 + Lane % 2 * lanes)...);
  if (count >= lanes) simd::store<lanes>(to, low);
  else simd::store_part<lanes>(to, low, count);
  if (count >= 2 * lanes) simd::store<lanes>(to + lanes, high);
  else if (count > lanes) simd::store_part<lanes>(to + lanes, high, count - lanes);
}
#endif

/// Interleaves the results of `step` phases into one row; the sums of two phases lie `apart`. A pack behind the last
/// one may be read.
template <class T>
void join_phases(const T* sums, index apart, index step, const array<T*, 2>& ends) {
#if !defined(__CUDACC__)
  if (step == 2) {
    constexpr int lanes = simd::native_width<T>;
    for (T* to = ends[0]; to < ends[1]; to += 2 * lanes, sums += lanes) {
      const auto even = simd::load<T, lanes>(sums), odd = simd::load<T, lanes>(sums + apart);
      store_in_turn(even, odd, ends[1] - to, to, std::make_integer_sequence<int, lanes>{});
    }
    return;
  }
#endif
  for (index phase = 0; phase < step; ++phase) {
    const T* from = sums + phase * apart;
    for (T* place = ends[0] + phase; place < ends[1]; place += step) *place = *from++;
  }
}

/// What lines cost, in products of packs: a strip's last pack may be partly empty, and lines have to be laid out.
/// `products` are those of a window and a channel; `extents` and `threads` as for rows_of_strip.
template <class Products, class Lines>
index work_of_lines(const Lines& lines, index channels, index products, const array<index, 2>& extents, index threads) {
  constexpr index lanes = Products::lanes, row_cost = 7, pack_cost = 7;  // measured
  const auto packs_of = [&](index rows) {
    return rows == 0 ? 0 : column_panels<Products>(lines.numbers(rows)).padded() / lanes;
  };
  const index rows = rows_of_strip<typename Products::unit>(lines, channels, extents, threads);
  const index strips = (extents[1] + rows - 1) / rows;
  const index laid = (extents[1] + strips * lines.reach()) * lines.blocks();
  return (packs_of(rows) * (extents[1] / rows) + packs_of(extents[1] % rows)) * products +
         laid * (row_cost + pack_cost * ((lines.pitch() + lanes - 1) / lanes));
}

/// Lines whose columns are apart or not, whichever cost less. Few windows in a row leave much of packs empty, and many
/// products hide that lines are laid out more than once.
template <class Products, int Rank>
tenon::window_lines<Rank> choose_lines(const patch_geometry<Rank>& geometry, index channels, index products,
                                       index windows) {
  const tenon::window_lines<Rank> together(geometry), apart(geometry, true);
  const array<index, 2> extents{{windows / (together.rows() * together.columns()), together.rows()}};
  const index threads = threads_for(products * channels * windows);
  const auto work = [&](const auto& lines) {
    return work_of_lines<Products>(lines, channels, products, extents, threads);
  };
  return apart.pitch() < together.pitch() && work(apart) < work(together) ? apart : together;
}

}  // namespace detail

/// The product of a weight and the patches of images that are spread by zeros, none of which is multiplied.
/// cost      each phase is multiplied as in window_product, of an image that is laid out once for all phases; results
///           are written once more on their way to the epilogue, which sees whole rows
template <class Products, class Left, class Patches, class Epilogue>
struct phase_product {
  using tile = host_tile<Products>;
  using unit = typename Products::unit;
  using sum = typename Products::sum;
  Left left;
  Patches patches;
  Epilogue epilogue;

  void run(index rows, index columns, index depth) const {
    if (rows == 0 || columns == 0) return;
    const phases_type phases(patches.geometry);
    const index channels = depth / phases.spread.taps();
    const index dense_windows = columns / phases.spread.windows() * phases.dense.windows();
    const lines_type lines = detail::choose_lines<Products>(
        phases.dense, channels, weights_type::padded_rows(rows) * phases.spread.taps(), dense_windows);
    const index planes = dense_windows / (lines.rows() * lines.columns());
    const bool crosses = rank <= 2 && lines.crosses_planes();
    const index run_rows = crosses ? planes * lines.rows() : lines.rows(), runs = crosses ? 1 : planes;
    const index threads = detail::threads_for(rows * depth * dense_windows);
    const index strip_rows = detail::rows_of_strip<unit>(lines, channels, {{runs, run_rows}}, threads);
    const detail::scratch scratch;
    const product shared{rows,   channels, strip_rows,
                         phases, lines,    weights_type{left, phases, rows, channels}.pack(scratch, lines, strip_rows)};
    const index strips = (run_rows + strip_rows - 1) / strip_rows;
    const index work = rows * depth * strip_rows * lines.columns();
    const index grain = 1 + detail::multiplying_grain / (work + 1), parts = part_count(runs * strips, grain);
    const array<index, 3> sizes = memory_sizes(shared);
    const strip_memory memory{scratch.take<unit>(parts * sizes[0]), scratch.take<sum>(parts * sizes[1]),
                              scratch.take<sum>(parts * sizes[2])};
    parallel_parts(runs * strips, 1, parts, [&](index first, index last, index part) {
      const strip_memory own{memory.image + part * sizes[0], memory.results + part * sizes[1],
                             memory.sums + part * sizes[2]};
      for (index item = first; item < last; ++item) {
        const index row = item % strips * strip_rows;
        run_strip(shared, {item / strips * run_rows + row, detail::least(strip_rows, run_rows - row)}, own);
      }
    });
  }

 private:
  static constexpr int rank = decltype(Patches::geometry)::rank;
  using phases_type = window_phases<rank>;
  using lines_type = window_lines<rank>;
  using weights_type = phase_weights<Products, Left, rank>;
  using weight = detail::listed_weight<unit>;

  /// What all strips share.
  struct product {
    index rows, channels, strip_rows;
    phases_type phases;
    lines_type lines;
    const weight* weights;  // of each phase

    /// Rows of results in a plane; the steps from one row and column of a phase to the next among all results; and how
    /// many phases there are along rows and columns.
    index plane_rows() const { return rank == 1 ? 1 : phases.spread.output[row_axis]; }
    index row_step() const { return rank == 1 ? 1 : phases.spread.image_step[row_axis]; }
    index row_phases() const { return rank == 1 ? 1 : phases.counts[row_axis]; }
    index column_step() const { return phases.spread.image_step[rank - 1]; }
    index column_phases() const { return phases.counts[rank - 1]; }
    index width() const { return phases.spread.output[rank - 1]; }
  };
  static constexpr int row_axis = rank == 1 ? 0 : rank - 2;

  /// The scratch memory of a thread, and the sizes of its parts.
  struct strip_memory {
    unit* image;
    sum *results, *sums;
  };
  static array<index, 3> memory_sizes(const product& shared) {
    const column_panels<Products> panels(shared.lines.numbers(shared.strip_rows));
    const index rows = shared.strip_rows * shared.row_step();
    return {{detail::conflict_free_pitch<unit>(shared.lines.size(shared.channels, shared.strip_rows) + tile::width),
             detail::conflict_free_pitch<sum>(tile::height * rows * shared.width()),
             detail::conflict_free_pitch<sum>(shared.column_phases() * tile::height * panels.padded() + tile::width)}};
  }

  /// The results of `rows[1]` rows of dense windows from row `rows[0]` on, numbered through all planes.
  void run_strip(const product& shared, const array<index, 2>& rows, const strip_memory& memory) const {
    const lines_type& lines = shared.lines;
    const phases_type& phases = shared.phases;
    const index first = rows[0], count = rows[1], last = first + count - 1, height = shared.plane_rows();
    lines.copy(patches, {first, count, shared.strip_rows}, {{0, shared.channels}}, memory.image);
    const index plane = first / lines.rows(), row = first % lines.rows() * shared.row_step();
    const index last_row = detail::least((last % lines.rows() + 1) * shared.row_step(), height);
    const index all_rows = (last / lines.rows() - plane) * height + last_row - row;
    const index inner = shared.row_phases() * shared.column_phases(), size = all_rows * shared.width();
    for (index outer = 0; outer < phases.count(0, rank - 2); ++outer) {
      const index result_plane = phases.result_plane(plane, outer);
      if (result_plane < 0) continue;
      const index column = (result_plane * height + row) * shared.width();
      index tile_rows = 0;
      for (index from = 0; from < shared.rows; from += tile_rows) {
        tile_rows = detail::tile_rows<Products>(weights_type::padded_rows(shared.rows) - from);
        const index stored = detail::least(tile_rows, shared.rows - from);
        const auto plain = epilogue.template plain_rows<sum>(from, column, size);
        const result_rows<sum> to = plain.data != nullptr ? plain : result_rows<sum>{memory.results, size};
        multiply_phases(shared, shared.weights + outer * inner, {from, tile_rows, stored, first, count}, memory, to);
        if (plain.data == nullptr) epilogue.store_tile(from, column, {{stored, size}}, memory.results, size);
      }
    }
  }
  /// Rows of a weight, of which `stored` have results, and rows of windows.
  struct strip_tile {
    index row, height, stored, first_window_row, count;
  };
  /// Writes all results of a tile's rows in the order of the result.
  static void multiply_phases(const product& shared, const weight* weights, const strip_tile& part,
                              const strip_memory& memory, const result_rows<sum>& to) {
    const column_panels<Products> panels(shared.lines.numbers(part.count));
    const index apart = part.height * panels.padded();
    for (index from = 0; from < shared.row_phases(); ++from) {
      for (index column = 0; column < shared.column_phases(); ++column, ++weights) {
        detail::multiply_windows<Products>(*weights, {{part.row, part.height}}, panels, memory.image,
                                           memory.sums + column * apart);
      }
      for (index i = 0; i < part.stored; ++i) {
        join_rows(shared, part, from, {memory.sums + i * panels.padded(), to.data + i * to.pitch}, apart);
      }
    }
  }
  struct joined_row {
    const sum* sums;
    sum* results;
  };
  /// Joins the columns of all rows of phase `from`.
  static void join_rows(const product& shared, const strip_tile& part, index from, joined_row row, index apart) {
    const index width = shared.width(), step = shared.row_step(), height = shared.plane_rows();
    index place = part.first_window_row % shared.lines.rows() * step + from;
    sum* to = row.results + from * width;
    for (index i = 0; i < part.count; ++i, row.sums += shared.lines.pitch()) {
      if (place < height) detail::join_phases(row.sums, apart, shared.column_step(), {to, to + width});
      place += step, to += step * width;
      if (place - from >= shared.lines.rows() * step) {
        to += (height - shared.lines.rows() * step) * width, place = from;
      }
    }
  }
};

namespace on_host {

/// Convolutions of images that are spread by zeros.
struct phases {
  static constexpr const char* name = "phases";
  template <class Problem>
  static constexpr bool can_take = Problem::takes_any_tile && detail::is_patch_matrix<typename Problem::right_type> &&
                                   requires { requires Problem::product_type::spreads_image; };
  static bool takes(const auto& problem) { return detail::are_spread(problem.right.geometry); }
  static void run(const auto& problem) { problem.template run_engine<phase_product>(problem.right); }
};

}  // namespace on_host

}  // namespace tenon
