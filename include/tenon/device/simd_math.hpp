// tenon/device/simd_math.hpp: exponentials, logarithms and the hyperbolic tangent of packs.
// One text serves float and double, a number and a pack, so a loop's tail gives the bits of its body.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_tables.hpp>

namespace tenon::simd {

namespace detail {

/// power * 2^n rounded once, subnormal results too: in one instruction, or in two steps.
template <class V>
TENON_INLINE V scaled(V power, const whole_near<V>& n) {
#if defined(__AVX512VL__) && !defined(__CUDACC__)
  if constexpr (sizeof(V) >= 16) {
    V result;
    if constexpr (std::is_same_v<lane_of<V>, float>) {
      asm("vscalefps %2, %1, %0" : "=v"(result) : "v"(power), "v"(n.number));
    } else {
      asm("vscalefpd %2, %1, %0" : "=v"(result) : "v"(power), "v"(n.number));
    }
    return result;
  }
#endif
  const whole_lanes<V> half = n.whole >> 1;
  return power * power_of_two<V>(half) * power_of_two<V>(n.whole - half);
}

/// x = exponent * ln 2 + r with |r| <= ln 2 / 2, and exp(r) - 1.
template <class V>
struct reduced_exponential {
  whole_near<V> exponent;
  V power_less_one;

  TENON_INLINE explicit reduced_exponential(V x) : exponent(x * static_cast<lane_of<V>>(1.44269504088896340736)) {
    using table = table_of<V>;
    const V high = x - exponent.number * table::ln2_high, r = high - exponent.number * table::ln2_low;
    if constexpr (std::is_same_v<lane_of<V>, float>) {
      power_less_one = r * r * polynomial(r, table::exp_terms) + r;
    } else {  // what r lost in rounding counts beside fewer errors of the polynomial
      const V lost = (high - r) - exponent.number * table::ln2_low;
      power_less_one = (r * r * polynomial(r, table::exp_terms) + lost) + r;
    }
  }
};

template <class V>
TENON_INLINE V exp_of(V x) {
  using table = table_of<V>;
  const V within = at_most(at_least(x, constant_like<V>(table::exp_least)), constant_like<V>(table::exp_greatest));
  const reduced_exponential<V> reduced(within);
  return scaled<V>(reduced.power_less_one + 1, reduced.exponent);
}

/// 2^(n + r) for |r| <= 1/2.
template <class V>
TENON_INLINE V exp2_of_sum(const whole_near<V>& n, V r) {
  using table = table_of<V>;
  const V slope = r * polynomial(r, table::exp2_terms) + static_cast<lane_of<V>>(0.6931471805599453094172);
  return scaled<V>(r * slope + 1, n);
}

template <class V>
TENON_INLINE V exp2_of(V x) {
  using table = table_of<V>;
  const V within = at_most(at_least(x, constant_like<V>(table::exp2_least)), constant_like<V>(table::exp2_greatest));
  const whole_near<V> n(within);
  return exp2_of_sum<V>(n, within - n.number);
}

/// 2 (2^(n-1) (exp(r) - 1) + (2^(n-1) - 1/2)): half of it, so that the greatest results do not overflow on the way.
template <class V>
TENON_INLINE V expm1_of(V x) {
  using table = table_of<V>;
  const V within = at_most(at_least(x, constant_like<V>(table::expm1_least)), constant_like<V>(table::exp_greatest));
  const reduced_exponential<V> reduced(within);
  const V half_scale = power_of_two<V>(reduced.exponent.whole - 1);
  const V half = reduced.power_less_one * half_scale + (half_scale - static_cast<lane_of<V>>(0.5));
  return select(abs(x) < table::negligible, x, half + half);
}

/// x = 2^n (1 + f) with sqrt(1/2) <= 1 + f <= sqrt(2).
template <class V>
struct split_number {
  using table = table_of<V>;
  using wrapping = pack<std::make_unsigned_t<typename table::bits>, width_of<V>>;
  whole_lanes<V> exponent;
  V fraction;

  TENON_INLINE explicit split_number(V normal) {
    const wrapping root_half = as_bits<wrapping>(constant_like<V>(0.70710678118654752440)),
                   one = constant_like<wrapping>(1);
    const wrapping raw = as_bits<wrapping>(normal) - root_half;
    const wrapping mantissa = raw & ((one << table::mantissa_bits) - one);
    exponent = as_bits<whole_lanes<V>>(raw) >> table::mantissa_bits;
    fraction = as_bits<V>(mantissa + root_half) - 1;
  }
};

/// x = 2^exponent (1 + fraction) as split_number, of subnormal x too, and in numbers.
template <class V>
struct whole_split {
  V exponent, fraction;

  TENON_INLINE explicit whole_split(V x) {
    using table = table_of<V>;
    const auto is_small = x < table::least_normal;
    const split_number<V> parts(select(is_small, x * (1 / table::negligible), x));
    exponent = number_of<V>(parts.exponent) - select(is_small, constant_like<V>(table::mantissa_bits + 2), V{});
    fraction = parts.fraction;
  }
};

/// log(1 + f) - f of a fraction; the part of a logarithm that may be rounded.
template <class V>
TENON_INLINE V log_beyond(V f) {
  if constexpr (std::is_same_v<lane_of<V>, float>) {
    return f * f * multiply_add(f, polynomial(f, table_of<V>::log_terms), constant_like<V>(-0.5));
  } else {
    const V half_square = f * f * static_cast<lane_of<V>>(0.5);
    const V s = f / (f + 2);
    const V bracket = multiply_add(s * s, polynomial(s * s, table_of<V>::log_terms), half_square);
    return multiply_add(s, bracket, V(-half_square));
  }
}

/// n log(2) + log(1 + f) to base e, 2 or 10.
struct base_e {
  template <class V>
  TENON_INLINE static V join(V n, V f) {
    using table = table_of<V>;
    const V low = multiply_add(n, constant_like<V>(table::ln2_low), log_beyond(f));
    return multiply_add(n, constant_like<V>(table::ln2_high), V(f + low));
  }
};
struct base_2 {
  template <class V>
  TENON_INLINE static V join(V n, V f) {
    const V beyond = log_beyond(f);
    return n + (f + (beyond + (beyond + f) * static_cast<lane_of<V>>(0.4426950408889634073599)));  // log2(e) - 1
  }
};
struct base_10 {
  template <class V>
  TENON_INLINE static V join(V n, V f) {
    const V high = constant_like<V>(0.43359375), low = constant_like<V>(7.007319032518276511289e-4);  // log10(e)
    const V two_high = constant_like<V>(0.301025390625), two_low = constant_like<V>(4.605038981195213738895e-6);
    const V beyond = log_beyond(f), lowest = multiply_add(V(beyond + f), low, V(n * two_low));
    return multiply_add(n, two_high, multiply_add(f, high, multiply_add(beyond, high, lowest)));
  }
};

/// The logarithm of x where its argument is positive and finite, `result` there.
template <class V>
TENON_INLINE V log_with_edges(V argument, V result) {
  const V infinity = constant_like<V>(__builtin_huge_val());
  const V above = select(argument == infinity, infinity, select(argument == V{}, -infinity, result));
  return select(argument >= V{}, above, argument * 0 + constant_like<V>(__builtin_nan("")));
}

/// Whether a lane is not a positive, normal, finite number.
template <class V>
TENON_INLINE bool any_unusual(V x) {
  using bits = pack<std::make_unsigned_t<typename table_of<V>::bits>, width_of<V>>;
  const bits least = as_bits<bits>(constant_like<V>(table_of<V>::least_normal)),
             infinity = as_bits<bits>(constant_like<V>(__builtin_huge_val()));
  return any_at_least(static_cast<bits>(as_bits<bits>(x) - least), static_cast<bits>(infinity - least));
}

template <class Base, class V>
[[gnu::noinline, gnu::cold]] V log_of_unusual(V x) {
  const whole_split<V> parts(x);
  return log_with_edges(x, Base::join(parts.exponent, parts.fraction));
}
template <class Base, class V>
TENON_INLINE V log_of(V x) {
  if (any_unusual(x)) [[unlikely]]
    return log_of_unusual<Base>(x);
  const split_number<V> parts(x);
  return Base::join(number_of<V>(parts.exponent), parts.fraction);
}

/// The fraction is x 2^-n + (2^-n - 1): of small x it is x itself, so no correction is needed. The sign of zero is lost
/// in sums.
template <class V>
TENON_INLINE V log1p_by_parts(V x, V argument) {
  const split_number<V> parts(argument);
  const V fourfold = power_of_two<V>(2 - parts.exponent);  // 2^-n itself may be subnormal
  const V fraction = x * fourfold * static_cast<lane_of<V>>(0.25) + (fourfold * static_cast<lane_of<V>>(0.25) - 1);
  return base_e::join(number_of<V>(parts.exponent), fraction);
}
template <class V>
[[gnu::noinline, gnu::cold]] V log1p_of_unusual(V x) {
  const V argument = x + 1;
  return with_sign_of(x, log_with_edges(argument, log1p_by_parts(x, argument)));
}
template <class V>
TENON_INLINE V log1p_of(V x) {
  const V argument = x + 1;
  if (any_unusual(argument)) [[unlikely]]
    return log1p_of_unusual(x);
  return with_sign_of(x, log1p_by_parts(x, argument));
}

/// q = h / (h + 1) with h = (exp(2 |x|) - 1) / 2, which is h - h q where h has more of its digits.
template <class V>
TENON_INLINE V tanh_of(V x) {
  using lane = lane_of<V>;
  const V magnitude = at_most(abs(x), constant_like<V>(table_of<V>::tanh_limit));
  const reduced_exponential<V> reduced(magnitude + magnitude);
  const V half_scale = power_of_two<V>(reduced.exponent.whole - 1);
  const V half = reduced.power_less_one * half_scale + (half_scale - static_cast<lane>(0.5));
  const V quotient = half / (half + 1);
  return with_sign_of(x, select(magnitude < static_cast<lane>(0.3), V(half - half * quotient), quotient));
}

}  // namespace detail

/// e to the power x.
/// accuracy  within 2 units in the last place, as all functions of this page
template <class V>
TENON_HOST_DEVICE TENON_INLINE V exp(V x) {
  if constexpr (is_complex<V>) {
    using std::exp;
    return exp(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::exp(x);
#else
    return detail::exp_of(x);
#endif
  }
}

/// exp(x) of numbers that are at most 20, with one instruction less.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V exp_of_bounded(V x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (!is_number<V>) {
    const detail::reduced_exponential<V> reduced(at_least(x, constant_like<V>(table_of<V>::exp_least)));
    return detail::scaled<V>(reduced.power_less_one + 1, reduced.exponent);
  }
#endif
  return exp(x);
}

/// exp(-x) of numbers that are at least -64, with two instructions less; lanes of lesser ones hold anything.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V exp_of_negative(V x) {
#if !defined(__CUDA_ARCH__)
  if constexpr (!is_number<V>) {
    const detail::reduced_exponential<V> reduced(-at_most(x, constant_like<V>(-table_of<V>::exp_least)));
    return detail::scaled<V>(reduced.power_less_one + 1, reduced.exponent);
  }
#endif
  return exp(V(-x));
}

/// 2 to the power x.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V exp2(V x) {
#if defined(__CUDA_ARCH__)
  return std::exp2(x);
#else
  return detail::exp2_of(x);
#endif
}

/// exp(x) - 1, exact near 0 too.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V expm1(V x) {
#if defined(__CUDA_ARCH__)
  return std::expm1(x);
#else
  return detail::expm1_of(x);
#endif
}

/// Natural logarithm.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V log(V x) {
  if constexpr (is_complex<V>) {
    using std::log;
    return log(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::log(x);
#else
    return detail::log_of<detail::base_e>(x);
#endif
  }
}

/// Logarithm to base 2.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V log2(V x) {
#if defined(__CUDA_ARCH__)
  return std::log2(x);
#else
  return detail::log_of<detail::base_2>(x);
#endif
}

/// Logarithm to base 10.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V log10(V x) {
#if defined(__CUDA_ARCH__)
  return std::log10(x);
#else
  return detail::log_of<detail::base_10>(x);
#endif
}

/// log(1 + x), exact near 0 too.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V log1p(V x) {
#if defined(__CUDA_ARCH__)
  return std::log1p(x);
#else
  return detail::log1p_of(x);
#endif
}

/// x / y within two units in the last place. On a GPU a quotient that is rounded to nearest takes a branch, which keeps
/// elements of one thread from being computed side by side.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V near_quotient(V x, V y) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, float>) {
    asm("div.full.f32 %0, %0, %1;" : "+f"(x) : "f"(y));
    return x;
  }
#endif
  return x / y;
}

/// Square root, rounded to nearest.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V sqrt(V value) {
  if constexpr (is_number<V>) {
#if defined(__AVX__) && !defined(__CUDACC__)
    if constexpr (std::is_same_v<V, float> || std::is_same_v<V, double>) {  // the library's function sets errno
      if (!__builtin_constant_p(value)) {
        if constexpr (std::is_same_v<V, float>) asm("vsqrtss %0, %0, %0" : "+x"(value));
        else asm("vsqrtsd %0, %0, %0" : "+x"(value));
        return value;
      }
    }
#endif
    using std::sqrt;
    return sqrt(value);  // devices have it too; that of complex numbers is found by their namespace
#if defined(__AVX__) && !defined(__CUDACC__)
  } else if constexpr (std::is_same_v<lane_of<V>, float> && sizeof(V) >= 16) {
    V result;
    asm("vsqrtps %1, %0" : "=v"(result) : "v"(value));
    return result;
  } else if constexpr (std::is_same_v<lane_of<V>, double> && sizeof(V) >= 16) {
    V result;
    asm("vsqrtpd %1, %0" : "=v"(result) : "v"(value));
    return result;
#endif
  } else {
    V result{};
    for (int lane = 0; lane < width_of<V>; ++lane) result[lane] = std::sqrt(value[lane]);
    return result;
  }
}

/// 1 / sqrt(x), on a GPU within two units in the last place.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V reciprocal_sqrt(V x) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<V, float> || std::is_same_v<V, double>) return ::rsqrt(x);
#endif
  return constant_like<V>(1) / sqrt(x);
}

/// Hyperbolic tangent.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V tanh(V x) {
  if constexpr (is_complex<V>) {
    using std::tanh;
    return tanh(x);  // the type's own, found by argument-dependent lookup
  } else {
#if defined(__CUDA_ARCH__)
    return std::tanh(x);
#else
    return detail::tanh_of(x);
#endif
  }
}

}  // namespace tenon::simd
