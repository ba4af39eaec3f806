// tenon/nn/loss.hpp: losses and their gradients.
// Definitions and reductions are those of PyTorch.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

namespace detail {

/// 1 at each row's label, as a condition over [batch, classes].
template <class Logits, class Labels>
auto at_label(const Logits& logits, const Labels& labels) {
  return arange<std::int64_t>(logits.extent(1)) == new_axis<-1>(labels);
}

template <class Logits, class Labels>
void check_labels(const Logits& logits, const Labels& labels) {
  if (logits.extent(0) != labels.extent(0)) {
    throw shape_error(compose_text("cross_entropy: labels: ", labels.extent(0), " of them, expected ", logits.extent(0),
                                   " as rows of the logits ", logits.shape().to_array()));
  }
}

}  // namespace detail

/// Cross entropy of each row of `logits` [batch, classes] with its label [batch]: logsumexp(row) - row[label].
/// extents   [batch, 1]
/// throws    shape_error when there is not one label for each row
/// cost      one kernel; probabilities are never stored
template <class Logits, class Labels>
auto cross_entropy(const Logits& logits, const Labels& labels) {
  detail::check_labels(logits, labels);
  const auto chosen = sum(where(detail::at_label(logits, labels), logits, 0.0f), axis<-1>);
  return logsumexp(logits, axis<-1>) - chosen;
}

/// The gradient of the mean of `cross_entropy` over the batch with respect to the logits: (softmax - one hot) / batch.
/// cost      one kernel
template <class Logits, class Labels>
auto cross_entropy_gradient(const Logits& logits, const Labels& labels) {
  detail::check_labels(logits, labels);
  const float share = 1.0f / static_cast<float>(logits.extent(0));
  return (tenon::softmax(logits, axis<-1>) -
          where(detail::at_label(logits, labels), 1.0f, constants(shape<>{}, 0.0f))) *
         share;
}

}  // namespace tenon::nn
