// tenon/nn/joined_layers.hpp: the layers at the front of a network that are one statement of a pass through it.
// A relu joins the layer before it, whose output nobody needs then; a max pool of 2 x 2 joins both.
// Floor 7: may include base, core, device, expr, plan, contraction, algorithms, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/window_pool.hpp>
#include <tenon/core/buffer.hpp>
#include <tenon/nn/greatest_gradient.hpp>
#include <tenon/nn/layer.hpp>

namespace tenon::nn {

/// Both passes of a layer for inputs of shape `Input`. Layers made of layers specialise it, and keep there what lies
/// between their own.
template <class Layer, dtype T, memory_space Space, shape_type Input>
struct layer_pass {
  template <class View, class Output>
  void forward(Layer& layer, const View& input, const Output& output) {
    if constexpr (requires { layer.prepare(input); }) layer.prepare(input);
    output = layer.forward(input);
  }
  template <class View, class Output, class Gradient, class Destination>
  void backward(Layer& layer, const View& input, const Output& output, const Gradient& gradient,
                const Destination& destination) {
    layer.backward(input, output, gradient, destination);
  }
};

namespace detail {

/// Whether the shape of what a layer makes follows from the input's. That of a module follows from its `forward`.
template <class Layer>
inline constexpr bool tells_shape = true;

/// The shape that the layers make of `input`. Does not compile where types know that a layer does not take it.
template <shape_type Input>
constexpr auto shape_through(const Input& input) {
  return input;
}
template <shape_type Input, class First, class... Rest>
constexpr auto shape_through(const Input& input, const First& first, const Rest&... rest) {
  return shape_through(first.output_shape(input), rest...);
}

/// Whether two layers are one statement: the output of the first is not needed again, and the second's gradient follows
/// from its own output.
template <class First, class Second>
concept activated_layer = requires {
  requires First::forgets_output;
  requires Second::keeps_slope;
  requires !requires(First& first) { first.prepare(0); };  // a statement of two prepares neither
};

/// Whether a layer keeps the greatest of squares of 2 x 2 side by side, as its type says.
template <class Layer>
inline constexpr bool pools_squares = false;
template <class Layer>
  requires(Layer::divides_input)
inline constexpr bool pools_squares<Layer> = std::is_same_v<typename Layer::window_shape, shape<2, 2>>;

/// The node of two layers, one after the other.
template <class View, class First, class Second>
auto activated(const View& input, const First& first, const Second& second) {
  return as_node(second.forward(first.forward(input)));
}
/// Whether three layers are one statement: a convolution, what is pointwise behind it, and a pool.
template <class View, class First, class Second, class Third>
concept pooled_layers = activated_layer<First, Second> && pools_squares<Third> &&
                        can_pool_in_epilogue<decltype(activated(
                            std::declval<const View&>(), std::declval<const First&>(), std::declval<const Second&>()))>;

/// The shape of what a layer makes of an input of shape `Input`.
template <class Layer, class Input>
using shape_behind = decltype(std::declval<const Layer&>().output_shape(std::declval<const Input&>()));

/// The first of some layers, and those that are one statement with it: `count` in all, which both passes are given.
template <dtype T, memory_space Space, shape_type Input, class First, class... Rest>
struct joined_layers : layer_pass<First, T, Space, Input> {
  static constexpr int count = 1;
  using output_shape = shape_behind<First, Input>;
};

/// A layer and its activation.
template <dtype T, memory_space Space, shape_type Input, class First, class Second, class... Rest>
  requires activated_layer<First, Second>
struct joined_layers<T, Space, Input, First, Second, Rest...> {
  static constexpr int count = 2;
  using output_shape = shape_behind<Second, shape_behind<First, Input>>;

  template <class View, class Output>
  void forward(First& first, Second& second, const View& input, const Output& output) {
    output = second.forward(first.forward(input));
  }
  template <class View, class Output, class Gradient, class Destination>
  void backward(First& first, Second& second, const View& input, const Output& output, const Gradient& gradient,
                const Destination& destination) {
    second.backward(output, output, gradient, gradient);
    first.backward(input, output, gradient, destination);
  }
};

/// A convolution, its activation and its pool. Images as large as the convolution's are in memory on the way back only;
/// of the way there it keeps which place of a square its greatest value has.
template <dtype T, memory_space Space, shape_type Input, class First, class Second, class Third, class... Rest>
  requires pooled_layers<view<const T, Input, Space>, First, Second, Third>
struct joined_layers<T, Space, Input, First, Second, Third, Rest...> {
  static constexpr int count = 3;
  using image_shape = shape_behind<Second, shape_behind<First, Input>>;
  using output_shape = shape_behind<Third, image_shape>;

  buffer<std::uint8_t, output_shape, Space> places;
  buffer<T, image_shape, Space> image_gradient;

  template <class View, class Output>
  void forward(First& first, Second& second, Third&, const View& input, const Output& output) {
    const auto chosen = places.resize(output_shape(output.shape().to_array()));
    output.noalias() =
        make_pooled_convolution(activated(input, first, second), output.shape(), elements_for<First>(chosen));
  }
  template <class View, class Output, class Gradient, class Destination>
  void backward(First& first, Second& second, Third&, const View& input, const Output& output, const Gradient& gradient,
                const Destination& destination) {
    using spread = greatest_gradient_algorithm<shape<2, 2>, read_places>;
    second.backward(output, output, gradient, gradient);
    const auto extents = second.output_shape(first.output_shape(input.shape()));
    const auto image = elements_for<First>(image_gradient.resize(image_shape(extents.to_array())));
    image.noalias() =
        make_own_pass<T>(spread{}, image.shape(), as_node(elements_for<First>(places.current())), as_node(gradient));
    first.backward(input, image, image, destination);
  }
};

}  // namespace detail

}  // namespace tenon::nn
