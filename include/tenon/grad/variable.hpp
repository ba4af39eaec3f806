// tenon/grad/variable.hpp: what a gradient is taken with respect to.
// A variable is a tensor whose node has a name in its type, so that types know where it stands in an expression.
// Floor 6: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/dependence.hpp>

namespace tenon {

/// The variable `Name` with the elements of a tensor or view, which must outlive it. It is used like the tensor.
/// example   const auto w = variable<0>(weight); gradient(sum(square(matmul(x, w))), wrt(w))
template <int Name, class Tensor>
auto variable(const Tensor& elements) {
  const auto node = as_node(elements);
  using leaf_type = std::remove_const_t<decltype(node)>;
  static_assert(std::is_same_v<typename leaf_type::kind, leaf_kind>, "tenon: a variable is a tensor or a view");
  static_assert(is_floating<typename leaf_type::element>, "tenon: a variable has floating elements");
  return leaf<typename leaf_type::element, typename leaf_type::shape_type, typename leaf_type::space,
              variable_name<Name>>{node.view(), {}};
}

}  // namespace tenon
