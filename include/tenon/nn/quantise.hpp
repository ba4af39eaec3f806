// tenon/nn/quantise.hpp: a network as one of bytes, and the samples that tell what its bytes stand for.
// Weights have a scale for each output, inputs of products one each: the greatest magnitude seen is the greatest byte.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/max_windows.hpp>
#include <tenon/nn/quantised_layers.hpp>
#include <utility>
#include <vector>

namespace tenon::nn {

namespace detail {

/// A fused network with other layers in place of its products, which are met in its order: `change(done, product)` adds
/// them to those before. Transposed convolutions stay.
template <class Change>
struct product_replacement {
  const Change& change;

  template <class... Layers>
  auto network(const fused_network<Layers...>& net) const {
    return apply_tuple([&](const Layers&... layers) { return network_of(add(tuple<>{}, layers...)); }, net.layers);
  }

 private:
  template <class... Layers>
  static fused_network<Layers...> network_of(tuple<Layers...>&& layers) {
    return {std::move(layers)};
  }
  template <class... Networks>
  static fused_branches<Networks...> branches_of(tuple<Networks...>&& networks) {
    return {std::move(networks)};
  }

  template <class... Done>
  auto add(tuple<Done...>&& done) const {
    return std::move(done);
  }
  template <class... Done, class First, class... Rest>
  auto add(tuple<Done...>&& done, const First& first, const Rest&... rest) const {
    return add(add_layer(std::move(done), first), rest...);
  }
  template <class... Done, class Layer>
  auto add_layer(tuple<Done...>&& done, const Layer& layer) const {
    return appended(std::move(done), layer);
  }
  template <class... Done, class Layer>
  auto add_layer(tuple<Done...>&& done, const fused_product<Layer>& product) const {
    if constexpr (fused_product<Layer>::is_transposed) return appended(std::move(done), product);
    else return change(std::move(done), product);
  }
  template <class... Done, class... Layers>
  auto add_layer(tuple<Done...>&& done, const fused_network<Layers...>& net) const {
    return appended(std::move(done), network(net));
  }
  template <class... Done, class Network>
  auto add_layer(tuple<Done...>&& done, const fused_residual<Network>& block) const {
    auto inner = network(block.inner);
    return appended(std::move(done), fused_residual<decltype(inner)>{std::move(inner)});
  }
  template <class... Done, class... Networks>
  auto add_layer(tuple<Done...>&& done, const fused_branches<Networks...>& layer) const {
    return appended(std::move(done),
                    branches_of(apply_tuple([&](const Networks&... networks) { return add(tuple<>{}, networks...); },
                                            layer.branches)));
  }
};
template <class Network, class Change>
auto with_products_replaced(const Network& network, const Change& change) {
  return product_replacement<Change>{change}.network(network);
}

/// Layers that find, copy and compare values alone: these may be bytes as well.
template <class Layer>
inline constexpr bool keeps_bytes =
    std::is_base_of_v<greatest_of_windows<Layer>, Layer> || std::is_base_of_v<reshaping<Layer>, Layer>;

/// `layer` behind the last of `Done` that has to do with more than the order of values.
template <class... Done, class Layer>
auto put_early(tuple<Done...>&& done, const Layer& layer) {
  constexpr int count = static_cast<int>(sizeof...(Done));
  constexpr int place = [] {
    int first = 0, next = 0;
    ((first = keeps_bytes<Done> ? first : next + 1, ++next), ...);
    return first;
  }();
  const auto at = [&]<int I>(constant<I>) -> decltype(auto) {
    if constexpr (I == place) return layer;
    else return std::move(get<(I < place ? I : I - 1)>(done));
  };
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return make_tuple_of(at(constant<I>{})...);
  }(std::make_integer_sequence<int, count + 1>{});
}

/// A product with its weight as bytes. One step of its input stands for `scale`.
template <class Layer>
quantised_product<Layer> product_of_bytes(const fused_product<Layer>& product, float scale) {
  using row = typename fused_product<Layer>::row;
  static_assert(std::is_same_v<typename row::element, float> || must_hold<Layer>,
                "tenon: networks of float are quantised, net.to<float>() is one");
  const auto& weight = product.layer.weight.value;
  const auto by_output = [&]<int... I>(std::integer_sequence<int, I...>) {
    return row(norm_inf(weight, drop<(I + 1)...>) / greatest_byte);
  }(std::make_integer_sequence<int, std::remove_cvref_t<decltype(weight)>::rank - 1>{});
  quantised_product<Layer> result{product, typename quantised_product<Layer>::weight_type(weight.shape()), {}};
  result.weight = quantise<std::int8_t>(weight, by_output, 0, axis<0>);
  result.scale = by_output * scale;
  result.product.layer.weight.value.reset();
  return result;
}

/// What a step of the bytes of each product's input stands for, in the order of the products.
class input_scales {
 public:
  /// throws    error for what is no range
  explicit input_scales(const tensor<float, rank<1>>& ranges) : scales_(static_cast<std::size_t>(ranges.size())) {
    for (index k = 0; k < ranges.size(); ++k) {
      const float greatest = ranges(k);
      if (!(greatest >= 0 && std::isfinite(greatest))) {
        throw error(
            compose_text("quantised: range ", k, " is ", greatest, ", expected the greatest magnitude that was seen"));
      }
      scales_[static_cast<std::size_t>(k)] = greatest == 0 ? 1.0f : greatest / greatest_byte;
    }
  }
  /// throws    error behind the last
  float next() {
    if (next_ == scales_.size()) throw_count("more");
    return scales_[next_++];
  }
  /// throws    error where some are left
  void check_all_met() const {
    if (next_ != scales_.size()) throw_count(next_);
  }

 private:
  template <class Count>
  [[noreturn]] void throw_count(const Count& products) const {
    throw error(compose_text("quantised: ", scales_.size(), " ranges, but the network has ", products,
                             " convolutions and linear layers"));
  }

  std::vector<float> scales_;
  std::size_t next_ = 0;
};

/// The layers of a module that become products of bytes. Transposed convolutions stay.
template <class Layer>
inline constexpr bool becomes_bytes = is_product<Layer>;
template <class Layer>
  requires(Layer::is_transposed)
inline constexpr bool becomes_bytes<Layer> = false;

/// Products of a module as they are, with an observer in front of each. A layer that is called twice has one range.
struct watched_products {
  std::list<float>* greatest;

  template <class Calls, class Layer, class Node>
    requires(becomes_bytes<Layer>)
  auto call(Calls, arena_walk<watched_products>& walk, Layer& layer, const Node& node) {
    const auto& observer = walk.kept_of(&layer, [&] { return range_observer{&greatest->emplace_back(-1.0f)}; });
    const auto x = Calls::stored(walk, node);
    if (walk.runs()) observer.see(without_owners(x));
    return Calls::extended(walk, x, [&](const auto& input) { return layer.forward(input); });
  }
};
/// Products of a module in bytes. Rounding an input is part of the statement that writes it.
struct products_of_bytes {
  input_scales scales;

  template <class Calls, class Layer, class Node>
    requires(becomes_bytes<Layer>)
  auto call(Calls, arena_walk<products_of_bytes>& walk, Layer& layer, const Node& node) {
    using product_type = decltype(product_of_bytes(product_of(layer), 0.0f));
    const auto& made = walk.kept_of(&layer, [&] {
      const float scale = scales.next();
      return std::pair<quantiser, product_type>{{scale}, product_of_bytes(product_of(layer), scale)};
    });
    const auto bytes = Calls::stored(walk, made.first.forward(node));
    return Calls::extended(walk, bytes, [&](const auto& input) { return made.second.forward(input); });
  }
  void check_all_met() const { scales.check_all_met(); }
};

/// `next_scale()` gives the scale of each product's input, in order.
template <class Network, class Next>
auto quantised_network(const Network& network, const Next& next_scale) {
  return with_products_replaced(
      network, [&]<class... Done, class Layer>(tuple<Done...>&& done, const fused_product<Layer>& product) {
        const float scale = next_scale();
        return appended(put_early(std::move(done), quantiser{scale}), product_of_bytes(product, scale));
      });
}

/// The network with an observer in front of each product, and below zero what it will have seen.
template <class Network>
auto observed_network(const Network& network, std::list<float>& greatest) {
  return network_by_products<Network, watched_products>{network, {&greatest}};
}
template <class... Layers>
auto observed_network(const fused_network<Layers...>& network, std::list<float>& greatest) {
  return with_products_replaced(
      network, [&]<class... Done, class Layer>(tuple<Done...>&& done, const fused_product<Layer>& product) {
        return appended(appended(std::move(done), range_observer{&greatest.emplace_back(-1.0f)}), product);
      });
}

}  // namespace detail

/// A fused network as one of bytes, where its layers are convolutions and linear layers: weights are int8 with a scale
/// for each output, inputs of these layers are rounded to int8 behind the layer before, and sums are 32 bits. What its
/// inputs' bytes stand for is not known yet: `calibration` makes networks that know, a saved state holds it.
/// Transposed convolutions stay as they are.
/// example   auto bytes = nn::quantised(nn::fuse(net)); train::load_state(bytes, "bytes.safetensors");
///           nn::inference use(bytes, shape<dyn, 1, 28, 28>(64, 1, 28, 28));
template <class... Layers>
auto quantised(const fused_network<Layers...>& network) {
  return detail::quantised_network(network, [] { return 0.0f; });
}

/// A network in bytes whose inputs of convolutions and linear layers have these ranges, as `calibration` tells them.
/// `inference` makes the bytes of a module or `sequential`, and keeps the weights of floats beside them.
/// throws    error for a number that is no range, and where there are more or fewer layers: of a fused network here, of
///           others when `inference` plans
/// example   nn::inference use(nn::quantised(net, ranges), shape<dyn, 1, 28, 28>(64, 1, 28, 28));
template <class Network>
auto quantised(const Network& network, const tensor<float, rank<1>>& ranges) {
  detail::input_scales scales(ranges);
  return network_by_products<Network, detail::products_of_bytes>{network, {scales}};
}
template <class... Layers>
auto quantised(const fused_network<Layers...>& network, const tensor<float, rank<1>>& ranges) {
  detail::input_scales scales(ranges);
  auto result = detail::quantised_network(network, [&] { return scales.next(); });
  scales.check_all_met();
  return result;
}

/// Runs samples through a network, and keeps the greatest magnitude of every input of a convolution or linear layer:
/// what a network of bytes has to know. Inputs are given as to `inference`.
/// source    torch.ao.quantization, with symmetric minimum and maximum observers
/// example   nn::calibration seen(net, shape<dyn, 1, 28, 28>(64, 1, 28, 28));
///           for (const auto& batch : samples) seen.run(batch);
///           nn::inference use(seen.quantised(), shape<dyn, 1, 28, 28>(64, 1, 28, 28));
template <class Network, class... Given>
class calibration {
 public:
  explicit calibration(Network network, const Given&... largest)
      : network_(std::move(network)), use_(detail::observed_network(network_, ranges_), largest...) {}
  calibration(const calibration&) = delete;  // observers know where the ranges are

  /// The network's answer to a batch of samples, whose ranges are kept; valid until the next run.
  /// throws    error for values that are not finite; shape_error as `inference`
  template <tensor_operand... Samples>
  auto run(const Samples&... samples) {
    return use_.run(samples...);
  }
  /// The greatest magnitude of each such input, in the order in which their layers are called first; less than 0 before
  /// the first sample.
  tensor<float, rank<1>> ranges() const {
    tensor<float, rank<1>> result({static_cast<index>(ranges_.size())});
    std::copy(ranges_.begin(), ranges_.end(), result.data());
    return result;
  }
  /// The network of bytes for values such as have been seen; what is greater is taken for the greatest.
  /// throws    error before the first sample
  auto quantised() const {
    for (const float greatest : ranges_) {
      if (greatest < 0) throw error("calibration: no samples, expected some that tell the ranges of values");
    }
    return nn::quantised(network_, ranges());
  }

 private:
  using observed_network =
      decltype(detail::observed_network(std::declval<const Network&>(), std::declval<std::list<float>&>()));

  Network network_;
  std::list<float> ranges_;  // a list: its elements stay where they are
  inference<observed_network, typename detail::input_view<observed_network, Given>::type...> use_;
};

}  // namespace tenon::nn
