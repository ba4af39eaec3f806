// tenon/core/buffer.hpp: memory that is used again while extents change within it.
// Work that repeats for every batch allocates nothing, once it has seen the largest batch.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/storage.hpp>
#include <tenon/core/view.hpp>

namespace tenon {

/// Elements that keep their memory while their extents change within it: activations of varying batches.
template <dtype T, shape_type Shape, memory_space Space>
class buffer {
 public:
  /// The elements under `shape`; memory grows when it has to, and then the elements are lost.
  view<T, Shape, Space> resize(const Shape& shape) {
    if (shape.count() > memory_.count()) memory_ = storage<T, Space>(shape.count());
    shape_ = shape;
    return current();
  }
  view<T, Shape, Space> current() { return {memory_.data(), shape_}; }
  view<const T, Shape, Space> current() const { return {memory_.data(), shape_}; }
  /// How many elements there is memory for.
  index capacity() const { return memory_.count(); }

 private:
  storage<T, Space> memory_;
  Shape shape_{};
};

}  // namespace tenon
