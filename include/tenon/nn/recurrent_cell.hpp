// tenon/nn/recurrent_cell.hpp: what rnn_cell, lstm_cell and gru_cell have in common.
// A cell is a recurrence of one time step whose parameters have no number in their names.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/recurrent_checks.hpp>
#include <tenon/nn/recurrent_network.hpp>

namespace tenon::nn {

/// The states after a step; `const auto [hidden, cell] = ...`.
template <class State, int States>
struct recurrent_states {
  State hidden;

  static constexpr int count = 1;
  auto all() const { return make_tuple_of(hidden); }
  /// The same of what `body` makes of each value.
  template <class Body>
  auto each(const Body& body) const {
    const auto first = body(hidden);
    return recurrent_states<std::remove_const_t<decltype(first)>, States>{first};
  }
};
template <class State>
struct recurrent_states<State, 2> {
  State hidden, cell;

  static constexpr int count = 2;
  auto all() const { return make_tuple_of(hidden, cell); }
  template <class Body>
  auto each(const Body& body) const {
    const auto first = body(hidden), second = body(cell);
    return recurrent_states<std::remove_const_t<decltype(first)>, 2>{first, second};
  }
};

/// The gradients of what a cell takes.
template <class State, int States>
struct recurrent_cell_gradients {
  State input, hidden;
  auto all() const { return make_tuple_of(input, hidden); }
};
template <class State>
struct recurrent_cell_gradients<State, 2> {
  State input, hidden, cell;
  auto all() const { return make_tuple_of(input, hidden, cell); }
};

/// A step of `Gates` for inputs of `Input` features and states of `Hidden`; sizes as of `recurrent`.
/// parameters  weight_ih, weight_hh, bias_ih, bias_hh, as of torch.nn.LSTMCell
/// cost        two products and a kernel; a call of the same extents as the one before allocates nothing
template <class Gates, index Input, index Hidden, memory_space Space, dtype T>
class recurrent_cell : public callable<recurrent_cell<Gates, Input, Hidden, Space, T>> {
 public:
  static constexpr const char* name = Gates::cell_name;
  static constexpr int state_count = Gates::states;  ///< 2 where a cell is kept beside the hidden state
  static constexpr bool wants_input_always = true;
  using space = Space;
  using element = T;
  template <space_or_element To>
  using moved = recurrent_cell<Gates, Input, Hidden, space_after<To, Space>, element_after<To, T>>;

  recurrent_cell(const recurrent_options& options = {}) : network_(Input, Hidden, options) {
    static_assert((Input != dyn && Hidden != dyn) || must_hold<constant<Input>, constant<Hidden>>,
                  "tenon: sizes that the type does not know are given to the constructor: (input, hidden, options)");
    check_options();
  }
  /// throws    shape_error when a size contradicts the type, or is below 1
  recurrent_cell(index input, index hidden, const recurrent_options& options = {}) : network_(input, hidden, options) {
    detail::check_size<recurrent_cell>("input features", input, Input);
    detail::check_size<recurrent_cell>("hidden features", hidden, Hidden);
    check_options();
  }

  void initialise(std::uint64_t seed) { network_.initialise(seed); }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    network_.weights(0).visit("", visitor);
  }
  template <space_or_element To>
  moved<To> to() const {
    moved<To> result(network_.extents().input, network_.extents().hidden, network_.options());
    result.network_ = network_.template to<To>();
    return result;
  }

  using call_memory = typename recurrent_network<Gates, T, Space>::call_memory;
  /// The memory of a call in place of the layer's own, while the result lives.
  detail::lent_memory lend(call_memory& memory) const { return network_.lend(memory); }

  /// The states after a step, valid until the next call; those before are zeros where there are none.
  /// extents   input [batch, Input], or [Input]; states [batch, Hidden], or [Hidden]
  /// throws    shape_error
  template <tensor_operand Operand, tensor_operand... States>
  auto forward(const Operand& input, const States&... before) {
    constexpr int rank = Operand::shape_type::rank;
    const auto result = values_for(input.shape());
    const auto values = network_.values();
    seen<rank>(values.input) = input;
    set_states<rank>(values.hidden_before, values.cell_before, before...);
    network_.forward(false, 0);
    return result;
  }
  /// Where `forward` leaves its values for inputs of these extents.
  template <shape_type Shape>
  auto values_for(const Shape& input) {
    constexpr int rank = Shape::rank;
    static_assert(rank == 1 || rank == 2 || must_hold<constant<rank>>,
                  "tenon: a recurrent cell takes [batch, features], or [features]");
    detail::check_features<recurrent_cell, Input>(input, network_.extents().input);
    network_.resize(1, rank == 2 ? input.extent(0) : 1);
    const auto values = network_.values();
    if constexpr (Gates::states == 1) return states_type<rank>{seen<rank>(values.hidden_after)};
    else return states_type<rank>{seen<rank>(values.hidden_after), seen<rank>(values.cell_after)};
  }
  /// The gradients of input and states before, given those of the states after; leaves those of the parameters. Follows
  /// one forward pass; valid until the next.
  template <tensor_operand... States>
  auto backward(const States&... after) {
    constexpr int rank = std::max({States::shape_type::rank...});
    const auto gradients = network_.gradients();
    gradients.output = 0;
    set_states<rank>(gradients.hidden_after, gradients.cell_after, after...);
    network_.backward();
    const auto of_input = seen<rank>(gradients.input), of_hidden = seen<rank>(gradients.hidden_before);
    if constexpr (Gates::states == 1) return gradients_type<rank>{of_input, of_hidden};
    else return gradients_type<rank>{of_input, of_hidden, seen<rank>(gradients.cell_before)};
  }

 private:
  template <class, index, index, memory_space, dtype>
  friend class recurrent_cell;
  using matrix = matrix_view<T, Space>;
  template <int Rank>
  using states_type = recurrent_states<view<const T, rank<Rank>, Space>, Gates::states>;
  template <int Rank>
  using gradients_type = recurrent_cell_gradients<view<const T, rank<Rank>, Space>, Gates::states>;

  void check_options() const {
    const recurrent_options& given = network_.options();
    if (given.layers == 1 && !given.bidirectional && given.projection == 0) return;
    throw shape_error(compose_text(name, ": a cell has one layer in one direction, without projection"));
  }
  /// A matrix, or its only row.
  template <int Rank>
  static view<T, rank<Rank>, Space> seen(const matrix& rows) {
    if constexpr (Rank == 2) return rows;
    else return {rows.data(), rank<1>(rows.extent(1))};
  }
  template <int Rank, class... States>
  static void set_states(const matrix& hidden, const matrix& cell, const States&... states) {
    detail::set_states<recurrent_cell, Gates::states, Hidden>(seen<Rank>(hidden), seen<Rank>(cell), states...);
  }

  recurrent_network<Gates, T, Space> network_;
};

}  // namespace tenon::nn
