// tenon/grad/jacobian.hpp: all derivatives of a function, as a tensor.
// A pass has the derivatives of one element, or by one: the statement is compiled once, and its direction moves on.
// Floor 6: may include base, core, expr, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/evaluate.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/grad/jvp.hpp>

namespace tenon {

namespace detail {

/// The extents of one tensor before those of another.
template <index... Left, index... Right>
auto joined_shape(const shape<Left...>& left, const shape<Right...>& right) {
  array<index, static_cast<int>(sizeof...(Left) + sizeof...(Right))> extents{};
  int axis = 0;
  for (const index extent : left.to_array()) extents[axis++] = extent;
  for (const index extent : right.to_array()) extents[axis++] = extent;
  return shape<Left..., Right...>(extents);
}

/// Calls `body(i)` while `direction` is 1 at its element i and 0 elsewhere, for each i.
template <class Tensor, class Body>
void for_each_direction(Tensor& direction, const Body& body) {
  for (index i = 0; i < direction.size(); ++i) {
    direction = cast<typename Tensor::element>(iota<index>(direction.shape()) == i);
    body(i);
  }
}

}  // namespace detail

/// The derivatives of each element of `function(x)` by each element of x, as torch.func.jacrev. The function takes an
/// expression and returns one.
/// extents   those of the result, then those of x
/// types     floating, those of the result
/// throws    as vjp
/// cost      a gradient for each element of the result, or a jvp for each of x where these are fewer; each computes
///           again what it needs of the value. Both statements are compiled
/// example   const auto j = jacobian([&](const auto& v) { return tanh(matmul(w, v)); }, x);  // [m, n]
template <class Function, class T, shape_type Shape, memory_space Space>
auto jacobian(const Function& function, const tensor<T, Shape, Space>& x) {
  const auto v = variable<0>(x);
  const auto y = as_node(function(v));
  using element = typename decltype(y)::element;
  static_assert(is_floating<element> || must_hold<element>, "tenon: jacobian takes functions of floating results");
  using space = statement_space<Space>;
  const index rows = y.shape().count(), columns = x.size();
  auto extents = detail::joined_shape(y.shape(), x.shape());
  tensor<element, decltype(extents), space> result(extents);
  if (rows <= columns) {
    tensor<element, typename decltype(y)::shape_type, space> direction(y.shape());
    const auto [gradient] = vjp(y, direction, wrt(v));
    detail::for_each_direction(
        direction, [&](index i) { view<element, Shape, space>(result.data() + i * columns, x.shape()) = gradient; });
  } else {
    tensor<T, Shape, space> direction(x.shape());
    const auto change = jvp(y, wrt(v), direction);
    auto strides = row_major_strides(y.shape().to_array());
    for (auto& stride : strides) stride *= columns;
    detail::for_each_direction(direction, [&](index i) {
      view<element, typename decltype(y)::shape_type, space>(result.data() + i, y.shape(), strides) = change;
    });
  }
  return result;
}

/// The second derivatives of `function(x)`, which has no axes, by each pair of elements of x, as torch.func.hessian.
/// extents   those of x, twice
/// throws    as vjp
/// cost      a gradient of the gradient for each element of x
/// example   const auto h = hessian([](const auto& v) { return sum(exp(v) * v); }, x);  // [n, n]
template <class Function, class T, shape_type Shape, memory_space Space>
auto hessian(const Function& function, const tensor<T, Shape, Space>& x) {
  using space = statement_space<Space>;
  const auto v = variable<0>(x);
  tensor<T, Shape, space> direction(x.shape());
  const auto [product] = hessian_vector_product(function(v), wrt(v), direction);
  auto extents = detail::joined_shape(x.shape(), x.shape());
  tensor<T, decltype(extents), space> result(extents);
  detail::for_each_direction(
      direction, [&](index i) { view<T, Shape, space>(result.data() + i * x.size(), x.shape()) = product; });
  return result;
}

}  // namespace tenon
