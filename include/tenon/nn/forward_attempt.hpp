// tenon/nn/forward_attempt.hpp: forward passes that are taken back where they fail.
// Masks that were drawn and running statistics that moved would else make another pass of the next attempt.
// Floor 7: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/tuple.hpp>

namespace tenon::nn {

/// A layer whose forward passes in training leave more than activations. `forward_count()` tells how many it has done,
/// and `undo_forward(count)` takes the last one back where there are more than `count`.
template <class Layer>
concept counts_passes = requires(Layer& layer) { layer.undo_forward(layer.forward_count()); };

namespace detail {

template <class Layer>
auto forward_count_of(const Layer& layer) {
  if constexpr (counts_passes<Layer>) return layer.forward_count();
  else return 0;
}

/// Those of layers in a tuple.
template <class... Layers>
auto forward_counts(const tuple<Layers...>& layers) {
  return apply_tuple([](const auto&... layer) { return make_tuple_of(forward_count_of(layer)...); }, layers);
}
template <class... Layers, class Counts>
void undo_forwards(tuple<Layers...>& layers, const Counts& counts) {
  for_each_index<static_cast<int>(sizeof...(Layers))>([&](auto i) {
    auto& layer = get<i.value>(layers);
    if constexpr (counts_passes<std::remove_cvref_t<decltype(layer)>>) layer.undo_forward(get<i.value>(counts));
  });
}

}  // namespace detail

/// What `body()` returns: a forward pass of a layer or network, which is taken back where it throws. That is done in no
/// destructor, as copies on a device may fail.
/// throws    what the body throws; where that cannot be taken back, what stood in the way
/// example   attempt_forward(layer, [&] { layer.prepare(x), y = layer.forward(x); });
template <class Layer, class Body>
auto attempt_forward(Layer& layer, const Body& body) {
  const auto before = detail::forward_count_of(layer);
  try {
    return body();
  } catch (...) {
    if constexpr (counts_passes<Layer>) layer.undo_forward(before);
    throw;
  }
}

}  // namespace tenon::nn
