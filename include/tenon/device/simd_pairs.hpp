// tenon/device/simd_pairs.hpp: packs of numbers with the rounding errors that belong to them.
// What a sum or product loses is kept beside it: functions whose errors grow with their arguments need twice the bits.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_tables.hpp>

namespace tenon::simd {

namespace detail {

/// x with the lower half of its mantissa cleared, so that products of two such numbers are exact.
template <class V>
TENON_INLINE V upper_half(V x) {
  constexpr int half = (table_of<V>::mantissa_bits + 2) / 2;
  return as_bits<V>((as_bits<whole_lanes<V>>(x) >> half) << half);
}

/// x * y - product where product is near it: exact in one instruction, or nearly so with Dekker's products of halves.
template <class V>
TENON_INLINE V product_error(V x, V y, V product) {
#if defined(__FMA__) && !defined(__CUDACC__)
  if constexpr (is_number<V> || sizeof(V) >= 16) return multiply_add(x, y, V(-product));
#endif
  const V a = upper_half(x), b = x - a, c = upper_half(y), d = y - c;
  return (((a * c - product) + a * d) + b * c) + b * d;
}

}  // namespace detail

/// The number high + low, where high is it rounded.
/// source    Dekker 1971, a floating-point technique for extending the available precision
template <class V>
struct pair_of {
  V high, low;
};

/// x * y, to twice the bits of a number.
template <class V>
TENON_INLINE pair_of<V> exact_product(V x, V y) {
  const V product = x * y;
  return {product, detail::product_error(x, y, product)};
}

/// x + y, exactly where |x| >= |y| or x is 0.
template <class V>
TENON_INLINE pair_of<V> ordered_sum(V x, V y) {
  const V high = x + y;
  return {high, y - (high - x)};
}

/// x + y, exactly, whichever is greater.
/// source    Knuth, the art of computer programming 4.2.2
template <class V>
TENON_INLINE pair_of<V> exact_sum(V x, V y) {
  const V high = x + y, part = high - x;
  return {high, (x - (high - part)) + (y - part)};
}

/// A product of pairs, to nearly twice the bits of a number.
template <class V>
TENON_INLINE pair_of<V> operator*(const pair_of<V>& x, const pair_of<V>& y) {
  const pair_of<V> product = exact_product(x.high, y.high);
  return {product.high, multiply_add(x.high, y.low, multiply_add(x.low, y.high, product.low))};
}

/// A sum of pairs where |x| >= |y| or x is 0.
template <class V>
TENON_INLINE pair_of<V> ordered_sum(const pair_of<V>& x, const pair_of<V>& y) {
  const pair_of<V> sum = ordered_sum(x.high, y.high);
  return {sum.high, sum.low + (x.low + y.low)};
}

/// x + y * z where |x| >= |y z|; the product is rounded where the machine cannot fuse it.
template <class V>
TENON_INLINE pair_of<V> add_product(const pair_of<V>& x, V y, V z) {
  const V high = multiply_add(y, z, x.high);
  return {high, multiply_add(y, z, V(x.high - high)) + x.low};
}

/// 1 / x
template <class V>
TENON_INLINE pair_of<V> inverse_of(const pair_of<V>& x) {
  const V high = 1 / x.high, error = detail::product_error(high, x.high, constant_like<V>(1));
  return {high, -multiply_add(high, x.low, error) * high};
}

/// first[0] + x (first[1] + ... x (rest[0] + x (rest[1] + ...))), where `rest` weighs so little that it may be rounded.
template <class V, int First, int Rest>
TENON_INLINE pair_of<V> polynomial(const pair_of<V>& x, const array<lane_of<V>, First>& first,
                                   const array<lane_of<V>, Rest>& rest) {
  pair_of<V> sum{polynomial(x.high, rest), {}};
  for (int k = First - 1; k >= 0; --k) {
    const pair_of<V> product = x * sum;
    sum = exact_sum(constant_like<V>(first[k]), product.high);
    sum.low += product.low;
  }
  return sum;
}

/// The same pair in every lane.
template <class V>
TENON_INLINE pair_of<V> constant_pair(const pair_of<lane_of<V>>& number) {
  return {constant_like<V>(number.high), constant_like<V>(number.low)};
}

}  // namespace tenon::simd
