// tenon/nn/stream_tiles.hpp: products of packed weights with one vector, whose sums stay in registers.
// Two factors at a time meet pairs of results, so that factors are spread over packs half as often.
// Floor 7: may include base, core, device, contraction, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/contraction/host_panels.hpp>
#include <tenon/core/storage.hpp>
#include <tenon/device/simd_partial.hpp>
#include <tenon/device/simd_transpose.hpp>

namespace tenon::nn::detail {

/// An extent that its type knows, else the one given.
template <index Known>
constexpr index extent_or(index given) {
  return Known == dyn ? given : Known;
}

/// Results of `Blocks * Units` rows of weights, such as the gates of `Units` hidden units, in tiles of some packs. A
/// row has `Depth` weights, in runs of `Run` factors that lie side by side.
template <dtype T, int Blocks, index Units, index Depth, index Run>
struct stream_tiles {
  static constexpr int lanes = [] {
    if (compiled_by_nvcc) return 1;  // which has no vectors
    int found = Units == dyn ? simd::native_width<T> : static_cast<int>(16 / sizeof(T));
    while (found < Units && found < simd::native_width<T>) found *= 2;
    return found;
  }();
  /// Factors that are multiplied at once: a pack holds so many of `lanes / group` results.
  static constexpr int group = std::is_same_v<T, float> && lanes >= 4 && (Run == dyn || Run >= 2) ? 2 : 1;
  /// Packs of units in a tile: its sums stay in registers, its weights in the first cache, and all tiles are alike.
  static constexpr int packs = [] {
    constexpr index registers = panel_layout<T, 1>::registers / (group == 1 ? 4 : 2), cache = 24576;
    constexpr index bytes = Blocks * lanes * (Depth == dyn ? 1 : Depth) * static_cast<index>(sizeof(T));
    constexpr index most = std::max<index>(1, std::min(registers / (Blocks * group), cache / bytes));
    constexpr index all = Units == dyn ? most : (Units + lanes - 1) / lanes, tiles = (all + most - 1) / most;
    return static_cast<int>((all + tiles - 1) / tiles);
  }();
  static constexpr int tile_units = packs * lanes, vectors = Blocks * packs;
  static constexpr int width = vectors * lanes * group;  ///< weights of a tile for each group of factors
  static constexpr int chains = std::clamp(8 / (vectors * group), 1, 4);  ///< of each sum: none waits for another
  using pack = simd::pack<T, lanes>;
  using sums = pack[chains][vectors][group];

  static constexpr index tiles(index units) { return (units + tile_units - 1) / tile_units; }
  static constexpr index padded(index units) { return tiles(units) * tile_units; }
  static constexpr index groups(index run) { return (run + group - 1) / group; }

  /// Packs `weight(row, k)` in the order of use, in `runs` runs of `run` factors; what does not exist gets zeros.
  template <class Weight>
  static storage<T, host> packed(index units, index runs, index run, const Weight& weight) {
    storage<T, host> result(tiles(units) * runs * groups(run) * width);
    T* to = result.data();
    for (index tile = 0; tile < tiles(units); ++tile) {
      for (index number = 0; number < runs * groups(run); ++number) {
        const index first_run = number / groups(run), first = number % groups(run) * group;
        for (index place = 0; place < width; ++place) {
          const index lane = place % lanes, part = place / lanes % group, vector = place / lanes / group;
          const index unit = (tile * packs + vector % packs) * lanes + lane / group * group + part;
          const index k = first + lane % group, row = vector / packs * units + unit;
          *to++ = unit < units && k < run ? weight(row, first_run * run + k) : T(0);
        }
      }
    }
    return result;
  }
  /// The same of one number for each row, in the order of sums: a bias, zeros where there is none.
  static storage<T, host> packed_vector(index units, const T* values) {
    storage<T, host> result(tiles(units) * vectors * lanes);
    for (index place = 0; place < result.count(); ++place) {
      const index lane = place % lanes, vector = place / lanes % vectors, tile = place / lanes / vectors;
      const index unit = (tile * packs + vector % packs) * lanes + lane;
      result.data()[place] = unit < units && values != nullptr ? values[vector / packs * units + unit] : T(0);
    }
    return result;
  }
};

/// A group of factors in every part of a pack.
template <class Tiles, class T>
TENON_INLINE auto spread_factors(const T* factors) {
  if constexpr (Tiles::group == 1) {
    return *factors;
  } else {
    std::int64_t pair;
    std::memcpy(&pair, factors, sizeof(pair));
    return simd::as_bits<typename Tiles::pack>(simd::broadcast<std::int64_t, Tiles::lanes / 2>(pair));
  }
}

/// Adds the products of a run of factors with packed weights. Groups of factors take turns among the chains; those that
/// are left over belong to the first.
template <class Tiles, class T>
TENON_INLINE void add_products(typename Tiles::sums& sums, const T* packed, const T* factors, index run) {
  const auto add = [&](int chain, const T* weights, const T* from) __attribute__((always_inline)) {
    const auto spread = spread_factors<Tiles>(from);
    TENON_UNROLL(8)
    for (int vector = 0; vector < Tiles::vectors; ++vector) {
      TENON_UNROLL(8)
      for (int part = 0; part < Tiles::group; ++part) {
        const T* const place = weights + (vector * Tiles::group + part) * Tiles::lanes;
        sums[chain][vector][part] += spread * simd::load<T, Tiles::lanes>(place);
      }
    }
  };
  const index whole = run / Tiles::group;
  index number = 0;
  for (; number + Tiles::chains <= whole; number += Tiles::chains) {
    simd::keep_loop_short();  // unrolled, compilers mix up its sums with those of other products
    TENON_UNROLL(8)
    for (int chain = 0; chain < Tiles::chains; ++chain) {
      add(chain, packed + (number + chain) * Tiles::width, factors + (number + chain) * Tiles::group);
    }
  }
  for (; number < whole; ++number) add(0, packed + number * Tiles::width, factors + number * Tiles::group);
  if (whole * Tiles::group == run) return;
  T rest[Tiles::group] = {};  // zeros beside the last factors, as nothing else lies there
  for (index k = whole * Tiles::group; k < run; ++k) rest[k - whole * Tiles::group] = factors[k];
  add(0, packed + whole * Tiles::width, rest);
}

/// The sum of a vector: that of all chains and parts.
template <class Tiles>
TENON_INLINE typename Tiles::pack joined_sum(typename Tiles::sums& sums, int vector) {
  auto& own = sums[0][vector];
  TENON_UNROLL(4)
  for (int chain = 1; chain < Tiles::chains; ++chain) {
    TENON_UNROLL(8)
    for (int part = 0; part < Tiles::group; ++part) own[part] += sums[chain][vector][part];
  }
#if !defined(__CUDACC__)
  if constexpr (Tiles::group == 2) {
    simd::detail::exchange_blocks<1>(own[0], own[1], std::make_integer_sequence<int, Tiles::lanes>{});
    own[0] += own[1];
  }
#endif
  return own[0];
}

/// Calls `body(tile)` for all tiles, in turns from the first and from the last: what a sample read last is what the
/// next one finds in the first cache.
template <class Body>
TENON_INLINE void visit_tiles(index tiles, bool is_reversed, const Body& body) {
  for (index i = 0; i < tiles; ++i) body(is_reversed ? tiles - 1 - i : i);
}

}  // namespace tenon::nn::detail
