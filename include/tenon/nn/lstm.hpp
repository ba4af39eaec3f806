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
  static constexpr const char* name = "lstm";
  static constexpr index count = 4;
  static constexpr int states = 2;
  static constexpr bool keeps_products = false;

  template <class Functions, class Gate, class Cell>
  static auto cell_after(Functions, const Gate& i, const Gate& f, const Gate& g, const Cell& cell) {
    return Functions::sigmoid(f) * cell + Functions::sigmoid(i) * Functions::tanh(g);
  }
  template <class Functions, class Gate, class Cell>
  static auto hidden_after(Functions, const Gate& o, const Cell& cell) {
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
  template <class Pack>
  TENON_INLINE Pack forward(const Pack (&gates)[4], const Pack (&)[4], const Pack&, Pack& cell) const {
    constexpr functions_of_packs functions;
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
    const auto i = at.gate(0), f = at.gate(1), g = at.gate(2), o = at.gate(3);
    const auto cell = gradient.cell + gradient.hidden * o * (1 - squashed * squashed);
    evaluate(assign(i, cell * g * i * (1 - i)), assign(f, cell * at.previous_cell * f * (1 - f)),
             assign(g, cell * i * (1 - g * g)), assign(o, gradient.hidden * squashed * o * (1 - o)),
             assign(gradient.previous_cell, gradient.previous_cell + cell * f));
  }
};

/// Options as of `recurrent_options`; `projection` makes the state smaller than the cell.
/// example   nn::lstm<> layer(64, 128, {.layers = 2});
///           const auto [sequence, hidden, cell] = layer.forward(x);
///           const auto gradients = layer.backward(gradient_of_sequence);  // gradients.sequence is that of x
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using lstm = recurrent<lstm_gates, Input, Hidden, Space, T>;

/// One step of an LSTM, as torch.nn.LSTMCell.
/// example   const auto [hidden, cell] = layer.forward(x, hidden_before, cell_before);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using lstm_cell = recurrent_cell<lstm_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
