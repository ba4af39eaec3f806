// tests/golden/recurrent.cpp: recurrent layers and cells.
// States are called h_0 and c_0 before the first step, h_n and c_n after the last, h_1 and c_1 after that of a cell.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>

#include "golden/cases.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

nn::recurrent_options options_of(const attribute_table& attributes) {
  const bool is_relu = attributes.text("nonlinearity", "tanh") == "relu";
  return {.layers = attributes.integer("num_layers", 1),
          .bias = attributes.flag("bias", true),
          .batch_first = attributes.flag("batch_first", false),
          .dropout = attributes.number("dropout", 0),
          .bidirectional = attributes.flag("bidirectional", false),
          .projection = attributes.integer("proj_size", 0),
          .function = is_relu ? nn::nonlinearity::with_relu : nn::nonlinearity::with_tanh};
}

template <class Layer>
Layer make_layer(const golden_case& given) {
  using space = typename Layer::space;
  const auto& attributes = given.attributes;
  Layer layer(attributes.integer("input_size", 0), attributes.integer("hidden_size", 0), options_of(attributes));
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    constexpr int rank = std::remove_cvref_t<decltype(parameter.value)>::rank;
    parameter.value = tensor_of<float, space, rank>(given.parameters.at(name));
  });
  return layer;
}

/// A view of any elements under its extents.
template <int Rank, class Elements>
array copied(const Elements& elements) {
  const tn::tensor<float, tn::rank<Rank>, typename Elements::space> copy = elements;
  return array_of(copy, Rank);
}

template <class Layer>
void add_parameter_gradients(Layer& layer, array_table& gradients) {
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    gradients[name] = array_of(parameter.gradient, std::remove_cvref_t<decltype(parameter.value)>::rank);
  });
}

/// Calls `function(sequence, states...)` with the tensors of `from` called `names`: as many as there are states.
template <int Rank, int States, class Space, class Function>
auto with_states(const array_table& from, const array_table& sequences, const char* hidden, const char* cell,
                 const char* sequence, const Function& function) {
  const auto read = [](const array& source) { return tensor_of<float, Space, Rank>(source); };
  const auto x = read(sequences.at(sequence));
  if constexpr (States == 1) return function(x, read(from.at(hidden)));
  else return function(x, read(from.at(hidden)), read(from.at(cell)));
}

/// States by their names; `suffix` tells those before from those after.
template <int Rank, class Values>
void add_states(const Values& values, const std::string& suffix, array_table& table) {
  table["h_" + suffix] = copied<Rank>(values.hidden);
  if constexpr (requires { values.cell; }) table["c_" + suffix] = copied<Rank>(values.cell);
}

template <class Layer, int States>
result run_sequence(const golden_case& given) {
  using space = typename Layer::space;
  Layer layer = make_layer<Layer>(given);
  result found;
  const auto forward = [&](const auto& x, const auto&... states) {
    const auto values = layer.forward(x, states...);
    found.outputs["output"] = copied<3>(values.sequence);
    add_states<3>(values, "n", found.outputs);
  };
  const auto backward = [&](const auto& gradient, const auto&... states) {
    const auto gradients = layer.backward(gradient, states...);
    found.gradients["input"] = copied<3>(gradients.sequence);
    add_states<3>(gradients, "0", found.gradients);
  };
  if (given.inputs.contains("h_0"))
    with_states<3, States, space>(given.inputs, given.inputs, "h_0", "c_0", "input", forward);
  else forward(tensor_of<float, space, 3>(given.inputs.at("input")));
  with_states<3, States, space>(given.grad_outputs, given.grad_outputs, "h_n", "c_n", "output", backward);
  add_parameter_gradients(layer, found.gradients);
  return found;
}

/// Padded sequences are packed before and padded after.
template <class Layer, int States>
result run_packed(const golden_case& given, const std::vector<index>& lengths) {
  using space = typename Layer::space;
  Layer layer = make_layer<Layer>(given);
  result found;
  const nn::packing options{.batch_first = layer.options().batch_first};
  const auto values =
      layer.forward(nn::pack_padded_sequence(tensor_of<float, space, 3>(given.inputs.at("input")), lengths, options));
  found.outputs["output"] = copied<3>(nn::pad_packed_sequence(values.sequence, options).sequences);
  add_states<3>(values, "n", found.outputs);
  const auto backward = [&](const auto& gradient, const auto&... states) {
    const auto gradients = layer.backward(nn::pack_padded_sequence(gradient, lengths, options), states...);
    found.gradients["input"] = copied<3>(nn::pad_packed_sequence(gradients.sequence, options).sequences);
    add_states<3>(gradients, "0", found.gradients);
  };
  with_states<3, States, space>(given.grad_outputs, given.grad_outputs, "h_n", "c_n", "output", backward);
  add_parameter_gradients(layer, found.gradients);
  return found;
}

template <class Layer, int States>
result run_layer(const golden_case& given) {
  const auto lengths = given.attributes.integers("lengths");
  return lengths.empty() ? run_sequence<Layer, States>(given) : run_packed<Layer, States>(given, lengths);
}

template <class Cell, int States>
result run_cell(const golden_case& given) {
  using space = typename Cell::space;
  Cell cell = make_layer<Cell>(given);
  result found;
  const auto forward = [&](const auto&... given_states) {
    add_states<2>(cell.forward(given_states...), "1", found.outputs);
  };
  const auto backward = [&](const auto&, const auto&... states) {
    const auto gradients = cell.backward(states...);
    found.gradients["input"] = copied<2>(gradients.input);
    add_states<2>(gradients, "0", found.gradients);
  };
  with_states<2, States, space>(given.inputs, given.inputs, "h_0", "c_0", "input", forward);
  with_states<2, States, space>(given.grad_outputs, given.inputs, "h_1", "c_1", "input", backward);
  add_parameter_gradients(cell, found.gradients);
  return found;
}

}  // namespace

void add_recurrent(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) {
    using tn::dyn;
    table["RNN"] = run_layer<nn::rnn<dyn, dyn, Space>, 1>;
    table["GRU"] = run_layer<nn::gru<dyn, dyn, Space>, 1>;
    table["LSTM"] = run_layer<nn::lstm<dyn, dyn, Space>, 2>;
    table["RNNCell"] = run_cell<nn::rnn_cell<dyn, dyn, Space>, 1>;
    table["GRUCell"] = run_cell<nn::gru_cell<dyn, dyn, Space>, 1>;
    table["LSTMCell"] = run_cell<nn::lstm_cell<dyn, dyn, Space>, 2>;
  });
}

}  // namespace golden
