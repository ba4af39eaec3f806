// tenon/device/simd_math.hpp: exponential, logarithm and hyperbolic tangent of packs.
// One text serves a number and a pack, so the tail of a loop gives the same bits as its body; devices use their own.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

#if TENON_XSIMD
#pragma GCC diagnostic push  // GCC 12's own intrinsics read a variable that they leave undefined on purpose (bug
                             // 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>
#pragma GCC diagnostic pop
#endif

namespace tenon::simd {

namespace detail {

/// Integer lanes as wide as those of V; unsigned ones wrap around.
template <class V>
struct integer_lanes {
  using type = pack<std::int32_t, width_of<V>>;
  using wrapping = pack<std::uint32_t, width_of<V>>;
};

/// polynomial c0 + x (c1 + x (c2 + ...))
template <class V>
TENON_INLINE V polynomial(V, float c) {
  return constant_like<V>(c);
}
template <class V, class... More>
TENON_INLINE V polynomial(V x, float c, More... more) {
  return polynomial(x, more...) * x + c;
}

template <class V>
TENON_INLINE V power_of_two(typename integer_lanes<V>::type exponent) {
  return as_bits<V>((exponent + 127) << 23);
}

/// x * 2^n, rounded once; `exponent` is n as an integer, at most 254 in magnitude.
template <class V>
TENON_INLINE V scale_by_power(V x, V n, typename integer_lanes<V>::type exponent) {
#if defined(__AVX512VL__)
  if constexpr (sizeof(V) >= 16) {
    V result;
    asm("vscalefps %2, %1, %0" : "=v"(result) : "v"(x), "v"(n));
    return result;
  }
#endif
  const auto half = exponent >> 1;
  return x * power_of_two<V>(half) * power_of_two<V>(exponent - half);
}

/// exp of float lanes: x = n ln 2 + r, a polynomial of r, then 2^n in two steps so that subnormal results round once.
template <class V>
TENON_INLINE V exp_float(V x) {
  using bits = typename integer_lanes<V>::type;
  const V clamped = at_most(at_least(x, constant_like<V>(-104.0f)), constant_like<V>(89.0f));
  const V magic = constant_like<V>(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer in the low bits
  const V shifted = clamped * 1.44269504088896341f + magic;
  const V n = shifted - magic;
  const V r = (clamped - n * 0.693359375f) + n * 2.12194440e-4f;
  const V p =
      polynomial(r, 0.5f, 1.6666665459e-1f, 4.1665795894e-2f, 8.3334519073e-3f, 1.3981999507e-3f, 1.9875691500e-4f);
  return scale_by_power(p * (r * r) + r + 1.0f, n, as_bits<bits>(shifted) - as_bits<bits>(magic));
}

/// log of float lanes: mantissa in [sqrt(1/2), sqrt(2)), a polynomial, and the exponent times ln 2 in two parts.
template <class V>
TENON_INLINE V log_float(V x) {
  using bits = typename integer_lanes<V>::type;
  using wrapping = typename integer_lanes<V>::wrapping;
  const auto is_small = x < 1.17549435e-38f;
  const V scaled = select(is_small, x * 8388608.0f, x);          // subnormals become normal
  const wrapping raw = as_bits<wrapping>(scaled) - 0x3f3504f3u;  // sqrt(1/2)
  const bits exponent = as_bits<bits>(raw) >> 23;
  const V m = as_bits<V>((raw & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
  const V n = convert<std::int32_t, float>(exponent) - select(is_small, constant_like<V>(23.0f), V{});
  const V p = polynomial(m, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f, -1.6668057665e-1f, 1.4249322787e-1f,
                         -1.2420140846e-1f, 1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);
  const V square = m * m;
  V result = m * square * p + n * -2.12194440e-4f - square * 0.5f;
  result = m + result + n * 0.693359375f;
  const V infinity = constant_like<V>(__builtin_huge_valf());
  result = select(x == infinity, infinity, result);
  result = select(x == V{}, -infinity, result);
  return select(x >= V{}, result, x * 0.0f + __builtin_nanf(""));
}

/// tanh of float lanes: an odd polynomial near 0, 1 - 2 / (exp(2x) + 1) elsewhere.
template <class V>
TENON_INLINE V tanh_float(V x) {
  const V magnitude = abs(x), square = x * x;
  const V near = polynomial(square, -3.33332819422e-1f, 1.33314422036e-1f, -5.37397155531e-2f, 2.06390887954e-2f,
                            -5.70498872745e-3f) *
                     square * x +
                 x;
  const V far = 1.0f - 2.0f / (exp_float(magnitude + magnitude) + 1.0f);
  const V result = select(magnitude < 0.625f, near, select(x < V{}, -far, far));
  return select(x == V{}, x, result);  // keeps the sign of zero
}

/// A function of xsimd on the lanes of V, batch by batch; where it was not found, the C library's, lane by lane.
template <class V, class Function>
TENON_INLINE V lane_by_lane(const V& x, Function function) {
  lane_of<V> lanes[width_of<V>];
  std::memcpy(lanes, &x, sizeof(x));
#if TENON_XSIMD
  using batch = xsimd::batch<lane_of<V>>;
  constexpr int step = static_cast<int>(batch::size);
  static_assert(width_of<V> % step == 0);
  for (int i = 0; i < width_of<V>; i += step) function(batch::load_unaligned(lanes + i)).store_unaligned(lanes + i);
#else
  for (auto& lane : lanes) lane = function(lane);
#endif
  V result;
  std::memcpy(&result, lanes, sizeof(x));
  return result;
}

/// Functions of double lanes on the numbers that xsimd 8 can take: within [low, high], which lie beyond every result
/// that is not 0, infinite or 1; NaN stays NaN.
template <class V, class Function>
TENON_INLINE V clamped_lanes(V x, double low, double high, Function function) {
  const V within = min(max(x, constant_like<V>(low)), constant_like<V>(high));
  return select(x == x, lane_by_lane(select(x == x, within, V{}), function), x);
}

template <class V>
TENON_INLINE V exp_double(V x) {
  return clamped_lanes(x, -760.0, 720.0, [](const auto& lanes) {
    using std::exp;
    return exp(lanes);
  });
}

template <class V>
TENON_INLINE V tanh_double(V x) {
  return clamped_lanes(x, -30.0, 30.0, [](const auto& lanes) {
    using std::tanh;
    return tanh(lanes);
  });
}

/// Subnormals become normal first; zero, negative numbers, infinity and NaN are told apart before and after.
template <class V>
TENON_INLINE V log_double(V x) {
  const V infinity = constant_like<V>(__builtin_huge_val());
  const auto is_small = x < 2.2250738585072014e-308;
  const V scaled = select(is_small, x * 18014398509481984.0, x);  // 2^54
  const auto is_regular = (scaled > V{}) & (scaled < infinity);
  const V regular = lane_by_lane(select(is_regular, scaled, V{} + 1.0), [](const auto& lanes) {
    using std::log;
    return log(lanes);
  });
  const V special = select(x == V{}, -infinity, select(x == infinity, x, x * 0.0 + __builtin_nan("")));
  return select(is_regular, select(is_small, regular - 37.429947750237048, regular), special);  // 54 ln 2
}

}  // namespace detail

/// e to the power x; float lanes within 2 ulp, double through xsimd where found, else through the C library.
/// source    Cephes library (Moshier): range reduction and coefficients of expf, logf, tanhf
template <class V>
TENON_HOST_DEVICE TENON_INLINE V exp(V x) {
#if defined(__CUDA_ARCH__)
  return ::exp(x);
#else
  if constexpr (std::is_same_v<lane_of<V>, float>) return detail::exp_float(x);
  else if constexpr (is_number<V>) return std::exp(x);
  else return detail::exp_double(x);
#endif
}

/// Natural logarithm; as exp.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V log(V x) {
#if defined(__CUDA_ARCH__)
  return ::log(x);
#else
  if constexpr (std::is_same_v<lane_of<V>, float>) return detail::log_float(x);
  else if constexpr (is_number<V>) return std::log(x);
  else return detail::log_double(x);
#endif
}

/// Hyperbolic tangent; as exp.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V tanh(V x) {
#if defined(__CUDA_ARCH__)
  return ::tanh(x);
#else
  if constexpr (std::is_same_v<lane_of<V>, float>) return detail::tanh_float(x);
  else if constexpr (is_number<V>) return std::tanh(x);
  else return detail::tanh_double(x);
#endif
}

}  // namespace tenon::simd
