// tenon/nn/distance_loss.hpp: losses of distances between a prediction and its target.
// Each is an expression without axes, or one for each element: its gradient is `gradient` or `vjp` of it.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/nn/layer.hpp>

namespace tenon::nn {

/// What a loss compares with: an operand of expressions, or one number for all elements.
template <class T>
concept loss_target = tensor_operand<T> || dtype<std::remove_cvref_t<T>>;

/// What becomes of the losses of all elements or rows, as PyTorch's `reduction`: `to_mean` (the default of every loss),
/// `to_sum`, or `unreduced`, which keeps a loss for each. They are the first template argument of a loss.
struct to_mean {
  static auto of(const auto& losses) { return mean(losses); }
};
struct to_sum {
  static auto of(const auto& losses) { return sum(losses); }
};
struct unreduced {
  static auto of(const auto& losses) { return losses; }
};

namespace detail {

/// Refuses a target whose axes are other than those of `x`: [n, 1] and [n] would make the losses of all pairs.
template <class X, class Target>
constexpr void must_have_the_same_axes() {
  if constexpr (tensor_operand<Target>) {
    constexpr int rank = node_of<X>::shape_type::rank, target = node_of<Target>::shape_type::rank;
    static_assert(rank == target || rank == 0 || target == 0 || must_hold<X, Target>,
                  "tenon: a loss takes x and a target of as many axes; squeeze(x, axis<1>) makes [n] of [n, 1]");
  }
}

/// A target as an operand: a number has the element type of `X`.
template <class X, loss_target Target>
auto target_operand(Target&& target) {
  using number = std::remove_cvref_t<Target>;
  if constexpr (dtype<number>) return constants(shape<>{}, static_cast<typename node_of<X>::element>(target));
  else return as_node(std::forward<Target>(target));
}

/// Refuses a target that has not the extents of `x`, and would be repeated; but for one number for all.
/// throws    shape_error naming what is given, the axis and both extents
template <class X, class Target>
void check_same_extents(const char* loss, const char* given, const X& x, const Target& target) {
  if constexpr (X::rank == Target::rank) {
    for (int axis = 0; axis < X::rank; ++axis) {
      if (target.extent(axis) == x.extent(axis)) continue;
      throw shape_error(compose_text(loss, ": ", given, ": axis ", axis, ": extent ", target.extent(axis),
                                     ", expected ", x.extent(axis), " (x ", x.to_array(), ", ", given, " ",
                                     target.to_array(), ")"));
    }
  }
}

/// throws    error naming a loss and its option, where that does not fit
inline void check_option(bool fits, const char* loss, const char* option, double given, const char* expected) {
  if (!fits) throw error(compose_text(loss, ": ", option, " ", given, ", expected ", expected));
}

}  // namespace detail

/// Mean squared error: (x - target)^2.
/// extents   x and target as for x - target, and of as many axes: extents of 1 are repeated, and one number is the
///           target of all elements; the result has no axes, unreduced those of x - target
/// throws    shape_error when x and target do not fit
/// example   mse_loss(x, t), mse_loss<to_sum>(x, t), mse_loss<unreduced>(x, t)
template <class Reduction = to_mean, tensor_operand X, loss_target Target>
auto mse_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  return Reduction::of(square(std::forward<X>(x) - detail::target_operand<X>(std::forward<Target>(target))));
}

/// Mean absolute error: |x - target|; extents and errors as of mse_loss.
template <class Reduction = to_mean, tensor_operand X, loss_target Target>
auto l1_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  return Reduction::of(abs(std::forward<X>(x) - detail::target_operand<X>(std::forward<Target>(target))));
}

/// Half the square of a distance |x - target| below `delta`, and beyond it a line of slope delta; extents as of
/// mse_loss.
/// throws    error unless delta is above 0 and finite
/// source    Huber 1964: Robust estimation of a location parameter
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
auto huber_loss(X&& x, Target&& target, double delta = 1) {
  detail::must_have_the_same_axes<X, Target>();
  detail::check_option(delta > 0 && delta < __builtin_huge_val(), "huber_loss", "delta", delta, "above 0 and finite");
  const auto distance = abs(std::forward<X>(x) - std::forward<Target>(target));
  return Reduction::of(where(distance < delta, 0.5 * square(distance), delta * (distance - 0.5 * delta)));
}

/// huber_loss / beta: the line beyond `beta` has slope 1; with beta 0 it is l1_loss. Extents as of mse_loss.
/// throws    error unless beta is at least 0
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
auto smooth_l1_loss(X&& x, Target&& target, double beta = 1) {
  detail::must_have_the_same_axes<X, Target>();
  detail::check_option(beta >= 0, "smooth_l1_loss", "beta", beta, "at least 0");
  const auto distance = abs(std::forward<X>(x) - std::forward<Target>(target));
  const double curvature = std::min(0.5 / beta, 1e30);  // finite, so that 0 times it is 0 in the gradient of the line
  return Reduction::of(where(distance < beta, square(distance) * curvature, distance - 0.5 * beta));
}

/// 1 - cosine of the angle between rows where `target` is 1; the cosine above `margin` where it is -1.
/// extents   x and y [rows, n], target [rows]; unreduced [rows, 1]
/// gradient  0 of a cosine that is the margin, as of a row of zeros beside a target of -1
template <class Reduction = to_mean, tensor_operand X, tensor_operand Y, tensor_operand Target>
auto cosine_embedding_loss(X&& x, Y&& y, Target&& target, double margin = 0) {
  constexpr double least = 1e-12;  // below the squares of both lengths, as in PyTorch
  const auto a = as_node(std::forward<X>(x));
  const auto b = as_node(std::forward<Y>(y));
  const auto lengths = (sum(square(a), axis<-1>) + least) * (sum(square(b), axis<-1>) + least);
  const auto cosine = sum(a * b, axis<-1>) * rsqrt(lengths);
  const auto sides = new_axis<-1>(std::forward<Target>(target));
  return Reduction::of(where(sides == 1, 1 - cosine, tenon::relu(cosine - margin)));
}

/// Options of triplet losses, with PyTorch's defaults: distances are norms of `P`. With `Swap`, a negative counts as
/// close as it is to the positive, where that is closer than to `x`.
template <int P = 2, bool Swap = false>
struct triplet_margin_options {
  double margin = 1;
  double epsilon = 1e-6;  // added to every difference
};

namespace detail {

/// The norm of the differences of rows: [rows, 1].
template <int P, class X, class Y>
auto row_distance(const X& x, const Y& y, double epsilon) {
  static_assert(P > 0 || must_hold<X>, "tenon: the norm of triplet_margin_options is at least 1");
  const auto apart = x - y + epsilon;
  if constexpr (P == 1) return norm_l1(apart, axis<-1>);
  else if constexpr (P == 2) return norm_l2(apart, axis<-1>);
  else return norm(apart, P, axis<-1>);
}

}  // namespace detail

/// By how much a row misses being nearer to `positive` than to `negative` by `margin`:
/// max(d(x, positive) - d(x, negative) + margin, 0).
/// extents   three times [rows, n]; unreduced [rows, 1]
/// source    Balntas and others 2016: Learning local feature descriptors with triplets and shallow convolutional neural
///           networks
/// example   triplet_margin_loss(x, p, n, {.margin = 0.5, .epsilon = 0})
///           triplet_margin_loss(x, p, n, nn::triplet_margin_options<1, true>())  // of absolute values, swapped
template <class Reduction = to_mean, tensor_operand X, tensor_operand Positive, tensor_operand Negative, int P = 2,
          bool Swap = false>
auto triplet_margin_loss(X&& x, Positive&& positive, Negative&& negative,
                         const triplet_margin_options<P, Swap>& options) {
  const auto anchor = as_node(std::forward<X>(x));
  const auto wanted = as_node(std::forward<Positive>(positive));
  const auto other = as_node(std::forward<Negative>(negative));
  const auto to_wanted = detail::row_distance<P>(anchor, wanted, options.epsilon);
  const auto to_other = detail::row_distance<P>(anchor, other, options.epsilon);
  if constexpr (Swap) {
    const auto least = minimum(to_other, detail::row_distance<P>(wanted, other, options.epsilon));
    return Reduction::of(tenon::relu(to_wanted - least + options.margin));
  } else {
    return Reduction::of(tenon::relu(to_wanted - to_other + options.margin));
  }
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Positive, tensor_operand Negative>
auto triplet_margin_loss(X&& x, Positive&& positive, Negative&& negative, double margin = 1) {
  return triplet_margin_loss<Reduction>(std::forward<X>(x), std::forward<Positive>(positive),
                                        std::forward<Negative>(negative), triplet_margin_options<>{.margin = margin});
}

}  // namespace tenon::nn
