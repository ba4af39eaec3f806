// tests/support/temporaries.hpp: whether traced losses keep the tensors that are moved into them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/gradcheck.hpp>
#include <tenon/grad/traced.hpp>
#include <utility>
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

/// Whether the gradient in `x` of `loss(v, operands...)` of temporaries agrees with central differences, once memory of
/// their shapes was written over.
template <class Loss, class X, class... Operands>
bool keeps_temporaries(const Loss& loss, const X& x, const Operands&... operands) {
  const auto loss_of = [&](const auto& v) { return tenon::traced(loss(v, Operands(operands)...)); };
  const auto v = tenon::variable(x);
  const auto value = loss_of(v);
  (write_over_freed(operands), ...);
  value.backward();
  X moved = x;
  const auto value_of_moved = [&] { return numbers_of(loss_of(tenon::variable(std::as_const(moved)))).front(); };
  return tenon::difference_from_slopes(moved, v.gradient(), value_of_moved) == "";
}

}  // namespace tenon_test
