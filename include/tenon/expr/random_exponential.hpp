// tenon/expr/random_exponential.hpp: exponential random numbers, times between events that come at a rate.
// Their smallest quotient by weights is a choice by weights.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/expr/random.hpp>

namespace tenon {

/// Exponential with the mean `scale`, above 0.
template <dtype T>
struct exponential_generator {
  static constexpr const char* name = "exponential";
  using element = T;
  using number = detail::drawn_number<T>;
  static constexpr index together = detail::draws_per_block<number>;
  std::uint64_t seed;
  number scale;
  TENON_HOST_DEVICE array<std::uint32_t, 4> block(std::uint64_t position) const {
    return philox_bits(seed, position, detail::random_stream::exponential + detail::stream_of_numbers<T>);
  }
  TENON_HOST_DEVICE compute_type<T> of_block(const array<std::uint32_t, 4>& bits, index place) const {
    number drawn;
    if constexpr (together == 2) drawn = -detail::log_from_bits(bits[place * 2], bits[place * 2 + 1]);
    else drawn = -detail::log_from_bits(bits[place]);
    return static_cast<compute_type<T>>((drawn > least_drawn ? drawn : least_drawn) * scale);
  }
  template <int Width>
  TENON_INLINE auto whole_blocks(std::uint64_t first) const
    requires detail::draws_alike<T, Width, together>
  {
    using numbers = simd::pack<number, Width>;
    constexpr std::uint32_t stream = detail::random_stream::exponential + detail::stream_of_numbers<T>;
    const auto bits = detail::in_word_order(detail::philox_neighbours<Width / together>(seed, first, stream));
    numbers drawn;
    if constexpr (together == 2) drawn = -detail::log_from_bits(bits & 0xffffffffu, bits >> 32);
    else drawn = -detail::log_from_bits(detail::halves_of(bits));
    const auto least = simd::constant_like<numbers>(least_drawn);
    return numbers(simd::select(drawn > least, drawn, least) * scale);
  }

 private:
  /// Random bits that round to 1, whose logarithm is 0, stand for numbers that are this on average.
  static constexpr number least_drawn = together == 2 ? number(0x1p-55) : number(0x1p-26);
};

/// Exponential numbers, of the mean 1 / rate, those of float and double above 0. They are a pure function of `seed` and
/// position, with the same bits everywhere. `argmax(weights / exponential<double>(...), drop<-1>)` chooses a position
/// by weights.
/// accuracy  those of double reach 44 / rate; others are drawn in float and reach 22 / rate
/// throws    error for a rate that is not above 0, or that has no finite inverse, or is infinite
/// source    inversion of the distribution function
/// example   x = exponential<float>({2, 3}, 1, 0.5f);
template <dtype T, shape_type Shape>
auto exponential(const Shape& extents, std::uint64_t seed, detail::drawn_number<T> rate = 1) {
  using number = detail::drawn_number<T>;
  constexpr number most = std::numeric_limits<number>::max();
  const number scale = 1 / rate;
  if (!(rate > 0 && rate <= most && scale <= most)) {
    throw error(compose_text("exponential: rate ", rate, ", expected above 0, and finite with its inverse"));
  }
  return generated<exponential_generator<T>, Shape>{{seed, scale}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto exponential(const listed_extent (&extents)[Rank], std::uint64_t seed, detail::drawn_number<T> rate = 1) {
  return exponential<T>(listed_shape(extents), seed, rate);
}

}  // namespace tenon
