// tenon/device/simd_special.hpp: the error function of packs.
// An odd polynomial near 0; elsewhere 1 - erfc, whose logarithm is smooth.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_math.hpp>

namespace tenon::simd {

namespace detail {

template <class V>
TENON_INLINE V erf_of(V x) {
  using table = table_of<V>;
  const V magnitude = abs(x);
  const V near = x + x * polynomial(x * x, table::erf_near);
  const V within = min(magnitude, constant_like<V>(table::erf_limit));
  const V far = 1 - exp_of(-polynomial(within, table::erf_far));
  return select(magnitude < 1, near, select(x < V{}, -far, far));
}

}  // namespace detail

/// Error function: 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
/// accuracy  within 2 units in the last place
template <class V>
TENON_HOST_DEVICE TENON_INLINE V erf(V x) {
#if defined(__CUDA_ARCH__)
  return std::erf(x);
#else
  return detail::erf_of(x);
#endif
}

}  // namespace tenon::simd
