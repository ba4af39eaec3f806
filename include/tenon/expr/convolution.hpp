// tenon/expr/convolution.hpp: convolution and its two gradients as contractions of index-mapped images.
// Groups are batches: each operand is lowered with its axis of channels as two, and so is the result.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/contract.hpp>
#include <tenon/expr/window_geometry.hpp>

namespace tenon {

/// As matrix_axes, of a matrix for each group of channels: `Batch` is the axis of groups, `Group` the axis of the
/// result that numbers them. Columns run over `Column` and the `Rank` axes from 3 on.
template <int Batch, int Group, int Row, int Column, int Rank>
struct grouped_axes {
  static constexpr array<int, 1> batches{{Batch}}, result_batches{{Group}}, rows{{Row}};
  static constexpr auto columns =
      detail::join_arrays(array<int, 1>{{Column}}, array<int, 0>{}, detail::consecutive_axes<Rank>(3));
};

namespace detail {

/// The map under which axis `Channels` is two: groups at `Group`, and channels of a group right behind the axes that
/// stand before it. Where `Group` is 0, groups come first.
template <int Channels, int Group, int Rank>
constexpr axis_map<Rank, Rank + 1> split_channels(index channels_of_group) {
  axis_map<Rank, Rank + 1> map{};
  int place = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    if (place == Group) map.target[place] = Channels, map.step[place++] = channels_of_group;
    map.target[place] = axis, map.step[place++] = 1;
  }
  return map;
}

/// Extents with axis `axis` as two: groups at `Group`, and what is left of it.
template <int Channels, int Group, int Rank>
constexpr array<index, Rank + 1> split_extents(const array<index, Rank>& extents, index groups) {
  array<index, Rank + 1> result{};
  int place = 0;
  for (int axis = 0; axis < Rank; ++axis) {
    if (place == Group) result[place++] = groups;
    result[place++] = axis == Channels ? extents[axis] / groups : extents[axis];
  }
  return result;
}

/// Two axes exchanged.
template <class T, int Count>
TENON_HOST_DEVICE constexpr array<T, Count> exchanged(array<T, Count> values, int first, int second) {
  const T kept = values[first];
  values[first] = values[second], values[second] = kept;
  return values;
}

/// The axes behind batch and channels, or output and input channels.
template <int Rank>
constexpr array<index, Rank - 2> spatial(const array<index, Rank>& extents) {
  array<index, Rank - 2> result{};
  for (int i = 0; i < Rank - 2; ++i) result[i] = extents[2 + i];
  return result;
}
template <int Rank>
constexpr array<index, Rank + 2> with_spatial(index first, index second, const array<index, Rank>& extents) {
  array<index, Rank + 2> result{};
  result[0] = first, result[1] = second;
  for (int i = 0; i < Rank; ++i) result[2 + i] = extents[i];
  return result;
}

}  // namespace detail

namespace detail {

/// Axes of an image and its weight as a convolution's own.
template <class Image, class Weight, bool Transposed, int... Axes>
constexpr auto convolved_shape(std::integer_sequence<int, Axes...>)
    -> tenon::shape<Image::shape_type::static_extent(0), Transposed ? dyn : Weight::shape_type::static_extent(0),
                    (static_cast<void>(Axes), dyn)...> {
  return {};
}

}  // namespace detail

/// [n, c, h, w] with weight [o, c, r, s]: for each group a product of [o, (c, r, s)] and the patches [(c, r, s), (n, p,
/// q)]. `Transposed` is the gradient to the image: [n, o, p, q] with weight [o, c, r, s] of which the channels are
/// exchanged and the taps run backwards. Axes behind the first two may be any number.
template <class Image, class Weight, bool Transposed>
struct convolution {
  using kind = contraction_kind;
  using element = promoted_element<Image, Weight>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Image::space, typename Weight::space>::type;
  static constexpr int axes = Image::shape_type::rank, spatial_axes = axes - 2;
  using shape_type =
      decltype(detail::convolved_shape<Image, Weight, Transposed>(std::make_integer_sequence<int, spatial_axes>{}));
  using left_axes = grouped_axes<0, 1, 1, 2, spatial_axes>;
  using result_axes = grouped_axes<1, 1, 2, 0, spatial_axes>;
  static constexpr bool patches_transposed = false, spreads_image = Transposed;

  tuple<Image, Weight> operands;
  shape_type extents;
  window_geometry<spatial_axes> geometry;

  const shape_type& shape() const { return extents; }
  index depth() const { return left_extents()[2] * patches().taps(); }
  /// This node on other operands of the same extents.
  template <class NewImage, class NewWeight>
  auto with_operands(const tuple<NewImage, NewWeight>& others) const {
    using node = convolution<NewImage, NewWeight, Transposed>;
    return node{others, typename node::shape_type(extents), geometry};
  }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<axes, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Image> + slot_count<Weight>, compute_type<element>>{};
  }
  /// The result over [n, groups, channels, ...].
  auto result_map() const { return detail::split_channels<1, 1, axes>(extents.extent(1) / geometry.groups); }
  auto result_extents() const { return detail::split_extents<1, 1>(extents.to_array(), geometry.groups); }
  /// The weight over [groups, rows, channels that are summed, ...].
  auto lower_left() const {
    auto map = detail::split_channels<0, 0, axes>(weight_extents()[0] / geometry.groups);
    if constexpr (Transposed) {
      map.target = detail::exchanged(map.target, 1, 2);
      for (int i = 2; i < axes; ++i) map.start[i] = weight_extents()[i] - 1, map.step[i + 1] = -1;
    }
    return get<1>(operands).template lower<0>(map);
  }
  auto left_extents() const {
    const auto result = detail::split_extents<0, 0>(weight_extents(), geometry.groups);
    return Transposed ? detail::exchanged(result, 1, 2) : result;
  }
  /// The image over [groups, n, channels, ...].
  auto lower_image() const {
    return get<0>(operands).template lower<0>(detail::split_channels<1, 0, axes>(left_extents()[2]));
  }
  auto patches() const {
    const auto image = detail::spatial(get<0>(operands).shape().to_array()), kernel = detail::spatial(weight_extents()),
               output = detail::spatial(extents.to_array());
    return Transposed ? transposed_patches_of(geometry, image, kernel, output)
                      : patches_of(geometry, image, kernel, output);
  }

 private:
  array<index, axes> weight_extents() const { return get<1>(operands).shape().to_array(); }
};

/// The gradient of a convolution's weight: for each group [o, (n, p, q)] of the output's gradient times the patches
/// [(n, p, q), (c, r, s)].
template <class Image, class Gradient>
struct weight_gradient_product {
  using kind = contraction_kind;
  using element = promoted_element<Image, Gradient>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Image::space, typename Gradient::space>::type;
  static constexpr int axes = Image::shape_type::rank, spatial_axes = axes - 2;
  using shape_type = rank<axes>;
  using left_axes = grouped_axes<0, 0, 1, 2, spatial_axes>;
  using result_axes = grouped_axes<0, 0, 1, 2, spatial_axes>;
  static constexpr bool patches_transposed = true;

  tuple<Image, Gradient> operands;
  shape_type extents;
  window_geometry<spatial_axes> geometry;

  const shape_type& shape() const { return extents; }
  index depth() const { return left_extents()[2] * patches().windows(); }
  /// This node on other operands of the same extents.
  template <class NewImage, class NewGradient>
  auto with_operands(const tuple<NewImage, NewGradient>& others) const {
    return weight_gradient_product<NewImage, NewGradient>{others, extents, geometry};
  }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<axes, Outer>&) const {
    return slot_source<FirstSlot + slot_count<Image> + slot_count<Gradient>, compute_type<element>>{};
  }
  /// The result over [groups, rows, channels, ...].
  auto result_map() const { return detail::split_channels<0, 0, axes>(extents.extent(0) / geometry.groups); }
  auto result_extents() const { return detail::split_extents<0, 0>(extents.to_array(), geometry.groups); }
  /// The gradient over [groups, rows, n, ...].
  auto lower_left() const {
    auto map = detail::split_channels<1, 0, axes>(gradient_extents()[1] / geometry.groups);
    map.target = detail::exchanged(map.target, 1, 2);
    return get<1>(operands).template lower<0>(map);
  }
  auto left_extents() const {
    return detail::exchanged(detail::split_extents<1, 0>(gradient_extents(), geometry.groups), 1, 2);
  }
  /// The image over [groups, n, channels, ...].
  auto lower_image() const {
    return get<0>(operands).template lower<0>(detail::split_channels<1, 0, axes>(extents.extent(1)));
  }
  auto patches() const {
    return patches_of(geometry, detail::spatial(get<0>(operands).shape().to_array()),
                      detail::spatial(extents.to_array()), detail::spatial(gradient_extents()));
  }

 private:
  array<index, axes> gradient_extents() const { return get<1>(operands).shape().to_array(); }
};

}  // namespace tenon
