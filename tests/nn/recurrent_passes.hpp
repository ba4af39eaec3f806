// tests/nn/recurrent_passes.hpp: passes of recurrent layers in a space beside the same passes on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace tenon_test {

/// How many hidden features a layer has, from a parameter.
template <class Layer>
tenon::index hidden_of(Layer& layer) {
  tenon::index hidden = 0;
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    if (name == "weight_hh_l0") hidden = parameter.value.shape().extent(parameter.value.shape().rank - 1);
  });
  return hidden;
}

/// Lengths of sequences that end at different times.
inline std::vector<tenon::index> lengths_of(tenon::index count) {
  const tenon::index some[] = {4, 1, 3, 2, 4, 4, 1, 2, 3, 4, 4};
  std::vector<tenon::index> lengths(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = some[i % 11];
  return lengths;
}

/// The results of a pass over packed sequences, and all its gradients.
template <class Layer>
std::vector<double> numbers_of_pass(Layer& layer, tenon::index sequences = 11) {
  using space = typename Layer::space;
  using T = typename Layer::element;
  const tenon::index parts = layer.options().layers * layer.options().directions();
  const auto x =
      tenon::tensor<T, tenon::rank<3>, space>(tenon::uniform<T>(tenon::rank<3>(4, sequences, 3), 1, -1.0f, 1.0f));
  const auto packed = tenon::nn::pack_padded_sequence(x, lengths_of(sequences), {.enforce_sorted = false});
  std::vector<double> result;
  const auto add = [&](const auto& values) {
    for (const double number : numbers_of(tenon::evaluated_tensor(values))) result.push_back(number);
  };
  const auto pass = [&](const auto&... states) {
    const auto values = layer.forward(packed, states...);
    add(values.sequence.rows), add(values.hidden);
    tenon::tensor<T, tenon::rank<2>, space> rows(values.sequence.rows.shape());
    rows = tenon::uniform<T>(rows.shape(), 2, -1.0f, 1.0f);
    const auto gradients =
        layer.backward(tenon::nn::packed_sequence<decltype(rows)>{rows, values.sequence.layout}, states...);
    add(gradients.sequence.rows), add(gradients.hidden);
    if constexpr (Layer::state_count == 2) add(gradients.cell);
  };
  const auto draw = [&](std::uint64_t seed) {
    const tenon::rank<3> extents(parts, sequences, hidden_of(layer));
    return tenon::tensor<T, tenon::rank<3>, space>(tenon::uniform<T>(extents, seed, -1.0f, 1.0f));
  };
  if constexpr (Layer::state_count == 2) pass(draw(3), draw(4));
  else pass(draw(3));
  layer.visit_parameters([&](const std::string&, auto& parameter) { add(parameter.gradient); });
  return result;
}

/// How far a layer in `Space` is from the same on the host.
template <class Space, class Layer>
std::string error_in_space(Layer layer, double tolerance, tenon::index sequences = 11) {
  layer.initialise(0);
  auto moved = layer.template to<Space>();
  const auto expected = numbers_of_pass(layer, sequences);
  return difference(numbers_of_pass(moved, sequences), expected, tolerance);
}

}  // namespace tenon_test
