// tenon/nn/quantised_layers.hpp: what a network of bytes is made of: products of bytes, and what rounds to them.
// Zero points are 0, so that padding with zeros stays so, and products of bytes are summed as they are.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/fused_layers.hpp>

namespace tenon::nn {

/// The greatest magnitude of a byte: as many steps on both sides of 0.
inline constexpr float greatest_byte = 127;

/// Rounds a value to bytes of which each step is `scale`: the input of a product behind it.
struct quantiser {
  static constexpr bool is_expression = true;
  float scale = 0;  // 0: not known

  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("scale", scale);
  }
  /// throws    error where the scale is not known
  template <class Input>
  auto forward(const Input& x) const {
    if (!(scale > 0)) throw error("quantised: no scale of its inputs, expected that of a calibration or a saved state");
    return quantise<std::int8_t>(as_node(x), scale);
  }
};

/// A convolution or linear layer of bytes, summed in 32 bits, then scaled and shifted.
template <class Layer>
struct quantised_product {
  using row = typename fused_product<Layer>::row;
  using weight_type =
      tensor<std::int8_t, typename decltype(Layer::weight.value)::shape_type, typename row::space>;  // of the layer's
  fused_product<Layer> product;  // its own weight is not used
  weight_type weight;
  row scale;  // what a product of two bytes stands for, by output

  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("weight", weight), visitor("scale", scale), visitor("bias", product.bias);
  }
  template <class Input>
  auto forward(const Input& x) const {
    constexpr int rank = Input::shape_type::rank;
    const auto sums = product.product(cast<int>(as_node(x)), cast<int>(as_node(weight)));
    return cast<float>(sums) * product.template over_outputs<rank>(scale) +
           product.template over_outputs<rank>(product.bias);
  }
};

/// Keeps the greatest magnitude of the values that pass it.
struct range_observer {
  static constexpr bool observes = true;
  float* greatest;

  template <class Input>
  void see(const Input& x) const {
    if (x.shape().count() == 0) return;
    const auto here = static_cast<float>(norm_inf(x));
    if (!std::isfinite(here)) {
      throw error(compose_text("calibration: a value of ", here, ", expected finite numbers as inputs of products"));
    }
    *greatest = std::max(*greatest, here);
  }
};

namespace detail {

template <class Layer>
inline constexpr bool is_fused_product<quantised_product<Layer>> = true;

}  // namespace detail

}  // namespace tenon::nn
