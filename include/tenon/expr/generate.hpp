// tenon/expr/generate.hpp: values computed from their position.
// A generator is a function of one affine offset, so it fuses and merges axes as memory does.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/node.hpp>

namespace tenon {

/// `generator(base + sum(position * stride))` at every position.
template <class Generator, shape_type Shape>
struct generated {
  using kind = generator_kind;
  using element = typename Generator::element;
  using space = any_space;
  using shape_type = Shape;

  Generator generator;
  shape_type extents;
  index base;
  array<index, Shape::rank> stride;
  [[no_unique_address]] tuple<> operands{};

  const shape_type& shape() const { return extents; }

  template <int, int Outer>
  generated_source<Generator, Outer> lower(const axis_map<Shape::rank, Outer>& map) const {
    return {generator, base + map.offset(stride), map.strides(stride)};
  }
};

/// The offset itself, as a number of type T: first + step * offset.
template <dtype T>
struct affine_generator {
  using element = T;
  compute_type<T> first, step;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const {
    return static_cast<compute_type<T>>(first + step * static_cast<compute_type<T>>(offset));
  }
};

/// 1 where the offset is 0.
template <dtype T>
struct origin_generator {
  using element = T;
  TENON_HOST_DEVICE compute_type<T> operator()(index offset) const { return compute_type<T>(offset == 0 ? 1 : 0); }
};

/// The same number at every position.
template <dtype T>
struct constant_generator {
  using element = T;
  compute_type<T> number;
  TENON_HOST_DEVICE compute_type<T> operator()(index) const { return number; }
};

/// first, first + step, ... : `count` numbers.
/// throws    shape_error when count is negative
template <dtype T>
auto arange(index count, T first = T(0), T step = T(1)) {
  return generated<affine_generator<T>, rank<1>>{{first, step}, rank<1>(count), 0, {{1}}};
}

/// The position of each element in row-major order.
template <dtype T, shape_type Shape>
auto iota(const Shape& extents) {
  return generated<affine_generator<T>, Shape>{{0, 1}, extents, 0, row_major_strides(extents.to_array())};
}

/// Ones where row and column are equal.
template <dtype T>
auto eye(index rows, index columns) {
  return generated<origin_generator<T>, rank<2>>{{}, rank<2>(rows, columns), 0, {{1, -1}}};
}

/// One number with extents.
template <dtype T, shape_type Shape>
auto constants(const Shape& extents, T number) {
  return generated<constant_generator<T>, Shape>{{number}, extents, 0, {}};
}

/// A tensor of one number. cost: one kernel
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> full(const Shape& extents, T number) {
  return tensor<T, Shape, Space>(constants<T>(extents, number));
}
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> zeros(const Shape& extents) {
  return full<T, Space>(extents, T(0));
}
template <dtype T, memory_space Space = host, shape_type Shape>
tensor<T, Shape, Space> ones(const Shape& extents) {
  return full<T, Space>(extents, T(1));
}

}  // namespace tenon
