// tenon/nn/recurrent_checks.hpp: whether inputs, states and gradients fit a recurrent layer.
// What types know is checked when compiled, all else when run.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/layer.hpp>

namespace tenon::nn::detail {

/// The last axis of an input has as many features as the layer takes: `expected`, and `Known`, unless that is `dyn`.
template <class Layer, index Known, shape_type Input>
void check_features(const Input& input, index expected) {
  check_input<Layer, Input::rank - 1, Known>(input, expected);
}

/// Elements of equal extents only; `Known` is what the type knows of the last one.
template <class Layer, index Known, class Destination, class Operand>
void check_equal(const char* what, const Destination& destination, const Operand& operand) {
  using operand_shape = typename Operand::shape_type;
  constexpr int rank = Destination::rank;
  static_assert(operand_shape::rank == rank || must_hold<Layer, constant<operand_shape::rank>, constant<rank>>,
                "tenon: states and gradients of a recurrent layer have as many axes as its input");
  if constexpr (Known != dyn && operand_shape::rank == rank) check_input<Layer, rank - 1, Known>(operand.shape());
  if (!(operand.shape().to_array() == destination.shape().to_array())) {
    throw shape_error(compose_text(Layer::name, ": ", what, ": extents ", operand.shape().to_array(), ", expected ",
                                   destination.shape().to_array()));
  }
}
template <class Layer, index Known, class Destination, class Operand>
void assign_equal(const char* what, const Destination& destination, const Operand& operand) {
  check_equal<Layer, Known>(what, destination, operand);
  destination = operand;
}

/// All states or none are given, with the extents of all states. A projected state has another extent than the type's.
template <class Layer, int States, index Hidden, class View, class... Given>
void check_states(const View& hidden, const View& cell, const Given&... given) {
  constexpr int count = static_cast<int>(sizeof...(Given));
  static_assert(count == 0 || count == States || must_hold<Layer, constant<count>, constant<States>>,
                "tenon: a recurrent layer takes all of its states, or none");
  if constexpr (count != 0 && count == States) {
    const auto all = make_tuple_of(&given...);
    check_equal<Layer, States == 1 ? Hidden : dyn>("hidden states", hidden, *get<0>(all));
    if constexpr (States == 2) check_equal<Layer, Hidden>("cells", cell, *get<1>(all));
  }
}

/// Sets all states to those given, or to zeros where none are.
template <class Layer, int States, index Hidden, class View, class... Given>
void set_states(const View& hidden, const View& cell, const Given&... given) {
  constexpr int count = static_cast<int>(sizeof...(Given));
  check_states<Layer, States, Hidden>(hidden, cell, given...);
  if constexpr (count == 0) {
    hidden = 0, cell = 0;
  } else if constexpr (count == States) {
    const auto all = make_tuple_of(&given...);
    hidden = *get<0>(all);
    if constexpr (States == 2) cell = *get<1>(all);
  }
}

}  // namespace tenon::nn::detail
