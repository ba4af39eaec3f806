// tenon/grad/contractions.hpp: gradients of matrix products and convolutions, which are again products.
// Letters name the axes: the result's gradient times the other operand, summed to the letters of the operand.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/convolve.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/grad/views.hpp>

namespace tenon {

namespace detail {

/// A letter's number when the letters of `Own` become 0, 1, ... and the others follow in their order.
template <class Own>
constexpr int letter_seen_from(int letter) {
  const int own = axis_of_letter(Own{}, letter);
  if (own >= 0) return own;
  int number = Own::count;
  for (int before = 0; before < letter; ++before) number += axis_of_letter(Own{}, before) < 0 ? 1 : 0;
  return number;
}

template <class Own, int... Letters>
constexpr auto letters_seen_from(axis_list<Letters...>) -> axis_list<letter_seen_from<Own>(Letters)...> {
  return {};
}

/// The gradient of the operand with letters `Own` of a contraction, from the result's and the other operand.
template <class Own, class Others, int Rank, class Gradient, class Other>
auto contract_gradient(const Gradient& gradient, const Other& other) {
  using result = decltype(axes_from<0>(std::make_integer_sequence<int, Rank>{}));
  return contract_letters<Own::count, decltype(letters_seen_from<Own>(result{})),
                          decltype(letters_seen_from<Own>(Others{}))>(gradient, other);
}

}  // namespace detail

/// The gradient of an operand of a contraction, from the result's.
template <int I, class Left, class Right, class Pattern, class Gradient>
auto operand_gradient(const contraction<Left, Right, Pattern>& node, const Gradient& gradient) {
  using left = typename Pattern::left_letters;
  using right = typename Pattern::right_letters;
  using own = std::conditional_t<I == 0, left, right>;
  using others = std::conditional_t<I == 0, right, left>;
  using precision = typename detail::precision_of_node<contraction<Left, Right, Pattern>>::type;
  return detail::with_precision<precision>(
      detail::contract_gradient<own, others, Pattern::rank>(gradient, get<1 - I>(node.operands)));
}

/// The gradients of a convolution's image and weight; of a transposed one it is the image that is convolved. They have
/// the operands' extents: output padding of a stride or more leaves room for more windows than the image has elements.
template <int I, class Image, class Weight, bool Transposed, class Gradient>
auto operand_gradient(const convolution<Image, Weight, Transposed>& node, const Gradient& gradient) {
  const auto& image = get<0>(node.operands);
  const auto& weight = get<1>(node.operands);
  const auto pixels = image.shape().to_array(), taps = weight.shape().to_array();
  if constexpr (I == 0) {
    return detail::make_convolution<!Transposed>(gradient, weight, pixels[1], detail::spatial(pixels), node.geometry);
  } else if constexpr (Transposed) {
    return detail::make_weight_gradient(image, gradient, taps, node.geometry);
  } else {
    return detail::make_weight_gradient(gradient, image, taps, node.geometry);
  }
}
template <int I, class Image, class Output, class Gradient>
auto operand_gradient(const weight_gradient_product<Image, Output>& node, const Gradient& gradient) {
  const auto& image = get<0>(node.operands);
  const auto& output = get<1>(node.operands);
  const auto pixels = image.shape().to_array(), windows = output.shape().to_array();
  if constexpr (I == 0) {
    return detail::make_convolution<true>(output, gradient, pixels[1], detail::spatial(pixels), node.geometry);
  } else {
    return detail::make_convolution<false>(image, gradient, windows[1], detail::spatial(windows), node.geometry);
  }
}

}  // namespace tenon
