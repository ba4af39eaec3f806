// tenon/expr/monoids.hpp: what reductions fold with.
// A monoid has an identity and an associative `combine`; `lift` makes a state of a value, `finish` a result of a state.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/dtype.hpp>
#include <tenon/device/simd.hpp>
#include <tenon/device/simd_integer.hpp>

namespace tenon {

/// Monoids whose state is one number and whose `combine` and `finish` work on packs too. `lanewise` is the monoid that
/// says so, as a state of its values is these: one that inherits it and has a `lift` of its own is not.
template <class Monoid>
inline constexpr bool is_lanewise = [] {
  if constexpr (requires { typename Monoid::lanewise::lanewise; }) {
    return &Monoid::template lift<index, index> == &Monoid::lanewise::template lift<index, index>;
  } else {
    return false;
  }
}();

/// `combine` of a monoid as a function object.
template <class Monoid>
struct combination {
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE constexpr V operator()(V left, V right) const {
    return Monoid::combine(left, right);
  }
};

/// Sum; integers and bool in 64 bits, which wrap around, half and bfloat16 in float. Empty: 0.
struct sum_monoid {
  static constexpr const char* name = "sum";
  static constexpr bool has_identity = true;
  using lanewise = sum_monoid;
  template <class T>
  using state = sum_type<T>;
  template <class T>
  using element = std::conditional_t<is_floating<T>, T, sum_type<T>>;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return State(0);
  }
  template <class State, class V>
  TENON_HOST_DEVICE static constexpr State lift(V value, index) {
    return static_cast<State>(value);
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return simd::unwrapped<V>(simd::wrapping(left) + simd::wrapping(right));
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index) {
    return static_cast<Result>(state);
  }
};

/// Arithmetic mean; of integers in float, those of 64 bits summed in double. Empty: NaN.
struct mean_monoid : sum_monoid {
  static constexpr const char* name = "mean";
  template <class T>
  using state = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, double, sum_type<T>>;
  template <class T>
  using element = std::conditional_t<is_floating<T>, T, float>;
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index count) {
    return static_cast<Result>(state) / simd::constant_like<Result>(count);
  }
};

/// Product. Empty: 1.
struct prod_monoid : sum_monoid {
  static constexpr const char* name = "prod";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return State(1);
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return simd::unwrapped<V>(simd::wrapping(left) * simd::wrapping(right));
  }
};

/// Greatest value; NaN when any value is NaN, as in NumPy. Empty: throws.
struct max_monoid {
  static constexpr const char* name = "max";
  static constexpr bool has_identity = false;
  using lanewise = max_monoid;
  template <class T>
  using state = compute_type<T>;
  template <class T>
  using element = T;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return lowest_value<State>();
  }
  template <class State, class V>
  TENON_HOST_DEVICE static constexpr State lift(V value, index) {
    return value;
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return simd::max(left, right);
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index) {
    return static_cast<Result>(state);
  }
};

/// Least value; NaN when any value is NaN, as in NumPy. Empty: throws.
struct min_monoid : max_monoid {
  static constexpr const char* name = "min";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return highest_value<State>();
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return simd::min(left, right);
  }
};

/// Greatest value that is not NaN; NaN when there is none. Empty: throws.
struct nanmax_monoid : max_monoid {
  static constexpr const char* name = "nanmax";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return State(__builtin_nan(""));
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return right != right ? left : simd::at_least(right, left);
  }
};

/// Least value that is not NaN; NaN when there is none. Empty: throws.
struct nanmin_monoid : nanmax_monoid {
  static constexpr const char* name = "nanmin";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V combine(V left, V right) {
    return right != right ? left : simd::at_most(right, left);
  }
};

/// A value and where it stood among the reduced.
template <class T>
struct located {
  T value;
  index position;
};

/// Position of the first greatest value, counted within the reduced axes; the first NaN when there is one. Empty:
/// throws.
struct argmax_monoid {
  static constexpr const char* name = "argmax";
  static constexpr bool has_identity = false;
  template <class T>
  using state = located<compute_type<T>>;
  template <class T>
  using element = std::int64_t;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return {lowest_value<decltype(State::value)>(), highest_value<index>()};
  }
  template <class State, class V>
  TENON_HOST_DEVICE static constexpr State lift(V value, index position) {
    return {value, position};
  }
  template <class State>
  TENON_HOST_DEVICE static constexpr State combine(State left, State right) {
    const bool left_is_nan = left.value != left.value, right_is_nan = right.value != right.value;
    const bool tied = left.value == right.value || (left_is_nan && right_is_nan);
    if (tied) return left.position < right.position ? left : right;
    return left_is_nan || (!right_is_nan && left.value > right.value) ? left : right;
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index) {
    return static_cast<Result>(state.position);
  }
};

/// Position of the first least value; as argmax otherwise.
struct argmin_monoid : argmax_monoid {
  static constexpr const char* name = "argmin";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return {highest_value<decltype(State::value)>(), highest_value<index>()};
  }
  template <class State>
  TENON_HOST_DEVICE static constexpr State combine(State left, State right) {
    const bool left_is_nan = left.value != left.value, right_is_nan = right.value != right.value;
    const bool tied = left.value == right.value || (left_is_nan && right_is_nan);
    if (tied) return left.position < right.position ? left : right;
    return left_is_nan || (!right_is_nan && left.value < right.value) ? left : right;
  }
};

/// Whether every value is true. Empty: true.
struct all_monoid {
  static constexpr const char* name = "all";
  static constexpr bool has_identity = true;
  template <class T>
  using state = bool;
  template <class T>
  using element = bool;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return true;
  }
  template <class State, class V>
  TENON_HOST_DEVICE static constexpr State lift(V value, index) {
    return value != V(0);
  }
  TENON_HOST_DEVICE static constexpr bool combine(bool left, bool right) { return left && right; }
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index) {
    return state;
  }
};

/// Whether any value is true. Empty: false.
struct any_monoid : all_monoid {
  static constexpr const char* name = "any";
  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return false;
  }
  TENON_HOST_DEVICE static constexpr bool combine(bool left, bool right) { return left || right; }
};

/// Count, mean and summed squared distance from the mean.
template <class T>
struct moments {
  T count, mean, distance;
};

/// The element type of the variance of elements `T`.
template <class T>
struct variance_element {
  static_assert(!is_complex<T>, "tenon: of complex numbers the variance is variance(real(z)) + variance(imag(z))");
  using type = std::conditional_t<is_floating<T>, T, float>;
};

/// Variance (biased: divided by the number of values), stable in one pass. Empty, or of infinities: NaN. Integers that
/// float does not hold, as points in time, are folded in double: rounded first, they would differ by their rounding.
/// source    Chan, Golub, LeVeque 1979: Updating formulae and a pairwise algorithm for computing sample variances
struct variance_monoid {
  static constexpr const char* name = "variance";
  static constexpr bool has_identity = true;
  template <class T>
  using state =
      moments<std::conditional_t<is_floating<T>, compute_type<T>, std::conditional_t<(sizeof(T) > 2), double, float>>>;
  template <class T>
  using element = typename variance_element<T>::type;

  template <class State>
  TENON_HOST_DEVICE static constexpr State identity() {
    return {0, 0, 0};
  }
  template <class State, class V>
  TENON_HOST_DEVICE static constexpr State lift(V value, index) {
    return {1, static_cast<decltype(State::mean)>(value), 0};
  }
  template <class T>
  TENON_HOST_DEVICE static constexpr moments<T> combine(moments<T> left, moments<T> right) {
    if (left.count == 0) return right;
    if (right.count == 0) return left;
    const T count = left.count + right.count, step = right.mean - left.mean, share = right.count / count;
    return {count, left.mean + step * share, left.distance + right.distance + step * step * left.count * share};
  }
  template <class Result, class State>
  TENON_HOST_DEVICE static constexpr Result finish(State state, index) {
    const auto beside_infinity = state.mean - state.mean;  // NaN where the mean is infinite, else 0
    return static_cast<Result>(state.distance / state.count + beside_infinity);
  }
};

}  // namespace tenon
