// tenon/contraction/window_pool.hpp: convolutions of whose results the greatest of each square of four is kept.
// Squares are pooled where results leave the product of the host, behind the epilogue: no memory holds those not kept.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host.hpp>
#include <tenon/contraction/plain_convolution.hpp>
#include <tenon/contraction/select.hpp>
#include <tenon/device/simd_convert.hpp>
#include <tenon/device/simd_steps.hpp>

namespace tenon {

/// Whether a statement is a convolution of images of floats on the host, and what is pointwise behind it: its results
/// can be pooled as they leave it.
template <class E>
inline constexpr bool can_pool_in_epilogue = [] {
  if constexpr (!fuses_operations || E::shape_type::rank != 4 || stage_of<E>() != stage::contract ||
                !std::is_same_v<typename E::space, host>) {
    return false;
  } else {
    using product = std::remove_cvref_t<decltype(contraction_of(std::declval<const E&>()))>;
    using element = typename product::element;
    constexpr bool multiplies_floats = is_floating<element> && !is_complex<element> && !is_float8<element>;
    return detail::is_convolution<product> && multiplies_floats && std::is_same_v<typename E::element, element>;
  }
}();

/// Squares of 2 x 2 windows side by side; a last row or column without a neighbour is in none.
struct window_squares {
  array<index, 2> windows;  // rows and columns of those of an image

  index columns() const { return windows[1] / 2; }
};

/// Positions of the maxima are not requested.
struct no_places {
  bool operator==(const no_places&) const = default;
};
/// Keeps that: 0 and 1 for a square's upper row, 2 and 3 for its lower one. Places of a row lie side by side.
template <int Rank>
struct kept_places {
  strided_target<std::uint8_t, Rank> elements;

  bool operator==(const kept_places& other) const { return elements.data == other.elements.data; }
};

namespace detail {

/// The greatest of each square of two lines of elements. Up to a pack past either line is read.
template <class T, class To>
TENON_INLINE void pool_lines(const T* first, const T* second, index count, To* to, index step, no_places) {
  using number = compute_type<T>;
  index j = 0;
#if !defined(__CUDACC__)
  constexpr int lanes = simd::native_width<number>;
  for (; step == 1 && j < count; j += lanes) {
    array<simd::pack<number, lanes>, 2> greater;
    for (int half = 0; half < 2; ++half) {
      const index at = 2 * j + half * lanes;
      greater[half] = simd::max(simd::load<number, lanes>(first + at), simd::load<number, lanes>(second + at));
    }
    const auto greatest = simd::max(simd::pick_steps<2, 0>(greater), simd::pick_steps<2, 1>(greater));
    if (count - j >= lanes) simd::store<lanes>(to + j, greatest);
    else simd::store_part<lanes>(to + j, greatest, count - j);
  }
#endif
  for (; j < count; ++j) {
    const number above = simd::max<number>(first[2 * j], first[2 * j + 1]);
    to[j * step] = static_cast<To>(simd::max(above, simd::max<number>(second[2 * j], second[2 * j + 1])));
  }
}

#if !defined(__CUDACC__)
/// Of two packs of either line.
template <class V>
struct placed_greatest {
  V value;
  decltype(V{} == V{}) place;

  TENON_INLINE placed_greatest(const array<V, 2>& above, const array<V, 2>& below)
      : value(simd::pick_steps<2, 0>(above)), place{} {
    consider<1>(simd::pick_steps<2, 1>(above));
    consider<2>(simd::pick_steps<2, 0>(below));
    consider<3>(simd::pick_steps<2, 1>(below));
  }

 private:
  template <int Tap>
  TENON_INLINE void consider(V next) {
    const auto greater = simd::is_greater(next, value);
    value = simd::select(greater, next, value);
    place = simd::select(greater, place - place + Tap, place);
  }
};
#endif

/// The same, and the place of each.
template <class T, class To>
TENON_INLINE void pool_lines(const T* first, const T* second, index count, To* to, index step, std::uint8_t* places) {
  using number = compute_type<T>;
  index j = 0;
#if !defined(__CUDACC__)
  constexpr int lanes = simd::native_width<number>;
  if constexpr (lanes > 1) {
    for (; step == 1 && j < count; j += lanes) {
      array<simd::pack<number, lanes>, 2> above, below;
      for (int half = 0; half < 2; ++half) {
        above[half] = simd::load<number, lanes>(first + 2 * j + half * lanes);
        below[half] = simd::load<number, lanes>(second + 2 * j + half * lanes);
      }
      const placed_greatest greatest(above, below);
      const auto bytes = simd::convert<simd::lane_of<decltype(greatest.place)>, std::uint8_t>(greatest.place);
      simd::store_part<lanes>(to + j, greatest.value, count - j);
      simd::store_part<lanes>(places + j, bytes, count - j);
    }
  }
#endif
  for (; j < count; ++j) {
    const number values[] = {first[2 * j], first[2 * j + 1], second[2 * j], second[2 * j + 1]};
    int place = 0;
    for (int tap = 1; tap < 4; ++tap) place = simd::is_greater(values[tap], values[place]) ? tap : place;
    to[j * step] = static_cast<To>(values[place]);
    places[j] = static_cast<std::uint8_t>(place);
  }
}

/// The same of `counts[0]` pairs of lines of `width` elements, with `counts[1]` squares each. Rows of what is kept and
/// of places lie `rows` apart. Out of line, so that constants of the loop are made once.
template <class T, class To, class Places>
[[gnu::noinline]] void pool_pairs(const T* line, index width, const array<index, 2>& counts, To* to, index step,
                                  Places places, const array<index, 2>& rows) {
  for (index pair = 0; pair < counts[0]; ++pair, line += 2 * width, to += rows[0]) {
    pool_lines(line, line + width, counts[1], to, step, places);
    if constexpr (std::is_pointer_v<Places>) places += rows[1];
  }
}

}  // namespace detail

/// Pools rows of windows on the host: what `lines` makes of a channel's is kept in cache. Axes are as above.
template <class T, class Target, class Lines, class Places>
struct square_lines {
  static constexpr index rows_together = 2;

  Target target;
  Lines lines;  // stores elements of an image's channel side by side, from its first row on
  window_squares squares;
  Places places;
  index group = 0;

  /// Rows of an image's windows, of several channels.
  template <class Accumulator>
  void store_tile(index row, index column, const array<index, 2>& extents, const Accumulator* accumulators,
                  index pitch) const {
    const index width = squares.windows[1], above = column / width, first_row = above % squares.windows[0];
    const detail::scratch memory;
    T* const elements = memory.take<T>(extents[1] + 2 * simd::native_width<compute_type<T>>);
    auto here = lines;
    here.target.data = detail::numbered_from(elements, first_row * width);
    for (index i = 0; i < extents[0]; ++i, accumulators += pitch) {
      here.store_tile(row + i, column, {{1, extents[1]}}, accumulators, pitch);
      const array<index, 5> position{{above / squares.windows[0], group, row + i, first_row / 2, 0}};
      detail::pool_pairs(elements, width, {{extents[1] / (2 * width), squares.columns()}}, target.at(position),
                         target.step(), places_at(position), {{target.stride[3], row_of_places()}});
    }
  }
  template <int ResultRank>
  square_lines at_batch(const array<index, ResultRank>& position) const {
    return {target, lines.at_batch(position), squares, places, position[1]};
  }

 private:
  auto places_at(const array<index, 5>& position) const {
    if constexpr (std::is_same_v<Places, no_places>) return places;
    else return places.elements.at(position);
  }
  index row_of_places() const {
    if constexpr (std::is_same_v<Places, no_places>) return 0;
    else return places.elements.stride[3];
  }
};

namespace detail {

template <class Map>
no_places mapped_places(no_places, const Map&) {
  return {};
}
template <class Map>
kept_places<5> mapped_places(const kept_places<4>& places, const Map& map) {
  return {mapped_target(places.elements, map)};
}

template <class Target, class Places, class E, class Product>
void pool_on_host(const Target& target, const Places& places, const E& node, const Product& product) {
  using element = typename E::element;
  const auto patches = patches_of_images(product);
  const window_squares squares{patches.geometry.output};
  const strided_target<element, 4> plane{nullptr, {{0, 0, squares.windows[1], 1}}};
  const auto lines = make_epilogue<Product>(plane, node);
  const auto pooled = mapped_target(target, product.result_map());
  const auto kept = mapped_places(places, product.result_map());
  using pooled_type = std::remove_const_t<decltype(pooled)>;
  using epilogue_type =
      square_lines<element, pooled_type, std::remove_const_t<decltype(lines)>, std::remove_const_t<decltype(kept)>>;
  const auto left = without_casts(left_matrix(product));
  const auto extents = extents_of_product(product);
  const matrix_extents counts{extents.rows, extents.columns, extents.depth};
  const epilogue_type epilogue{pooled, lines, squares, kept};
  const counted_launch counted(operation_name<Product>);
  if (run_first(host_problem_of<Product>(counts, left, patches, epilogue), on_host::batched_algorithms{})) return;
  run_batches(extents, [&](const auto& position) {
    run_first(host_problem_of<Product>(counts, left.at_batch(position), patches.at_batch(position),
                                       epilogue.at_batch(position)),
              on_host::algorithms{});
  });
}

}  // namespace detail

/// The greatest of each square of 2 x 2 results of a statement that `can_pool_in_epilogue`, into `target`, in one loop
/// of the host. NaN counts as greatest; a last row or column without a neighbour is left out. `places` of type
/// `kept_places<4>` takes where each lies in its square, of equal ones the first.
/// cost      the convolution's; each thread keeps a strip of one channel
template <class Target, class E, class Places = no_places>
void run_pooled_convolution(const Target& target, const E& node, const Places& places = {}) {
  static_assert(can_pool_in_epilogue<E>);
  detail::pool_on_host(target, places, node, contraction_of(node));
}

}  // namespace tenon
