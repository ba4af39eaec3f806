// tenon/core/kept_number.hpp: a number that a checkpoint keeps, and which ones it may be.
// Its owner says how it is set, so that a file is checked whole before anything of it is taken.
// Floor 1: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/base/dtype.hpp>
#include <type_traits>
#include <utility>

namespace tenon {

/// Numbers from `least` to `most`.
template <dtype T>
struct number_bounds {
  T least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
};

/// A number of some owner that is more than a variable: `set(number)` gives it another one, which must lie within the
/// bounds, and must not throw then. Visitors of state are given it in place of the number, and use it alike. What older
/// files lack is not `is_needed`: it stays as it is there.
/// example   visitor("step", kept);  // kept_number kept(steps, {.least = 0}, [&](auto given) { set_steps(given); });
template <dtype T, class Set>
class kept_number {
 public:
  kept_number(T value, const number_bounds<T>& bounds, Set set, bool is_needed = true)
      : value_(value), bounds_(bounds), set_(std::move(set)), is_needed_(is_needed) {}

  operator T() const { return value_; }
  T number() const { return value_; }
  kept_number& operator=(T given) {
    set_(given);
    value_ = given;
    return *this;
  }
  const number_bounds<T>& bounds() const { return bounds_; }
  bool is_needed() const { return is_needed_; }

 private:
  T value_;
  number_bounds<T> bounds_;
  Set set_;
  bool is_needed_;
};

/// A variable that may hold some numbers only.
template <dtype T>
auto kept_within(T& variable, const number_bounds<T>& bounds, bool is_needed = true) {
  return kept_number(variable, bounds, [&variable](T given) { variable = given; }, is_needed);
}

/// A number that a file must have as it is here, where it has it.
template <dtype T>
auto kept_fixed(T number) {
  return kept_number(number, {number, number}, [](T) {}, /*is_needed=*/false);
}

/// Whether T is a `kept_number`.
template <class T>
inline constexpr bool is_kept_number = false;
template <dtype T, class Set>
inline constexpr bool is_kept_number<kept_number<T, Set>> = true;

/// What visitors of state take as a number.
template <class T>
inline constexpr bool is_number_of_state = std::is_arithmetic_v<T> || is_kept_number<T>;

}  // namespace tenon
