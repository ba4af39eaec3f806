// tenon/device/simd_partial.hpp: packs of which only the first lanes lie in memory.
// The ends of rows are done in packs too: nothing past the last element is read or written.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

namespace tenon::simd {

/// Keeps the loop that it stands in as short as it is written: neither unrolled nor made of packs.
TENON_INLINE void keep_loop_short() { asm volatile(""); }

/// The same truth, of which compilers know nothing: a loop that asks stays one, where they would make one for each
/// answer.
TENON_INLINE bool opaque(bool truth) {
  asm("" : "+r"(truth));
  return truth;
}

/// Whether the machine moves the first lanes of a pack alone: then the ends of rows are packs too.
inline constexpr bool has_partial_packs =
#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__CUDACC__)
    true;
#else
    false;
#endif

namespace detail {

/// Whether one instruction moves the first lanes of a V between elements U and a register.
template <class U, class V>
inline constexpr bool moves_lanes =
    has_partial_packs && std::is_same_v<lane_of<V>, U> && std::is_arithmetic_v<U> && sizeof(V) >= 16;

/// Whether one instruction loads those lanes of a V of which a pack of truths says so.
template <class V>
inline constexpr bool loads_true_lanes =
#if defined(__AVX2__) && !defined(__CUDACC__)
    !has_partial_packs && sizeof(V) == 32 && sizeof(lane_of<V>) >= 4;
#else
    false;
#endif

#if defined(__AVX2__) && !defined(__CUDACC__)
/// The bytes of a V anywhere in memory, of elements of any type: tells the compiler what an instruction may read.
template <class V>
struct [[gnu::packed, gnu::may_alias]] bytes_of_pack {
  std::byte bytes[sizeof(V)];
};

/// The truths stay in memory: of 16 registers, loops have none left for them.
template <class V>
TENON_INLINE V load_true_lanes(const void* from, const decltype(V{} == V{})& truths) {
  const auto& there = *static_cast<const bytes_of_pack<V>*>(from);
  V result;
  if constexpr (sizeof(lane_of<V>) == 8) {
    asm("vmovapd %2, %0; vmaskmovpd %1, %0, %0" : "=&x"(result) : "m"(there), "m"(truths));
  } else {
    asm("vmovaps %2, %0; vmaskmovps %1, %0, %0" : "=&x"(result) : "m"(there), "m"(truths));
  }
  return result;
}
#endif

#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__CUDACC__)
template <class V>
TENON_INLINE V load_lanes(const void* from, unsigned mask) {
  const auto& there = *static_cast<const bytes_of_pack<V>*>(from);
  V result;
  if constexpr (sizeof(lane_of<V>) == 8) {
    asm("vmovupd %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(there), "Yk"(mask));
  } else if constexpr (sizeof(lane_of<V>) == 4) {
    asm("vmovups %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(there), "Yk"(mask));
  } else if constexpr (sizeof(lane_of<V>) == 2) {
    asm("vmovdqu16 %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(there), "Yk"(mask));
  } else {
    asm("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(there), "Yk"(mask));
  }
  return result;
}
template <class V>
TENON_INLINE void store_lanes(void* to, V lanes, unsigned mask) {
  if constexpr (sizeof(lane_of<V>) == 8) {
    asm volatile("vmovupd %1, (%0)%{%2%}" : : "r"(to), "v"(lanes), "Yk"(mask) : "memory");
  } else if constexpr (sizeof(lane_of<V>) == 4) {
    asm volatile("vmovups %1, (%0)%{%2%}" : : "r"(to), "v"(lanes), "Yk"(mask) : "memory");
  } else if constexpr (sizeof(lane_of<V>) == 2) {
    asm volatile("vmovdqu16 %1, (%0)%{%2%}" : : "r"(to), "v"(lanes), "Yk"(mask) : "memory");
  } else {
    asm volatile("vmovdqu8 %1, (%0)%{%2%}" : : "r"(to), "v"(lanes), "Yk"(mask) : "memory");
  }
}
#endif

/// The first `count` elements of a pack, 0 in the other lanes, one by one.
template <class T, int Width, class U>
[[gnu::noinline]] pack<T, Width> load_one_by_one(const U* from, index count) {
  U elements[Width] = {};
  for (index lane = 0; lane < count; ++lane) elements[lane] = from[lane];
  return load<T, Width>(elements);
}

template <class T, int Width>
[[gnu::noinline]] pack<T, Width> load_inside_one_by_one(const T* row, index first, index extent) {
  T elements[Width] = {};
  for (index lane = 0; lane < Width; ++lane) {
    if (first + lane >= 0 && first + lane < extent) elements[lane] = row[first + lane];
  }
  return load<T, Width>(elements);
}

template <int Width, class U, class V>
[[gnu::noinline]] void store_one_by_one(U* to, V lanes, index count) {
  U elements[Width];
  store<Width>(elements, lanes);
  for (index lane = 0; lane < count; ++lane) to[lane] = elements[lane];
}

template <int Width>
constexpr unsigned first_lanes(index count) {
  constexpr unsigned all = Width >= 32 ? ~0u : (1u << (Width % 32)) - 1;
  return count >= Width ? all : (1u << count) - 1;
}

}  // namespace detail

/// The first `count` elements of a pack, all of a greater count, converted to T; other lanes may be anything.
template <class T, int Width, class U>
TENON_INLINE pack<T, Width> load_part(const U* from, index count) {
#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__CUDACC__)
  if constexpr (std::is_same_v<T, U> && detail::moves_lanes<U, pack<T, Width>>) {
    return detail::load_lanes<pack<T, Width>>(from, detail::first_lanes<Width>(count));
  } else if constexpr (std::is_same_v<T, float> && converts_short_floats<U, Width>) {
    using words = pack<std::uint16_t, Width>;
    const auto bits = detail::load_lanes<words>(from, detail::first_lanes<Width>(count));
    U elements[Width];
    std::memcpy(elements, &bits, sizeof(elements));
    return load<T, Width>(elements);
  }
#endif
  return count >= Width ? load<T, Width>(from) : detail::load_one_by_one<T, Width>(from, count);
}

/// The first `count` lanes of a pack, and the others of `rest`.
template <class V>
TENON_INLINE V first_lanes(V lanes, V rest, index count) {
  using numbers = decltype(lanes == lanes);
  using number = lane_of<numbers>;
  constexpr auto each = []<int... Lane>(std::integer_sequence<int, Lane...>) {
    return numbers{static_cast<number>(Lane)...};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof(V) / sizeof(number))>{});
  return select(each < static_cast<number>(count), lanes, rest);
}

/// Which lanes of a pack that begins at element `first` lie within rows of `extent` elements.
template <class T, int Width>
class inside_lanes {
 public:
  TENON_INLINE inside_lanes(index first, index extent) : first_(first), extent_(extent) {
    if constexpr (detail::moves_lanes<T, V>) {
      const unsigned before = first < 0 ? detail::first_lanes<Width>(-first) : 0;
      mask_ = extent <= first ? 0 : detail::first_lanes<Width>(extent - first) & ~before;
    } else if constexpr (detail::loads_true_lanes<V>) {
      for (int lane = 0; lane < Width; ++lane) mask_[lane] = first + lane >= 0 && first + lane < extent ? -1 : 0;
    }
  }
  /// The elements of a row; 0 in lanes outside.
  TENON_INLINE pack<T, Width> load(const T* row) const {
#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__CUDACC__)
    if constexpr (detail::moves_lanes<T, V>) return detail::load_lanes<V>(row + first_, mask_);
#elif defined(__AVX2__) && !defined(__CUDACC__)
    if constexpr (detail::loads_true_lanes<V>) return detail::load_true_lanes<V>(row + first_, mask_);
#endif
    if (first_ >= 0 && first_ + Width <= extent_) return simd::load<T, Width>(row + first_);
    return detail::load_inside_one_by_one<T, Width>(row, first_, extent_);
  }

 private:
  using V = pack<T, Width>;
  using mask = std::conditional_t<detail::loads_true_lanes<V>, decltype(V{} == V{}), unsigned>;
  index first_, extent_;
  mask mask_{};
};

/// Writes the first `count` lanes, all of a greater count, to adjacent elements, converted to U.
template <int Width, class U, class V>
TENON_INLINE void store_part(U* to, const V& lanes, index count) {
#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__CUDACC__)
  if constexpr (detail::moves_lanes<U, V>) {
    return detail::store_lanes(to, lanes, detail::first_lanes<Width>(count));
  }
#endif
  if (count >= Width) return store<Width>(to, lanes);
  detail::store_one_by_one<Width>(to, lanes, count);
}

#if !defined(__CUDACC__)
namespace detail {

/// Where elements `Stride` apart lie in as many packs side by side. The last one begins early, so that nothing past the
/// last element is read.
template <int Stride, int Width>
struct apart_in_packs {
  static_assert(Stride <= Width + 1);
  static constexpr int start(int number) { return number < Stride - 1 ? number * Width : number * (Width - 1); }
  static constexpr int pack_of(int lane) { return lane * Stride / Width; }
};

/// The lanes that pack `Number` holds join those of the packs before it.
template <int Stride, int Number, class V, int... Lane>
TENON_INLINE V join_apart(const V& before, const V& next, std::integer_sequence<int, Lane...>) {
  using places = apart_in_packs<Stride, width_of<V>>;
  return __builtin_shufflevector(before, next,
                                 (places::pack_of(Lane) == Number ? width_of<V> + Lane * Stride - places::start(Number)
                                  : Number == 1 && places::pack_of(Lane) == 0 ? Lane * Stride
                                                                              : Lane)...);
}

template <int Stride, class T, int Width, int... Number>
TENON_INLINE pack<T, Width> joined_apart(const T* from, std::integer_sequence<int, Number...>) {
  constexpr std::make_integer_sequence<int, Width> lanes{};
  pack<T, Width> result = load<T, Width>(from);
  ((result = join_apart<Stride, Number + 1>(
        result, load<T, Width>(from + apart_in_packs<Stride, Width>::start(Number + 1)), lanes)),
   ...);
  return result;
}

}  // namespace detail

/// `Width` elements `Stride` apart, by loads of whole packs.
template <int Stride, int Width, class T>
TENON_INLINE pack<T, Width> load_apart(const T* from) {
  return detail::joined_apart<Stride, T, Width>(from, std::make_integer_sequence<int, Stride - 1>{});
}
#endif

/// `Width` elements `stride` apart, converted to T. Out of line: statements with strided operands stay short.
template <class T, int Width, class U>
[[gnu::noinline]] pack<T, Width> gather(const U* from, index stride) {
#if !defined(__CUDACC__)
  if constexpr (std::is_same_v<T, U> && !std::is_same_v<T, bool> && Width >= 4) {
    if (stride == 2) return load_apart<2, Width>(from);
    if (stride == 3) return load_apart<3, Width>(from);
    if (stride == 4) return load_apart<4, Width>(from);
  }
#endif
  return generate<T, Width>([from, stride](index lane) { return static_cast<T>(from[lane * stride]); });
}

/// The same of the first `count` lanes.
template <class T, int Width, class U>
[[gnu::noinline]] pack<T, Width> gather(const U* from, index stride, index count) {
  U elements[Width] = {};
  for (index lane = 0; lane < Width && lane < count; ++lane) elements[lane] = from[lane * stride];
  return load<T, Width>(elements);
}

}  // namespace tenon::simd
