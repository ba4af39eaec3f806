// tenon/expr/random.hpp: random numbers as generators.
// Each value is a pure function of seed and position, so every executor and thread count draws the same bits.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/expr/pointwise.hpp>
#include <tenon/expr/random_normal.hpp>
#include <tenon/expr/random_permutation.hpp>

namespace tenon {

namespace detail {

/// The streams of one seed, so that draws of different kinds share no bits. A permutation counts in another word.
namespace random_stream {
inline constexpr std::uint32_t uniform = 0, truncated_normal = 2, bernoulli = 3, normal = 4, integer = 5;
inline constexpr std::uint32_t exponential = 6, of_double = 16;  // the last is added where doubles are drawn
}  // namespace random_stream

/// Doubles are drawn in double, all other elements in float.
template <class T>
using drawn_number = std::conditional_t<std::is_same_v<T, double>, double, float>;
template <class T>
inline constexpr std::uint32_t stream_of_numbers = std::is_same_v<T, double> ? random_stream::of_double : 0;

/// Numbers that share 128 random bits.
template <class Number>
inline constexpr index draws_per_block = sizeof(Number) == 8 ? 2 : 4;

/// Whether packs of `Width` numbers, drawn by blocks of which each gives `together`, are the numbers drawn one by one.
template <class T, int Width, index Together>
inline constexpr bool draws_alike =
    packs_round_once && std::is_arithmetic_v<T> && Width > Together&& Width % Together == 0;

/// Standard normal number `place` of those that a block of random bits gives.
template <class Number>
TENON_HOST_DEVICE Number normal_of_block(const array<std::uint32_t, 4>& bits, index place) {
  if constexpr (draws_per_block<Number> == 2) return normal_from_bits(bits, static_cast<std::uint32_t>(place));
  else return normal_from_bits(bits[place / 2 * 2], bits[place / 2 * 2 + 1], static_cast<std::uint32_t>(place % 2));
}

/// A number below `range` from 64 bits: the upper part of the product. `Word` holds 64 bits.
template <class Word>
TENON_HOST_DEVICE Word below_from_bits(Word high, Word low, std::uint64_t range) {
  return (high * range + (low * range >> 32)) >> 32;
}

}  // namespace detail

/// Uniform in [low, high).
template <dtype T>
struct uniform_generator {
  static constexpr const char* name = "uniform";
  using element = T;
  using number = detail::drawn_number<T>;
  static constexpr index together = detail::draws_per_block<number>;
  std::uint64_t seed;
  number low, high;
  TENON_HOST_DEVICE array<std::uint32_t, 4> block(std::uint64_t position) const {
    return philox_bits(seed, position, detail::random_stream::uniform + detail::stream_of_numbers<T>);
  }
  TENON_HOST_DEVICE compute_type<T> of_block(const array<std::uint32_t, 4>& bits, index place) const {
    number share;
    if constexpr (together == 2) share = uniform_from_bits(bits[place * 2], bits[place * 2 + 1]);
    else share = uniform_from_bits(bits[place]);
    const auto value = static_cast<T>(multiply_add(high - low, share, low));
    return static_cast<compute_type<T>>(value < static_cast<T>(high) ? value : static_cast<T>(low));  // rounded up
  }
  template <int Width>
  TENON_INLINE auto whole_blocks(std::uint64_t first) const
    requires detail::draws_alike<T, Width, together>
  {
    using numbers = simd::pack<number, Width>;
    constexpr std::uint32_t stream = detail::random_stream::uniform + detail::stream_of_numbers<T>;
    const auto bits = detail::in_word_order(detail::philox_neighbours<Width / together>(seed, first, stream));
    numbers share;
    if constexpr (together == 2) {
      share = detail::doubles_of(bits & 0xffffffffu) * 0x1p-32 + detail::doubles_of(bits >> 43) * 0x1p-53;
    } else {
      share = detail::floats_of(detail::halves_of(bits) >> 8) * 0x1p-24f;
    }
    const numbers value = detail::fused(share, high - low, low), ends = simd::constant_like<numbers>(high);
    return simd::select(value < ends, value, simd::constant_like<numbers>(low));
  }
};

/// Normal around `centre`, with a standard deviation.
template <dtype T>
struct normal_generator {
  static constexpr const char* name = "normal";
  using element = T;
  using number = detail::drawn_number<T>;
  static constexpr index together = detail::draws_per_block<number>;
  std::uint64_t seed;
  number centre, deviation;
  TENON_HOST_DEVICE array<std::uint32_t, 4> block(std::uint64_t position) const {
    return philox_bits(seed, position, detail::random_stream::normal + detail::stream_of_numbers<T>);
  }
  TENON_HOST_DEVICE compute_type<T> of_block(const array<std::uint32_t, 4>& bits, index place) const {
    return static_cast<compute_type<T>>(multiply_add(deviation, detail::normal_of_block<number>(bits, place), centre));
  }
  /// The numbers at positions `step` apart, each from its own block of bits.
  template <int Width>
  TENON_INLINE auto lanes(index first, index step) const
    requires(std::is_same_v<T, double> && detail::packs_round_once)
  {
    const auto positions =
        detail::steps_from<Width>(static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(step));
    constexpr std::uint32_t stream = detail::random_stream::normal + detail::random_stream::of_double;
    const auto drawn = detail::normal_from_bits(detail::philox_lanes(seed, positions >> 1, stream), positions & 1u);
    return detail::fused(drawn, deviation, centre);
  }
  template <int Width>
  TENON_INLINE auto whole_blocks(std::uint64_t first) const
    requires(std::is_same_v<T, float> && detail::draws_alike<T, Width, together>)
  {
    constexpr std::uint32_t stream = detail::random_stream::normal;
    const auto pairs = detail::in_word_order(detail::philox_neighbours<Width / together>(seed, first, stream));
    const auto radius = pairs & 0xffffffffu, angle = pairs >> 32;
    const auto second = pairs - pairs + (std::uint64_t{1} << 32);
    return detail::fused(detail::normal_from_bits(detail::halves_of(radius | radius << 32),
                                                  detail::halves_of(angle | angle << 32), detail::halves_of(second)),
                         deviation, centre);
  }
};

/// Normal numbers within [low, high]: what options of `truncated_normal` say, with PyTorch's defaults.
struct truncated_normal_options {
  double centre = 0, deviation = 1;  // of the distribution before it is cut
  double low = -2, high = 2;
};

/// Normal numbers drawn again until they lie within [low, high].
template <dtype T>
struct truncated_normal_generator {
  static constexpr const char* name = "truncated_normal";
  using element = T;
  using number = detail::drawn_number<T>;
  std::uint64_t seed;
  number centre, deviation, low, high;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    constexpr std::uint32_t stream = detail::random_stream::truncated_normal + detail::stream_of_numbers<T>;
    const auto position = static_cast<std::uint64_t>(offset);
    for (std::uint32_t turn = 0;; ++turn) {
      const auto bits =
          philox4x32({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), turn, stream},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
      for (index i = 0; i < detail::draws_per_block<number>; ++i) {
        const number value = multiply_add(deviation, detail::normal_of_block<number>(bits, i), centre);
        if (value >= low && value <= high) return static_cast<compute_type<T>>(value);
      }
    }
  }
};

/// What `bernoulli` draws by: a number, or one that differs in each launch of a captured graph.
struct random_seed {
  std::uint64_t number = 0;
  const std::uint64_t* launch = nullptr;  ///< where kernels read the number of their launch; null: they do not

  constexpr random_seed(std::uint64_t chosen = 0, const std::uint64_t* number_of_launch = nullptr)
      : number(chosen), launch(number_of_launch) {}
  bool operator==(const random_seed&) const = default;
  TENON_HOST_DEVICE std::uint64_t value() const {
    return launch == nullptr ? number : number + *launch * 0xD1B54A32D192ED03u;  // far from other numbers
  }
};

/// 1 where 32 random bits are below the threshold.
template <dtype T>
struct bernoulli_generator {
  static constexpr const char* name = "bernoulli";
  using element = T;
  static constexpr index together = 4;
  random_seed seed;
  std::uint64_t threshold;

  bool operator==(const bernoulli_generator&) const = default;
  /// Nothing is drawn where all numbers are the same, as in a layer of dropout outside training.
  TENON_HOST_DEVICE bool is_certain() const { return threshold == 0 || threshold >> 32 != 0; }
  TENON_HOST_DEVICE array<std::uint32_t, 4> block(std::uint64_t position) const {
    if (is_certain()) return {};
    return philox_bits(seed.value(), position, detail::random_stream::bernoulli);
  }
  TENON_HOST_DEVICE compute_type<T> of_block(const array<std::uint32_t, 4>& bits, index place) const {
    return compute_type<T>(bits[place] < threshold ? 1 : 0);
  }
  template <int Width>
  TENON_INLINE auto whole_blocks(std::uint64_t first) const
    requires detail::draws_alike<compute_type<T>, Width, together>
  {
    constexpr std::uint32_t stream = detail::random_stream::bernoulli;
    const auto bits = detail::in_word_order(detail::philox_neighbours<Width / together>(seed.value(), first, stream));
    const auto mask = detail::halves_of(bits) < static_cast<std::uint32_t>(threshold);
    return simd::convert<bool, compute_type<T>>(simd::pack<bool, Width>(mask));
  }
};

/// Integers in [low, low + range).
template <dtype T>
struct integer_generator {
  static constexpr const char* name = "randint";
  using element = T;
  static constexpr index together = 2;
  std::uint64_t seed;
  index low;
  std::uint64_t range;
  TENON_HOST_DEVICE array<std::uint32_t, 4> block(std::uint64_t position) const {
    return philox_bits(seed, position, detail::random_stream::integer);
  }
  TENON_HOST_DEVICE compute_type<T> of_block(const array<std::uint32_t, 4>& bits, index place) const {
    return static_cast<compute_type<T>>(
        static_cast<index>(number_of<std::uint64_t>(bits[place * 2], bits[place * 2 + 1])));
  }
  template <int Width>
  TENON_INLINE auto whole_blocks(std::uint64_t first) const
    requires(std::is_integral_v<T> && sizeof(T) >= 4 && detail::draws_alike<T, Width, together>)
  {
    const auto bits = detail::philox_neighbours<Width / together>(seed, first, detail::random_stream::integer);
    using words = std::remove_cvref_t<decltype(bits[0])>;
    const words even = number_of<words>(bits[0], bits[1]), odd = number_of<words>(bits[2], bits[3]);
    using numbers = simd::pack<T, Width>;
    if constexpr (sizeof(T) == 4) return simd::as_bits<numbers>(words((even & 0xffffffffu) | odd << 32));
    else return simd::as_bits<numbers>(detail::in_turns(even, odd));
  }

 private:
  template <class Word>
  TENON_HOST_DEVICE TENON_INLINE Word number_of(Word high, Word low_bits) const {
    return detail::below_from_bits(high, low_bits, range) + static_cast<std::uint64_t>(low);
  }
};

namespace detail {

template <class Number>
[[gnu::noinline]] void check_range(Number low, Number high) {
  const bool ascends = low <= high;
  if (ascends && high - low <= std::numeric_limits<Number>::max()) return;
  const char* const expected = ascends ? "a finite length" : "ends in ascending order";
  throw error(compose_text("uniform: range [", low, ", ", high, "), expected ", expected));
}

}  // namespace detail

/// Numbers uniform in [low, high), a pure function of `seed` and position. The same seed and element type give the same
/// numbers in row-major order, whatever the extents; draws of other kinds share no bits with them.
/// accuracy  steps of 2^-53 of the range for double, of 2^-24 for other elements
/// throws    error when low is above high, or the range is not finite
/// source    Salmon and others 2011 (Philox)
/// example   x = uniform<float>({2, 3}, 1, -1.0f, 1.0f);
template <dtype T, shape_type Shape>
auto uniform(const Shape& extents, std::uint64_t seed, detail::drawn_number<T> low, detail::drawn_number<T> high) {
  detail::check_range(low, high);
  return generated<uniform_generator<T>, Shape>{{seed, low, high}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto uniform(const listed_extent (&extents)[Rank], std::uint64_t seed, detail::drawn_number<T> low,
             detail::drawn_number<T> high) {
  return uniform<T>(listed_shape(extents), seed, low, high);
}
/// The same in [0, 1).
template <dtype T, shape_type Shape>
auto uniform(const Shape& extents, std::uint64_t seed) {
  return uniform<T>(extents, seed, 0, 1);
}
template <dtype T, int Rank>
auto uniform(const listed_extent (&extents)[Rank], std::uint64_t seed) {
  return uniform<T>(listed_shape(extents), seed, 0, 1);
}

/// Normal numbers around `centre`, a pure function of `seed` and position; the same bits everywhere.
/// throws    error for a deviation that is negative or NaN
/// accuracy  those of double reach 9.4 deviations; others are drawn in float and reach 6.6
/// source    Box, Muller 1958
/// example   x = normal<float>({2, 3}, 1, 0.0f, 0.1f);
template <dtype T, shape_type Shape>
auto normal(const Shape& extents, std::uint64_t seed, detail::drawn_number<T> centre,
            detail::drawn_number<T> deviation) {
  if (!(deviation >= 0)) throw error(compose_text("normal: deviation ", deviation, ", expected at least 0"));
  return generated<normal_generator<T>, Shape>{
      {seed, centre, deviation}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto normal(const listed_extent (&extents)[Rank], std::uint64_t seed, detail::drawn_number<T> centre,
            detail::drawn_number<T> deviation) {
  return normal<T>(listed_shape(extents), seed, centre, deviation);
}
/// The same around 0, of deviation 1.
template <dtype T, shape_type Shape>
auto normal(const Shape& extents, std::uint64_t seed) {
  return normal<T>(extents, seed, 0, 1);
}
template <dtype T, int Rank>
auto normal(const listed_extent (&extents)[Rank], std::uint64_t seed) {
  return normal<T>(listed_shape(extents), seed, 0, 1);
}

/// Normal numbers; those outside [low, high] are drawn again. They are a pure function of `seed` and position, with the
/// same bits everywhere.
/// throws    error when low is above high, or fewer than one number in 1000 lies within
/// cost      1 / (4 share within) philox blocks a number, at least one
/// example   truncated_normal<float>(extents, seed, {.deviation = 0.02f, .low = -0.04f, .high = 0.04f})
template <dtype T, shape_type Shape>
auto truncated_normal(const Shape& extents, std::uint64_t seed, const truncated_normal_options& options = {}) {
  const auto below = [&](double end) {
    return 0.5 * std::erfc((options.centre - end) / (options.deviation * std::sqrt(2.0)));
  };
  const double within = below(options.high) - below(options.low);
  if (!(options.low <= options.high)) {
    throw error(
        compose_text("truncated_normal: [", options.low, ", ", options.high, "], expected ends in ascending order"));
  }
  if (!(options.deviation > 0) || !(within >= 1e-3)) {
    throw error(compose_text("truncated_normal: [", options.low, ", ", options.high, "] holds ", within,
                             " of all numbers around ", options.centre, " with deviation ", options.deviation,
                             ", expected at least 0.001"));
  }
  using number = detail::drawn_number<T>;
  return generated<truncated_normal_generator<T>, Shape>{
      {seed, static_cast<number>(options.centre), static_cast<number>(options.deviation),
       static_cast<number>(options.low), static_cast<number>(options.high)},
      extents,
      0,
      row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto truncated_normal(const listed_extent (&extents)[Rank], std::uint64_t seed,
                      const truncated_normal_options& options = {}) {
  return truncated_normal<T>(listed_shape(extents), seed, options);
}

/// Ones with the given probability, zeros otherwise; a pure function of `seed` and position.
/// accuracy  the probability is rounded to a multiple of 2^-32
/// throws    error when the probability is outside [0, 1]
/// example   const auto mask = evaluated_tensor(bernoulli<bool>({2, 3}, 1, 0.5));
template <dtype T, shape_type Shape>
auto bernoulli(const Shape& extents, random_seed seed, double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    throw error(compose_text("bernoulli: probability ", probability, ", expected within [0, 1]"));
  }
  return generated<bernoulli_generator<T>, Shape>{{seed, static_cast<std::uint64_t>(probability * 0x1p32 + 0.5)},
                                                  extents,
                                                  0,
                                                  row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto bernoulli(const listed_extent (&extents)[Rank], random_seed seed, double probability) {
  return bernoulli<T>(listed_shape(extents), seed, probability);
}

/// Integers uniform in [low, high), a pure function of `seed` and position.
/// accuracy  no probability is off by more than one part in 2^64 / (high - low)
/// throws    error when high is not above low, or by more than 2^32; dtype_error for numbers that T does not hold
/// example   const auto labels = evaluated_tensor(randint<int>({8}, 1, 0, 10));
template <dtype T, shape_type Shape>
auto randint(const Shape& extents, std::uint64_t seed, index low, index high) {
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  if (high <= low || range > std::uint64_t{1} << 32) {
    throw error(compose_text("randint: range [", low, ", ", high, "), expected 1 to 4294967296 numbers"));
  }
  detail::check_number<T>("randint", scalar<index>{low}), detail::check_number<T>("randint", scalar<index>{high - 1});
  return generated<integer_generator<T>, Shape>{{seed, low, range}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto randint(const listed_extent (&extents)[Rank], std::uint64_t seed, index low, index high) {
  return randint<T>(listed_shape(extents), seed, low, high);
}

}  // namespace tenon
