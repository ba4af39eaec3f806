// tenon/nn/lstm.hpp: long short-term memory: gates, layers and cells.
// Names, shapes, the order of gates (i, f, g, o) and initialisation are those of torch.nn.LSTM.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>

namespace tenon::nn {

/// Gates i, f, g, o: the cell is f * cell + i * g, the state o * tanh(cell).
/// source    Hochreiter, Schmidhuber 1997; Gers and others 2000
struct lstm_gates {
  static constexpr const char *name = "lstm", *cell_name = "lstm_cell";
  static constexpr index count = 4;
  static constexpr int states = 2;
  static constexpr bool keeps_products = false;

  TENON_NO_EXEC_CHECK
  template <class Functions, class Gate, class Cell>
  TENON_HOST_DEVICE static auto cell_after(Functions, const Gate& i, const Gate& f, const Gate& g, const Cell& cell) {
    return Functions::sigmoid(f) * cell + Functions::sigmoid(i) * Functions::tanh(g);
  }
  TENON_NO_EXEC_CHECK
  template <class Functions, class Gate, class Cell>
  TENON_HOST_DEVICE static auto hidden_after(Functions, const Gate& o, const Cell& cell) {
    return Functions::sigmoid(o) * Functions::tanh(cell);
  }

  /// The state after a step, from pre-activations; one kernel.
  template <dtype T, memory_space Space>
  void forward(const recurrent_rows<T, Space>& at) const {
    constexpr functions_of_statements functions;
    const auto cell = cell_after(functions, at.gate(0), at.gate(1), at.gate(2), at.previous_cell);
    evaluate(assign(at.cell, cell), assign(at.hidden, hidden_after(functions, at.gate(3), cell)));
  }
  /// The same of packs: `cell` becomes the one after the step.
  template <class Pack, class Functions = functions_of_packs>
  TENON_HOST_DEVICE TENON_INLINE Pack forward(const Pack (&gates)[4], const Pack (&)[4], const Pack&, Pack& cell,
                                              Functions functions = {}) const {
    cell = cell_after(functions, gates[0], gates[1], gates[2], cell);
    return hidden_after(functions, gates[3], cell);
  }

  /// Pre-activations of all steps become activations, and `squashed` the tanh of the cells, before the way back.
  template <dtype T, memory_space Space>
  void activate(const recurrent_rows<T, Space>& all, const matrix_view<T, Space>& squashed) const {
    const auto i = all.gate(0), f = all.gate(1), g = all.gate(2), o = all.gate(3);
    evaluate(assign(i, tenon::sigmoid(i)), assign(f, tenon::sigmoid(f)), assign(g, tenon::tanh(g)),
             assign(o, tenon::sigmoid(o)), assign(squashed, tenon::tanh(all.cell)));
  }

  /// Activations become the gradients of pre-activations; one kernel.
  template <dtype T, memory_space Space>
  void backward(const recurrent_rows<T, Space>& at, const recurrent_row_gradients<T, Space>& gradient,
                const matrix_view<T, Space>& squashed) const {
    using matrix = matrix_view<T, Space>;
    const auto i = at.gate(0), f = at.gate(1), g = at.gate(2), o = at.gate(3);
    const recurrent_activations<matrix, 4> step{{{i, f, g, o}},   {{i, f, g, o}}, at.previous,
                                                at.previous_cell, at.hidden,      squashed};
    const auto [of_i, of_f, of_g, of_o, share] = gradients(step, gradient.hidden, gradient.cell);
    evaluate(assign(i, of_i), assign(f, of_f), assign(g, of_g), assign(o, of_o),
             assign(gradient.previous_cell, gradient.previous_cell + share));
  }
  /// The same of one hidden unit in a kernel, or of a pack of them.
  template <class Number>
  TENON_HOST_DEVICE void backward(recurrent_activations<Number, 4>& at, Number of_hidden, Number of_cell) const {
    const auto found = gradients(at, of_hidden, of_cell);
    at.gates = {{get<0>(found), get<1>(found), get<2>(found), get<3>(found)}};
    at.previous_cell = get<4>(found);
  }

 private:
  /// Gradients of the gates i, f, g, o, and what is added to that of the cell before.
  TENON_NO_EXEC_CHECK
  template <class Value>
  TENON_HOST_DEVICE static auto gradients(const recurrent_activations<Value, 4>& at, const Value& of_hidden,
                                          const Value& of_cell) {
    const auto &i = at.gates[0], &f = at.gates[1], &g = at.gates[2], &o = at.gates[3], &squashed = at.squashed;
    const auto cell = of_cell + of_hidden * o * (1 - squashed * squashed);
    return make_tuple_of(cell * g * i * (1 - i), cell * at.previous_cell * f * (1 - f), cell * i * (1 - g * g),
                         of_hidden * squashed * o * (1 - o), cell * f);
  }
};

/// An LSTM over [time, batch, Input]; options are `recurrent_options`: `projection` makes the state smaller than the
/// cell.
/// example   nn::lstm<> layer(64, 128, {.layers = 2});
///           const auto [sequence, hidden, cell] = layer.forward(x);
///           const auto gradients = layer.backward(gradient_of_sequence);  // gradients.sequence is that of x
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using lstm = recurrent<lstm_gates, Input, Hidden, Space, T>;

/// One step of an LSTM, as torch.nn.LSTMCell: input [batch, Input], hidden state and cell [batch, Hidden].
/// example   const auto [hidden, cell] = layer.forward(x, hidden_before, cell_before);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using lstm_cell = recurrent_cell<lstm_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
