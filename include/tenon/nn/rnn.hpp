// tenon/nn/rnn.hpp: plain recurrent layers.
// Names, shapes and initialisation are those of torch.nn.RNN.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>
#include <tenon/nn/rnn_gates.hpp>

namespace tenon::nn {

/// Options as of `recurrent_options`; `function` is tanh or relu.
/// example   nn::rnn<64, 128> layer({.function = nn::nonlinearity::relu});
///           const auto [sequence, hidden] = layer.forward(x);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using rnn = recurrent<rnn_gates, Input, Hidden, Space, T>;

/// One step of a plain recurrence, as torch.nn.RNNCell.
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using rnn_cell = recurrent_cell<rnn_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
