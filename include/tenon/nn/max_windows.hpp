// tenon/nn/max_windows.hpp: the greatest value of windows, where it lies, and where its gradient goes.
// What max pools have in common, whatever places their windows.
// Floor 7: may include base, core, device, expr, plan, kernels, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/expression_layer.hpp>
#include <tenon/nn/greatest_gradient.hpp>
#include <tenon/nn/per_axis.hpp>

namespace tenon::nn {

namespace detail {

template <int First, class Axes>
struct shifted_axes;
template <int First, int... Axes>
struct shifted_axes<First, std::integer_sequence<int, Axes...>> {
  static constexpr axis_list<First + Axes...> kept{};
  static constexpr dropped_axes<First + Axes...> dropped{};
};
/// The axes of images [batch, channels, ...] along which windows of `Rank` axes slide, and those of the windows' taps.
template <int Rank>
inline constexpr auto image_axes = shifted_axes<2, std::make_integer_sequence<int, Rank>>::kept;
template <int Rank>
inline constexpr auto tap_axes = shifted_axes<2 + Rank, std::make_integer_sequence<int, Rank>>::dropped;

/// One value for each window as one for each of its taps.
template <int Rank, class Node>
auto for_each_tap(const Node& node) {
  return over_channels<Rank + 2>(node);
}

}  // namespace detail

/// Whether a layer's type says that its windows lie side by side.
template <class Layer>
inline constexpr bool lie_side_by_side = false;
template <class Layer>
  requires requires { Layer::divides_input; }
inline constexpr bool lie_side_by_side<Layer> = Layer::divides_input;

/// Base of a layer with `rank` and `windows_of(input, outside)`: its value is the greatest of each window. NaN counts
/// as greatest, of equal values the first does.
template <class Layer>
struct greatest_of_windows : callable<Layer> {
  template <class Input>
  auto forward(const Input& input) const {
    const auto x = as_node(input);
    return max(seen(x), detail::tap_axes<Layer::rank>);
  }
  /// Where the greatest values lie in the plane of their channel, counted row by row: what PyTorch returns as indices.
  template <class Input>
  auto indices(const Input& input) const {
    return places_of(input, forward(input));
  }
  /// Writes the gradient of the input: each window's goes to its greatest value.
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output& output, const Gradient& gradient, const Destination& destination) {
    constexpr int rank = Layer::rank;
    using element = typename Gradient::element;
    if constexpr (is_wanted<Destination> && lie_side_by_side<Layer>) {
      using windows = detail::greatest_gradient_algorithm<typename Layer::window_shape>;
      destination = make_own_pass<element>(windows{}, input.shape(), as_node(input), as_node(gradient));
    } else if constexpr (is_wanted<Destination> && detail::walks_windows<node_of<const Input&>, element>) {
      const auto windows = layer().placing(input.shape());
      destination = make_own_pass<element>(detail::placed_gradient_algorithm<decltype(windows)>{windows}, input.shape(),
                                           as_node(input), as_node(gradient));
    } else if constexpr (is_wanted<Destination>) {
      const auto is_chosen = numbered(input) == detail::for_each_tap<rank>(places_of(input, as_node(output)));
      const auto spread = detail::for_each_tap<rank>(as_node(gradient));
      const auto x = variable<0>(input);
      const auto [result] = vjp(seen(x), where(is_chosen, spread, element(0.0f)), wrt(x));
      destination = result;
    }
  }

 private:
  static constexpr index beside = highest_value<index>();

  const Layer& layer() const { return static_cast<const Layer&>(*this); }
  template <class Node>
  auto seen(const Node& x) const {
    return layer().windows_of(x, lowest_value<typename Node::element>());
  }
  /// The number of the place that each tap sees.
  template <class Input>
  auto numbered(const Input& input) const {
    array<index, Layer::rank + 2> plane = filled_array<Layer::rank + 2>(index{1});
    for (int axis = 0; axis < Layer::rank; ++axis) plane[2 + axis] = input.shape().extent(2 + axis);
    return layer().windows_of(iota<index>(tenon::rank<Layer::rank + 2>(plane)), beside);
  }
  template <class Input, class Greatest>
  auto places_of(const Input& input, const Greatest& greatest) const {
    const auto values = seen(as_node(input));
    const auto is_greatest = values == detail::for_each_tap<Layer::rank>(greatest) || values != values;
    return min(where(is_greatest, numbered(input), beside), detail::tap_axes<Layer::rank>);
  }
};

}  // namespace tenon::nn
