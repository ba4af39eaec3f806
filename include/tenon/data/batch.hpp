// tenon/data/batch.hpp: examples side by side: tensors with an axis of examples in front.
// Batches lie in page-locked memory, so that a device copies them by itself; statements see tensors of the host.
// Floor 6: may include base, core, device, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <tenon/core/tensor.hpp>
#include <tenon/data/random_draws.hpp>
#include <tenon/device/pinned.hpp>
#include <tuple>

namespace tenon::data {

namespace detail {

template <class Example>
struct batch_of;
template <index... Extents>
struct batch_of<shape<Extents...>> {
  using type = shape<dyn, Extents...>;
};

template <class Batch>
struct example_of;
template <index Count, index... Extents>
struct example_of<shape<Count, Extents...>> {
  using type = shape<Extents...>;
};

}  // namespace detail

/// `batch_shape<Example>` is the shape of a batch of such examples, `example_shape<Batch>` that of one example.
template <shape_type Example>
using batch_shape = typename detail::batch_of<Example>::type;
template <shape_type Batch>
using example_shape = typename detail::example_of<Batch>::type;

/// A batch: a tensor [batch, ...] in page-locked memory, of examples of shape `Example`.
template <dtype T, shape_type Example>
using batch_tensor = tensor<T, batch_shape<Example>, pinned>;

/// A batch with room for `count` examples of these extents; its elements are not written yet.
template <dtype T, shape_type Example>
batch_tensor<T, Example> make_batch_tensor(index count, const Example& extents) {
  array<index, Example::rank + 1> all{{count}};
  for (int axis = 0; axis < Example::rank; ++axis) all[axis + 1] = extents.extent(axis);
  return batch_tensor<T, Example>(batch_shape<Example>(all));
}

/// The extents of one example of a batch.
template <shape_type Batch>
example_shape<Batch> extents_of_example(const Batch& batch) {
  array<index, Batch::rank - 1> extents{};
  for (int axis = 1; axis < Batch::rank; ++axis) extents[axis - 1] = batch.extent(axis);
  return example_shape<Batch>(extents);
}

/// A view of example `place` of a batch, to read or to write. `place` must be below the batch's extent.
template <dtype T, shape_type Batch, memory_space Space>
auto example_at(const tensor<T, Batch, Space>& batch, index place) {
  const auto extents = extents_of_example(batch.shape());
  const T* const first = batch.data();
  return view<const T, example_shape<Batch>, host>(first == nullptr ? first : first + place * extents.count(), extents);
}
template <dtype T, shape_type Batch, memory_space Space>
auto example_at(tensor<T, Batch, Space>& batch, index place) {
  const auto extents = extents_of_example(batch.shape());
  T* const first = batch.data();
  return view<T, example_shape<Batch>, host>(first == nullptr ? first : first + place * extents.count(), extents);
}

/// Copies the elements of one example to another of the same extents.
template <class T, shape_type Shape>
void copy_elements(const view<const T, Shape, host>& from, const view<T, Shape, host>& to) {
  if (from.size() != 0) std::memcpy(to.data(), from.data(), static_cast<std::size_t>(from.size()) * sizeof(T));
}

}  // namespace tenon::data
