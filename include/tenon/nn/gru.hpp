// tenon/nn/gru.hpp: gated recurrent units: gates, layers and cells.
// Names, shapes, the order of gates (r, z, n) and initialisation are those of torch.nn.GRU.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/recurrent_cell.hpp>

namespace tenon::nn {

/// Gates r, z, n: n is tanh(input + r * product), the state (1 - z) * n + z * state. The bias of the state's product is
/// within r * (...), as in cuDNN.
/// source    Cho and others 2014
struct gru_gates {
  static constexpr const char *name = "gru", *cell_name = "gru_cell";
  static constexpr index count = 3;
  static constexpr int states = 1;
  static constexpr bool keeps_products = true;

  /// The gate n, from r's pre-activation and the two parts of its own.
  TENON_NO_EXEC_CHECK
  template <class Functions, class Sum, class Gate>
  TENON_HOST_DEVICE static auto candidate(Functions, const Sum& r, const Gate& input, const Gate& product) {
    return Functions::tanh(input + Functions::sigmoid(r) * product);
  }
  TENON_NO_EXEC_CHECK
  template <class Functions, class Sum, class Candidate, class State>
  TENON_HOST_DEVICE static auto hidden_after(Functions, const Sum& z, const Candidate& n, const State& hidden) {
    return n + Functions::sigmoid(z) * (hidden - n);
  }

  /// The state after a step, from pre-activations; one kernel.
  template <dtype T, memory_space Space>
  void forward(const recurrent_rows<T, Space>& at) const {
    constexpr functions_of_statements functions;
    const auto n = candidate(functions, at.gate(0) + at.product(0), at.gate(2), at.product(2));
    at.hidden = hidden_after(functions, at.gate(1) + at.product(1), n, at.previous);
  }
  /// The same of packs.
  template <class Pack, class Functions = functions_of_packs>
  TENON_HOST_DEVICE TENON_INLINE Pack forward(const Pack (&gates)[3], const Pack (&products)[3], const Pack& previous,
                                              Pack&, Functions functions = {}) const {
    const Pack n = candidate(functions, Pack(gates[0] + products[0]), gates[2], products[2]);
    return hidden_after(functions, Pack(gates[1] + products[1]), n, previous);
  }

  /// Pre-activations of all steps become activations, before the way back.
  template <dtype T, memory_space Space>
  void activate(const recurrent_rows<T, Space>& all, const matrix_view<T, Space>&) const {
    const auto r = all.gate(0), z = all.gate(1), n = all.gate(2);
    const auto reset = tenon::sigmoid(r + all.product(0));
    evaluate(assign(r, reset), assign(z, tenon::sigmoid(z + all.product(1))),
             assign(n, tenon::tanh(n + reset * all.product(2))));
  }

  /// Activations become the gradients of pre-activations, and products those of the state's products; one kernel.
  template <dtype T, memory_space Space>
  void backward(const recurrent_rows<T, Space>& at, const recurrent_row_gradients<T, Space>& gradient,
                const matrix_view<T, Space>& none) const {
    using matrix = matrix_view<T, Space>;
    const auto r = at.gate(0), z = at.gate(1), n = at.gate(2);
    const auto product_r = at.product(0), product_z = at.product(1), product_n = at.product(2);
    const recurrent_activations<matrix, 3> step{
        {{r, z, n}}, {{product_r, product_z, product_n}}, at.previous, none, at.hidden, none};
    const auto [of_r, of_z, of_n, of_product, share] = gradients(step, gradient.hidden);
    evaluate(assign(r, of_r), assign(z, of_z), assign(n, of_n), assign(product_r, of_r), assign(product_z, of_z),
             assign(product_n, of_product), assign(gradient.previous, gradient.previous + share));
  }
  /// The same of one hidden unit in a kernel, or of a pack of them.
  template <class Number>
  TENON_HOST_DEVICE void backward(recurrent_activations<Number, 3>& at, Number of_hidden, Number) const {
    const auto found = gradients(at, of_hidden);
    at.gates = {{get<0>(found), get<1>(found), get<2>(found)}};
    at.products = {{get<0>(found), get<1>(found), get<3>(found)}};
    at.previous = get<4>(found);
  }

 private:
  /// Gradients of the gates r, z, n and of the product within n, and what is added to that of the state before.
  TENON_NO_EXEC_CHECK
  template <class Value>
  TENON_HOST_DEVICE static auto gradients(const recurrent_activations<Value, 3>& at, const Value& of_hidden) {
    const auto &r = at.gates[0], &z = at.gates[1], &n = at.gates[2];
    const auto of_n = of_hidden * (1 - z) * (1 - n * n);
    return make_tuple_of(of_n * at.products[2] * r * (1 - r), of_hidden * (at.previous - n) * z * (1 - z), of_n,
                         of_n * r, of_hidden * z);
  }
};

/// A gated recurrent unit over [time, batch, Input]; options are `recurrent_options`.
/// example   nn::gru<64, 128> layer({.bidirectional = true});
///           const auto [sequence, hidden] = layer.forward(x);
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using gru = recurrent<gru_gates, Input, Hidden, Space, T>;

/// One step of a GRU, as torch.nn.GRUCell: input [batch, Input], states [batch, Hidden].
template <index Input = dyn, index Hidden = dyn, memory_space Space = host, dtype T = float>
using gru_cell = recurrent_cell<gru_gates, Input, Hidden, Space, T>;

}  // namespace tenon::nn
