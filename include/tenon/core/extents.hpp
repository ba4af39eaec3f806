// tenon/core/extents.hpp: shapes, the tuples of extents; axes; broadcasting of shapes.
// An extent is known to the type or at run time (`dyn`); what the type knows is checked at compile time.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <type_traits>

namespace tenon {

/// An extent that is known at run time only.
inline constexpr index dyn = -1;

/// The extents of a tensor, each static or `dyn`; only the dynamic ones are stored.
/// throws    shape_error when constructed from extents that contradict the static ones or are negative
template <index... Extents>
struct shape {
  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr int dynamic_rank = (0 + ... + (Extents == dyn ? 1 : 0));
  static_assert(((Extents >= dyn) && ...), "tenon: an extent is at least 0, or tenon::dyn");

  constexpr shape() = default;
  constexpr explicit(dynamic_rank != 0) shape(const array<index, rank>& extents) { assign(extents); }
  template <std::convertible_to<index>... Values>
    requires(sizeof...(Values) == sizeof...(Extents) && sizeof...(Values) > 0)
  constexpr shape(Values... extents) {
    assign({{static_cast<index>(extents)...}});
  }
  /// From a shape of the same rank that knows more or fewer extents.
  template <index... Others>
    requires(sizeof...(Others) == sizeof...(Extents) && !std::is_same_v<shape<Others...>, shape>)
  constexpr shape(const shape<Others...>& other) {
    static_assert(((Extents == dyn || Others == dyn || Extents == Others) && ...),
                  "tenon: a shape does not take other static extents than its own");
    assign(other.to_array());
  }

  static constexpr index static_extent(int axis) {
    constexpr index extents[] = {Extents..., 1};  // one more, so that rank 0 has a first
    return extents[axis];
  }
  constexpr index extent(int axis) const {
    return static_extent(axis) == dyn ? dynamic_[dynamic_position(axis)] : static_extent(axis);
  }
  constexpr index operator[](index axis) const { return extent(static_cast<int>(axis)); }
  constexpr array<index, rank> to_array() const {
    array<index, rank> result{};
    for (int axis = 0; axis < rank; ++axis) result[axis] = extent(axis);
    return result;
  }
  /// Number of elements.
  constexpr index count() const {
    index product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= extent(axis);
    return product;
  }
  /// Number of axes; what ranges call a size.
  static constexpr int size() { return rank; }

 private:
  static constexpr int dynamic_position(int axis) {
    constexpr index extents[] = {Extents..., 1};
    int position = 0;
    for (int before = 0; before < axis; ++before) position += extents[before] == dyn ? 1 : 0;
    return position;
  }
  TENON_INLINE constexpr void assign(const array<index, rank>& extents) {
    index product = 1;
    bool fits = true, overflows = false, is_zero = false;
    for (int axis = 0; axis < rank; ++axis) {
      fits = fits && extents[axis] >= 0 && (static_extent(axis) == dyn || static_extent(axis) == extents[axis]);
      if (static_extent(axis) == dyn) dynamic_[dynamic_position(axis)] = extents[axis];
      overflows = __builtin_mul_overflow(product, extents[axis], &product) || overflows;
      is_zero = is_zero || extents[axis] == 0;
    }
    if (!fits || (overflows && !is_zero)) refuse(extents);
  }
  /// Apart from `assign`, so that the statements that it is part of stay short.
  [[noreturn, gnu::cold, gnu::noinline]] static void refuse(array<index, rank> extents) {
    for (int axis = 0; axis < rank; ++axis) {
      if (extents[axis] < 0 || (static_extent(axis) != dyn && static_extent(axis) != extents[axis])) {
        throw shape_error(compose_text("shape: axis ", axis, ": extent ", extents[axis], ", expected ",
                                       static_extent(axis) == dyn ? "at least 0" : std::to_string(static_extent(axis)),
                                       " (extents ", extents, ")"));
      }
    }
    throw shape_error(compose_text("shape: extents ", extents, " have more elements than can be counted"));
  }

  [[no_unique_address]] array<index, dynamic_rank> dynamic_{};
};

namespace detail {
template <int, index Extent>
inline constexpr index repeated_extent = Extent;
template <class Sequence>
struct dynamic_shape;
template <int... Axes>
struct dynamic_shape<std::integer_sequence<int, Axes...>> {
  using type = shape<repeated_extent<Axes, dyn>...>;
};
template <class Shape>
inline constexpr bool is_shape = false;
template <index... Extents>
inline constexpr bool is_shape<shape<Extents...>> = true;
}  // namespace detail

/// The shape of `Rank` axes, all known at run time.
template <int Rank>
using rank = typename detail::dynamic_shape<std::make_integer_sequence<int, Rank>>::type;

/// Any `shape<...>`.
template <class Shape>
concept shape_type = detail::is_shape<Shape>;

/// The extents of an expression for a tensor of as many axes or fewer, which takes it without axes that have extent 1
/// by type; the first of them go first, as when the expression is assigned to it.
template <shape_type Shape, shape_type Expression>
constexpr Shape extents_without_units(const Expression& expression) {
  if constexpr (Expression::rank <= Shape::rank) {
    return Shape(expression);
  } else {
    array<index, Shape::rank> extents{};
    int surplus = Expression::rank - Shape::rank, place = 0;
    for (int axis = 0; axis < Expression::rank; ++axis) {
      const bool goes = surplus > 0 && Expression::static_extent(axis) == 1;
      if (goes) --surplus;
      else if (place < Shape::rank) extents[place++] = expression.extent(axis);
    }
    return Shape(extents);
  }
}

/// Axes of an operation, counted from the back when negative.
template <int... Axes>
struct axis_list {
  static constexpr int count = static_cast<int>(sizeof...(Axes));
};
template <int... Axes>
inline constexpr axis_list<Axes...> axis{};

template <index... Left, index... Right>
constexpr bool operator==(const shape<Left...>& left, const shape<Right...>& right) {
  if constexpr (sizeof...(Left) != sizeof...(Right)) {
    return false;
  } else {
    return left.to_array() == right.to_array();
  }
}

/// Facts that compile-time messages carry.
template <int Axis>
struct at_axis;
template <index Extent>
struct left_extent;
template <index Extent>
struct right_extent;

template <class Operation, class Axis, class Left, class Right>
consteval void extents_must_agree() {
  static_assert(must_hold<Operation, Axis, Left, Right>, "tenon: these extents must be equal, or one of them 1");
}

/// Marks an axis list that names an axis beyond the rank.
template <class Axes, int Rank>
consteval void axis_must_exist() {
  static_assert(must_hold<Axes, constant<Rank>>, "tenon: an axis must lie in [-rank, rank)");
}

/// `axis` counted from the front, for a tensor of `rank` axes.
constexpr int normalise_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// Which of `Rank` axes the list names.
template <int Rank, int... Axes>
constexpr array<bool, Rank> axis_set(axis_list<Axes...>) {
  if constexpr (!((Axes >= -Rank && Axes < Rank) && ...)) axis_must_exist<axis_list<Axes...>, Rank>();
  array<bool, Rank> named{};
  ((named[normalise_axis(Axes, Rank)] = true), ...);
  return named;
}

/// The one axis that the list names, counted from the front.
template <int Rank, int Axis>
constexpr int only_axis(axis_list<Axis>) {
  if constexpr (!(Axis >= -Rank && Axis < Rank)) axis_must_exist<axis_list<Axis>, Rank>();
  return normalise_axis(Axis, Rank);
}

namespace detail {

template <class Shape>
constexpr index static_extent_from_back(int back) {  // 1 beyond the rank: a missing axis broadcasts
  return back < Shape::rank ? Shape::static_extent(Shape::rank - 1 - back) : 1;
}

constexpr index broadcast_static_extent(index left, index right) {
  if (left == 1) return right;
  if (right == 1) return left;
  return left == dyn ? right : left;  // a run-time extent may still turn out to be 1, then it broadcasts
}

template <class Operation, class Left, class Right, int Back>
consteval bool check_static_extents() {
  constexpr index left = static_extent_from_back<Left>(Back), right = static_extent_from_back<Right>(Back);
  if constexpr (left != right && left != 1 && right != 1 && left != dyn && right != dyn) {
    constexpr int rank = Left::rank > Right::rank ? Left::rank : Right::rank;
    extents_must_agree<Operation, at_axis<rank - 1 - Back>, left_extent<left>, right_extent<right>>();
  }
  return true;
}

template <class Operation, class Left, class Right, class Sequence>
struct broadcast_shapes;
template <class Operation, class Left, class Right, int... Axes>
struct broadcast_shapes<Operation, Left, Right, std::integer_sequence<int, Axes...>> {
  static constexpr int rank = static_cast<int>(sizeof...(Axes));
  static_assert((check_static_extents<Operation, Left, Right, rank - 1 - Axes>() && ...));
  using type = shape<broadcast_static_extent(static_extent_from_back<Left>(rank - 1 - Axes),
                                             static_extent_from_back<Right>(rank - 1 - Axes))...>;
};

}  // namespace detail

/// The static shape of a broadcast of two; does not compile where static extents contradict each other.
template <class Operation, shape_type Left, shape_type Right>
using broadcast_shape = typename detail::broadcast_shapes<
    Operation, Left, Right,
    std::make_integer_sequence<int, (Left::rank > Right::rank ? Left::rank : Right::rank)>>::type;

namespace detail {

template <class Operation, class Left, class Right>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_broadcast(int axis, index a, index b, Left left, Right right) {
  throw shape_error(compose_text(Operation::name, ": axis ", axis, ": extents ", a, " and ", b,
                                 " differ, expected equal or one of them 1 (operands ", left.to_array(), " and ",
                                 right.to_array(), ")"));
}

}  // namespace detail

/// Broadcasts two shapes: axes are aligned at the back, an extent of 1 (or a missing axis) takes the other's.
/// throws    shape_error naming the operation, the axis and both extents
template <class Operation, shape_type Left, shape_type Right>
TENON_INLINE constexpr auto broadcast_extents(const Left& left, const Right& right) {
  using result_type = broadcast_shape<Operation, Left, Right>;
  constexpr int rank = result_type::rank;
  array<index, rank> extents{};
  for (int axis = 0; axis < rank; ++axis) {
    const int left_axis = axis - (rank - Left::rank), right_axis = axis - (rank - Right::rank);
    const index a = left_axis < 0 ? 1 : left.extent(left_axis), b = right_axis < 0 ? 1 : right.extent(right_axis);
    if (a != b && a != 1 && b != 1) detail::refuse_broadcast<Operation>(axis, a, b, left, right);
    extents[axis] = a == 1 ? b : a;
  }
  return result_type(extents);
}

/// Broadcasts any number of shapes.
template <class Operation, shape_type First>
TENON_INLINE constexpr First broadcast_all(const First& first) {
  return first;
}
template <class Operation, shape_type First, shape_type Second, shape_type... Rest>
TENON_INLINE constexpr auto broadcast_all(const First& first, const Second& second, const Rest&... rest) {
  return broadcast_all<Operation>(broadcast_extents<Operation>(first, second), rest...);
}

}  // namespace tenon
