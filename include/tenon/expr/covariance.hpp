// tenon/expr/covariance.hpp: how variables vary together.
// Products of a matrix with itself, whose rows lose their mean, or their scale, on the way in.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/matmul.hpp>
#include <tenon/expr/norms.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/permute.hpp>

namespace tenon {

namespace detail {

template <class Node>
auto centred_rows(const Node& x) {
  static_assert(Node::shape_type::rank >= 2 || must_hold<Node>,
                "tenon: covariances take a row for each variable: at least two axes; of one it is variance(x)");
  static_assert(!is_complex<typename Node::element> || must_hold<Node>, "tenon: covariances are of real numbers");
  return x - mean(x, axis<-1>);
}

}  // namespace detail

/// Covariances of variables, of which x has a row each and observations along the last axis. They are divided by the
/// number of observations less `ddof` (0 where that is negative).
/// extents   [.., m, m] of [.., m, n]
/// types     floating, of integers float
/// gradient  yes
/// example   const auto c = evaluated_tensor(cov(x));  // of columns: cov(transpose(x))
template <tensor_operand Operand>
auto cov(Operand&& x, double ddof = 1) {
  const auto node = as_node(std::forward<Operand>(x));
  const auto centred = detail::centred_rows(node);
  const auto count = static_cast<double>(node.shape().extent(decltype(node)::shape_type::rank - 1));
  return matmul(centred, transpose(centred)) / (count > ddof ? count - ddof : 0);
}

/// Correlations of variables, of which x has a row each, as `cov`: 1 where both are the same. NaN beside a variable
/// that does not vary.
/// example   const auto r = evaluated_tensor(corrcoef(x));
template <tensor_operand Operand>
auto corrcoef(Operand&& x) {
  const auto centred = detail::centred_rows(as_node(std::forward<Operand>(x)));
  const auto scaled = centred / norm_l2(centred, axis<-1>);
  return matmul(scaled, transpose(scaled));
}

}  // namespace tenon
