// tenon/device/simd.hpp: vectors of lanes.
// A page of vocabulary over the compilers' vector types, which cost nothing to include; a number is a pack of one lane.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/base/array.hpp>
#include <tenon/base/dtype.hpp>
#include <tenon/device/simd_short.hpp>

namespace tenon::simd {

namespace detail {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class T, int Width>
struct pack_type {
  using type __attribute__((vector_size(sizeof(T) * Width))) = T;
  using in_memory __attribute__((vector_size(sizeof(T) * Width), aligned(alignof(T)), may_alias)) = T;
};
template <class T>
struct pack_type<T, 1> {
  using type = T;
};
template <int Width>
struct pack_type<bool, Width> : pack_type<std::int32_t, Width> {};  // each lane 0 or -1
template <>
struct pack_type<bool, 1> {
  using type = bool;
};

template <class V>
constexpr auto first_lane(const V& v) {
  if constexpr (std::is_arithmetic_v<V> || is_complex<V>) {
    return v;
  } else {
    return v[0];
  }
}

}  // namespace detail

/// `Width` lanes of T; lanes of bool are 32-bit masks.
template <class T, int Width>
using pack = typename detail::pack_type<T, Width>::type;

/// Lanes of T that the machine handles at once; narrow types take as many as 32-bit ones.
template <class T>
inline constexpr int native_width = detail::vector_bytes / static_cast<int>(sizeof(T) < 4 ? 4 : sizeof(T));

/// Lanes that an expression is evaluated in when the widest of its types has `bytes`. nvcc takes no vector types in
/// functions that it may compile for a device, as operations are: there it is one lane.
constexpr int width_for(int bytes) { return compiled_by_nvcc ? 1 : detail::vector_bytes / (bytes < 4 ? 4 : bytes); }

/// The bytes of T as a lane. Complex numbers count as a whole vector: their packs have one lane.
template <class T>
inline constexpr int lane_bytes = is_complex<T> ? detail::vector_bytes : static_cast<int>(sizeof(T));

/// Whether V is a number rather than several lanes, the type of its lanes, and how many there are.
template <class V>
inline constexpr bool is_number = std::is_arithmetic_v<V> || is_complex<V>;
template <class V>
using lane_of = decltype(detail::first_lane(std::declval<const V&>()));
template <class V>
inline constexpr int width_of = static_cast<int>(sizeof(V) / sizeof(lane_of<V>));

/// The bits of a pack as lanes of another type of the same size.
template <class To, class From>
TENON_HOST_DEVICE TENON_INLINE constexpr To as_bits(From value) {
  return __builtin_bit_cast(To, value);
}

/// The same number in every lane.
template <class T, int Width>
TENON_HOST_DEVICE TENON_INLINE constexpr pack<T, Width> broadcast(T number) {
  if constexpr (Width == 1) {
    return number;
  } else if constexpr (std::is_same_v<T, bool>) {
    return pack<T, Width>{} - static_cast<std::int32_t>(number);
  } else {
    return number - pack<T, Width>{};  // unlike a sum with 0 it keeps -0, and folds to nothing
  }
}

/// The same number in every lane of a pack of type V.
template <class V, class Number>
TENON_HOST_DEVICE TENON_INLINE constexpr V constant_like(Number number) {
  if constexpr (is_number<V>) {
    return converted_to<V>(number);
  } else {
    return static_cast<lane_of<V>>(number) - V{};
  }
}

/// The lanes `generator(0)`, `generator(1)`, ... A list of them stays in registers: lanes that are set one by one g++
/// writes to memory, and waits for them there.
template <class T, int Width, class Generator>
TENON_INLINE constexpr pack<T, Width> generate(const Generator& generator) {
  if constexpr (Width == 1) {
    return generator(index{0});
  } else {
    return [&]<int... Lane>(std::integer_sequence<int, Lane...>) __attribute__((always_inline)) {
      if constexpr (std::is_same_v<T, bool>) return pack<T, Width>{-std::int32_t{generator(index{Lane})}...};
      else return pack<T, Width>{static_cast<T>(generator(index{Lane}))...};
    }(std::make_integer_sequence<int, Width>{});
  }
}

/// A pack in memory, aligned as its elements are. Copied by memcpy, packs pass through the stack in some loops of g++.
template <class T, int Width>
using pack_in_memory = typename detail::pack_type<T, Width>::in_memory;

/// `Width` adjacent elements, converted to T.
template <class T, int Width, class U>
TENON_INLINE constexpr pack<T, Width> load(const U* from) {
  if constexpr (Width == 1) {
    return static_cast<T>(*from);
  } else if constexpr (std::is_same_v<T, U> && !std::is_same_v<T, bool>) {
    return *reinterpret_cast<const pack_in_memory<T, Width>*>(from);
  } else if constexpr (std::is_same_v<T, float> && converts_short_floats<U, Width>) {
    return as_bits<pack<T, Width>>(load_short_floats<Width>(from));
  } else {
    return generate<T, Width>([from](index lane) { return static_cast<T>(from[lane]); });
  }
}

/// Writes the lanes to adjacent elements, converted to U.
template <int Width, class U, class V>
TENON_INLINE constexpr void store(U* to, const V& lanes) {
  if constexpr (Width == 1) {
    *to = static_cast<U>(lanes);
  } else if constexpr (std::is_same_v<lane_of<V>, U>) {
    *reinterpret_cast<pack_in_memory<U, Width>*>(to) = lanes;
  } else if constexpr (std::is_same_v<lane_of<V>, float> && converts_short_floats<U, Width>) {
    store_short_floats<Width>(to, lanes);
  } else {
    for (int lane = 0; lane < Width; ++lane) to[lane] = static_cast<U>(lanes[lane]);
  }
}

/// Whether a pack of lanes V can be written past the caches into elements of type U.
template <class U, class V>
inline constexpr bool can_stream =
#if defined(__AVX__) && !defined(__CUDACC__)
    std::is_same_v<lane_of<V>, U> && sizeof(V) == detail::vector_bytes;
#else
    false;
#endif

/// Writes the lanes past the caches to adjacent elements, aligned to the size of the pack.
template <class U, class V>
TENON_INLINE constexpr void stream([[maybe_unused]] U* to, [[maybe_unused]] const V& lanes) {
#if defined(__AVX__) && !defined(__CUDACC__)
  asm("vmovntps %1, %0" : "=m"(*reinterpret_cast<V*>(to)) : "v"(lanes));
#endif
}

/// Orders what was streamed before what other threads do next.
inline void finish_streaming() {
#if defined(__AVX__) && !defined(__CUDACC__)
  asm volatile("sfence" ::: "memory");
#endif
}

/// `left` where the mask holds, `right` elsewhere.
template <class Mask, class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V select(Mask mask, V left, V right) {
  if constexpr (is_number<V>) {
    return mask ? left : right;
  } else {
    using wide = decltype(left == right);
    return __builtin_convertvector(mask, wide) ? left : right;
  }
}

/// `value`, but at least `low`, or at most `high`, which are numbers; NaN stays. One instruction each, unlike max and
/// min. Of two zeros it gives the value.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V at_least(V value, V low) {
#if defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (std::is_same_v<V, float>) {
    if (!std::is_constant_evaluated()) {
      asm("vmaxss %0, %1, %0" : "+x"(value) : "x"(low));
      return value;
    }
  }
  if constexpr (std::is_floating_point_v<lane_of<V>> && sizeof(V) >= 16) {
    V result;
    if constexpr (std::is_same_v<lane_of<V>, float>) {
      asm("vmaxps %2, %1, %0" : "=v"(result) : "v"(low), "v"(value));
    } else {
      asm("vmaxpd %2, %1, %0" : "=v"(result) : "v"(low), "v"(value));
    }
    return result;
  }
#endif
  return low > value ? low : value;
}
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V at_most(V value, V high) {
#if defined(__AVX__) && !defined(__CUDACC__)
  if constexpr (std::is_same_v<V, float>) {
    if (!std::is_constant_evaluated()) {
      asm("vminss %0, %1, %0" : "+x"(value) : "x"(high));
      return value;
    }
  }
  if constexpr (std::is_floating_point_v<lane_of<V>> && sizeof(V) >= 16) {
    V result;
    if constexpr (std::is_same_v<lane_of<V>, float>) {
      asm("vminps %2, %1, %0" : "=v"(result) : "v"(high), "v"(value));
    } else {
      asm("vminpd %2, %1, %0" : "=v"(result) : "v"(high), "v"(value));
    }
    return result;
  }
#endif
  return high < value ? high : value;
}

/// Whether a value takes the place of the greatest before it: NaN counts as greatest, of equal ones the first stays.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto is_greater(V value, V greatest) {
  if constexpr (std::is_same_v<decltype(value <= greatest), bool>) return !(value <= greatest) && greatest == greatest;
  else return (!(value <= greatest)) & (greatest == greatest);
}

/// The greater and the lesser of two values, lane by lane; NaN when either is NaN.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V max(V left, V right) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  // one instruction
  if constexpr (std::is_same_v<V, float>) {
    if (!__builtin_is_constant_evaluated()) {
      asm("max.NaN.f32 %0, %0, %1;" : "+f"(left) : "f"(right));
      return left;
    }
  }
#endif
  if constexpr (std::is_integral_v<lane_of<V>>) {
    return left > right ? left : right;
  } else if constexpr (is_number<V>) {
    return left > right || left != left ? left : right;
  } else {
    return left != left ? left : at_least(right, left);
  }
}
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V min(V left, V right) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800  // one instruction
  if constexpr (std::is_same_v<V, float>) {
    if (!__builtin_is_constant_evaluated()) {
      asm("min.NaN.f32 %0, %0, %1;" : "+f"(left) : "f"(right));
      return left;
    }
  }
#endif
  if constexpr (std::is_integral_v<lane_of<V>>) {
    return left < right ? left : right;
  } else if constexpr (is_number<V>) {
    return left < right || left != left ? left : right;
  } else {
    return left != left ? left : at_most(right, left);
  }
}

/// A value where it is greater than 0, and 0 elsewhere, also for -0; NaN stays.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V positive_part(V value) {
#if !defined(__CUDA_ARCH__)  // two instructions in place of three
  if constexpr (std::is_floating_point_v<lane_of<V>>) {
    return at_least(value, constant_like<V>(0)) + constant_like<V>(0);
  }
#endif
  return max(value, constant_like<V>(0));
}

/// Absolute value; of unsigned numbers the number itself, of complex ones a real number.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr auto abs(V value) {
  if constexpr (is_complex<V>) {
    return std::hypot(value.real(), value.imag());
  } else if constexpr (std::is_unsigned_v<lane_of<V>>) {
    return value;
  } else if constexpr (is_number<V> && std::is_floating_point_v<V>) {
    return std::fabs(value);
  } else if constexpr (std::is_floating_point_v<lane_of<V>>) {
    using bits = decltype(value == value);
    return as_bits<V>(as_bits<bits>(value) & ~as_bits<bits>(-V{}));  // clears the sign, also of -0 and NaN
  } else {
    return static_cast<V>(value < V{} ? -value : value);
  }
}

/// x * y + z, rounded once where the machine can. Numbers and packs give the same result. Written as a plain sum,
/// compilers would fuse some products and not others, depending on the code around them.
template <class V>
TENON_HOST_DEVICE TENON_INLINE V multiply_add(V x, V y, V z) {
#if defined(__FMA__) && !defined(__CUDACC__)
  if constexpr (is_number<V>) {
    return std::fma(x, y, z);
  } else if constexpr (sizeof(V) >= 16) {
    if constexpr (std::is_same_v<lane_of<V>, float>) {
      asm("vfmadd213ps %2, %1, %0" : "+v"(x) : "v"(y), "v"(z));
    } else {
      asm("vfmadd213pd %2, %1, %0" : "+v"(x) : "v"(y), "v"(z));
    }
    return x;
  }
#endif
  return x * y + z;
}

/// Logic of bool and of masks.
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V logical_and(V left, V right) {
  if constexpr (is_number<V>) {
    return left && right;
  } else {
    return left & right;
  }
}
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V logical_or(V left, V right) {
  if constexpr (is_number<V>) {
    return left || right;
  } else {
    return left | right;
  }
}
template <class V>
TENON_HOST_DEVICE TENON_INLINE constexpr V logical_not(V value) {
  if constexpr (is_number<V>) {
    return !value;
  } else {
    return ~value;
  }
}

/// Whether a lane of `left`, an unsigned number of 32 or 64 bits, is at least that of `right`.
template <class V>
TENON_INLINE constexpr bool any_at_least(V left, V right) {
  static_assert(std::is_unsigned_v<lane_of<V>>);
  if constexpr (is_number<V>) {
    return left >= right;
  } else {
#if defined(__AVX512F__) && !defined(__CUDACC__)
    if constexpr (sizeof(V) == 64) {
      std::uint16_t lanes;
      if constexpr (sizeof(lane_of<V>) == 4) {
        asm("vpcmpnltud %2, %1, %0" : "=k"(lanes) : "v"(left), "v"(right));
      } else {
        asm("vpcmpnltuq %2, %1, %0" : "=k"(lanes) : "v"(left), "v"(right));
      }
      return lanes != 0;
    }
#endif
    const auto holds = left >= right;
#if defined(__AVX__) && !defined(__CUDACC__)
    if constexpr (sizeof(V) >= 16) {
      bool found;
      asm("vptest %1, %1" : "=@ccnz"(found) : "x"(holds));
      return found;
    }
#endif
    bool found = false;
    for (int lane = 0; lane < width_of<V>; ++lane) found = found || holds[lane] != 0;
    return found;
  }
}

}  // namespace tenon::simd
