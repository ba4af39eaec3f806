// tenon/expr/views/interpolation.hpp: images of another size: which elements make one, and how much each counts.
// A filter says how a share falls with distance; an element of the result is a window on elements of the operand.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/expr/generate.hpp>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/operations/division.hpp>
#include <tenon/expr/operations/map.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/permute.hpp>
#include <tenon/expr/views/placed_windows.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

/// The nearest element alone.
struct nearest_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 0;  // as many elements on both sides count

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number) {
    return 1;
  }
};

/// The elements on both sides: less, the farther they are.
struct linear_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 1;

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number distance) {
    const Number share = 1 - (distance < 0 ? -distance : distance);
    return share > 0 ? share : Number(0);
  }
};

/// The piecewise cubic curve that is 1 at distance 0, falls by `slope` at 1, where it is 0, and ends at 2.
/// source    Keys 1981: Cubic convolution interpolation for digital image processing
template <class Number>
TENON_HOST_DEVICE Number cubic_convolution(Number distance, Number slope) {
  const Number x = distance < 0 ? -distance : distance;
  if (x < 1) return ((slope + 2) * x - (slope + 3)) * x * x + 1;
  return x < 2 ? slope * (((x - 5) * x + 8) * x - 4) : Number(0);
}

/// Two elements on both sides, under the cubic curve of slope -`Quarters` / 4.
template <int Quarters>
struct cubic_filter {
  static constexpr bool is_antialiased = false;
  static constexpr index reach = 2;

  template <class Number>
  TENON_HOST_DEVICE static Number value(Number distance) {
    return cubic_convolution(distance, -Number(Quarters) / 4);
  }
};

/// A filter as wide as the steps between elements of a smaller output, so that every element of the input counts.
template <class Filter>
struct antialiased : Filter {
  static constexpr bool is_antialiased = true;
};

/// An element of the output as a window on the elements of the input that count in it. Beside the input its border
/// repeats; for an antialiased filter there is nothing, and weights are to be divided by their sum.
/// Positions are products, rounded once and then down, so that all who compute one agree on the elements that it names.
template <class Number, int Rank, class Filter>
struct interpolated_places {
  static constexpr int rank = Rank;
  static constexpr index reach = Filter::reach;
  static constexpr bool is_antialiased = Filter::is_antialiased;
  static constexpr index known_taps = Filter::is_antialiased ? dyn : reach == 0 ? 1 : 2 * reach;
  array<index, Rank> image, output;  // extents
  array<Number, Rank> step;          // from one element of the output to the next
  index shift;                       // 1 where positions are those of centres, which lie half an element inside

  bool operator==(const interpolated_places&) const = default;
  /// How many elements a window names.
  TENON_HOST_DEVICE index taps(int axis) const {
    if constexpr (!Filter::is_antialiased) return known_taps;
    else return 2 * static_cast<index>(::ceil(radius(axis))) + 1;
  }
  TENON_HOST_DEVICE index element(int axis, index window, index tap) const {
    const index place = first(axis, window) + tap;
    return place < image[axis] ? place : -1;
  }
  /// What an element counts; that on the border also what those beside it would.
  TENON_HOST_DEVICE Number weight(int axis, index window, index tap) const {
    const index place = first(axis, window) + tap, last = image[axis] - 1;
    if constexpr (Filter::is_antialiased) {
      const Number distance = Number(place) - position(axis, window);
      return place < 0 || place > last ? Number(0) : Filter::value(distance / width(axis));
    } else {
      const Number beyond = position(axis, window) - Number(before(axis, window));
      const Number past = beyond < 0 ? Number(0) : beyond < 1 ? beyond : Number(1);
      const index begin = place == 0 ? 0 : tap, end = place == last ? known_taps : tap + 1;
      Number share = 0;
      for (index k = begin; k < end; ++k) share += Filter::value(Number(k + 1 - reach) - past);
      return share;
    }
  }
  /// Outputs that count an element lie together; `slack` more on both sides make up for rounding.
  index windows_over(int axis) const {
    if (step[axis] == 0) return output[axis];
    const Number span = reach == 0 ? Number(1) : 2 * radius(axis);
    return static_cast<index>(std::ceil(span / step[axis])) + 2 * slack(axis) + 1;
  }
  TENON_HOST_DEVICE index window_over(int axis, index element, index k) const {
    const index window = first_window_over(axis, element) + k;
    if (window < 0 || window >= output[axis]) return -1;
    const index place = tap(axis, element, window);
    return place >= 0 && place < taps(axis) ? window : -1;
  }
  TENON_HOST_DEVICE index tap(int axis, index element, index window) const { return element - first(axis, window); }

 private:
  TENON_HOST_DEVICE Number twice(int axis, index window) const { return step[axis] * Number(2 * window + shift); }
  TENON_HOST_DEVICE Number position(int axis, index window) const { return (twice(axis, window) - Number(shift)) / 2; }
  /// The element at a position or right before it.
  TENON_HOST_DEVICE index before(int axis, index window) const {
    const index place = (static_cast<index>(twice(axis, window)) - shift) >> 1, last = image[axis] - 1;
    return place < last ? place : last;
  }
  TENON_HOST_DEVICE index first(int axis, index window) const {
    if constexpr (Filter::is_antialiased) {
      return static_cast<index>(::floor(position(axis, window) - radius(axis))) + 1;
    } else {
      return before(axis, window) - (reach == 0 ? 0 : reach - 1);
    }
  }
  TENON_HOST_DEVICE Number width(int axis) const {
    return Filter::is_antialiased && step[axis] > 1 ? step[axis] : Number(1);
  }
  TENON_HOST_DEVICE Number radius(int axis) const { return Number(reach) * width(axis); }
  TENON_HOST_DEVICE index slack(int axis) const { return 1 + (output[axis] >> 21); }
  TENON_HOST_DEVICE index first_window_over(int axis, index element) const {
    if (step[axis] == 0) return 0;
    const Number window = ((2 * (Number(element) - radius(axis)) + Number(shift)) / step[axis] - Number(shift)) / 2;
    return static_cast<index>(::floor(window)) - slack(axis);
  }
};

/// On the host: the last axes in other extents, one after another, or on the way back the gradient of that.
/// host/interpolation.hpp runs it.
template <bool IsBack, class Places>
struct interpolation_algorithm {
  static constexpr const char* name = IsBack ? "interpolate_gradient" : "interpolate";
  Places places;

  bool operator==(const interpolation_algorithm&) const = default;
  template <class... Others>
  void operator()(const Others&...) const {
    static_assert(must_hold<Others...>,
                  "tenon: to run interpolations include <tenon/products.hpp> or <tenon/tenon.hpp>");
  }
};

/// The elements of sums of an operand's elements by weights of `Number`.
template <class Operand, class Number>
using weighted_element = promoted_element<Operand, leaf<Number, shape<1>, host>>;

namespace detail {

/// The weights of an axis, to be mapped over numbers of windows and taps.
template <class Places>
struct weight_of_tap {
  Places places;
  int axis;

  TENON_HOST_DEVICE auto operator()(index window, index tap) const { return places.weight(axis, window, tap); }
};

/// The same for elements that a window sees, and 0 for others.
template <class Places>
struct weight_of_element {
  Places places;
  int axis;

  TENON_HOST_DEVICE auto operator()(index window, index element) const {
    const index tap = places.tap(axis, element, window);
    const bool is_seen = tap >= 0 && tap < places.taps(axis);
    return is_seen ? places.weight(axis, window, tap) : decltype(places.weight(axis, window, tap))(0);
  }
};

template <index Taps, class Axes>
struct tap_shape;
template <index Taps, int... Axes>
struct tap_shape<Taps, std::integer_sequence<int, Axes...>> {
  template <int>
  static constexpr index extent = Taps;
  using type = shape<extent<Axes>...>;
};

/// The products of the axes' weights, for [windows..., taps...].
template <class Places, int... Axes>
auto window_weights(const Places& places, std::integer_sequence<int, Axes...>) {
  constexpr int rank = Places::rank;
  const tenon::rank<2 * rank> extents(array<index, 2 * rank>{{places.output[Axes]..., places.taps(Axes)...}});
  return (map(weight_of_tap<Places>{places, Axes}, index_grid<index>(extents, axis<Axes>),
              index_grid<index>(extents, axis<rank + Axes>)) *
          ...);
}
/// What elements of the operand count along an axis of the output: a matrix whose rows add up to one.
template <class Places>
auto weight_matrix(const Places& places, int along) {
  const rank<2> extents(places.output[along], places.image[along]);
  const auto weights = map(weight_of_element<Places>{places, along}, index_grid<index>(extents, axis<0>),
                           index_grid<index>(extents, axis<1>));
  return weights / sum(weights, axis<1>);
}

/// The operand's extents, the last ones replaced by those of the output.
template <class Shape, class Places, int... I>
auto interpolated_shape(const Shape& operand, const Places& places, std::integer_sequence<int, I...>) {
  constexpr int leading = Shape::rank - Places::rank;
  return shape<(I < leading ? Shape::static_extent(I) : dyn)...>(
      array<index, Shape::rank>{{(I < leading ? operand.extent(I) : places.output[I < leading ? 0 : I - leading])...}});
}

template <class Operand, class Places, int... Axes>
auto interpolated(const Operand& x, const Places& places, std::integer_sequence<int, Axes...> axes) {
  using element = typename Operand::element;
  using taps_type = typename tap_shape<Places::known_taps, std::integer_sequence<int, Axes...>>::type;
  constexpr int first_tap = Operand::shape_type::rank;
  using result = weighted_element<Operand, decltype(places.weight(0, 0, 0))>;
  constexpr bool is_own = Places::reach != 0 || std::is_same_v<result, element>;  // the nearest keep their type
  if constexpr (is_own && std::is_same_v<typename Operand::space, host>) {
    return make_own_pass<result>(interpolation_algorithm<false, Places>{places},
                                 interpolated_shape(x.shape(), places, std::make_integer_sequence<int, first_tap>{}),
                                 x);
  } else if constexpr (Places::is_antialiased) {
    static_assert(sizeof...(Axes) == 2, "tenon: antialiased filters are those of images, along two axes");
    return matmul(weight_matrix(places, 0), matmul(x, transpose(weight_matrix(places, 1))));
  } else {
    const auto seen =
        placed_windows(x, places, taps_type(array<index, Places::rank>{{places.taps(Axes)...}}), element{});
    if constexpr (Places::reach == 0) return squeeze(seen, axis<first_tap + Axes...>);
    else return sum(seen * window_weights(places, axes), drop<first_tap + Axes...>);
  }
}

}  // namespace detail

/// An image whose last axes have other extents: each element is the mean of those near its place, weighted by a filter.
/// extents   [..., image...] to [..., output...], as `places` say
/// throws    shape_error where those of the operand are other ones
/// cost      on the host a pass along each axis, of 1 product for nearest elements, 2 for a linear filter, 4 for a
///           cubic one. On devices one pass, of 4 and 16 for images; antialiased, a matrix product along each axis, by
///           which NaN and infinities reach all others. Nearest ones of devices or other types are no pass of their own
/// example   interpolate(image, interpolated_places<float, 1, linear_filter>{{{4}}, {{8}}, {{0.5f}}, 1})
template <tensor_operand Operand, class Number, int Rank, class Filter>
auto interpolate(const Operand& x, const interpolated_places<Number, Rank, Filter>& places) {
  static_assert(node_of<const Operand&>::shape_type::rank >= Rank, "tenon: interpolation along axes that there are");
  const auto& node = as_node(x);
  detail::check_image("interpolate", node.shape(), places.image);
  return detail::interpolated(node, places, std::make_integer_sequence<int, Rank>{});
}

/// The gradient of nearest elements, on the host: the way back of an interpolation.
template <int, class T, int Leading, class Number, int Rank, class Shape, class Operand, class Gradient>
  requires(std::is_same_v<typename Operand::space, host>)
auto operand_gradient(
    const remap<window_map<T, Leading, interpolated_places<Number, Rank, nearest_filter>>, Shape, Operand>& node,
    const Gradient& gradient) {
  return [&]<int... J>(std::integer_sequence<int, J...>) {
    return make_own_pass<weighted_element<Gradient, Number>>(
        interpolation_algorithm<true, interpolated_places<Number, Rank, nearest_filter>>{node.map.windows},
        get<0>(node.operands).shape(), squeeze(gradient, axis<Leading + Rank + J...>));
  }(std::make_integer_sequence<int, Rank>{});
}

/// The gradient of an interpolation that is an algorithm: the way back, or there again.
template <int, bool IsBack, class Places, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<interpolation_algorithm<IsBack, Places>, T, Shape, Operand>& node,
                      const Gradient& gradient) {
  return make_own_pass<T>(interpolation_algorithm<!IsBack, Places>{node.options.places}, get<0>(node.operands).shape(),
                          gradient);
}

}  // namespace tenon
