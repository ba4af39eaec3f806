// tenon/nn/lstm_gates.hpp: the gate arithmetic of long short-term memory.
// Gates i, f, g, o: the cell is f * cell + i * g, the state o * tanh(cell).
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent_rows.hpp>

namespace tenon::nn {

/// source    Hochreiter, Schmidhuber 1997; Gers and others 2000
struct lstm_gates {
  static constexpr const char* name = "lstm";
  static constexpr index count = 4;
  static constexpr int states = 2;
  static constexpr bool keeps_products = false;

  /// The state after a step, from pre-activations; one kernel.
  template <dtype T, memory_space Space>
  void forward(const recurrent_rows<T, Space>& at) const {
    const auto kept = tenon::sigmoid(at.gate(1)) * at.previous_cell;
    const auto cell = kept + tenon::sigmoid(at.gate(0)) * tenon::tanh(at.gate(2));
    evaluate(assign(at.cell, cell), assign(at.hidden, tenon::sigmoid(at.gate(3)) * tenon::tanh(cell)));
  }

  /// Pre-activations of all steps become activations, and `squashed` the tanh of the cells, before the way back.
  template <dtype T, memory_space Space>
  void activate(const recurrent_rows<T, Space>& all, const matrix_view<T, Space>& squashed) const {
    const auto i = all.gate(0), f = all.gate(1), g = all.gate(2), o = all.gate(3);
    evaluate(assign(i, tenon::sigmoid(i)), assign(f, tenon::sigmoid(f)), assign(g, tenon::tanh(g)), assign(o, tenon::sigmoid(o)),
             assign(squashed, tenon::tanh(all.cell)));
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

}  // namespace tenon::nn
