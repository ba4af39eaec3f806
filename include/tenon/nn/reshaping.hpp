// tenon/nn/reshaping.hpp: layers that change the shape alone: flatten, unflatten, and none at all.
// Names and defaults are those of torch.nn.Flatten, torch.nn.Unflatten and torch.nn.Identity.
// Floor 7: may include base, core, expr, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/reshape.hpp>
#include <tenon/nn/layer.hpp>
#include <tenon/nn/per_axis.hpp>

namespace tenon::nn {

/// Base of layers whose output has the elements of the input, and the shape that the layer says.
template <class Layer>
struct reshaping : stateless, callable<Layer> {
  static constexpr bool keeps_elements = true;

  template <class Input>
  auto forward(const Input& input) const {
    return reshape(input, static_cast<const Layer&>(*this).output_shape(input.shape()));
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    if constexpr (is_wanted<Destination>) destination = reshape(gradient, input.shape());
  }
};

/// Merges the axes from `Start` to `End`; by default all but the batch, [batch, ...] -> [batch, count].
template <int Start = 1, int End = -1>
struct flatten_axes : reshaping<flatten_axes<Start, End>> {
  static constexpr const char* name = "flatten";

  template <shape_type Input>
  static constexpr auto output_shape(const Input& input) {
    constexpr int first = first_of<Input>(), last = last_of<Input>(), joined = last - first;
    array<index, Input::rank - joined> extents{};
    for (int axis = 0; axis < extents.size(); ++axis) {
      extents[axis] = input.extent(axis <= first ? axis : axis + joined);
    }
    for (int axis = first + 1; axis <= last; ++axis) extents[first] *= input.extent(axis);
    return shape_of<detail::output_extents<flatten_axes, Input>, Input::rank - joined>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    constexpr int first = first_of<Input>(), last = last_of<Input>();
    if (axis != first) return Input::static_extent(axis < first ? axis : axis + last - first);
    index count = 1;
    for (int joined = first; joined <= last; ++joined) {
      if (Input::static_extent(joined) == dyn) return dyn;
      count *= Input::static_extent(joined);
    }
    return count;
  }

 private:
  template <class Input>
  static consteval int first_of() {
    return normalise_axis(Start, Input::rank);
  }
  template <class Input>
  static consteval int last_of() {
    constexpr int last = normalise_axis(End, Input::rank);
    static_assert(first_of<Input>() <= last, "tenon: flatten joins axes from an earlier one to a later one");
    return last;
  }
};
using flatten = flatten_axes<>;

/// An axis as several, of the given extents.
/// throws    shape_error when the extents do not multiply to that of the axis
/// example   nn::unflatten<1, 8, 5, 5>{} makes [batch, 8, 5, 5] of [batch, 200]
template <int Axis, index... Extents>
struct unflatten : reshaping<unflatten<Axis, Extents...>> {
  static constexpr const char* name = "unflatten";
  static constexpr int more = static_cast<int>(sizeof...(Extents)) - 1;
  static_assert(more >= 0 && ((Extents >= 0) && ...), "tenon: unflatten takes the extents of the new axes");

  template <shape_type Input>
  static constexpr auto output_shape(const Input& input) {
    constexpr int divided = normalise_axis(Axis, Input::rank);
    check_input<unflatten, divided, (Extents * ...)>(input);
    array<index, Input::rank + more> extents{};
    for (int axis = 0; axis < extents.size(); ++axis) {
      const index known = known_output<Input>(axis);
      extents[axis] = known != dyn ? known : input.extent(axis < divided ? axis : axis - more);
    }
    return shape_of<detail::output_extents<unflatten, Input>, Input::rank + more>(extents);
  }
  /// What the type knows of the extents of its output for inputs of a shape.
  template <class Input>
  static constexpr index known_output(int axis) {
    constexpr int divided = normalise_axis(Axis, Input::rank);
    if (axis < divided) return Input::static_extent(axis);
    if (axis > divided + more) return Input::static_extent(axis - more);
    return array<index, more + 1>{{Extents...}}[axis - divided];
  }
};

/// The input as it is: a branch that does nothing.
struct identity : reshaping<identity> {
  static constexpr const char* name = "identity";

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  template <class Input>
  auto forward(const Input& input) const {
    return as_node(input);
  }
};

}  // namespace tenon::nn
