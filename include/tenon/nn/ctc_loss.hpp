// tenon/nn/ctc_loss.hpp: the loss of sequences whose labels are known, but not when each of them is told.
// Definition, options and gradient are those of torch.nn.CTCLoss.
// Floor 7: may include base, core, device, expr, plan, evaluate, algorithms, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <tenon/grad/traced_functions.hpp>
#include <tenon/nn/ctc_paths.hpp>
#include <tenon/nn/distance_loss.hpp>

namespace tenon::nn {

/// Options of CTC losses, with PyTorch's names and defaults.
struct ctc_options {
  index blank = 0;             // the class of no label
  bool zero_infinity = false;  // whether targets that no path tells count 0, in place of infinity
};

/// A loss and its gradient with respect to the logarithms of probabilities.
template <class Loss, class Gradient>
struct ctc_result {
  Loss loss;
  Gradient gradient;
};

namespace detail {

/// The labels of all samples behind each other, and how many labels and times each sample has.
struct ctc_batch {
  std::vector<index> labels, counts, times;
};

/// The integers of an operand, wherever they lie.
template <class Operand>
std::vector<index> ctc_integers(const Operand& operand) {
  using element = typename node_of<const Operand&>::element;
  static_assert(is_integer<element> || must_hold<element>, "tenon: lengths and targets of a CTC loss are integers");
  const auto numbers = evaluated_tensor(cast<index>(as_node(operand))).template to<host>();
  return {numbers.data(), numbers.data() + numbers.size()};
}

/// throws    shape_error unless there is a length for each sample, none above `most`, the extent of `axis`
inline void check_ctc_lengths(const char* name, const std::vector<index>& lengths, index samples, index most,
                              const std::string& axis) {
  if (static_cast<index>(lengths.size()) != samples) {
    throw shape_error(compose_text("ctc_loss: ", name, ": ", lengths.size(), " of them, expected ", samples,
                                   " as axis 1 of the logarithms"));
  }
  for (std::size_t sample = 0; sample < lengths.size(); ++sample) {
    if (lengths[sample] >= 0 && lengths[sample] <= most) continue;
    throw shape_error(compose_text("ctc_loss: ", name, ": ", lengths[sample], " of sample ", sample,
                                   ", expected at least 0 and at most ", most, " as ", axis));
  }
}

/// throws    index_error for a label that is no class, or the blank
inline void check_ctc_labels(const ctc_batch& batch, index classes, index blank) {
  std::size_t next = 0;
  for (std::size_t sample = 0; sample < batch.counts.size(); ++sample) {
    for (index place = 0; place < batch.counts[sample]; ++place) {
      const index label = batch.labels[next++];
      if (label >= 0 && label < classes && label != blank) continue;
      throw index_error(compose_text("ctc_loss: targets: label ", label, " of sample ", sample, " at ", place,
                                     ", expected at least 0, below ", classes,
                                     " as axis 2 of the logarithms, and not the blank ", blank));
    }
  }
}

/// Those of targets [samples, length], or of one axis with all labels behind each other.
template <class Targets>
std::vector<index> ctc_labels(const Targets& targets, const std::vector<index>& counts) {
  constexpr bool has_rows = node_of<const Targets&>::shape_type::rank == 2;
  const auto extents = as_node(targets).shape().to_array();
  const auto numbers = ctc_integers(targets);
  index total = 0;
  for (const index count : counts) total += count;
  const index samples = static_cast<index>(counts.size()), expected = has_rows ? samples : total;
  if (extents[0] != expected) {
    throw shape_error(compose_text("ctc_loss: targets: axis 0: extent ", extents[0], ", expected ", expected,
                                   has_rows ? " as there are samples" : ", the sum of the target_lengths"));
  }
  if constexpr (has_rows) {
    std::vector<index> labels;
    for (index sample = 0; sample < samples; ++sample) {
      const auto row = numbers.begin() + sample * extents[1];
      labels.insert(labels.end(), row, row + counts[static_cast<std::size_t>(sample)]);
    }
    return labels;
  } else {
    return numbers;
  }
}

template <class X, class Targets, class Times, class Counts>
ctc_batch read_ctc_batch(const X& x, const Targets& targets, const Times& input_lengths, const Counts& target_lengths,
                         index blank) {
  constexpr int rank = node_of<const Targets&>::shape_type::rank;
  static_assert(node_of<const X&>::shape_type::rank == 3 || must_hold<X>,
                "tenon: a CTC loss takes logarithms of probabilities [times, samples, classes]");
  static_assert(rank == 1 || rank == 2 || must_hold<Targets>,
                "tenon: targets of a CTC loss are [samples, length], or all labels behind each other");
  const auto extents = as_node(x).shape().to_array();
  const auto of_targets = as_node(targets).shape().to_array();
  if (blank < 0 || blank >= extents[2]) {
    throw index_error(compose_text("ctc_loss: blank: ", blank, ", expected at least 0 and below ", extents[2],
                                   " as axis 2 of the logarithms ", extents));
  }
  ctc_batch batch{{}, ctc_integers(target_lengths), ctc_integers(input_lengths)};
  check_ctc_lengths("input_lengths", batch.times, extents[1], extents[0],
                    compose_text("axis 0 of the logarithms ", extents));
  check_ctc_lengths("target_lengths", batch.counts, extents[1], of_targets[rank - 1],
                    compose_text("axis ", rank - 1, " of the targets ", of_targets));
  batch.labels = ctc_labels(targets, batch.counts);
  check_ctc_labels(batch, extents[2], blank);
  return batch;
}

/// An operand as a leaf: a tensor or view where it lies, any other expression evaluated.
template <class X>
auto ctc_leaf(const X& x) {
  if constexpr (std::is_same_v<typename node_of<const X&>::kind, leaf_kind>) {
    check_operand("ctc_loss", as_node(x));
    check_current_device("ctc_loss", as_node(x).view());
    return as_node(x);
  } else {
    return as_node(evaluated_tensor(x));
  }
}

/// What `Reduction` makes of the losses and, where `HasGradient`, its gradient.
template <class Reduction, bool HasGradient, class X, class Targets, class Times, class Counts>
auto ctc_of(const X& x, const Targets& targets, const Times& input_lengths, const Counts& target_lengths,
            const ctc_options& options) {
  const auto batch = read_ctc_batch(x, targets, input_lengths, target_lengths, options.blank);
  const auto log_probs = ctc_leaf(x);
  using node = std::remove_const_t<decltype(log_probs)>;
  using element = typename node::element;
  using space = tenon::detail::concrete_space<typename node::space>;
  using state = path_sum<element, space>;
  static_assert(is_floating<element> || must_hold<element>, "tenon: logarithms of probabilities are floating");

  const auto extents = log_probs.shape().to_array();
  const auto table = table_in<space>(ctc_table(batch.labels, batch.counts, batch.times));
  const index states = 2 * (extents[1] == 0 ? 0 : *std::max_element(batch.counts.begin(), batch.counts.end())) + 1;
  storage<state, space> paths(HasGradient ? extents[0] * extents[1] * states : 0);
  tensor<element, rank<1>, space> losses(rank<1>{extents[1]});
  tensor<element, rank<3>, space> gradient(HasGradient ? rank<3>(extents) : rank<3>{});
  const ctc_kernel<element, state, HasGradient> kernel{
      .targets = {table.data(), static_cast<index>(batch.labels.size()), options.blank},
      .log_probs = {log_probs.view().data(), extents, log_probs.view().strides()},
      .most_states = static_cast<int>(states),
      .zero_infinity = options.zero_infinity,
      .averaged = std::is_same_v<Reduction, to_mean> ? extents[1] : 0,
      .losses = losses.data(),
      .paths = paths.data(),
      .gradient = gradient.data()};
  run_ctc<space>(kernel, extents[1]);
  if constexpr (std::is_same_v<Reduction, unreduced>) {
    return ctc_result<decltype(losses), decltype(gradient)>{std::move(losses), std::move(gradient)};
  } else {
    const auto total = sum(std::move(losses));
    return ctc_result<std::remove_const_t<decltype(total)>, decltype(gradient)>{total, std::move(gradient)};
  }
}

/// The loss of a traced value, whose gradient is computed beside it.
template <class Reduction, class T, class Shape, class Space, class Targets, class Times, class Counts>
auto traced_ctc(const traced<T, Shape, Space>& x, const Targets& targets, const Times& input_lengths,
                const Counts& target_lengths, const ctc_options& options) {
  const auto found = ctc_of<Reduction, true>(x, targets, input_lengths, target_lengths, options);
  using gradient_type = std::remove_cvref_t<decltype(found.gradient)>;
  const auto gradient = std::make_shared<const gradient_type>(found.gradient);
  return with_gradient(found.loss, x, [gradient](const auto& seed) {
    if constexpr (std::is_same_v<Reduction, unreduced>) return *gradient * new_axis<-1>(seed);
    else return *gradient * seed;
  });
}

}  // namespace detail

/// The negative logarithm of the probability that a path through `x`, log-probabilities [times, samples, classes],
/// spells the target: its labels in order, each for one time step or more, blanks allowed between labels and required
/// between equal ones. `targets` are [samples, length], or all labels one after another; `input_lengths` and
/// `target_lengths` say how many steps and labels of each sample count. The mean is taken of each loss divided by its
/// number of labels.
/// extents   none; unreduced [samples]
/// throws    shape_error for lengths beyond times and targets, index_error for labels that are no class or the blank
/// accuracy  sums of paths are kept in double on the host, in the elements' type elsewhere
/// cost      one kernel, a block for each sample; targets and lengths are looked at on the host, wherever they lie
/// source    Graves, Fernandez, Gomez, Schmidhuber 2006: Connectionist temporal classification
/// example   ctc_loss(log_softmax(x, axis<2>), targets, input_lengths, target_lengths)
///           of a traced `x` it is traced, and its gradient is computed beside it
template <class Reduction = to_mean, tensor_operand X, tensor_operand Targets, tensor_operand Times,
          tensor_operand Counts>
auto ctc_loss(const X& x, const Targets& targets, const Times& input_lengths, const Counts& target_lengths,
              const ctc_options& options = {}) {
  if constexpr (tenon::detail::holds_traced<node_of<const X&>>) {
    return detail::traced_ctc<Reduction>(traced(x), targets, input_lengths, target_lengths, options);
  } else {
    return detail::ctc_of<Reduction, false>(x, targets, input_lengths, target_lengths, options).loss;
  }
}

/// The same and its gradient in `x`; unreduced, the gradient of each sample's own loss. As in PyTorch, `x` counts as
/// the result of log_softmax: the gradient passes back through log_softmax unchanged.
/// cost      one kernel, which keeps the sums of paths of all times
/// example   const auto [loss, gradient] = ctc_loss_and_gradient(log_softmax(x, axis<2>), targets, times, counts)
template <class Reduction = to_mean, tensor_operand X, tensor_operand Targets, tensor_operand Times,
          tensor_operand Counts>
auto ctc_loss_and_gradient(const X& x, const Targets& targets, const Times& input_lengths, const Counts& target_lengths,
                           const ctc_options& options = {}) {
  return detail::ctc_of<Reduction, true>(x, targets, input_lengths, target_lengths, options);
}

}  // namespace tenon::nn
