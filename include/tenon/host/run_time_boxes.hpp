// tenon/host/run_time_boxes.hpp: points that meet points, whose few components the run alone counts.
// Two to four of them run as if types had counted them: boxes in packs are faster than folds of so few values.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/boxes.hpp>

namespace tenon {

namespace detail {

/// A shape whose last extent is `Extent` where types do not know it.
template <class Shape, index Extent>
struct ending_in {
  using type = Shape;
};
template <index First, index... Others, index Extent>
struct ending_in<shape<First, Others...>, Extent> {
  static constexpr array<index, 1 + sizeof...(Others)> extents{{First, Others...}};
  static constexpr int last = extents.size() - 1;
  template <int... I>
  static auto made(std::integer_sequence<int, I...>)
      -> shape<(I == last && extents[I] == dyn ? Extent : extents[I])...>;
  using type = decltype(made(std::make_integer_sequence<int, last + 1>{}));
};

/// An expression whose last axis has `Extent` positions, as its types then know: of elements, numbers and operations.
/// `of` makes it of a node where all that it reads `has_extent`.
template <class E, index Extent>
struct points_of {
  using type = E;
  static constexpr bool fits = false;
};
template <class T, class Shape, class Owner, index Extent>
struct points_of<leaf<T, Shape, host, Owner>, Extent> {
  using shape_type = typename ending_in<Shape, Extent>::type;
  using type = leaf<T, shape_type, host>;
  static constexpr bool fits = true;

  static bool has_extent(const leaf<T, Shape, host, Owner>& node) {
    if constexpr (std::is_same_v<shape_type, Shape>) return true;
    else return node.shape().extent(Shape::rank - 1) == Extent;
  }
  static type of(const leaf<T, Shape, host, Owner>& node) {
    const auto elements = node.view();
    return as_node(view<const T, shape_type>(elements.data(), shape_type(node.shape().to_array()), elements.strides()));
  }
};
template <class T, index Extent>
struct points_of<scalar<T>, Extent> {
  using type = scalar<T>;
  static constexpr bool fits = true;

  static bool has_extent(const scalar<T>&) { return true; }
  static type of(const scalar<T>& node) { return node; }
};
template <class Op, class... Operands, index Extent>
struct points_of<pointwise<Op, Operands...>, Extent> {
  using node = pointwise<Op, Operands...>;
  using type = pointwise<Op, typename points_of<Operands, Extent>::type...>;
  static constexpr bool fits = (points_of<Operands, Extent>::fits && ...);

  static bool has_extent(const node& from) {
    return apply_tuple([](const Operands&... each) { return (points_of<Operands, Extent>::has_extent(each) && ...); },
                       from.operands);
  }
  static type of(const node& from) {
    return apply_tuple(
        [&](const Operands&... each) {
          return type(from.op, typename type::shape_type(from.extents.to_array()),
                      points_of<Operands, Extent>::of(each)...);
        },
        from.operands);
  }
};

/// A statement that folds the components of such points, and then perhaps takes an operation of each result.
template <class E, index Extent>
struct folded_points {
  static constexpr bool fits = false;
};
template <class Monoid, class Axes, class Operand, index Extent>
struct folded_points<reduction<Monoid, Axes, Operand>, Extent> {
  using node = reduction<Monoid, Axes, Operand>;
  static constexpr bool fits = [] {
    constexpr int rank = Operand::shape_type::rank;
    constexpr auto reduced = reduced_axes<rank>(Axes{});
    int count = 0;
    for (const bool each : reduced) count += each ? 1 : 0;
    if constexpr (rank < 3 || !reduced[rank < 1 ? 0 : rank - 1]) return false;
    else return count == 1 && Operand::shape_type::static_extent(rank - 1) == dyn && points_of<Operand, Extent>::fits;
  }();

  static bool has_extent(const node& from) { return points_of<Operand, Extent>::has_extent(from.operand()); }
  static auto of(const node& from) {
    using points = points_of<Operand, Extent>;
    return reduction<Monoid, Axes, typename points::type>{{{{points::of(from.operand())}}}, from.extents};
  }
};
template <class Op, class Operand, index Extent>
struct folded_points<pointwise<Op, Operand>, Extent> {
  using node = pointwise<Op, Operand>;
  using folded = folded_points<Operand, Extent>;
  static constexpr bool fits = folded::fits;

  static bool has_extent(const node& from) { return folded::has_extent(get<0>(from.operands)); }
  static auto of(const node& from) {
    const auto operand = folded::of(get<0>(from.operands));
    return pointwise<Op, std::remove_const_t<decltype(operand)>>(from.op, from.extents, operand);
  }
};

}  // namespace detail

/// Whether a statement folds the components of points that meet points, of which types do not know how many they are.
template <class E>
inline constexpr bool meets_points = [] {
  if constexpr (detail::folded_points<E, 3>::fits) {
    using known = decltype(detail::folded_points<E, 3>::of(std::declval<const E&>()));
    constexpr int outer = detail::axes_before_box<typename known::shape_type>();
    if constexpr (outer < 2 || !runs_in_boxes<host, known>) return false;
    else return detail::boxes_of<known, outer>::shares_operands(outer - 2);
  } else {
    return false;
  }
}();

/// Evaluates a statement that `meets_points` into its target where the points have two to four components, and each
/// meets several others; returns whether they do.
template <class T, int Rank, class E>
bool run_points_host(const strided_target<T, Rank>& target, const E& node) {
  constexpr int along = detail::axes_before_box<typename E::shape_type>() - 1;
  if (node.shape().extent(along) < 2) return false;
  const auto runs_as = [&](auto extent) {
    using points = detail::folded_points<E, extent.value>;
    if (!points::has_extent(node)) return false;
    run_boxes_host(target, points::of(node));
    return true;
  };
  return runs_as(constant<2>{}) || runs_as(constant<3>{}) || runs_as(constant<4>{});
}

}  // namespace tenon
