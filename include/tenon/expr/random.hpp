// tenon/expr/random.hpp: random numbers as generators.
// Each value is a pure function of seed and position, so every executor and thread count draws the same.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/philox.hpp>
#include <tenon/expr/generate.hpp>

namespace tenon {

/// Uniform in [low, high).
template <dtype T>
struct uniform_generator {
  using element = T;
  std::uint64_t seed;
  float low, high;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const auto bits = philox_bits(seed, static_cast<std::uint64_t>(offset) / 4);
    const auto value = static_cast<T>(low + (high - low) * uniform_from_bits(bits[offset % 4]));
    return static_cast<compute_type<T>>(value < static_cast<T>(high) ? value : static_cast<T>(low));  // rounded up
  }
};

/// Numbers uniform in [low, high), a pure function of `seed` and position.
/// source    Salmon and others 2011 (Philox)
template <dtype T, shape_type Shape>
auto uniform(const Shape& extents, std::uint64_t seed, float low = 0.0f, float high = 1.0f) {
  return generated<uniform_generator<T>, Shape>{{seed, low, high}, extents, 0, row_major_strides(extents.to_array())};
}

}  // namespace tenon
