// tenon/nn/recurrent_parameters.hpp: the parameters of a recurrent layer in one direction.
// Names, shapes, the order of gates and initialisation are PyTorch's; what a layer does not have is empty.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/nn/layer.hpp>
#include <tenon/nn/matrix_parts.hpp>

namespace tenon::nn {

/// The extents of a layer in one direction.
struct recurrent_extents {
  index input, hidden, gates;
  index projection = 0;  ///< 0: the state is not projected
  bool has_bias = true;

  /// Features of the state that the layer gives and takes.
  constexpr index state() const { return projection == 0 ? hidden : projection; }
};

/// The gates of a layer are blocks of `hidden` rows of each weight.
template <dtype T, memory_space Space>
struct recurrent_parameters {
  using matrix = parameter<T, rank<2>, Space>;
  using vector = parameter<T, rank<1>, Space>;

  matrix weight_ih, weight_hh;  // (gates * hidden, input), (gates * hidden, state)
  vector bias_ih, bias_hh;      // (gates * hidden)
  matrix weight_hr;             // (projection, hidden)

  /// Draws all from [-1 / sqrt(hidden), 1 / sqrt(hidden)).
  static recurrent_parameters drawn(const recurrent_extents& extents, std::uint64_t seed) {
    return made(extents, [&](const auto& shape, std::uint64_t number) {
      return uniform_parameter<T, Space>(shape, 5 * seed + number, default_bound(extents.hidden));
    });
  }
  /// Those that nobody wrote yet, with memory in every space: layers take their extents from it.
  static recurrent_parameters unwritten(const recurrent_extents& extents) {
    return made(extents, [](const auto& shape, std::uint64_t) -> parameter<T, std::decay_t<decltype(shape)>, Space> {
      return {detail::unwritten_tensor<T, std::decay_t<decltype(shape)>, Space>(shape), zeros<T, Space>(shape)};
    });
  }
  template <space_or_element To>
  recurrent_parameters<element_after<To, T>, space_after<To, Space>> to() const {
    return {weight_ih.template to<To>(), weight_hh.template to<To>(), bias_ih.template to<To>(),
            bias_hh.template to<To>(), weight_hr.template to<To>()};
  }

  bool has_bias() const { return !bias_ih.value.is_empty(); }
  bool is_projected() const { return !weight_hr.value.is_empty(); }

  /// Calls `visitor(name, parameter)` for what the layer has; names end in `suffix`.
  template <class Visitor>
  void visit(const std::string& suffix, Visitor&& visitor) {
    const auto call = [&](const char* name, auto& parameter) {
      if (!parameter.value.is_empty()) visitor((name + suffix).c_str(), parameter);
    };
    call("weight_ih", weight_ih), call("weight_hh", weight_hh);
    call("bias_ih", bias_ih), call("bias_hh", bias_hh);
    call("weight_hr", weight_hr);
  }

 private:
  /// Each of `make(shape, number)`.
  template <class Make>
  static recurrent_parameters made(const recurrent_extents& extents, const Make& make) {
    const index rows = extents.gates * extents.hidden;
    recurrent_parameters result;
    result.weight_ih = make(rank<2>(rows, extents.input), 0);
    result.weight_hh = make(rank<2>(rows, extents.state()), 1);
    if (extents.has_bias) result.bias_ih = make(rank<1>(rows), 2), result.bias_hh = make(rank<1>(rows), 3);
    if (extents.projection != 0) result.weight_hr = make(rank<2>(extents.projection, extents.hidden), 4);
    return result;
  }
};

}  // namespace tenon::nn
