// tenon/nn/fused_layers.hpp: what a network for use alone is made of.
// Layers that any network has stay as they are; products with norms taken in, and layers of layers, have types here.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// A convolution or linear layer; weight and bias may have taken in batch norms.
template <class Layer>
struct fused_product {
  static constexpr bool is_convolution = requires { Layer::is_transposed; };
  using row = std::remove_cvref_t<decltype(std::declval<const Layer&>().bias.value)>;
  Layer layer;  // its own bias is not used
  row bias;
  bool has_norm = false;

  template <class Input>
  auto forward(const Input& x) const {
    constexpr int rank = Input::shape_type::rank;
    if constexpr (is_convolution) {
      return layer.expression(as_node(x), as_node(layer.weight.value)) + over_channels<rank>(bias);
    } else {
      if (rank != 2 && has_norm) {
        throw shape_error(compose_text("fuse: batch_norm behind linear: an input of ", rank,
                                       " axes, expected [batch, features]: else features are no channels"));
      }
      return matmul(x, transpose(layer.weight.value)) + bias;
    }
  }
};

/// A batch norm with no product before it: x * scale + shift of each channel.
template <class Row>
struct fused_norm {
  using row = Row;
  Row scale, shift;

  template <class Input>
  auto forward(const Input& x) const {
    constexpr int rank = Input::shape_type::rank;
    return as_node(x) * over_channels<rank>(scale) + over_channels<rank>(shift);
  }
};

namespace detail {

/// The first `row` that one of several layers has: where a network is, and of what elements.
template <class... Layers>
struct first_row {
  using type = tensor<float, shape<dyn>, host>;
};
template <class First, class... Rest>
struct first_row<First, Rest...> : first_row<Rest...> {};
template <class First, class... Rest>
  requires requires { typename First::row; }
struct first_row<First, Rest...> {
  using type = typename First::row;
};

}  // namespace detail

/// Layers for use alone, one after another.
template <class... Layers>
struct fused_network {
  using row = typename detail::first_row<Layers...>::type;
  tuple<Layers...> layers;
};

/// x + layers(x).
template <class Network>
struct fused_residual {
  using row = typename Network::row;
  Network inner;
};

/// The outputs of several networks for one input, their channels (axis 1) behind each other.
template <class... Networks>
struct fused_branches {
  using row = typename detail::first_row<Networks...>::type;
  tuple<Networks...> branches;
};

}  // namespace tenon::nn
