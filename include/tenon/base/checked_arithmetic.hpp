// tenon/base/checked_arithmetic.hpp: sums and products of extents that know whether they fit.
// What is computed of a number that does not fit does not fit either, so one question at the end is enough.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <type_traits>

namespace tenon {

/// An index and whether it is the number that was computed, or that did not fit. Constant expressions do without the
/// builtins, which nvcc lacks there: compilers refuse those that do not fit.
/// example   const checked_extent end = checked_extent(extent) + before + after;
///           if (!end.fits()) throw shape_error(...);
class checked_extent {
 public:
  constexpr checked_extent(index number) : value_(number) {}

  constexpr bool fits() const { return fits_; }
  /// The number, where it fits.
  constexpr index value() const { return value_; }

  friend constexpr checked_extent operator+(checked_extent left, checked_extent right) {
    if (std::is_constant_evaluated()) return left.value_ + right.value_;
    index result = 0;
    const bool overflows = __builtin_add_overflow(left.value_, right.value_, &result);
    return {result, left.fits_ && right.fits_ && !overflows};
  }
  friend constexpr checked_extent operator-(checked_extent left, checked_extent right) {
    if (std::is_constant_evaluated()) return left.value_ - right.value_;
    index result = 0;
    const bool overflows = __builtin_sub_overflow(left.value_, right.value_, &result);
    return {result, left.fits_ && right.fits_ && !overflows};
  }
  friend constexpr checked_extent operator*(checked_extent left, checked_extent right) {
    if (std::is_constant_evaluated()) return left.value_ * right.value_;
    index result = 0;
    const bool overflows = __builtin_mul_overflow(left.value_, right.value_, &result);
    return {result, left.fits_ && right.fits_ && !overflows};
  }

 private:
  constexpr checked_extent(index number, bool fits) : value_(number), fits_(fits) {}

  index value_;
  bool fits_ = true;
};

/// A number, but at least `low` and at most `high`.
constexpr index clamped(index number, index low, index high) {
  return number < low ? low : number > high ? high : number;
}

}  // namespace tenon
