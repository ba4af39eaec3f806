// tests/support/temporaries.hpp: whether traced losses keep the tensors that are moved into them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced.hpp>
#include <vector>

#include "support/elements.hpp"

namespace tenon_test {

/// Takes memory for tensors of the same extents, and writes other elements there.
template <class Tensor>
void write_over_freed(const Tensor& like) {
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) {
    others.emplace_back(like.shape());
    others.back() = typename tenon::node_of<const Tensor&>::element(77);
  }
}

/// The gradient in `x` of a loss of it, once memory of the shapes of `operands` was written over.
template <class Loss, class X, class... Operands>
std::vector<double> gradient_after(const Loss& loss, const X& x, const Operands&... operands) {
  const auto v = tenon::variable(x);
  const tenon::traced value = loss(v);
  (write_over_freed(operands), ...);
  value.backward();
  return numbers_of(v.gradient());
}

/// Whether `loss(v, operands...)` has the same gradient in `x` of temporaries as of operands with names.
template <class Loss, class X, class... Operands>
bool keeps_temporaries(const Loss& loss, const X& x, const Operands&... operands) {
  const auto named = [&](const auto& v) { return loss(v, operands...); };
  const auto moved = [&](const auto& v) { return loss(v, Operands(operands)...); };
  return gradient_after(moved, x, operands...) == gradient_after(named, x, operands...);
}

}  // namespace tenon_test
