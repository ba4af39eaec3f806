// tenon/nn/probability_loss.hpp: losses of probabilities and of classes.
// Definitions and reductions are those of PyTorch; gradients follow from the expressions.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/class_labels.hpp>
#include <tenon/nn/distance_loss.hpp>

namespace tenon::nn {

namespace detail {

/// bce_loss of each element, whose slope is finite where a probability is 0 or 1.
struct bce_op : floating_result {
  static constexpr const char* name = "bce_loss";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, V target) {
    const V least = simd::constant_like<V>(-100), one = simd::constant_like<V>(1);
    const V of_one = simd::max(log_op::value(x), least);
    const V of_zero = simd::max(log1p_op::value(-x), least);
    return -(target * of_one + (one - target) * of_zero);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& z) {
    return g * ((x - z) / maximum((1 - x) * x, 1e-12));
  }
  static auto gradient(of_operand<1>, const auto& g, const auto&, const auto& x, const auto&) {
    return g * (maximum(log1p(-x), -100) - maximum(log(x), -100));
  }
};

}  // namespace detail

/// Binary cross entropy, -(target log(x) + (1 - target) log(1 - x)), of probabilities x and targets in [0, 1].
/// Logarithms are at least -100, as in PyTorch.
/// extents   x and target the same, or one number as target of all elements
/// throws    shape_error naming the axis and both extents
/// gradient  in x (x - target) / max((1 - x) x, 1e-12), as PyTorch has it: finite where x is 0 or 1
template <class Reduction = to_mean, tensor_operand X, loss_target Target>
auto bce_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  const auto wanted = detail::target_operand<X>(std::forward<Target>(target));
  detail::check_same_extents("bce_loss", "target", x.shape(), wanted.shape());
  return Reduction::of(make_pointwise(detail::bce_op{}, std::forward<X>(x), wanted));
}

/// bce_loss(sigmoid(x), target) without overflow on the way; `positive_weight` multiplies the losses of ones.
/// Extents and errors as of bce_loss.
/// example   bce_with_logits_loss(logits, targets), bce_with_logits_loss(logits, 1.0f)
///           bce_with_logits_loss(logits, targets, 3.0f)  // ones weigh three times as much
template <class Reduction = to_mean, tensor_operand X, loss_target Target, class PositiveWeight = float>
auto bce_with_logits_loss(X&& x, Target&& target, PositiveWeight&& positive_weight = 1.0f) {
  detail::must_have_the_same_axes<X, Target>();
  const auto logits = as_node(std::forward<X>(x));
  const auto wanted = detail::target_operand<X>(std::forward<Target>(target));
  detail::check_same_extents("bce_with_logits_loss", "target", logits.shape(), wanted.shape());
  const auto of_one = 1 + (std::forward<PositiveWeight>(positive_weight) - 1) * wanted;
  return Reduction::of((1 - wanted) * logits + of_one * tenon::softplus(-logits, 1, 1e30));
}

/// Kullback-Leibler divergence, target (log(target) - x) for each element: x are logarithms of probabilities, `target`
/// probabilities; extents as of mse_loss. PyTorch's `batchmean` is the sum divided by the rows.
/// source    Kullback, Leibler 1951
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
auto kl_div_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  const auto wanted = as_node(std::forward<Target>(target));
  return Reduction::of(where(wanted > 0, wanted * log(wanted), 0) - wanted * std::forward<X>(x));
}
/// The same for a target of logarithms of probabilities, as PyTorch's log_target=True.
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
auto kl_div_log_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  const auto wanted = as_node(std::forward<Target>(target));
  return Reduction::of(exp(wanted) * (wanted - std::forward<X>(x)));
}

namespace detail {

/// Whether each class is the one of its label, of labels [batch, 1, ...] over [batch, classes, ...].
template <class Scores, class Labels>
auto is_label(const Scores& scores, const Labels& labels) {
  constexpr int rank = Scores::shape_type::rank;
  return over_channels<rank>(arange<std::int64_t>(scores.shape().extent(1))) == labels;
}

/// total / weight, where weights that come to nothing send no gradient back: not one row counts.
struct weighed_mean_op : floating_result {
  static constexpr const char* name = "weighed_mean";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V total, V weight) {
    return divide_op::value(total, weight);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto&, const auto& weight) {
    return where(weight == 0, 0, g / weight);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto&, const auto& weight) {
    return where(weight == 0, 0, -(g * y / weight));
  }
};

/// Of losses that are weighed already: for means, divided by the sum of the weights.
template <class Reduction, class Losses, class Weights>
auto reduce_weighed(const Losses& losses, const Weights& weights) {
  if constexpr (std::is_same_v<Reduction, to_mean>) return make_pointwise(weighed_mean_op{}, sum(losses), sum(weights));
  else return Reduction::of(losses);
}

/// The weight of each label, 0 where it is ignored and NaN where it is no class, over [batch, 1, ...].
template <class Chosen, class Labels, class Ignored, class Row>
auto weights_of_labels(const Chosen& chosen, const Labels& labels, Ignored ignored, const Row& row) {
  const index classes = chosen.shape().extent(1);
  return where_counted(labels, classes, ignored, sum(where(chosen, row, 0.0f), axis<1>));
}

/// throws    error unless a share of labels is within [0, 1]
inline void check_smoothing(double smoothing) {
  check_option(smoothing >= 0 && smoothing <= 1, "smoothed_cross_entropy_loss", "smoothing", smoothing,
               "within [0, 1]");
}

/// nll_loss in the name of another.
template <class Reduction, class Scores, class Labels, class Weight>
auto loss_at_labels(const char* name, const Scores& scores, Labels&& given, Weight&& weight, std::int64_t ignored) {
  check_labels(name, scores.shape(), as_node(std::as_const(given)), ignored);
  check_class_weights(name, scores.shape(), weight.shape());
  const auto labels = labels_beside<1>(std::forward<Labels>(given));
  const auto chosen = is_label(scores, labels);
  const auto row = over_channels<Scores::shape_type::rank>(std::forward<Weight>(weight));
  const auto weights = weights_of_labels(chosen, labels, ignored, row);
  return reduce_weighed<Reduction>(-(sum(where(chosen, scores, 0), axis<1>) * weights), weights);
}

}  // namespace detail

/// -x[label] of logarithms x of probabilities, [batch, classes, ...], and labels [batch, ...]: weighed by `weight` of
/// the class, and 0 where the label is `ignored`. A mean is divided by the sum of the weights. Over no row
/// it is NaN, and its gradient 0, as in PyTorch.
/// extents   unreduced [batch, 1, ...]
/// throws    shape_error when there is not one label for each place, or not one weight for each class; index_error for
///           a label of the host's memory that is no class and not ignored. On devices, and where labels change later,
///           its loss is NaN
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels, tensor_operand Weight>
auto nll_loss(X&& x, Labels&& labels, Weight&& weight, std::int64_t ignored = ignored_label) {
  return detail::loss_at_labels<Reduction>("nll_loss", as_node(std::forward<X>(x)), std::forward<Labels>(labels),
                                           std::forward<Weight>(weight), ignored);
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels>
auto nll_loss(X&& x, Labels&& labels, std::int64_t ignored = ignored_label) {
  return nll_loss<Reduction>(std::forward<X>(x), std::forward<Labels>(labels), constants(shape<1>{}, 1.0f), ignored);
}

/// Cross entropy: nll_loss of the log-softmax over axis 1, for logits [batch, classes, ...] and labels [batch, ...].
/// Weights, ignored labels, extents and errors as of nll_loss.
/// example   cross_entropy_loss(net(images), labels), cross_entropy_loss<to_sum>(logits, labels, class_weights)
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels, tensor_operand Weight>
  requires is_integer<typename node_of<Labels>::element>
auto cross_entropy_loss(X&& x, Labels&& labels, Weight&& weight, std::int64_t ignored = ignored_label) {
  return detail::loss_at_labels<Reduction>("cross_entropy_loss", tenon::log_softmax(std::forward<X>(x), axis<1>),
                                           std::forward<Labels>(labels), std::forward<Weight>(weight), ignored);
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels>
  requires is_integer<typename node_of<Labels>::element>
auto cross_entropy_loss(X&& x, Labels&& labels, std::int64_t ignored = ignored_label) {
  return cross_entropy_loss<Reduction>(std::forward<X>(x), std::forward<Labels>(labels), constants(shape<1>{}, 1.0f),
                                       ignored);
}

/// Cross entropy with a share `smoothing` of each label spread over all classes; otherwise as cross_entropy_loss.
/// throws    error unless smoothing is within [0, 1]
/// source    Szegedy and others 2016: Rethinking the Inception architecture
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels, tensor_operand Weight>
  requires is_integer<typename node_of<Labels>::element>
auto smoothed_cross_entropy_loss(X&& x, Labels&& given, double smoothing, Weight&& weight,
                                 std::int64_t ignored = ignored_label) {
  constexpr int rank = node_of<X>::shape_type::rank;
  detail::check_smoothing(smoothing);
  const auto scores = tenon::log_softmax(std::forward<X>(x), axis<1>);
  detail::check_labels("smoothed_cross_entropy_loss", scores.shape(), as_node(std::as_const(given)), ignored);
  detail::check_class_weights("smoothed_cross_entropy_loss", scores.shape(), weight.shape());
  const auto labels = detail::labels_beside<1>(std::forward<Labels>(given));
  const auto chosen = detail::is_label(scores, labels);
  const auto row = over_channels<rank>(std::forward<Weight>(weight));
  const auto weights = detail::weights_of_labels(chosen, labels, ignored, row);
  const double share = smoothing / static_cast<double>(scores.shape().extent(1));
  const auto spread = where(labels == ignored || share == 0, 0, sum(scores * row, axis<1>));  // 0 of infinity is 0
  const auto own = sum(where(chosen, scores, 0), axis<1>) * weights;
  return detail::reduce_weighed<Reduction>(-((1 - smoothing) * own + share * spread), weights);
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels>
  requires is_integer<typename node_of<Labels>::element>
auto smoothed_cross_entropy_loss(X&& x, Labels&& labels, double smoothing, std::int64_t ignored = ignored_label) {
  return smoothed_cross_entropy_loss<Reduction>(std::forward<X>(x), std::forward<Labels>(labels), smoothing,
                                                constants(shape<1>{}, 1.0f), ignored);
}

namespace detail {

/// Logarithms of what softmax makes of scores, beside probabilities of the same extents.
template <class X, class Target>
auto scores_beside(const char* name, X&& x, const Target& target) {
  constexpr bool fits = node_of<X>::shape_type::rank == node_of<Target>::shape_type::rank;
  static_assert(fits || must_hold<X, Target>,
                "tenon: labels of classes are integers, cast<int>(labels); probabilities have the axes of the scores");
  check_same_extents(name, "probabilities", x.shape(), target.shape());
  return tenon::log_softmax(std::forward<X>(x), axis<1>);
}

}  // namespace detail

/// Cross entropy of logits [batch, classes, ...] with probabilities of the same extents in place of labels. `weight` of
/// a class multiplies its terms. A mean is over all places, whatever the weights, as PyTorch has it.
/// extents   unreduced [batch, 1, ...]
/// throws    shape_error naming the axis and both extents, or when there is not one weight for each class
/// example   cross_entropy_loss(logits, probabilities), cross_entropy_loss(logits, probabilities, class_weights)
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
  requires is_floating<typename node_of<Target>::element>
auto cross_entropy_loss(X&& x, Target&& target) {
  const auto scores = detail::scores_beside("cross_entropy_loss", std::forward<X>(x), target);
  return Reduction::of(-sum(scores * std::forward<Target>(target), axis<1>));
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target, tensor_operand Weight>
  requires is_floating<typename node_of<Target>::element>
auto cross_entropy_loss(X&& x, Target&& target, Weight&& weight) {
  const auto scores = detail::scores_beside("cross_entropy_loss", std::forward<X>(x), target);
  detail::check_class_weights("cross_entropy_loss", scores.shape(), weight.shape());
  const auto row = over_channels<node_of<X>::shape_type::rank>(std::forward<Weight>(weight));
  return Reduction::of(-sum(scores * (std::forward<Target>(target) * row), axis<1>));
}

/// The same with a share `smoothing` of the probabilities spread over all classes.
/// throws    error unless smoothing is within [0, 1]; otherwise as cross_entropy_loss
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target, tensor_operand Weight>
  requires is_floating<typename node_of<Target>::element>
auto smoothed_cross_entropy_loss(X&& x, Target&& target, double smoothing, Weight&& weight) {
  const auto scores = detail::scores_beside("smoothed_cross_entropy_loss", std::forward<X>(x), target);
  detail::check_smoothing(smoothing);
  detail::check_class_weights("smoothed_cross_entropy_loss", scores.shape(), weight.shape());
  const auto row = over_channels<node_of<X>::shape_type::rank>(std::forward<Weight>(weight));
  const double share = smoothing / static_cast<double>(scores.shape().extent(1));
  return Reduction::of(-sum(scores * (((1 - smoothing) * std::forward<Target>(target) + share) * row), axis<1>));
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Target>
  requires is_floating<typename node_of<Target>::element>
auto smoothed_cross_entropy_loss(X&& x, Target&& target, double smoothing) {
  return smoothed_cross_entropy_loss<Reduction>(std::forward<X>(x), std::forward<Target>(target), smoothing,
                                                constants(shape<1>{}, 1.0f));
}

}  // namespace tenon::nn
