// tenon/nn/engines.hpp: what the library tenon::compiled holds of layers and losses.
// A statement that layers of all sizes share is named by the expression that makes it.
// Floor 7: may include base, core, expr, plan, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/activation.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/loss.hpp>
#include <tenon/products.hpp>

namespace tenon {

namespace engine {

/// What layers hand to statements that they share: elements, and the node of an expression of them.
template <int Rank>
using leaf_of = const view<const float, rank<Rank>, host>&;
using matrix = leaf_of<2>;
template <class Result>
using node = std::remove_cvref_t<decltype(as_node(std::declval<Result>()))>;

using linear = node<decltype(std::declval<const nn::linear<dyn, dyn>&>().forward(std::declval<matrix>()))>;
using linear_relu = node<decltype(relu(std::declval<linear>()))>;
using input_gradient = node<decltype(matmul(std::declval<matrix>(), std::declval<matrix>()))>;
using weight_gradient = node<decltype(tensordot(std::declval<matrix>(), std::declval<matrix>(), axis<0>, axis<0>))>;
using bias_gradient = node<decltype(sum(std::declval<matrix>(), drop<0>))>;
using labels = const tensor<index, rank<1>>&;
using class_losses = node<decltype(nn::cross_entropy(std::declval<matrix>(), std::declval<labels>()))>;
using class_gradient = node<decltype(nn::cross_entropy_gradient(std::declval<matrix>(), std::declval<labels>()))>;

/// The nodes of a layer that is one expression of its input of rank 4, a kernel and a bias, and of its gradients.
template <class Layer>
struct image_statements {
  using input = decltype(variable<0>(std::declval<leaf_of<4>>()));
  using kernel = decltype(variable<1>(std::declval<leaf_of<4>>()));
  using bias = decltype(variable<2>(std::declval<leaf_of<1>>()));
  using value = node<decltype(std::declval<const Layer&>().forward(std::declval<leaf_of<4>>()))>;
  template <class Named, class... Operands>
  using gradient = node<decltype(get<0>(vjp(std::declval<const Layer&>().expression(std::declval<Operands>()...),
                                            std::declval<leaf_of<4>>(), wrt(std::declval<Named>()))))>;
};
inline constexpr nn::conv2d_options without_bias{.stride = dyn, .bias = false};
using conv_with_bias = image_statements<nn::conv2d<dyn, dyn, dyn, nn::conv2d_at_run_time>>;
using plain_conv = image_statements<nn::conv2d<dyn, dyn, dyn, without_bias>>;
using conv_relu = node<decltype(relu(std::declval<conv_with_bias::value>()))>;

template <class Node>
using program = decltype(std::declval<const Node&>().template lower<0>(identity_map<Node::shape_type::rank>()));
template <int Rank>
using relu_gradient =
    node<decltype(get<0>(vjp(relu(variable<0>(std::declval<leaf_of<Rank>>())), std::declval<leaf_of<Rank>>(),
                             wrt(variable<0>(std::declval<leaf_of<Rank>>())))))>;
using standardised = node<decltype(std::declval<const nn::batch_norm<dyn>&>().forward(std::declval<leaf_of<4>>()))>;
using channel_mean = node<decltype(mean(std::declval<leaf_of<4>>(), drop<0, 2, 3>))>;
using channel_variance = node<decltype(variance(std::declval<leaf_of<4>>(), drop<0, 2, 3>))>;
template <class Node>
using assigned = assignment<view<float, rank<1>, host>, Node>;

}  // namespace engine

#define TENON_ROWS(Rank, ...)                                                                                  \
  TENON_ENGINE(                                                                                                \
      void detail::evaluate_whole(const view<float, rank<Rank>, host>&, const __VA_ARGS__&, detail::aliasing)) \
  TENON_ENGINE(void detail::evaluate_repeated(const view<float, rank<Rank>, host>&, const __VA_ARGS__&))
TENON_ROWS(2, engine::linear)
TENON_ROWS(2, engine::linear_relu)
TENON_ROWS(2, engine::input_gradient)
TENON_ROWS(2, engine::weight_gradient)
TENON_ROWS(1, engine::bias_gradient)
TENON_ROWS(2, engine::class_losses)
TENON_ROWS(0, engine::node<decltype(sum(std::declval<engine::class_losses>()))>)
TENON_ROWS(0, engine::node<decltype(mean(std::declval<engine::class_losses>()))>)
TENON_ROWS(2, engine::class_gradient)
TENON_ROWS(4, engine::conv_with_bias::value)
TENON_ROWS(4, engine::conv_relu)
TENON_ROWS(4, engine::conv_with_bias::gradient<engine::conv_with_bias::input, engine::conv_with_bias::input,
                                               engine::conv_with_bias::kernel, engine::conv_with_bias::bias>)
TENON_ROWS(4, engine::conv_with_bias::gradient<engine::conv_with_bias::kernel, engine::conv_with_bias::input,
                                               engine::conv_with_bias::kernel, engine::conv_with_bias::bias>)
TENON_ROWS(1, engine::conv_with_bias::gradient<engine::conv_with_bias::bias, engine::conv_with_bias::input,
                                               engine::conv_with_bias::kernel, engine::conv_with_bias::bias>)
TENON_ROWS(4, engine::plain_conv::value)
#undef TENON_ROWS

#define TENON_ROWS(Rank, ...)                                                                               \
  TENON_ENGINE(void run_statement_host(array<index, Rank>, strided_target<float, Rank>, array<index, Rank>, \
                                       engine::program<__VA_ARGS__>, bool, const node_words&))
#define TENON_RANKS(Rank)                                                                                           \
  TENON_ROWS(Rank,                                                                                                  \
             engine::node<decltype(std::declval<engine::leaf_of<Rank>>() + std::declval<engine::leaf_of<Rank>>())>) \
  TENON_ROWS(Rank, engine::node<decltype(relu(std::declval<engine::leaf_of<Rank>>()))>)                             \
  TENON_ROWS(Rank, engine::relu_gradient<Rank>)
TENON_RANKS(1)
TENON_RANKS(2)
TENON_RANKS(4)
TENON_ROWS(4, engine::standardised)
#undef TENON_RANKS
#undef TENON_ROWS
TENON_ENGINE(void evaluate(const engine::assigned<engine::channel_mean>&,
                           const engine::assigned<engine::channel_variance>&))

}  // namespace tenon
