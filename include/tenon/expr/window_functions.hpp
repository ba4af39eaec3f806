// tenon/expr/window_functions.hpp: weights that fade a part of a signal in and out, so that its spectrum is its own.
// They are generated, computed in double: nothing is stored.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/generate.hpp>

namespace tenon {

/// weights[0] - weights[1] cos(a) + weights[2] cos(2 a), where a goes once around in `steps` offsets.
template <dtype T>
struct cosine_window_generator {
  static constexpr const char* name = "cosine_window";
  using element = T;
  array<double, 3> weights;
  index steps;

  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const double angle = 6.283185307179586 * static_cast<double>(offset) / static_cast<double>(steps);
    return converted_to<compute_type<T>>(weights[0] - weights[1] * ::cos(angle) + weights[2] * ::cos(2 * angle));
  }
};

/// Kaiser's window from offset 0 to `steps`.
template <dtype T>
struct kaiser_window_generator {
  static constexpr const char* name = "kaiser_window";
  using element = T;
  double beta;
  index steps;

  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    const double place = 2 * static_cast<double>(offset) / static_cast<double>(steps) - 1;
    const double inside = 1 - place * place;
    return converted_to<compute_type<T>>(bessel(beta * ::sqrt(inside > 0 ? inside : 0)) / bessel(beta));
  }

 private:
  /// The modified Bessel function of order 0 as a sum of positive terms, each the one before it times (x / 2k)^2.
  TENON_HOST_DEVICE static double bessel(double x) {
    double total = 1, term = 1;
    for (int k = 1; term > 1e-17 * total; ++k) term *= x / 2 / k * (x / 2 / k), total += term;
    return total;
  }
};

namespace detail {

/// How many steps a window goes from end to end; one of a single element is 1, as if it were periodic.
/// throws    shape_error where the count is negative
inline index window_steps(const char* name, index count, bool is_periodic) {
  if (count < 0) throw shape_error(compose_text(name, ": ", count, " elements, expected 0 or more"));
  return is_periodic || count < 2 ? count : count - 1;
}
template <class T>
auto cosine_window(const char* name, index count, bool is_periodic, const array<double, 3>& weights) {
  static_assert(is_floating<T> || must_hold<T>, "tenon: windows have floating elements");
  const index steps = window_steps(name, count, is_periodic);
  const array<double, 3> own = count == 1 ? array<double, 3>{{1, 0, 0}} : weights;
  return generated<cosine_window_generator<T>, rank<1>>{{own, steps}, rank<1>(count), 0, {{1}}};
}

}  // namespace detail

/// Hann's window of `count` weights, which is that of PyTorch; where it is not periodic, numpy.hanning.
/// throws    shape_error where the count is negative, as do the next ones
/// example   const auto spectrum = stft(x, hann_window<float>(512));
template <dtype T>
auto hann_window(index count, bool is_periodic = true) {
  return detail::cosine_window<T>("hann_window", count, is_periodic, {{0.5, 0.5, 0}});
}
/// Hamming's window, 0.54 - 0.46 cos; where it is not periodic, numpy.hamming.
/// example   const auto window = hamming_window<float>(512);
template <dtype T>
auto hamming_window(index count, bool is_periodic = true) {
  return detail::cosine_window<T>("hamming_window", count, is_periodic, {{0.54, 0.46, 0}});
}
/// Blackman's window, 0.42 - 0.5 cos + 0.08 cos of twice the angle; where it is not periodic, numpy.blackman.
/// example   const auto window = blackman_window<float>(512);
template <dtype T>
auto blackman_window(index count, bool is_periodic = true) {
  return detail::cosine_window<T>("blackman_window", count, is_periodic, {{0.42, 0.5, 0.08}});
}
/// Kaiser's window, the narrower the greater `beta`; where it is not periodic, numpy.kaiser.
/// throws    shape_error where the count is negative; error where beta is, or where it is above 500
/// source    Kaiser 1974: Nonrecursive digital filter design using the I0-sinh window function
/// example   const auto window = kaiser_window<float>(512, true, 12);
template <dtype T>
auto kaiser_window(index count, bool is_periodic = true, double beta = 12) {
  static_assert(is_floating<T> || must_hold<T>, "tenon: windows have floating elements");
  if (!(beta >= 0 && beta <= 500)) throw error(compose_text("kaiser_window: beta ", beta, ", expected 0 to 500"));
  const index steps = detail::window_steps("kaiser_window", count, is_periodic);
  return generated<kaiser_window_generator<T>, rank<1>>{{count == 1 ? 0 : beta, steps}, rank<1>(count), 0, {{1}}};
}

}  // namespace tenon
