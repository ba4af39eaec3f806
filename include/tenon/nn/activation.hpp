// tenon/nn/activation.hpp: layers without parameters that work element by element, and flatten.
// Definitions are those of PyTorch.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// max(x, 0); its derivative at 0 is 0.
struct relu : stateless {
  static constexpr const char* name = "relu";

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  template <class Input>
  auto forward(const Input& input) const {
    return tenon::relu(input);
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input&, const Output& output, const Gradient& gradient, const Destination& destination) {
    if constexpr (is_wanted<Destination>) destination = where(output > 0.0f, gradient, 0.0f);
  }
};

/// All axes but the batch as one: [batch, ...] to [batch, count].
struct flatten : stateless {
  static constexpr const char* name = "flatten";

  template <shape_type Input>
  static constexpr auto output_shape(const Input& input) {
    index count = 1;
    for (int axis = 1; axis < Input::rank; ++axis) count *= input.extent(axis);
    return shape<Input::static_extent(0), static_count<Input>()>(input.extent(0), count);
  }
  template <class Input>
  auto forward(const Input& input) const {
    return reshape(input, output_shape(input.shape()));
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    if constexpr (is_wanted<Destination>) destination = reshape(gradient, input.shape());
  }

 private:
  template <class Input>
  static constexpr index static_count() {
    index count = 1;
    for (int axis = 1; axis < Input::rank; ++axis) {
      if (Input::static_extent(axis) == dyn) return dyn;
      count *= Input::static_extent(axis);
    }
    return count;
  }
};

}  // namespace tenon::nn
