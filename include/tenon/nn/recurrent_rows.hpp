// tenon/nn/recurrent_rows.hpp: what the gates of one time step read and write, and the functions that they are made of.
// Rows of a recurrence's matrices; gates lie side by side, blocks of `hidden` columns in PyTorch's order.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/matrix_parts.hpp>

namespace tenon::nn {

/// The rows of a step. Pre-activations of the gates are sums of the input's products and the state's; where a gate
/// needs these apart, `products` holds the state's, elsewhere it is `gates` itself.
template <dtype T, memory_space Space>
struct recurrent_rows {
  using matrix = matrix_view<T, Space>;

  matrix gates, products;          // [rows, gates * hidden]
  matrix previous, previous_cell;  // [rows, hidden]: the state before; a projected one has fewer columns
  matrix hidden, cell;             // [rows, hidden]: the state after, not projected

  matrix gate(index number) const { return block(gates, number); }
  matrix product(index number) const { return block(products, number); }

 private:
  matrix block(const matrix& blocks, index number) const {
    return columns_of(blocks, number * hidden.extent(1), hidden.extent(1));
  }
};

/// The gradients of a step. Gradients of the state after are read; gradients of the state before are added to.
template <dtype T, memory_space Space>
struct recurrent_row_gradients {
  using matrix = matrix_view<T, Space>;

  matrix previous, previous_cell;
  matrix hidden, cell;
};

/// What the way back sees of a step, as matrices or as numbers of one hidden unit; gates are activations. In kernels
/// gradients take the gates' places, and `previous` and `previous_cell` become the parts of the gradients of the state
/// before that need no product.
template <class Value, int Count>
struct recurrent_activations {
  array<Value, Count> gates, products;
  Value previous, previous_cell, hidden, squashed;
};

/// Gate arithmetic is written once for statements and for packs of lanes, with functions that are given to it: these of
/// expressions.
struct functions_of_statements {
  template <class Operand>
  static auto sigmoid(const Operand& x) {
    return tenon::sigmoid(x);
  }
  template <class Operand>
  static auto tanh(const Operand& x) {
    return tenon::tanh(x);
  }
  template <class Operand>
  static auto relu(const Operand& x) {
    return tenon::relu(x);
  }
};

/// The same of packs, and of single numbers in kernels.
struct functions_of_packs {
  template <class Pack>
  TENON_HOST_DEVICE TENON_INLINE static Pack sigmoid(const Pack& x) {
    return sigmoid_op::value(x);
  }
  template <class Pack>
  TENON_HOST_DEVICE TENON_INLINE static Pack tanh(const Pack& x) {
    return tanh_op::value(x);
  }
  template <class Pack>
  TENON_HOST_DEVICE TENON_INLINE static Pack relu(const Pack& x) {
    return relu_op::value(x);
  }
};

}  // namespace tenon::nn
