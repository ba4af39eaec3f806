// tenon/expr/generated_source.hpp: the source of values that are computed from their position.
// Random numbers are drawn by blocks of bits, which neighbours share.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/expr/program.hpp>

#if defined(__clang__)
#pragma clang diagnostic push  // as in program.hpp
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon {

/// Generators whose neighbours are made of one block of random bits: positions from a multiple of `together` on.
template <class Generator>
concept drawn_by_blocks = requires { Generator::together; };

/// Generators that draw whole blocks into a pack: `Width` values of the blocks from a number on.
template <class Generator, int Width>
concept draws_packs = requires(Generator generator) { generator.template whole_blocks<Width>(std::uint64_t{0}); };

/// Generators that give all lanes of a pack at once.
template <class Generator, int Width>
concept given_by_lanes =
    requires(Generator generator, index position) { generator.template lanes<Width>(position, position); };

namespace detail {
/// The numbers `first`, `first + step`, ..., wrapped around.
template <int Width, class Word>
TENON_INLINE constexpr simd::pack<Word, Width> steps_from(Word first, Word step) {
  static_assert(std::is_unsigned_v<Word>);
  constexpr auto each = simd::generate<Word, Width>([](index lane) { return static_cast<Word>(lane); });
  return each * step + first;
}
}  // namespace detail

/// A function of positions `stride` apart, from `base` on.
template <class Generator>
struct generated_cursor {
  using value_type = compute_type<typename Generator::element>;
  static constexpr int cost = 2;
  static constexpr int widest = simd::lane_bytes<value_type>;
  Generator generator;
  index base, stride;

  constexpr bool is_adjacent() const { return true; }
  template <class U>
  TENON_INLINE constexpr bool reads_disjoint_from(const U*, index) const {
    return true;
  }
  template <class Slots>
  TENON_HOST_DEVICE TENON_INLINE constexpr value_type value(index i, const Slots&) const {
    if constexpr (drawn_by_blocks<Generator>) return drawn(generator, base + i * stride);
    else return static_cast<value_type>(generator(base + i * stride));
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE constexpr auto pack(index i, Access, const Slots& slots) const {
    if constexpr (requires { generator.is_certain(); }) {
      if (generator.is_certain()) return simd::broadcast<value_type, Width>(value(0, slots));
    }
    if constexpr (Width == 1) {
      return value(i, slots);
    } else if constexpr (given_by_lanes<Generator, Width>) {
      return generator.template lanes<Width>(base + i * stride, stride);
    } else if constexpr (drawn_by_blocks<Generator>) {
      if constexpr (draws_packs<Generator, Width>) {
        const index first = base + i;
        if (stride == 1 && first % Generator::together == 0)
          return generator.template whole_blocks<Width>(static_cast<std::uint64_t>(first / Generator::together));
      }
      return drawn_singly<Width>(generator, base + i * stride, stride);
    } else {
      return simd::generate<value_type, Width>([&](index lane) { return value(i + lane, slots); });
    }
  }
  template <class Visitor>
  void visit(Visitor& visitor) {
    visitor(base, stride);
  }

 private:
  TENON_HOST_DEVICE TENON_INLINE static constexpr value_type drawn(const Generator& generator, index position) {
    return static_cast<value_type>(generator.of_block(
        generator.block(static_cast<std::uint64_t>(position) / Generator::together), position % Generator::together));
  }
  /// Values at positions `step` apart; neighbours draw each of their blocks once. A call, since in place this is much
  /// code that few statements run.
  template <int Width>
  [[gnu::noinline]] static constexpr auto drawn_singly(Generator generator, index first, index step) {
    constexpr int together = static_cast<int>(Generator::together), most = (Width + together - 2) / together + 1;
    array<value_type, Width> values{};
    if (step == 1) {
      const int skipped = static_cast<int>(first % together), count = (skipped + Width - 1) / together + 1;
      array<decltype(generator.block(0)), most> blocks;
      for (int number = 0; number < count; ++number) {
        blocks[number] = generator.block(static_cast<std::uint64_t>(first / together + number));
      }
      return simd::generate<value_type, Width>([&](index lane) {
        const int place = skipped + static_cast<int>(lane);
        return static_cast<value_type>(generator.of_block(blocks[place / together], place % together));
      });
    }
    for (int lane = 0; lane < Width; ++lane) values[lane] = drawn(generator, first + lane * step);
    return simd::generate<value_type, Width>([&](index lane) { return values[static_cast<int>(lane)]; });
  }
};

/// A function of a position that moves affinely with the iteration: `generator(base + sum(position * stride))`.
template <class Generator, int Rank>
struct generated_source {
  using value_type = compute_type<typename Generator::element>;
  static constexpr int source_count = 1;
  static constexpr bool visits_all_reads = true, computes_from_positions = !drawn_by_blocks<Generator>;
  Generator generator;
  index base;
  array<index, Rank> stride;

  using cursor = generated_cursor<Generator>;

  TENON_HOST_DEVICE TENON_INLINE constexpr cursor at(const array<index, Rank>& position) const {
    index offset = base;
    for (int axis = 0; axis < Rank; ++axis) offset += position[axis] * stride[axis];
    return {generator, offset, Rank == 0 ? 0 : stride[Rank - 1]};
  }
  constexpr bool is_flat(const array<index, Rank>& extents) const { return strides_are_flat(stride, extents); }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    visitor(stride, base);
  }
};

}  // namespace tenon

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
