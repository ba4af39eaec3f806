// tenon/nn/gru.hpp: layers of gated recurrent units.
// Names, shapes, the order of gates (r, z, n) and initialisation are those of torch.nn.GRU.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/gru_gates.hpp>
#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>

namespace tenon::nn {

/// Options as of `recurrent_options`.
/// example   nn::gru<64, 128> layer({.bidirectional = true});
///           const auto [sequence, hidden] = layer.forward(x);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using gru = recurrent<gru_gates, Input, Hidden, Space, T>;

/// One step of a GRU, as torch.nn.GRUCell.
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using gru_cell = recurrent_cell<gru_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
