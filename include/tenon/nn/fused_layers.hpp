// tenon/nn/fused_layers.hpp: what a network for use alone is made of.
// Layers that any network has stay as they are; products with norms taken in, and layers of layers, have types here.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced.hpp>
#include <tenon/nn/layer.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

namespace detail {

/// A copy that keeps no gradients.
template <class Layer>
Layer without_gradients(Layer layer) {
  layer.visit_parameters([](const auto&, auto& parameter) { parameter.gradient.reset(); });
  return layer;
}

/// Layers there, or of other elements.
template <space_or_element To, template <class...> class Network, class... Layers>
auto all_moved(const tuple<Layers...>& layers) {
  return apply_tuple(
      [](const Layers&... layer) {
        return Network<decltype(layer_moved<To>(layer))...>{make_tuple_of(layer_moved<To>(layer)...)};
      },
      layers);
}

}  // namespace detail

/// A convolution or linear layer; weight and bias may have taken in batch norms.
template <class Layer>
struct fused_product {
  static constexpr bool is_convolution = requires { Layer::is_transposed; };
  static constexpr bool is_transposed = [] {
    if constexpr (is_convolution) return Layer::is_transposed;
    else return false;
  }();
  using row = std::remove_cvref_t<decltype(std::declval<const Layer&>().bias.value)>;
  Layer layer;  // its own bias is not used
  row bias;
  bool has_norm = false;

  template <class Input>
  auto forward(const Input& x) const {
    return forward_by(layer.weight.value, x);
  }
  /// The same by a copy of the weight, whose elements may lie in another order.
  template <class Input, class Weight>
  auto forward_by(const Weight& copy, const Input& x) const {
    return product(x, copy) + over_outputs<Input::shape_type::rank>(bias);
  }
  /// What a weight of the layer's extents makes of an input, without the bias.
  template <class Input, class Weight>
  auto product(const Input& x, const Weight& weight) const {
    if constexpr (is_convolution) {
      return layer.expression(as_node(x), as_node(weight));
    } else {
      constexpr int rank = Input::shape_type::rank;
      if (rank != 2 && has_norm) {
        throw shape_error(compose_text("fuse: batch_norm behind linear: an input of ", rank,
                                       " axes, expected [batch, features]: else features are no channels"));
      }
      return matmul(x, transpose(weight));
    }
  }
  /// One number for each output, so that it repeats over results of `Rank` axes.
  template <int Rank>
  static auto over_outputs(const row& numbers) {
    if constexpr (is_convolution) return over_channels<Rank>(numbers);
    else return as_node(numbers);
  }
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("weight", layer.weight.value), visitor("bias", bias);
  }
  template <space_or_element To>
  auto to() const {
    using moved = fused_product<typename Layer::template moved<To>>;
    return moved{detail::without_gradients(layer.template to<To>()), moved_to<To>(bias), has_norm};
  }
};

/// A batch norm with no product before it: x * scale + shift of each channel.
template <class Row>
struct fused_norm {
  static constexpr bool is_expression = true;
  using row = Row;
  Row scale, shift;

  template <class Input>
  auto forward(const Input& x) const {
    constexpr int rank = Input::shape_type::rank;
    return as_node(x) * over_channels<rank>(scale) + over_channels<rank>(shift);
  }
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("scale", scale), visitor("shift", shift);
  }
  template <space_or_element To>
  auto to() const {
    return fused_norm<decltype(moved_to<To>(scale))>{moved_to<To>(scale), moved_to<To>(shift)};
  }
};

namespace detail {

template <class>
inline constexpr bool is_fused_product = false;
template <class Layer>
inline constexpr bool is_fused_product<fused_product<Layer>> = true;

template <class... Done, class Layer>
auto appended(tuple<Done...>&& done, Layer layer) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return make_tuple_of(std::move(get<I>(done))..., std::move(layer));
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Done))>{});
}

/// Calls `visitor(name, buffer)` for all that layers keep, whose names begin with their places.
template <class... Layers, class Visitor>
void visit_each(tuple<Layers...>& layers, Visitor&& visitor) {
  for_each_index<static_cast<int>(sizeof...(Layers))>([&](auto i) {
    const auto named = [&](const std::string& name, auto& buffer) {
      visitor(std::to_string(i.value) + "." + name, buffer);
    };
    auto& layer = get<i.value>(layers);
    if constexpr (requires { layer.visit_buffers(named); }) layer.visit_buffers(named);
    else layer.visit_parameters([&](const std::string& name, auto& parameter) { named(name, parameter.value); });
  });
}

/// The first `row` type among several layers: it tells the space and the elements of a network.
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

/// Layers for use alone, one after another. What they keep is no longer trained: buffers, named by place.
template <class... Layers>
struct fused_network {
  using row = typename detail::first_row<Layers...>::type;
  using space = typename row::space;
  using element = typename row::element;
  tuple<Layers...> layers;

  template <class Visitor>
  void visit_parameters(Visitor&&) {}
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    detail::visit_each(layers, visitor);
  }
  /// The network in another memory space, or with its weights as other elements.
  template <space_or_element To>
  auto to() const {
    return detail::all_moved<To, tenon::nn::fused_network>(layers);
  }
  /// Does not compile: `inference` runs this network, whose values have places in its arena.
  template <tensor_operand Operand>
    requires(tenon::detail::is_kept_by_steps<Operand>)
  auto operator()(Operand&&) const {
    static_assert(must_hold<Operand>, "tenon: a fused network runs in nn::inference; make one of it");
  }
};

/// x + layers(x).
template <class Network>
struct fused_residual {
  using row = typename Network::row;
  Network inner;

  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    inner.visit_buffers(visitor);
  }
  template <space_or_element To>
  auto to() const {
    return fused_residual<decltype(inner.template to<To>())>{inner.template to<To>()};
  }
};

/// The outputs of several networks for one input, their channels (axis 1) behind each other.
template <class... Networks>
struct fused_branches {
  using row = typename detail::first_row<Networks...>::type;
  tuple<Networks...> branches;

  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    detail::visit_each(branches, visitor);
  }
  template <space_or_element To>
  auto to() const {
    return detail::all_moved<To, tenon::nn::fused_branches>(branches);
  }
};

}  // namespace tenon::nn
