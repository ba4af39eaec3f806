// tenon/nn/fuse.hpp: a trained network as one for use alone, which has less to do.
// Batch norms become part of the products before them, what does nothing outside training goes; parameters are copies.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/fused_layers.hpp>
#include <tenon/nn/reshaping.hpp>

namespace tenon::nn {

namespace detail {

template <class>
inline constexpr bool is_batch_norm = false;
template <index Channels, affine Affine, memory_space Space, dtype T>
inline constexpr bool is_batch_norm<batch_norm<Channels, Affine, Space, T>> = true;

/// What passes its input on outside training.
template <class Layer>
inline constexpr bool does_nothing = std::is_same_v<Layer, identity>;
template <int Axes, bool KeepsMoments>
inline constexpr bool does_nothing<masked_dropout<Axes, KeepsMoments>> = true;

/// Convolutions and linear layers.
template <class Layer>
inline constexpr bool is_product = requires { Layer::is_transposed; } || requires {
  Layer::out_features;
  typename Layer::input_shape;
};
/// Layers that are one expression of their input, and networks of such layers.
template <class Layer>
inline constexpr bool can_fuse = is_product<Layer> || is_batch_norm<Layer> || std::is_base_of_v<stateless, Layer> ||
                                 std::is_base_of_v<expression_layer<Layer>, Layer>;
template <class... Layers>
inline constexpr bool can_fuse<sequential_network<Layers...>> = (can_fuse<Layers> && ...);
template <class... Layers>
inline constexpr bool can_fuse<residual_block<Layers...>> = (can_fuse<Layers> && ...);
template <class... Layers>
inline constexpr bool can_fuse<branching_layer<Layers...>> = (can_fuse<Layers> && ...);

/// A layer of products, with a bias where it has none.
template <class Layer>
fused_product<Layer> product_of(const Layer& layer) {
  using row = typename fused_product<Layer>::row;
  const index outputs = [&] {
    if constexpr (fused_product<Layer>::is_convolution) return layer.out_channels;
    else return layer.extents.extent(0);
  }();
  const auto extents = typename row::shape_type(outputs);
  fused_product<Layer> result{without_gradients(layer), row(constants(extents, typename row::element(0.0f)))};
  result.layer.visit_parameters([&](const std::string& name, auto& parameter) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(parameter.value)>, row>) {
      if (name != "bias") return;
      result.bias = parameter.value;
      parameter.value.reset();
    }
  });
  return result;
}

/// A norm with the statistics that it keeps.
template <index Channels, affine Affine, memory_space Space, dtype T>
auto norm_of(const batch_norm<Channels, Affine, Space, T>& norm) {
  using row = typename batch_norm<Channels, Affine, Space, T>::row;
  const auto deviation = rsqrt(norm.running_var + norm.options.epsilon);
  if constexpr (Affine == affine::none) {
    return fused_norm<row>{row(deviation), row(-norm.running_mean * deviation)};
  } else {
    const auto scale = deviation * norm.weight.value;
    return fused_norm<row>{row(scale), row(norm.bias.value - norm.running_mean * scale)};
  }
}

/// Makes a norm part of the product before it: of weights [outputs, ...], or of transposed convolutions
/// [groups * inputs, outputs / groups, ...].
template <class Layer, class Row>
void fold_norm_into(fused_product<Layer>& product, const fused_norm<Row>& norm) {
  if (product.bias.extent(0) != norm.scale.extent(0)) {
    throw shape_error(compose_text("fuse: batch_norm behind ", Layer::name, ": ", norm.scale.extent(0),
                                   " channels, expected ", product.bias.extent(0)));
  }
  auto& weight = product.layer.weight.value;
  constexpr int rank = std::remove_cvref_t<decltype(weight)>::rank;
  if constexpr (fused_product<Layer>::is_transposed) {
    const index groups = product.layer.options.groups;
    const auto scale = new_axis<1>(tenon::unflatten(norm.scale, axis<0>, groups));
    const auto scaled = tenon::unflatten(weight, axis<0>, groups) * over_channels<rank>(scale);
    weight = reshape(scaled, weight.shape());
  } else {
    weight = weight * over_channels<rank + 1>(norm.scale);
  }
  product.bias = product.bias * norm.scale + norm.shift;
  product.has_norm = true;
}

/// Builds the list of fused layers, one layer at a time.
struct fusion {
  template <class... Done>
  static auto add(tuple<Done...>&& done) {
    return std::move(done);
  }
  template <class... Done, class First, class... Rest>
  static auto add(tuple<Done...>&& done, const First& first, const Rest&... rest) {
    return add(add_layer(std::move(done), first), rest...);
  }
  template <class... Layers>
  static auto network(const Layers&... layers) {
    return network_of(add(tuple<>{}, layers...));
  }

 private:
  template <class... Layers>
  static fused_network<Layers...> network_of(tuple<Layers...>&& layers) {
    return {std::move(layers)};
  }
  template <class... Done, class Layer>
  static auto add_layer(tuple<Done...>&& done, const Layer& layer) {
    if constexpr (requires { layer.is_training; }) check_in_use(layer);
    if constexpr (does_nothing<Layer>) return std::move(done);
    else if constexpr (is_product<Layer>) return appended(std::move(done), product_of(layer));
    else if constexpr (is_batch_norm<Layer>) return add_norm(std::move(done), layer);
    else return appended(std::move(done), without_gradients(layer));
  }
  template <class... Done, class... Layers>
  static auto add_layer(tuple<Done...>&& done, const sequential_network<Layers...>& network) {
    return apply_tuple([&](const Layers&... layers) { return add(std::move(done), layers...); }, network.layers);
  }
  template <class... Done, class... Layers>
  static auto add_layer(tuple<Done...>&& done, const residual_block<Layers...>& block) {
    auto inner = apply_tuple([](const Layers&... layers) { return network(layers...); }, block.layers);
    return appended(std::move(done), fused_residual<decltype(inner)>{std::move(inner)});
  }
  template <class... Done, class... Branches>
  static auto add_layer(tuple<Done...>&& done, const branching_layer<Branches...>& layer) {
    return appended(std::move(done),
                    apply_tuple(
                        [](const Branches&... branches) {
                          return fused_branches<decltype(network(branches))...>{make_tuple_of(network(branches)...)};
                        },
                        layer.layers));
  }

  /// A norm is the concern of the last product, if that is what comes before it.
  template <class... Done, class Norm>
  static auto add_norm(tuple<Done...>&& done, const Norm& norm) {
    constexpr int count = static_cast<int>(sizeof...(Done));
    constexpr bool follows_product = [] {
      bool last = false;
      ((last = is_fused_product<Done>), ...);
      return last;
    }();
    if constexpr (follows_product) {
      fold_norm_into(get<count - 1>(done), norm_of(norm));
      return std::move(done);
    } else {
      return appended(std::move(done), norm_of(norm));
    }
  }
  template <class Layer>
  static void check_in_use(const Layer& layer) {
    if (layer.is_training) {
      throw error(compose_text("fuse: ", Layer::name, ": in training, expected a network in use; net.eval() before?"));
    }
    if constexpr (is_batch_norm<Layer>) {
      if (!layer.options.track_statistics) {
        throw error("fuse: batch_norm: no running statistics, expected them; each batch would have its own");
      }
    }
  }
};

}  // namespace detail

/// The network for use alone, outside training: `inference` runs it. Batch norms are taken into the convolution or
/// linear layer before them, dropout and identity vanish, networks in networks are taken apart; parameters are copies.
/// throws    error for a network in training, or a batch norm without running statistics
/// accuracy  weights that take in a norm are rounded once more
/// example   net.eval(); nn::inference use(nn::fuse(net), shape<dyn, 1, 28, 28>(64, 1, 28, 28)); use.run(images);
template <class... Layers>
auto fuse(const sequential_network<Layers...>& net) {
  static_assert((detail::can_fuse<Layers> && ...) || must_hold<Layers...>,
                "tenon: fuse takes layers that are one expression of their input; this network has others");
  return apply_tuple([](const Layers&... layers) { return detail::fusion::network(layers...); }, net.layers);
}

}  // namespace tenon::nn
