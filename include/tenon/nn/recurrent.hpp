// tenon/nn/recurrent.hpp: recurrent layers over sequences: what rnn, lstm and gru have in common.
// Inputs and results take the user's axes here; what is inside sees packed rows.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/grad/pass_numbers.hpp>
#include <tenon/nn/packed_sequence.hpp>
#include <tenon/nn/recurrent_checks.hpp>
#include <tenon/nn/recurrent_network.hpp>

namespace tenon::nn {

/// A sequence and the states of every layer and direction; `auto [sequence, hidden] = ...`.
template <class Sequence, class State, int States>
struct recurrent_values {
  Sequence sequence;
  State hidden;

  static constexpr int count = 2;
  auto all() const { return make_tuple_of(sequence, hidden); }
  /// The same of what `body` makes of each value.
  template <class Body>
  auto each(const Body& body) const {
    const auto first = body(sequence);
    const auto second = body(hidden);
    return recurrent_values<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(second)>, States>{
        first, second};
  }
};
template <class Sequence, class State>
struct recurrent_values<Sequence, State, 2> {
  Sequence sequence;
  State hidden, cell;

  static constexpr int count = 3;
  auto all() const { return make_tuple_of(sequence, hidden, cell); }
  template <class Body>
  auto each(const Body& body) const {
    const auto first = body(sequence);
    const auto second = body(hidden), third = body(cell);
    return recurrent_values<std::remove_const_t<decltype(first)>, std::remove_const_t<decltype(second)>, 2>{
        first, second, third};
  }
};

/// Layers of `Gates` over sequences of `Input` features, with states of `Hidden`. Sizes that are `dyn` are arguments of
/// the constructor; all others are checked when compiled.
/// parameters  weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, weight_ih_l0_reverse, ..., weight_ih_l1, ..., as of
///             torch.nn.LSTM
/// cost        a product for all inputs of a layer, then one kernel of all time steps; on devices without room for the
///             weights in shared memory, for each a product and a kernel, captured as one graph when passes are alike.
///             A call of the same extents as the one before allocates nothing
template <class Gates, index Input, index Hidden, memory_space Space, dtype T>
class recurrent : public callable<recurrent<Gates, Input, Hidden, Space, T>> {
 public:
  static constexpr const char* name = Gates::name;
  static constexpr int state_count = Gates::states;  ///< 2 where a cell is kept beside the hidden state
  static constexpr bool wants_input_always = false, takes_packed_sequences = true;
  using space = Space;
  using element = T;
  using network_type = recurrent_network<Gates, T, Space>;
  template <space_or_element To>
  using moved = recurrent<Gates, Input, Hidden, space_after<To, Space>, element_after<To, T>>;

  /// Whether dropout is applied; as after PyTorch's train() and eval().
  bool is_training = true;
  /// Draws dropout's zeros, together with the number of the call.
  std::uint64_t dropout_seed = 0;

  recurrent(const recurrent_options& options = {}) : network_(Input, Hidden, options) {
    static_assert((Input != dyn && Hidden != dyn) || must_hold<constant<Input>, constant<Hidden>>,
                  "tenon: sizes that the type does not know are given to the constructor: (input, hidden, options)");
  }
  /// throws    shape_error when a size contradicts the type, or is below 1
  recurrent(index input, index hidden, const recurrent_options& options = {}) : network_(input, hidden, options) {
    detail::check_size<recurrent>("input features", input, Input);
    detail::check_size<recurrent>("hidden features", hidden, Hidden);
  }

  const recurrent_options& options() const { return network_.options(); }
  /// The layers, with their weights.
  network_type& network() { return network_; }
  /// Draws every parameter from PyTorch's default distribution.
  void initialise(std::uint64_t seed) { network_.initialise(seed); }
  /// Calls `visitor(name, parameter)` for every parameter.
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    network_.visit_parameters(visitor);
  }
  /// Expires where the layer is destroyed; its parameters may have moved to another one.
  std::weak_ptr<const char> life() { return place_.life(); }
  /// What a call leaves for its way back.
  struct call_memory {
    struct states {
      buffer<T, rank<3>, Space> hidden, cell;
    };
    struct sequence_memory {
      states unsorted, unsorted_gradients;  // of packed sequences
      index time = 0;
    };
    typename network_type::call_memory network;
    sequence_memory sequence;
  };
  /// The memory of a call in place of the layer's own, while the result lives.
  auto lend(call_memory& memory) const {
    struct both_parts {
      detail::lent_memory network, sequence;
    };
    return both_parts{network_.lend(memory.network), {sequence_memory_, memory.sequence}};
  }
  std::uint64_t forward_count() const { return calls_; }
  void undo_forward(std::uint64_t count) { tenon::detail::take_back_passes(calls_, count); }
  template <class Visitor>
  void visit_random_state(Visitor&& visitor) {
    visitor("seed", dropout_seed), visitor("calls", calls_);
  }
  /// The layer with its parameters copied to another memory space, or as another type of elements.
  template <space_or_element To>
  moved<To> to() const {
    moved<To> result(network_.extents().input, network_.extents().hidden, options());
    result.network_ = network_.template to<To>();
    result.is_training = is_training, result.dropout_seed = dropout_seed;
    return result;
  }

  /// The output of the last layer, and the state of every layer and direction after its last step; valid until the next
  /// call. `before` are the states before the first step, zeros where there are none.
  /// extents   input [time, batch, Input] (batch first where so chosen), or [time, Input] of one sequence; sequence
  ///           [time, batch, directions * Hidden], states [layers * directions, batch, Hidden], likewise
  /// throws    shape_error
  template <tensor_operand Sequence, tensor_operand... States>
  auto forward(const Sequence& input, const States&... before) {
    constexpr int rank = Sequence::shape_type::rank;
    start(input.shape());
    const auto values = network_.values();
    sequence_view<rank>(values.input) = input;
    set_states<rank>(values.hidden_before, values.cell_before, before...);
    run();
    return results<rank>(read_only<rank>(values.output), values.hidden_after, values.cell_after);
  }
  /// Where `forward` leaves its values for inputs of these extents.
  template <shape_type Shape>
  auto values_for(const Shape& input) {
    start(input);
    const auto values = network_.values();
    return results<Shape::rank>(read_only<Shape::rank>(values.output), values.hidden_after, values.cell_after);
  }
  /// `forward` of packed sequences. The order of states is that of the sequences before they were packed.
  template <class Rows, tensor_operand... States>
  auto forward(const packed_sequence<Rows>& input, const States&... before) {
    start(input);
    const auto values = network_.values();
    values.input = input.rows;
    set_sorted_states(values.hidden_before, values.cell_before, *input.layout, before...);
    return attempt_forward(*this, [&] {
      run();
      const packed_sequence<const_view<2>> output{values.output, input.layout};
      return packed_results(output, values.hidden_after, values.cell_after, *input.layout, in_use().unsorted);
    });
  }
  /// The gradients of the input and of the states before. Takes the gradients of the sequence and of the states after
  /// (zeros where none are given), and leaves the gradients of the parameters. Follows one forward pass; valid until
  /// the next. With `not_wanted{}` behind the sequence's gradient, the input gets none: data need no gradient.
  template <tensor_operand Sequence, tensor_operand... States>
  auto backward(const Sequence& gradient, const States&... after) {
    constexpr int rank = Sequence::shape_type::rank;
    const auto gradients = pull(gradient, true, after...);
    return results<rank>(read_only<rank>(gradients.input), gradients.hidden_before, gradients.cell_before);
  }
  template <tensor_operand Sequence, tensor_operand... States>
  auto backward(const Sequence& gradient, not_wanted none, const States&... after) {
    const auto gradients = pull(gradient, false, after...);
    return results<Sequence::shape_type::rank>(none, gradients.hidden_before, gradients.cell_before);
  }
  template <class Rows, tensor_operand... States>
  auto backward(const packed_sequence<Rows>& gradient, const States&... after) {
    const auto gradients = pull(gradient, true, after...);
    const packed_sequence<const_view<2>> of_input{gradients.input, gradient.layout};
    return packed_results(of_input, gradients.hidden_before, gradients.cell_before, *gradient.layout,
                          in_use().unsorted_gradients);
  }
  template <class Rows, tensor_operand... States>
  auto backward(const packed_sequence<Rows>& gradient, not_wanted none, const States&... after) {
    const auto gradients = pull(gradient, false, after...);
    return packed_results(none, gradients.hidden_before, gradients.cell_before, *gradient.layout,
                          in_use().unsorted_gradients);
  }

 private:
  template <class, index, index, memory_space, dtype>
  friend class recurrent;
  using matrix = matrix_view<T, Space>;
  using flow = typename network_type::flow;
  template <int Rank>
  using const_view = view<const T, rank<Rank>, Space>;

  auto& in_use() { return detail::memory_in_use(sequence_memory_); }
  const auto& in_use() const { return detail::memory_in_use(sequence_memory_); }
  /// Sequences that are equally long.
  template <class Shape>
  void start(const Shape& input) {
    static_assert(Shape::rank == 2 || Shape::rank == 3 || must_hold<constant<Shape::rank>>,
                  "tenon: a recurrent layer takes [time, batch, features], or [time, features]");
    detail::check_features<recurrent, Input>(input, network_.extents().input);
    const int time_axis = Shape::rank == 3 && options().batch_first ? 1 : 0;
    const index time = in_use().time = input.extent(time_axis);
    if (time == 0) throw shape_error(compose_text(name, ": axis ", time_axis, ": extent 0, expected at least 1 step"));
    network_.resize(time, Shape::rank == 3 ? input.extent(1 - time_axis) : 1);
  }
  template <class Rows>
  void start(const packed_sequence<Rows>& input) {
    detail::check_features<recurrent, Input>(input.rows.shape(), network_.extents().input);
    in_use().time = static_cast<index>(input.layout->batch_sizes.size());
    network_.resize(input.layout->batch_sizes);
  }
  void run() {
    attempt_forward(*this, [&] {
      if (!is_training) return network_.forward(false, {});  // draws nothing, and counts nothing
      const std::uint64_t number = (dropout_seed << 32) + tenon::detail::next_pass(calls_);
      network_.forward(true, detail::seed_of_pass<Space>(number));
    });
  }

  /// The gradients at the border, after the way back.
  template <tensor_operand Sequence, tensor_operand... States>
  flow pull(const Sequence& gradient, bool wants_input, const States&... after) {
    constexpr int rank = Sequence::shape_type::rank;
    const flow gradients = network_.gradients();
    detail::assign_equal<recurrent, dyn>("gradient", sequence_view<rank>(gradients.output), gradient);
    set_states<rank>(gradients.hidden_after, gradients.cell_after, after...);
    network_.backward(wants_input);
    return gradients;
  }
  template <class Rows, tensor_operand... States>
  flow pull(const packed_sequence<Rows>& gradient, bool wants_input, const States&... after) {
    const flow gradients = network_.gradients();
    detail::assign_equal<recurrent, dyn>("gradient", gradients.output, gradient.rows);
    set_sorted_states(gradients.hidden_after, gradients.cell_after, *gradient.layout, after...);
    network_.backward(wants_input);
    return gradients;
  }

  /// Rows under the axes of a sequence.
  template <int Rank>
  view<T, rank<Rank>, Space> sequence_view(const matrix& rows) const {
    const index features = rows.extent(1), batch = network_.batch(), time = in_use().time;
    if constexpr (Rank == 2) {
      return rows;
    } else if (options().batch_first) {
      return {rows.data(), rank<3>(batch, time, features), {{features, batch * features, 1}}};
    } else {
      return {rows.data(), rank<3>(time, batch, features)};
    }
  }
  template <int Rank>
  view<T, rank<Rank>, Space> states_view(const matrix& rows) const {
    if constexpr (Rank == 2) return rows;
    else return {rows.data(), rank<3>(network_.parts(), network_.batch(), rows.extent(1))};
  }
  /// All states, or zeros where none are given.
  template <int Rank, class... States>
  void set_states(const matrix& hidden, const matrix& cell, const States&... states) const {
    detail::set_states<recurrent, Gates::states, Hidden>(states_view<Rank>(hidden), states_view<Rank>(cell), states...);
  }
  /// The same of states in the order of the sequences before they were packed. `take` trusts its numbers, so the
  /// extents are compared before.
  template <class... States>
  void set_sorted_states(const matrix& hidden, const matrix& cell, const packed_layout<Space>& layout,
                         const States&... states) const {
    detail::check_states<recurrent, Gates::states, Hidden>(states_view<3>(hidden), states_view<3>(cell), states...);
    set_states<3>(hidden, cell, take(states, trusted(layout.sorted), axis<1>)...);
  }
  template <int Rank>
  const_view<Rank> read_only(const matrix& rows) const {
    return sequence_view<Rank>(rows);
  }
  template <int Rank, class Sequence>
  auto results(const Sequence& sequence, const matrix& hidden, const matrix& cell) const {
    using result_type = recurrent_values<Sequence, const_view<Rank>, Gates::states>;
    const auto states = states_view<Rank>(hidden);
    if constexpr (Gates::states == 1) return result_type{sequence, states};
    else return result_type{sequence, states, states_view<Rank>(cell)};
  }
  /// States in the order of the sequences before they were packed.
  template <class Sequence>
  auto packed_results(const Sequence& sequence, const matrix& hidden, const matrix& cell,
                      const packed_layout<Space>& layout, typename call_memory::states& memory) const {
    using result_type = recurrent_values<Sequence, const_view<3>, Gates::states>;
    const auto unsorted = [&](auto& elements, const matrix& rows) {
      const auto states = states_view<3>(rows);
      const auto result = elements.resize(states.shape());
      result = take(states, trusted(layout.unsorted), axis<1>);
      return result;
    };
    if constexpr (Gates::states == 1) return result_type{sequence, unsorted(memory.hidden, hidden)};
    else return result_type{sequence, unsorted(memory.hidden, hidden), unsorted(memory.cell, cell)};
  }

  network_type network_;
  version_counter place_;
  std::uint64_t calls_ = 0;
  typename call_memory::sequence_memory sequence_memory_;
};

}  // namespace tenon::nn
