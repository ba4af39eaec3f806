// tenon/train/clip_grad_norm.hpp: gradients in memory made no longer than a norm.
// An optimizer clips on its own, in its launch; this is for when the gradients themselves must be clipped.
// Floor 8: may include base, core, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/evaluate.hpp>
#include <tenon/expr/compound_assignment.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/nn/state.hpp>

namespace tenon::train {

namespace detail {

/// Calls `visitor(gradient)` for the gradients that backward passes left since they were cleared; where no parameter
/// knows of one, for all gradients, which the caller wrote.
template <class Network, class Visitor>
void visit_gradients(Network& net, const Visitor& visitor) {
  bool any = false;
  net.visit_parameters([&](const auto&, auto& parameter) { any = any || parameter.has_gradient; });
  net.visit_parameters([&](const auto&, auto& parameter) {
    const bool counts = parameter.has_gradient || !any;
    if (counts && parameter.gradient.size() == parameter.value.size()) visitor(parameter.gradient);
  });
}

}  // namespace detail

/// Multiplies all gradients of a network by one number, at most 1, so that together they are no longer than `max_norm`.
/// Returns how long they were. The number is `max_norm / (norm + 1e-6)`, as PyTorch has it: a norm that is NaN makes
/// all of them NaN, an infinite one makes them 0, and NaN where they are infinite.
/// throws    error where `max_norm` is negative or NaN; where the norm is not finite and `error_if_nonfinite`, then
///           gradients stay as they are
/// cost      two statements and a wait for each parameter; `optimizer.clipping().max_norm` costs one launch for all
/// source    torch.nn.utils.clip_grad_norm_
/// example   loss.backward(); const double norm = train::clip_grad_norm(net, 1); optimizer.step();
template <nn::has_parameters Network>
double clip_grad_norm(Network& net, double max_norm, bool error_if_nonfinite = false) {
  if (!(max_norm >= 0)) throw error(compose_text("clip_grad_norm: max_norm: ", max_norm, ", expected at least 0"));
  double squares = 0;
  detail::visit_gradients(
      net, [&](const auto& gradient) { squares += static_cast<double>(sum(square(cast<double>(gradient)))); });
  const double norm = std::sqrt(squares);
  if (error_if_nonfinite && !std::isfinite(norm)) {
    throw error(compose_text("clip_grad_norm: the norm of all gradients is ", norm, ", expected a finite one"));
  }
  const double factor = max_norm / (norm + 1e-6);
  if (!(factor >= 1)) detail::visit_gradients(net, [&](auto& gradient) { gradient *= factor; });
  return norm;
}

}  // namespace tenon::train
