// tenon/expr/random.hpp: random numbers as generators.
// Each value is a pure function of seed and position, so every executor and thread count draws the same bits.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/philox.hpp>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/pointwise.hpp>

namespace tenon {

/// Uniform in [low, high).
template <dtype T>
struct uniform_generator {
  static constexpr const char* name = "uniform";
  using element = T;
  std::uint64_t seed;
  float low, high;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto bits = philox_bits(seed, static_cast<std::uint64_t>(offset) / 4);
    const auto value = static_cast<T>(multiply_add(high - low, uniform_from_bits(bits[offset % 4]), low));
    return static_cast<compute_type<T>>(value < static_cast<T>(high) ? value : static_cast<T>(low));  // rounded up
  }
};

namespace detail {

TENON_HOST_DEVICE inline float horner(float, float last) { return last; }
template <class... More>
TENON_HOST_DEVICE float horner(float x, float first, More... more) {
  return multiply_add(horner(x, more...), x, first);
}

/// The logarithm of (bits + 1) / 2^32. Every product is exact or within a multiply_add, so that no compiler rounds it
/// otherwise; so are those of `normal_from_bits`.
/// source    Cephes library (Moshier): coefficients of logf
TENON_HOST_DEVICE inline float log_from_bits(std::uint32_t bits) {
  const auto number = static_cast<float>(static_cast<std::uint64_t>(bits) + 1);
  const std::uint32_t raw = bits_as<std::uint32_t>(number) - 0x3f3504f3u;  // sqrt(1/2)
  const auto exponent = static_cast<float>(static_cast<int>(raw >> 23) - 32);
  const float m = bits_as<float>((raw & 0x007fffffu) + 0x3f3504f3u) - 1.0f, square = m * m;
  const float p = horner(m, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f, -1.6668057665e-1f, 1.4249322787e-1f,
                         -1.2420140846e-1f, 1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);
  return multiply_add(exponent, 0.693147181f, m + multiply_add(m * square, p, -0.5f * square));
}

/// One of the two standard normal numbers that 64 random bits give.
/// source    Box, Muller 1958; Cephes library (Moshier): coefficients of sinf and cosf
TENON_HOST_DEVICE inline float normal_from_bits(std::uint32_t radius_bits, std::uint32_t angle_bits, bool second) {
  const float radius = ::sqrtf(-2.0f * log_from_bits(radius_bits));
  const std::uint32_t quadrant = (angle_bits >> 30) + (second ? 3u : 0u);  // sin x = cos (x - pi / 2)
  const int within = static_cast<int>(angle_bits & 0x3fffffffu) - (1 << 29);
  const float angle = static_cast<float>(within) * 1.46291807927e-9f;  // pi / 2^31: within pi / 4 of 0
  const float square = angle * angle;
  const float sine =
      multiply_add(square * angle, horner(square, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f), angle);
  const float cosine = multiply_add(square * square, horner(square, 4.166664568e-2f, -1.388731625e-3f, 2.443315711e-5f),
                                    multiply_add(square, -0.5f, 1.0f));
  const float part = quadrant % 2 == 0 ? cosine : sine;
  return radius * (quadrant % 4 == 0 || quadrant % 4 == 3 ? part : -part);
}

/// A number below `range` from 64 bits: the upper part of the product.
TENON_HOST_DEVICE inline std::uint64_t below_from_bits(std::uint32_t high, std::uint32_t low, std::uint64_t range) {
  return (high * range + (low * range >> 32)) >> 32;
}

}  // namespace detail

/// Normal around `centre`, with a standard deviation.
template <dtype T>
struct normal_generator {
  static constexpr const char* name = "normal";
  using element = T;
  std::uint64_t seed;
  float centre, deviation;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto bits = philox_bits(seed, static_cast<std::uint64_t>(offset) / 4);
    const index pair = offset % 4 / 2 * 2;
    const float standard = detail::normal_from_bits(bits[pair], bits[pair + 1], offset % 2 != 0);
    return static_cast<compute_type<T>>(multiply_add(deviation, standard, centre));
  }
};

/// Normal numbers within [low, high]: what options of `truncated_normal` say, with PyTorch's defaults.
struct truncated_normal_options {
  float centre = 0.0f, deviation = 1.0f;  // of the distribution before it is cut
  float low = -2.0f, high = 2.0f;
};

/// Normal numbers drawn again until they lie within [low, high].
template <dtype T>
struct truncated_normal_generator {
  static constexpr const char* name = "truncated_normal";
  using element = T;
  std::uint64_t seed;
  truncated_normal_options options;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto position = static_cast<std::uint64_t>(offset);
    for (std::uint32_t turn = 0;; ++turn) {
      const auto bits =
          philox4x32({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(position >> 32), turn, 2u},
                     {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
      for (index i = 0; i < 4; ++i) {
        const float standard = detail::normal_from_bits(bits[i / 2 * 2], bits[i / 2 * 2 + 1], i % 2 != 0);
        const float value = multiply_add(options.deviation, standard, options.centre);
        if (value >= options.low && value <= options.high) return static_cast<compute_type<T>>(value);
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
  random_seed seed;
  std::uint64_t threshold;

  bool operator==(const bernoulli_generator&) const = default;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto bits = philox_bits(seed.value(), static_cast<std::uint64_t>(offset) / 4);
    return compute_type<T>(bits[offset % 4] < threshold ? 1 : 0);
  }
};

/// Integers in [low, low + range).
template <dtype T>
struct integer_generator {
  static constexpr const char* name = "randint";
  using element = T;
  std::uint64_t seed;
  index low;
  std::uint64_t range;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto bits = philox_bits(seed, static_cast<std::uint64_t>(offset) / 2);
    const index pair = offset % 2 * 2;
    return static_cast<compute_type<T>>(low +
                                        static_cast<index>(detail::below_from_bits(bits[pair], bits[pair + 1], range)));
  }
};

/// A permutation of [0, count): a Feistel network over the next power of 4, walked until it is back inside.
template <dtype T>
struct permutation_generator {
  static constexpr const char* name = "permutation";
  using element = T;
  static constexpr int rounds = 8;
  std::uint64_t seed, count;
  int half_bits;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    auto image = static_cast<std::uint64_t>(offset);
    do image = permute(image);
    while (image >= count);
    return static_cast<compute_type<T>>(image);
  }

 private:
  TENON_HOST_DEVICE std::uint64_t permute(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits) - 1;
    std::uint64_t left = value >> half_bits, right = value & mask;
    for (std::uint32_t turn = 0; turn < rounds; ++turn) {
      const auto bits = philox4x32({static_cast<std::uint32_t>(right), turn, 1u, 0u},
                                   {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
      const std::uint64_t next = left ^ (bits[0] & mask);
      left = right;
      right = next;
    }
    return left << half_bits | right;
  }
};

namespace detail {

[[gnu::noinline]] inline void check_ascending(float low, float high) {
  if (low <= high) return;
  throw error(compose_text("uniform: range [", low, ", ", high, "), expected ends in ascending order"));
}

}  // namespace detail

/// Numbers uniform in [low, high), a pure function of `seed` and position.
/// throws    error when low is above high
/// source    Salmon and others 2011 (Philox)
/// example   x = uniform<float>({2, 3}, 1, -1.0f, 1.0f);
template <dtype T, shape_type Shape>
auto uniform(const Shape& extents, std::uint64_t seed, float low = 0.0f, float high = 1.0f) {
  detail::check_ascending(low, high);
  return generated<uniform_generator<T>, Shape>{{seed, low, high}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto uniform(const listed_extent (&extents)[Rank], std::uint64_t seed, float low = 0.0f, float high = 1.0f) {
  return uniform<T>(listed_shape(extents), seed, low, high);
}

/// Normal numbers around `centre`, a pure function of `seed` and position; the same bits everywhere.
/// accuracy  float, also for double; they reach 6.6 deviations
/// source    Box, Muller 1958
/// example   x = normal<float>({2, 3}, 1, 0.0f, 0.1f);
template <dtype T, shape_type Shape>
auto normal(const Shape& extents, std::uint64_t seed, float centre = 0.0f, float deviation = 1.0f) {
  return generated<normal_generator<T>, Shape>{
      {seed, centre, deviation}, extents, 0, row_major_strides(extents.to_array())};
}
template <dtype T, int Rank>
auto normal(const listed_extent (&extents)[Rank], std::uint64_t seed, float centre = 0.0f, float deviation = 1.0f) {
  return normal<T>(listed_shape(extents), seed, centre, deviation);
}

/// Normal numbers; those outside [low, high] are drawn again. They are a pure function of `seed` and position, with the
/// same bits everywhere.
/// throws    error when low is above high, or fewer than one number in 1000 lies within
/// cost      1 / (4 share within) philox blocks a number, at least one
/// example   truncated_normal<float>(extents, seed, {.deviation = 0.02f, .low = -0.04f, .high = 0.04f})
template <dtype T, shape_type Shape>
auto truncated_normal(const Shape& extents, std::uint64_t seed, const truncated_normal_options& options = {}) {
  const auto below = [&](float end) {
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
  return generated<truncated_normal_generator<T>, Shape>{
      {seed, options}, extents, 0, row_major_strides(extents.to_array())};
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

/// The numbers 0 to count - 1 in an order that `seed` chooses; each is computed by itself, nothing is stored.
/// throws    shape_error when count is negative, dtype_error where T holds fewer numbers
/// cost      about 10 philox blocks a number
/// source    Luby, Rackoff 1988; Black, Rogaway 2002 (cycle walking)
/// example   const auto order = evaluated_tensor(permutation<std::int64_t>(100, 1));
template <dtype T = index>
auto permutation(index count, std::uint64_t seed) {
  if (count > 0) detail::check_number<T>("permutation", scalar<index>{count - 1});
  int half_bits = 1;
  while (count > index{1} << 2 * half_bits) ++half_bits;
  return generated<permutation_generator<T>, rank<1>>{
      {seed, static_cast<std::uint64_t>(count), half_bits}, rank<1>(count), 0, {{1}}};
}

}  // namespace tenon
