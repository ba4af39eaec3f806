// tenon/nn/block_quantise.hpp: trained networks with the weights of their linear layers in blocks of few bits.
// Layers become others by their types; members of modules are gone through in pairs.
// Floor 7: may include base, core, device, expr, plan, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/block_linear.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/module.hpp>

namespace tenon::nn {

namespace detail {

/// A layer as it is, where no other takes its place.
template <block_format Format, class Layer>
struct layer_in_blocks {
  static Layer of(const Layer& layer) { return layer; }
};
template <block_format Format, index In, index Out, bool Bias, memory_space Space, dtype T>
  requires(In == dyn || In % Format::values == 0)
struct layer_in_blocks<Format, linear_layer<In, Out, Bias, Space, T>> {
  static auto of(const linear_layer<In, Out, Bias, Space, T>& layer) {
    return block_linear_layer<In, Out, Format, Bias, Space>(layer);
  }
};
template <block_format Format, template <class...> class Network, class... Layers>
  requires std::is_base_of_v<layer_list<Layers...>, Network<Layers...>>
struct layer_in_blocks<Format, Network<Layers...>> {
  static auto of(const Network<Layers...>& network) {
    return apply_tuple(
        [](const Layers&... layer) {
          return Network<decltype(layer_in_blocks<Format, Layers>::of(layer))...>{
              {make_tuple_of(layer_in_blocks<Format, Layers>::of(layer)...)}};
        },
        network.layers);
  }
};

/// Gives the members of one module to those of another.
template <class From, class Into>
void take_part(const From& from, Into& into) {
  if constexpr (is_list<From>) {
    if constexpr (requires { into.resize(from.size()); }) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) take_part(from[i], into[i]);
  } else if constexpr (std::is_same_v<From, Into>) {
    into = from;
  } else if constexpr (std::is_base_of_v<module<From>, From>) {
    const auto given = member_pointers(from);
    const auto own = member_pointers(into);
    static_assert(decltype(given)::count == decltype(own)::count || must_hold<From, Into>,
                  "tenon: two modules have weights in common where their members come in pairs");
    for_each_index<decltype(given)::count>([&](auto i) { take_part(*get<i.value>(given), *get<i.value>(own)); });
  } else if constexpr (requires { get<0>(from.layers); }) {
    for_each_index<From::count>([&](auto i) { take_part(get<i.value>(from.layers), get<i.value>(into.layers)); });
  } else {
    static_assert(std::is_constructible_v<Into, const From&> || must_hold<From, Into>,
                  "tenon: a member takes the weights of one of its own type, and block_linear those of linear");
    into = Into(from);
  }
}

}  // namespace detail

/// A copy of a network of layers, with `block_linear` in place of its linear layers, also within layers of layers.
/// Other layers stay as they are; so do linear layers whose type says that their inputs are no multiple of 32.
/// throws    shape_error for inputs of a layer, known at run time, that are no multiple of 32; as block_quantise
/// accuracy  that of the format, `q8_0` or `q4_0`
/// example   auto small = nn::block_quantised<tn::q4_0>(net);
template <block_format Format, class... Layers>
auto block_quantised(const sequential_network<Layers...>& net) {
  return detail::layer_in_blocks<Format, sequential_network<Layers...>>::of(net);
}

/// Gives the weights of a trained module to a module that has `block_linear` where the first has `linear`. Members are
/// paired in their order: members of one type are copied; modules, lists and networks are paired member by member.
/// throws    as block_quantise
/// example   template <template <tn::index, tn::index> class Linear>
///           struct reader : nn::module<reader<Linear>> { Linear<1024, 256> hidden; Linear<256, 10> head; ... };
///           nn::take_weights(trained, small);
template <class From, class Into>
  requires std::is_base_of_v<module<From>, From> && std::is_base_of_v<module<Into>, Into>
void take_weights(const From& from, Into& into) {
  detail::take_part(from, into);
}

}  // namespace tenon::nn
