// tenon/nn/engines.hpp: what the library tenon::compiled holds of layers and losses.
// A statement that layers of all sizes share is named by the expression that makes it.
// Floor 7: may include base, core, expr, plan, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/activation.hpp>
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
#undef TENON_ROWS

}  // namespace tenon
