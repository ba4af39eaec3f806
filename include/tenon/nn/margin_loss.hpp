// tenon/nn/margin_loss.hpp: losses of scores that are to be apart by a margin, or of the right sign.
// Definitions and reductions are those of PyTorch; gradients follow from the expressions.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/probability_loss.hpp>

namespace tenon::nn {

/// By how much x misses being above y by `margin` where the target is 1, and below it where the target is -1:
/// max(-target (x - y) + margin, 0).
/// extents   x, y and target as for target * (x - y), and of as many axes: extents of 1 are repeated, and one number is
///           the target of all elements
/// throws    shape_error when they do not fit
/// gradient  0 where the margin is just reached, as of ties without a margin; as PyTorch has it
/// example   margin_ranking_loss(x, y, signs), margin_ranking_loss(x, y, 1, 0.5)
template <class Reduction = to_mean, tensor_operand X, tensor_operand Y, loss_target Target>
auto margin_ranking_loss(X&& x, Y&& y, Target&& target, double margin = 0) {
  detail::must_have_the_same_axes<X, Y>();
  detail::must_have_the_same_axes<X, Target>();
  const auto sides = detail::target_operand<X>(std::forward<Target>(target));
  return Reduction::of(tenon::relu(sides * (std::forward<Y>(y) - std::forward<X>(x)) + margin));
}

/// A distance x where the target is 1, and what it misses of `margin` where the target is -1; of any other target
/// both, as PyTorch has it.
/// extents   x and target the same, or one number as target of all elements
/// throws    shape_error naming the axis and both extents
/// example   hinge_embedding_loss(norm_l1(a - b, axis<-1>), signs)
template <class Reduction = to_mean, tensor_operand X, loss_target Target>
auto hinge_embedding_loss(X&& x, Target&& target, double margin = 1) {
  detail::must_have_the_same_axes<X, Target>();
  const auto distances = as_node(std::forward<X>(x));
  const auto sides = detail::target_operand<X>(std::forward<Target>(target));
  detail::check_same_extents("hinge_embedding_loss", "target", distances.shape(), sides.shape());
  return Reduction::of(where(sides == -1, 0, distances) + where(sides == 1, 0, tenon::relu(margin - distances)));
}

/// log(1 + exp(-target x)) for targets of 1 and -1, without overflow on the way.
/// extents   x and target the same, or one number as target of all elements
/// throws    shape_error naming the axis and both extents
template <class Reduction = to_mean, tensor_operand X, loss_target Target>
auto soft_margin_loss(X&& x, Target&& target) {
  detail::must_have_the_same_axes<X, Target>();
  const auto scores = as_node(std::forward<X>(x));
  const auto sides = detail::target_operand<X>(std::forward<Target>(target));
  detail::check_same_extents("soft_margin_loss", "target", scores.shape(), sides.shape());
  return Reduction::of(tenon::softplus(-(sides * scores), 1, 1e30));
}

/// Options of multi_margin_loss, with PyTorch's defaults: what is missed of the margin counts to the power of `P`.
template <int P = 1>
struct multi_margin_options {
  double margin = 1;
};

/// The mean over all classes of what the label's score misses of being above the score of each other class by
/// `margin`, to the power of `P`: max(margin - x[label] + x[class], 0)^P / classes, weighed by `weight` of the label. A
/// mean is over all rows, whatever the weights, as PyTorch has it.
/// extents   scores [batch, classes] and labels [batch]; unreduced [batch, 1]
/// throws    shape_error and index_error as nll_loss; no label is ignored
/// source    Crammer, Singer 2001: On the algorithmic implementation of multiclass kernel-based vector machines
/// example   multi_margin_loss(x, labels), multi_margin_loss(x, labels, nn::multi_margin_options<2>{.margin = 0.5})
///           multi_margin_loss(x, labels, class_weights, {.margin = 0.5})
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels, tensor_operand Weight, int P = 1>
auto multi_margin_loss(X&& x, Labels&& given, Weight&& weight, const multi_margin_options<P>& options = {}) {
  static_assert(P == 1 || P == 2 || must_hold<multi_margin_options<P>>,
                "tenon: the power of multi_margin_options is 1 or 2");
  static_assert(node_of<X>::shape_type::rank == 2 || must_hold<X>,
                "tenon: multi_margin_loss takes scores [batch, classes]");
  const auto scores = as_node(std::forward<X>(x));
  detail::check_labels("multi_margin_loss", scores.shape(), as_node(std::as_const(given)), nothing_ignored);
  detail::check_class_weights("multi_margin_loss", scores.shape(), weight.shape());
  const auto labels = detail::labels_beside<1>(std::forward<Labels>(given));
  const auto chosen = detail::is_label(scores, labels);
  const auto row = over_channels<2>(std::forward<Weight>(weight));
  const auto shares = detail::weights_of_labels(chosen, labels, nothing_ignored, row) / scores.shape().extent(1);
  const auto missed = tenon::relu(options.margin - sum(where(chosen, scores, 0), axis<1>) + scores);
  if constexpr (P == 1) return Reduction::of(sum(where(chosen, 0, missed), axis<1>) * shares);
  else return Reduction::of(sum(where(chosen, 0, square(missed)), axis<1>) * shares);
}
template <class Reduction = to_mean, tensor_operand X, tensor_operand Labels, int P = 1>
auto multi_margin_loss(X&& x, Labels&& labels, const multi_margin_options<P>& options = {}) {
  return multi_margin_loss<Reduction>(std::forward<X>(x), std::forward<Labels>(labels), constants(shape<1>{}, 1.0f),
                                      options);
}

}  // namespace tenon::nn
