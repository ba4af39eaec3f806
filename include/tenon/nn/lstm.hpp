// tenon/nn/lstm.hpp: layers of long short-term memory.
// Names, shapes, the order of gates (i, f, g, o) and initialisation are those of torch.nn.LSTM.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/lstm_gates.hpp>
#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>

namespace tenon::nn {

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
