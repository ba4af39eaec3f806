// tests/conformance/recurrent.cpp: RNN, GRU and LSTM of ONNX.
// Its gates have another order than the layers', and its GRU by default resets the state before the product with it:
// that one is put together of statements here.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

namespace nn = tn::nn;

/// The blocks of rows that an array holds for each direction, those of one direction in another order.
array blocks_of(const array& source, index direction, const std::vector<index>& order, index first_block = 0) {
  const index directions = source.extents.at(0), count = static_cast<index>(order.size());
  const index rows = source.extents.at(1), bytes = static_cast<index>(source.bytes.size()) / directions;
  const index all_blocks = source.rank() == 2 ? 2 * count : count;  // biases of input and state lie one after the other
  const index block = bytes / all_blocks;
  array result{source.dtype, {source.extents.begin() + 1, source.extents.end()}, {}};
  result.extents[0] = rows / all_blocks * count;
  for (const index each : order) {
    const std::byte* const from = source.bytes.data() + direction * bytes + (first_block + each) * block;
    result.bytes.insert(result.bytes.end(), from, from + block);
  }
  return result;
}

/// Throws for what no case asks for.
void check_attributes(const call& from) {
  const auto refuse = [](const char* what) { throw tn::shape_error(std::string("not told by this test: ") + what); };
  if (from.attributes.has("activations")) refuse("activations");
  if (from.attributes.has("clip")) refuse("clip");
  if (from.attributes.text("direction", "forward") == "reverse") refuse("direction reverse");
  if (from.has(4)) refuse("sequence_lens");
  if (from.has(7)) refuse("peepholes");
}

/// Y as [time, directions, batch, features].
template <class Space, class Sequence>
array sequence_of(const Sequence& sequence, index directions) {
  const index time = sequence.extent(0), batch = sequence.extent(1), hidden = sequence.extent(2) / directions;
  tensor<float, Space> copy(extents_type(1, 1, time, batch, directions, hidden));
  tn::reshape(copy, tn::rank<3>(time, batch, directions * hidden)) = sequence;
  return evaluated<Space>(tn::permute(copy, tn::axis<0, 1, 2, 4, 3, 5>), 4);
}

template <class Space, class State>
array state_of(const State& state) {
  const tn::tensor<float, tn::rank<3>, Space> copy = state;
  return array_of(copy, 3);
}

/// `order`: which of ONNX's gates is each of the layer's.
template <class Layer>
array_list run_layer(const call& from, const std::vector<index>& order) {
  using space = typename Layer::space;
  check_attributes(from);
  const bool is_bidirectional = from.attributes.text("direction", "forward") == "bidirectional";
  const array& weight = from.input(1);
  Layer layer(weight.extents.at(2), from.attributes.integer("hidden_size", 0),
              {.bias = from.has(3),
               .batch_first = from.attributes.integer("layout", 0) != 0,
               .bidirectional = is_bidirectional});
  const auto count = static_cast<index>(order.size());
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    constexpr int rank = std::remove_cvref_t<decltype(parameter.value)>::rank;
    const index direction = name.ends_with("_reverse") ? 1 : 0;
    const bool is_of_state = name.find("_hh") != std::string::npos;
    const array& source = from.input(rank == 1 ? 3 : is_of_state ? 2 : 1);
    const index first = rank == 1 && is_of_state ? count : 0;
    parameter.value = tensor_of<float, space, rank>(blocks_of(source, direction, order, first));
  });
  const auto x = tensor_of<float, space, 3>(from.input(0));
  const auto told = [&](const auto& values) {
    array_list results{sequence_of<space>(values.sequence, is_bidirectional ? 2 : 1), state_of<space>(values.hidden)};
    if constexpr (requires { values.cell; }) results.push_back(state_of<space>(values.cell));
    return results;
  };
  if (!from.has(5)) return told(layer.forward(x));
  const auto hidden = tensor_of<float, space, 3>(from.input(5));
  if constexpr (Layer::state_count == 2) {
    return told(layer.forward(x, hidden, tensor_of<float, space, 3>(from.input(6))));
  } else {
    return told(layer.forward(x, hidden));
  }
}

/// Gates z, r, h, of which h takes the product with r * state; one direction.
template <class Space>
array_list run_gru_resetting_first(const call& from) {
  check_attributes(from);
  const auto x = tensor_of<float, Space, 3>(from.input(0));
  const index batch = x.extent(1), hidden = from.attributes.integer("hidden_size", 0);
  using matrix = tn::tensor<float, tn::rank<2>, Space>;
  using vector = tn::tensor<float, tn::rank<1>, Space>;
  matrix state = tn::zeros<float, Space>(tn::rank<2>(batch, hidden));
  if (from.has(5)) state = tn::reshape(tensor_of<float, Space, 3>(from.input(5)), state.shape());
  const auto gate = [&](index number, const matrix& input, const matrix& given) {
    const auto weight = tensor_of<float, Space, 2>(blocks_of(from.input(1), 0, {0, 1, 2}));
    const auto recurrent = tensor_of<float, Space, 2>(blocks_of(from.input(2), 0, {0, 1, 2}));
    const tn::range rows(number * hidden, (number + 1) * hidden);
    vector bias = tn::zeros<float, Space>(tn::rank<1>(hidden));
    if (from.has(3)) {
      const auto all = tensor_of<float, Space, 1>(blocks_of(from.input(3), 0, {0, 1, 2}));
      const auto of_state = tensor_of<float, Space, 1>(blocks_of(from.input(3), 0, {0, 1, 2}, 3));
      bias = tn::slice(all, rows) + tn::slice(of_state, rows);
    }
    matrix sum = tn::matmul(input, tn::transpose(tn::slice(weight, rows))) + bias;
    sum = tn::matmul(given, tn::transpose(tn::slice(recurrent, rows))) + sum;
    return sum;
  };
  tn::tensor<float, tn::rank<3>, Space> sequence({x.extent(0), batch, hidden});
  for (index time = 0; time < x.extent(0); ++time) {
    const matrix input = tn::reshape(tn::slice(x, tn::only(time)), tn::rank<2>(batch, x.extent(2)));
    const matrix z = tn::sigmoid(gate(0, input, state)), r = tn::sigmoid(gate(1, input, state));
    const matrix n = tn::tanh(gate(2, input, matrix(r * state)));
    state = (1 - z) * n + z * state;
    tn::slice(sequence, tn::only(time)) = state;
  }
  return {sequence_of<Space>(sequence, 1), array_of(state, {1, batch, hidden})};
}

}  // namespace

void add_recurrent(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    using tn::dyn;
    table["RNN"] = [](const call& from) { return run_layer<nn::rnn<dyn, dyn, Space>>(from, {0}); };
    table["LSTM"] = [](const call& from) { return run_layer<nn::lstm<dyn, dyn, Space>>(from, {0, 2, 3, 1}); };
    table["GRU"] = [](const call& from) {
      if (from.attributes.integer("linear_before_reset", 0) == 0) return run_gru_resetting_first<Space>(from);
      return run_layer<nn::gru<dyn, dyn, Space>>(from, {1, 0, 2});
    };
  });
}

}  // namespace conformance
