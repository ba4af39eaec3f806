// tenon/nn/likelihood_loss.hpp: negative logarithms of likelihoods, where a network predicts a distribution.
// Definitions, options and reductions are those of PyTorch; gradients follow from the expressions.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/distance_loss.hpp>

namespace tenon::nn {

/// Options of poisson_nll_loss, with PyTorch's defaults: whether x are logarithms of rates, and whether the loss has
/// the terms of the target alone.
template <bool LogInput = true, bool Full = false>
struct poisson_nll_options {
  double epsilon = 1e-8;  // added to rates, so that their logarithms are finite
};

/// Options of gaussian_nll_loss, with PyTorch's defaults.
struct gaussian_nll_options {
  bool full = false;      // whether the loss has its constant term, log(2 pi) / 2
  double epsilon = 1e-6;  // the least variance
};

namespace detail {

inline constexpr double log_of_two_pi = 1.8378770664093454836;

/// Stirling's formula for log(target!), 0 of targets up to 1.
template <class Target>
auto log_factorial(const Target& target) {
  const auto above = maximum(target, 1);  // logarithms are finite where they do not count, and so are their gradients
  return where(target <= 1, 0, (above + 0.5) * log(above) - above + 0.5 * log_of_two_pi);
}

/// A variance, at least `least`, with the gradient as if it were not held there; NaN below 0.
struct held_variance_op : floating_result {
  static constexpr const char* name = "held_variance";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V least) {
    const V nan = simd::constant_like<V>(__builtin_nan(""));
    return simd::select(x < simd::constant_like<V>(0), nan, simd::max(x, least));
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto&) { return g; }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto&, const auto&) { return g * 0; }
};

/// Refuses variances for which x would be repeated; they are repeated themselves.
/// throws    shape_error naming the axis and both extents
template <class X, class Variance>
void check_variance_extents(const X& x, const Variance& variance) {
  if constexpr (X::rank == Variance::rank) {
    for (int axis = 0; axis < X::rank; ++axis) {
      if (variance.extent(axis) == x.extent(axis) || variance.extent(axis) == 1) continue;
      throw shape_error(compose_text("gaussian_nll_loss: variance: axis ", axis, ": extent ", variance.extent(axis),
                                     ", expected ", x.extent(axis), x.extent(axis) == 1 ? " (x " : " or 1 (x ",
                                     x.to_array(), ", variance ", variance.to_array(), ")"));
    }
  }
}

}  // namespace detail

/// What a count costs under a Poisson distribution: exp(x) - target x of logarithms x of rates, and of rates
/// x - target log(x + epsilon). In full with Stirling's formula for log(target!), which is 0 of targets up to 1.
/// extents   x and target the same, or one number as target of all elements
/// throws    shape_error naming the axis and both extents
/// example   poisson_nll_loss(x, counts), poisson_nll_loss(x, counts, nn::poisson_nll_options<false, true>())
template <class Reduction = to_mean, tensor_operand X, loss_target Target, bool LogInput = true, bool Full = false>
auto poisson_nll_loss(X&& x, Target&& target, const poisson_nll_options<LogInput, Full>& options = {}) {
  detail::must_have_the_same_axes<X, Target>();
  const auto rates = as_node(std::forward<X>(x));
  const auto counts = detail::target_operand<X>(std::forward<Target>(target));
  detail::check_same_extents("poisson_nll_loss", "target", rates.shape(), counts.shape());
  const auto losses = [&] {
    if constexpr (LogInput) return exp(rates) - counts * rates;
    else return rates - counts * log(rates + options.epsilon);
  }();
  if constexpr (Full) return Reduction::of(losses + detail::log_factorial(counts));
  else return Reduction::of(losses);
}

/// What a target costs under a normal distribution of mean x: (log(variance) + (x - target)^2 / variance) / 2. A
/// variance is at least epsilon, and NaN below 0, where PyTorch throws.
/// extents   x and target the same, or one number as target of all elements; variances as many, or repeated where they
///           have an extent of 1, or one number
/// throws    shape_error naming the axis and both extents; error for a number below 0 as variance
/// gradient  in a variance below epsilon that at epsilon, as PyTorch has it; of variances that are repeated, where the
///           type says the extent, as in shape<dyn, 1>
/// source    Nix, Weigend 1994: Estimating the mean and variance of the target probability distribution
/// example   gaussian_nll_loss(means, t, variances), gaussian_nll_loss(means, t, 0.5f, {.full = true})
template <class Reduction = to_mean, tensor_operand X, loss_target Target, loss_target Variance>
auto gaussian_nll_loss(X&& x, Target&& target, Variance&& variance, const gaussian_nll_options& options = {}) {
  detail::must_have_the_same_axes<X, Target>();
  detail::must_have_the_same_axes<X, Variance>();
  if constexpr (!tensor_operand<Variance>) {
    const double given = static_cast<double>(variance);
    detail::check_option(given >= 0, "gaussian_nll_loss", "variance", given, "at least 0");
  }
  const auto means = as_node(std::forward<X>(x));
  const auto wanted = detail::target_operand<X>(std::forward<Target>(target));
  const auto given = detail::target_operand<X>(std::forward<Variance>(variance));
  detail::check_same_extents("gaussian_nll_loss", "target", means.shape(), wanted.shape());
  detail::check_variance_extents(means.shape(), given.shape());
  const auto held = make_pointwise(detail::held_variance_op{}, given, options.epsilon);
  const double constant = options.full ? detail::log_of_two_pi : 0;
  return Reduction::of(0.5 * (log(held) + square(means - wanted) / held + constant));
}

}  // namespace tenon::nn
