// tenon/expr/random_normal.hpp: logarithms and normal numbers from random bits.
// Doubles come one by one or in the lanes of a pack, by one template and with the same bits.
// Floor 2: may include base, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <tenon/base/philox.hpp>
#include <tenon/device/simd_math.hpp>
#include <tenon/expr/generate.hpp>
#include <type_traits>

#if defined(__clang__)
#pragma clang diagnostic push  // as in program.hpp
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon::detail {

/// `x * y + z`, rounded once, of numbers or packs; y and z may be numbers beside a pack.
template <class V, class Factor, class Summand>
TENON_HOST_DEVICE TENON_INLINE V fused(V x, Factor y, Summand z) {
  if constexpr (simd::is_number<V>) return multiply_add(x, y, z);
  else if constexpr (simd::is_number<Factor>) return fused(x, simd::constant_like<V>(y), z);
  else if constexpr (simd::is_number<Summand>) return fused(x, y, simd::constant_like<V>(z));
  else return simd::multiply_add(x, y, z);
}

template <class V, class Number, class... More>
TENON_HOST_DEVICE TENON_INLINE V horner(V x, Number first, More... more) {
  if constexpr (sizeof...(More) == 0) return simd::constant_like<V>(first);
  else return fused(horner(x, more...), x, first);
}

/// Words of 32 bits as doubles; those of a pack lie in lanes of 64 bits.
template <class Word>
TENON_HOST_DEVICE TENON_INLINE auto doubles_of(Word words) {
  if constexpr (simd::is_number<Word>) return static_cast<double>(words);
  else return simd::as_bits<simd::pack<double, simd::width_of<Word>>>(words | 0x4330000000000000u) - 0x1p52;
}

/// `philox_bits` at the positions of a pack.
template <class Positions>
TENON_INLINE array<Positions, 4> philox_lanes(std::uint64_t seed, Positions positions, std::uint32_t stream) {
  return philox4x32<Positions>(
      {positions & 0xffffffffu, positions >> 32, Positions{}, simd::constant_like<Positions>(stream)},
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

/// The bits of `Count` blocks from number `first` on: word k of each in the lanes of pack k.
template <int Count>
TENON_INLINE auto philox_neighbours(std::uint64_t seed, std::uint64_t first, std::uint32_t stream) {
  return philox_lanes(seed, steps_from<Count>(first, std::uint64_t{1}), stream);
}

/// The lanes of two packs in turns.
template <class V, int... Lane>
TENON_INLINE auto in_turns(const V& even, const V& odd, std::integer_sequence<int, Lane...>) {
#if !defined(__CUDACC__)
  return __builtin_shufflevector(even, odd, (Lane / 2 + Lane % 2 * simd::width_of<V>)...);
#endif
}
template <class V>
TENON_INLINE auto in_turns(const V& even, const V& odd) {
  return in_turns(even, odd, std::make_integer_sequence<int, 2 * simd::width_of<V>>{});
}

/// The words of neighbouring blocks one after another, two in each lane.
template <class V>
TENON_INLINE auto in_word_order(const array<V, 4>& blocks) {
  return in_turns(V(blocks[0] | blocks[1] << 32), V(blocks[2] | blocks[3] << 32));
}

/// 64-bit lanes as twice as many of 32 bits.
template <class V>
TENON_INLINE auto halves_of(const V& lanes) {
  return simd::as_bits<simd::pack<std::uint32_t, 2 * simd::width_of<V>>>(lanes);
}

/// Words of 32 bits, taken for signed numbers, as floats.
template <class Word>
TENON_HOST_DEVICE TENON_INLINE auto floats_of(Word words) {
  return simd::convert<std::int32_t, float>(simd::as_bits<simd::pack<std::int32_t, simd::width_of<Word>>>(words));
}

/// The logarithm of (bits + 1) / 2^32. Every product is exact or within a multiply_add, so that no compiler rounds it
/// otherwise; so are those of `normal_from_bits`.
/// source    Cephes library (Moshier): coefficients of logf
template <class Word>
TENON_HOST_DEVICE TENON_INLINE auto log_from_bits(Word bits) {
  using numbers = simd::pack<float, simd::width_of<Word>>;
  const auto number = simd::select(bits == 0xffffffffu, simd::constant_like<numbers>(0x1p32f),
                                   numbers(simd::convert<std::uint32_t, float>(static_cast<Word>(bits + 1u))));
  const Word raw = simd::as_bits<Word>(number) - 0x3f3504f3u;  // sqrt(1/2)
  const numbers exponent = floats_of(static_cast<Word>(raw >> 23)) - 32.0f;
  const numbers m = simd::as_bits<numbers>((raw & 0x007fffffu) + 0x3f3504f3u) - 1.0f, square = m * m;
  const numbers p = horner(m, 3.3333331174e-1f, -2.4999993993e-1f, 2.0000714765e-1f, -1.6668057665e-1f,
                           1.4249322787e-1f, -1.2420140846e-1f, 1.1676998740e-1f, -1.1514610310e-1f, 7.0376836292e-2f);
  return fused(exponent, 0.693147181f, numbers(m + fused(numbers(m * square), p, numbers(-0.5f * square))));
}

/// The logarithm of (bits + 1) / 2^64, of 64 bits in two halves.
/// source    FreeBSD libm (Sun Microsystems): coefficients of log
template <class Word>
TENON_HOST_DEVICE TENON_INLINE auto log_from_bits(Word high, Word low) {
  const auto number = fused(doubles_of(high), 0x1p32, doubles_of(low) + 1.0);
  using numbers = std::remove_const_t<decltype(number)>;
  const auto raw = simd::as_bits<simd::pack<std::uint64_t, simd::width_of<numbers>>>(number) - 0x3fe6a09e667f3bcdu;
  const numbers exponent = doubles_of(static_cast<Word>(raw >> 52)) - 64.0;
  const numbers m = simd::as_bits<numbers>((raw & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;  // from sqrt(1/2)
  const numbers half = 0.5 * m, s = m / (2.0 + m), square = s * s;
  const numbers p =
      horner(square, 6.666666666666735130e-1, 3.999999999940941908e-1, 2.857142874366239149e-1, 2.222219843214978396e-1,
             1.818357216161805012e-1, 1.531383769920937332e-1, 1.479819860511658591e-1);
  const numbers rest = fused(s, fused(square, p, numbers(half * m)), numbers(exponent * 1.90821492927058770002e-10));
  return fused(exponent, 6.93147180369123816490e-1, numbers(fused(numbers(-half), m, rest) + m));
}

/// One of the two standard normal numbers that 64 random bits give: `second` is 0 or 1.
/// source    Box, Muller 1958; Cephes library (Moshier): coefficients of sinf and cosf
template <class Word>
TENON_HOST_DEVICE TENON_INLINE auto normal_from_bits(Word radius_bits, Word angle_bits,
                                                     std::type_identity_t<Word> second) {
  using numbers = simd::pack<float, simd::width_of<Word>>;
  const numbers radius = simd::sqrt(numbers(-2.0f * log_from_bits(radius_bits)));
  const Word quadrant = (angle_bits >> 30) + second * 3u;  // sin x = cos (x - pi / 2)
  const auto within = static_cast<Word>((angle_bits & 0x3fffffffu) - 0x20000000u);
  const numbers angle = floats_of(within) * 1.46291807927e-9f;  // pi / 2^31: within pi / 4 of 0
  const numbers square = angle * angle;
  const numbers sine =
      fused(numbers(square * angle), horner(square, -1.6666654611e-1f, 8.3321608736e-3f, -1.9515295891e-4f), angle);
  const numbers cosine =
      fused(numbers(square * square), horner(square, 4.166664568e-2f, -1.388731625e-3f, 2.443315711e-5f),
            fused(square, -0.5f, 1.0f));
  const numbers part = simd::select((quadrant & 1u) == 0u, cosine, sine);
  return numbers(radius * simd::select(((quadrant + 1u) & 2u) == 0u, part, numbers(-part)));
}

/// One of the two standard normal doubles that 128 random bits give: `second` is 0 or 1.
/// source    Box, Muller 1958; Cephes library (Moshier): coefficients of sin and cos
template <class Word = std::uint32_t>
TENON_HOST_DEVICE TENON_INLINE auto normal_from_bits(const array<Word, 4>& bits, std::type_identity_t<Word> second) {
  using numbers = decltype(log_from_bits(bits[0], bits[1]));
  const numbers radius = simd::sqrt(numbers(-2.0 * log_from_bits(bits[0], bits[1])));
  const Word quadrant = (bits[2] >> 30) + second * 3u;  // sin x = cos (x - pi / 2)
  const numbers within = doubles_of(static_cast<Word>(bits[2] & 0x3fffffffu)) - 0x1p29;
  const numbers angle = fused(within, 0x1p32, doubles_of(bits[3])) * 3.4061215800865545e-19;  // pi / 2^63
  const numbers square = angle * angle;
  const numbers sine =
      fused(numbers(square * angle),
            horner(square, -1.66666666666666307295e-1, 8.33333333332211858878e-3, -1.98412698295895385996e-4,
                   2.75573136213857245213e-6, -2.50507477628578072866e-8, 1.58962301576546568060e-10),
            angle);
  const numbers cosine =
      fused(numbers(square * square),
            horner(square, 4.16666666666665929218e-2, -1.38888888888730564116e-3, 2.48015872888517045348e-5,
                   -2.75573141792967388112e-7, 2.08757008419747316778e-9, -1.13585365213876817300e-11),
            fused(square, -0.5, 1.0));
  const numbers part = simd::select((quadrant & 1u) == 0u, cosine, sine);
  return numbers(radius * simd::select(((quadrant + 1u) & 2u) == 0u, part, numbers(-part)));
}

}  // namespace tenon::detail

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
