// tenon/nn/loss.hpp: losses and their gradients.
// Definitions and reductions are those of PyTorch.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced_functions.hpp>
#include <tenon/nn/call.hpp>
#include <tenon/nn/class_labels.hpp>

namespace tenon::nn {

namespace detail {

/// Whether each class is that of its row's label, over [batch, classes].
template <class Labels>
auto at_label(index classes, const Labels& labels) {
  return arange<std::int64_t>(classes) == labels;
}

/// The cross entropy of each row, of labels beside the scores.
template <class Scores, class Rows, class Ignored>
auto losses_of_rows(const Scores& scores, const Rows& rows, const Ignored& ignored) {
  const index classes = scores.shape().extent(1);
  const auto chosen = sum(where(at_label(classes, rows), scores, 0.0f), axis<-1>);
  return where_counted(rows, classes, ignored, logsumexp(scores, axis<-1>) - chosen);
}

/// What each row counts: one over the number of rows that do, `counted` of them where labels are looked at, or nothing.
/// On the host it is a number a row, computed here; on a device the number of rows is, which nobody waits for.
template <class Number, class Labels, class Rows>
auto shares_of_rows(const Labels& labels, const Rows& rows, index classes, index counted, std::int64_t ignored) {
  if constexpr (lie_on_host<Labels>) {
    tensor<Number, typename Rows::shape_type> shares(rows.shape());
    const Number share = Number(1) / static_cast<Number>(counted);
    for_each_label(labels, [&](index row, std::int64_t label) { shares.data()[row] = label == ignored ? 0 : share; });
    return as_node(std::move(shares));
  } else {
    const auto share = as_node(evaluated_tensor(1 / sum(where(rows != ignored, Number(1), Number(0)))));
    return where_counted(rows, classes, ignored, share);
  }
}
template <class Number, class Labels, class Rows>
auto shares_of_rows(const Labels&, const Rows& rows, index classes, index, nothing_ignored_type) {
  const Number share = Number(1) / static_cast<Number>(rows.shape().extent(0));
  if constexpr (looks_at_labels<Labels>) return share;
  else return where_counted(rows, classes, nothing_ignored, share);
}

}  // namespace detail

/// Cross entropy of each row of `logits` [batch, classes] with its label [batch]: logsumexp(row) - row[label], and 0
/// for rows whose label is `ignored`. `mean` of it is over all rows; cross_entropy_loss<to_mean> leaves ignored rows
/// out.
/// extents   [batch, 1]
/// throws    shape_error when there is not one label for each row; index_error for a label of the host's memory that is
///           neither a class nor ignored. On devices, and where labels change later, such a row's loss is NaN
/// cost      one kernel, and on the host a pass over the labels; probabilities are never stored
/// example   mean(nn::cross_entropy(matmul(x, w), labels))
template <tensor_operand Logits, tensor_operand Labels, class Ignored = std::int64_t>
  requires(!tenon::detail::is_traced_leaf<node_of<const Logits&>>)
auto cross_entropy(const Logits& logits, Labels&& labels, const Ignored& ignored = ignored_label) {
  const auto& scores = detail::shared_scores(as_node(logits));
  detail::check_labels("cross_entropy", scores.shape(), as_node(std::as_const(labels)), ignored);
  return detail::losses_of_rows(scores, detail::labels_beside<-1>(std::forward<Labels>(labels)), ignored);
}

/// The same of logits that are traced: their gradient is one statement, in which probabilities are not stored either.
template <class T, class Shape, class Space, tensor_operand Labels, class Ignored = std::int64_t>
auto cross_entropy(const traced<T, Shape, Space>& logits, Labels&& labels, const Ignored& ignored = ignored_label) {
  const auto scores = detail::shared_scores(as_node(logits.view()));
  detail::check_labels("cross_entropy", scores.shape(), as_node(std::as_const(labels)), ignored);
  const auto rows = detail::labels_beside<-1>(std::forward<Labels>(labels));
  const index classes = scores.shape().extent(1);
  return with_gradient(detail::losses_of_rows(scores, rows, ignored), logits, [=](const auto& seed) {
    const auto distance = tenon::softmax(scores, axis<-1>) - where(detail::at_label(classes, rows), 1.0f, 0.0f);
    return cast<T>(distance * detail::where_counted(rows, classes, ignored, seed));
  });
}
template <tensor_operand Logits, tensor_operand Labels, class Ignored = std::int64_t>
  requires tenon::detail::is_traced_leaf<node_of<const Logits&>>
auto cross_entropy(const Logits& logits, Labels&& labels, const Ignored& ignored = ignored_label) {
  return cross_entropy(traced(logits), std::forward<Labels>(labels), ignored);
}

/// The gradient of the mean of `cross_entropy` over the rows that count, with respect to the logits: (softmax - one
/// hot) / number of these rows, and 0 in the others.
/// throws    as cross_entropy; on devices the gradient of a row with a label that is no class is NaN
/// cost      one kernel and on the host a pass over the labels; on devices a small kernel that counts rows, unless
///           `ignored` is nn::nothing_ignored
template <tensor_operand Logits, tensor_operand Labels, class Ignored = std::int64_t>
auto cross_entropy_gradient(const Logits& logits, const Labels& labels, const Ignored& ignored = ignored_label) {
  const auto& scores = detail::shared_scores(as_node(logits));
  const index counted = detail::check_labels("cross_entropy", scores.shape(), as_node(labels), ignored);
  const index classes = scores.shape().extent(1);
  const auto rows = detail::labels_beside<-1>(labels);
  using element = typename node_of<const Logits&>::element;
  const auto shares = detail::shares_of_rows<compute_type<element>>(as_node(labels), rows, classes, counted, ignored);
  const auto distance = tenon::softmax(scores, axis<-1>) - where(detail::at_label(classes, rows), 1.0f, 0.0f);
  return cast<element>(distance * shares);
}

}  // namespace tenon::nn
