// tests/conformance/loss.cpp: how improbable the labels are.
// Labels choose among classes, the middle one of three axes.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/lines.hpp"

namespace conformance {

namespace {

template <class T, class Space>
using lines = tn::tensor<T, tn::rank<3>, Space>;

/// A weight for each class; 1 where none is given.
template <class Space>
auto class_weights(const call& from, index classes) {
  const tn::rank<3> extents(1, classes, 1);
  if (!from.has(2)) return tn::ones<float, Space>(extents);
  array given = from.input(2);
  given.extents = {classes, 1};
  return tensor_of<float, Space, 3>(given);
}

/// The weighted negative log-probability of each label, or their sum or mean; labels to ignore weigh nothing.
template <class Space>
array negative_log_likelihood(const lines<float, Space>& log_probabilities, const call& from) {
  array targets = from.input(1);
  const auto extents = targets.extents;
  targets.extents.insert(targets.extents.begin() + 1, 1);
  const auto labels = lines_of<index, Space>(targets, 1);
  const auto weights = class_weights<Space>(from, log_probabilities.extent(1));
  const index ignored = from.attributes.integer("ignore_index", std::numeric_limits<index>::min());
  const auto classes = tn::iota<index>(weights.shape());
  const auto shares = tn::where(classes == labels && labels != ignored, weights, 0.0f);
  const lines<float, Space> losses = tn::sum(-shares * log_probabilities, middle_axis);
  const std::string reduction = from.attributes.text("reduction", "mean");
  if (reduction == "none") return array_of(losses, extents);
  if (reduction == "sum") return evaluated<Space>(tn::sum(losses), 0);
  const tn::tensor<float, tn::rank<0>, Space> total = tn::sum(losses), weight = tn::sum(shares);
  return evaluated<Space>(total / weight, 0);
}

}  // namespace

void add_loss(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["NegativeLogLikelihoodLoss"] = [](const call& from) {
      return negative_log_likelihood<Space>(lines_of<float, Space>(from.input(0), 1), from);
    };
    table["SoftmaxCrossEntropyLoss"] = [](const call& from) -> array_list {
      const lines<float, Space> log_probabilities =
          tn::log_softmax(lines_of<float, Space>(from.input(0), 1), middle_axis);
      return {negative_log_likelihood<Space>(log_probabilities, from),
              array_of(log_probabilities, from.input(0).extents)};
    };
  });
}

}  // namespace conformance
