// tenon/nn/rnn.hpp: plain recurrences: their gate, layers and cells.
// Names, shapes and initialisation are those of torch.nn.RNN.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>

namespace tenon::nn {

/// One gate: the state is tanh or relu of the sum of input's and state's products.
/// source    Elman 1990
struct rnn_gates {
  static constexpr const char *name = "rnn", *cell_name = "rnn_cell";
  static constexpr index count = 1;
  static constexpr int states = 1;
  static constexpr bool keeps_products = false;

  nonlinearity function = nonlinearity::with_tanh;

  /// The state after a step, from pre-activations; one kernel.
  template <dtype T, memory_space Space>
  void forward(const recurrent_rows<T, Space>& at) const {
    if (function == nonlinearity::with_relu) at.hidden = tenon::relu(at.gates);
    else at.hidden = tenon::tanh(at.gates);
  }

  /// The same of packs.
  template <class Pack, class Functions = functions_of_packs>
  TENON_HOST_DEVICE TENON_INLINE Pack forward(const Pack (&gates)[1], const Pack (&)[1], const Pack&, Pack&,
                                              Functions = {}) const {
    return function == nonlinearity::with_relu ? Functions::relu(gates[0]) : Functions::tanh(gates[0]);
  }

  /// The state itself says what its gradient is.
  template <dtype T, memory_space Space>
  void activate(const recurrent_rows<T, Space>&, const matrix_view<T, Space>&) const {}

  /// Pre-activations become their gradients; one kernel.
  template <dtype T, memory_space Space>
  void backward(const recurrent_rows<T, Space>& at, const recurrent_row_gradients<T, Space>& gradient,
                const matrix_view<T, Space>&) const {
    if (function == nonlinearity::with_relu) at.gates = where(at.hidden > 0, gradient.hidden, 0);
    else at.gates = gradient.hidden * (1 - at.hidden * at.hidden);
  }
  /// The same of one hidden unit in a kernel, or of a pack of them.
  template <class Number>
  TENON_HOST_DEVICE void backward(recurrent_activations<Number, 1>& at, Number of_hidden, Number) const {
    const Number zero = simd::constant_like<Number>(0);
    if (function == nonlinearity::with_relu) at.gates[0] = simd::select(at.hidden > zero, of_hidden, zero);
    else at.gates[0] = of_hidden * (1 - at.hidden * at.hidden);
  }
};

/// A plain recurrence over [time, batch, Input]; options are `recurrent_options`, `function` is tanh or relu.
/// example   nn::rnn<64, 128> layer({.function = nn::nonlinearity::with_relu});
///           const auto [sequence, hidden] = layer.forward(x);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using rnn = recurrent<rnn_gates, Input, Hidden, Space, T>;

/// One step of a plain recurrence, as torch.nn.RNNCell: input [batch, Input], states [batch, Hidden].
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using rnn_cell = recurrent_cell<rnn_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
