// tenon/core/extents.hpp: shapes, the tuples of extents; axes.
// An extent is known to the type or at run time (`dyn`); what the type knows is checked at compile time.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <type_traits>

namespace tenon {

/// An extent that is known at run time only: `shape<dyn, 3>` has any number of rows.
inline constexpr index dyn = -1;

/// Extents that lie elsewhere, of any number of axes.
struct extents_view {
  const index* first;
  int rank;

  constexpr int size() const { return rank; }
  constexpr const index& operator[](index axis) const { return first[axis]; }
};

/// Whether two shapes have equal ranks and no static extents that contradict each other.
template <class Left, class Right>
constexpr bool shapes_agree() {
  bool agree = Left::rank == Right::rank;
  for (int axis = 0; agree && axis < Left::rank; ++axis) {
    const index left = Left::static_extent(axis), right = Right::static_extent(axis);
    agree = left == dyn || right == dyn || left == right;
  }
  return agree;
}

namespace detail {

/// Multiplies, and returns whether the product fits; nvcc's constant expressions lack the builtin.
TENON_INLINE constexpr bool multiply(index& product, index factor) {
  if (!std::is_constant_evaluated()) return !__builtin_mul_overflow(product, factor, &product);
  const bool fits = factor <= 0 || product <= INT64_MAX / factor;
  product = fits ? product * factor : 0;
  return fits;
}

}  // namespace detail

/// Whether the elements of these extents can be counted, in parts of which each has `parts`, such as bytes. An extent
/// of 0 counts as 1: there are no elements then, but strides are products of the other extents.
/// source    NumPy, which counts the bytes of an array in this way
template <class Extents>
TENON_INLINE constexpr bool is_countable(const Extents& extents, index parts = 1) {
  bool fits = true;
  for (decltype(extents.size()) axis = 0; axis < extents.size(); ++axis) {
    fits = detail::multiply(parts, extents[axis] == 0 ? 1 : extents[axis]) && fits;
  }
  return fits;
}

namespace detail {

/// Whether T holds whole numbers: in `tensor<float, rank<1>> x{0.5f}` a value is meant, which no extent can be.
template <class T>
inline constexpr bool is_whole_number = !std::is_same_v<T, bool> && requires(const T& each) { each % 2; };

/// Refusals stand apart from what they refuse, once for all types: statements stay short.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_uncountable(extents_view extents) {
  throw shape_error(compose_text("shape: extents ", extents, " have more elements than can be counted"));
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_extents(extents_view extents, const index* expected) {
  for (int axis = 0; axis < extents.rank; ++axis) {
    if (extents[axis] < 0 || (expected[axis] != dyn && expected[axis] != extents[axis])) {
      throw shape_error(compose_text("shape: axis ", axis, ": extent ", extents[axis], ", expected ",
                                     expected[axis] == dyn ? "at least 0" : std::to_string(expected[axis]),
                                     " (extents ", extents, ")"));
    }
  }
  refuse_uncountable(extents);
}

/// Of an axis that none of `extents` belongs to.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_axis(int axis, extents_view extents) {
  throw index_error(compose_text("extent: axis ", axis, ", expected ", -extents.rank, " to ", extents.rank - 1,
                                 " (extents ", extents, ")"));
}

/// The last axes of a destination take an expression's, whose extents are the same or 1.
[[gnu::noinline]] inline void check_repeats(extents_view destination, extents_view expression) {
  const int missing = destination.rank - expression.rank;
  for (int axis = 0; axis < expression.rank; ++axis) {
    const index extent = expression[axis], expected = destination[axis + missing];
    if (extent != 1 && extent != expected) {
      throw shape_error(compose_text("assign: axis ", axis + missing, ": extent ", extent, ", expected ", expected,
                                     " (expression ", expression, ", destination ", destination, ")"));
    }
  }
}

/// Refuses extents of `given` that are not those of `owner`.
[[gnu::noinline]] inline void check_equal_extents(const char* operation, const char* given, extents_view extents,
                                                  const char* owner, extents_view expected) {
  for (int axis = 0; axis < expected.rank; ++axis) {
    if (extents[axis] == expected[axis]) continue;
    throw shape_error(compose_text(operation, ": axis ", axis, ": extent ", extents[axis], " of ", given, ", expected ",
                                   expected[axis], " of ", owner, " ", expected));
  }
}
template <class Given, class Expected>
void check_equal_extents(const char* operation, const char* given, const Given& shape, const char* owner,
                         const Expected& expected_shape) {
  const auto extents = shape.to_array();
  const auto expected = expected_shape.to_array();
  check_equal_extents(operation, given, extents_view{extents.begin(), Given::rank}, owner,
                      extents_view{expected.begin(), Expected::rank});
}

/// The extents that types do not know. A base, as nvcc cannot return a class whose only member is empty.
template <int Count>
struct dynamic_extents {
  array<index, Count> dynamic_{};
};
template <>
struct dynamic_extents<0> {};

}  // namespace detail

/// The extents of a tensor, each static or `dyn`; only the dynamic ones are stored.
/// throws    shape_error when constructed from extents that contradict the static ones, are negative or not countable
template <index... Extents>
struct shape : private detail::dynamic_extents<(0 + ... + (Extents == dyn ? 1 : 0))> {
  static constexpr int rank = static_cast<int>(sizeof...(Extents));
  static constexpr int dynamic_rank = (0 + ... + (Extents == dyn ? 1 : 0));
  static_assert(((Extents >= dyn) && ...), "tenon: an extent is at least 0, or tenon::dyn");

  constexpr shape() = default;
  TENON_INLINE constexpr explicit(dynamic_rank != 0) shape(const array<index, rank>& extents) { assign(extents); }
  /// Takes all extents, or the dynamic ones alone: `shape<dyn, 1, 28, 28>(rows)`.
  template <std::convertible_to<index>... Values>
    requires((sizeof...(Values) == rank || sizeof...(Values) == dynamic_rank) && sizeof...(Values) > 0)
  constexpr shape(Values... extents) {
    static_assert((detail::is_whole_number<Values> && ...) || must_hold<Values...>,
                  "tenon: an extent is a whole number; one value stands behind its extent, x({1}, {0.5f})");
    if constexpr (sizeof...(Values) == rank) assign({{static_cast<index>(extents)...}});
    else assign(completed({{static_cast<index>(extents)...}}));
  }
  /// Takes a shape of the same rank that knows more or fewer extents.
  template <index... Others>
    requires(sizeof...(Others) == sizeof...(Extents) && !std::is_same_v<shape<Others...>, shape>)
  constexpr shape(const shape<Others...>& other) {
    static_assert(shapes_agree<shape, shape<Others...>>() || must_hold<shape, shape<Others...>>,
                  "tenon: a shape takes no other rank and static extents than its own");
    if constexpr (((Extents == dyn || Extents == Others) && ...)) take(other.to_array());
    else assign(other.to_array());
  }
  /// Takes extents that are known to be those of a shape of this type.
  TENON_INLINE static constexpr shape of_known(const array<index, rank>& extents) {
    shape result;
    result.take(extents);
    return result;
  }

  static constexpr index static_extent(int axis) {
    constexpr index extents[] = {Extents..., 1};  // one more, so that rank 0 has a first
    return extents[axis];
  }
  /// Negative axes count from the back: -1 is the last one.
  /// throws    index_error for an axis that is not there
  TENON_INLINE constexpr index extent(int axis) const {
    const int place = axis < 0 ? axis + rank : axis;
    if (place < 0 || place >= rank) {
      const array<index, rank> all = to_array();
      detail::refuse_axis(axis, {all.begin(), rank});
    }
    return known_extent(place);
  }
  constexpr index operator[](index axis) const { return extent(static_cast<int>(axis)); }
  TENON_INLINE constexpr array<index, rank> to_array() const {
    array<index, rank> result{};
    for (int axis = 0; axis < rank; ++axis) result[axis] = known_extent(axis);
    return result;
  }
  /// Number of elements.
  TENON_INLINE constexpr index count() const {
    index product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= known_extent(axis);
    return product;
  }
  /// Number of axes; what ranges call a size.
  static constexpr int size() { return rank; }

 private:
  TENON_INLINE constexpr index known_extent(int axis) const {
    if constexpr (dynamic_rank != 0) {
      if (static_extent(axis) == dyn) return this->dynamic_[dynamic_position(axis)];
    }
    return static_extent(axis);
  }
  static constexpr int dynamic_position(int axis) {
    constexpr index extents[] = {Extents..., 1};
    int position = 0;
    for (int before = 0; before < axis; ++before) position += extents[before] == dyn ? 1 : 0;
    return position;
  }
  static constexpr array<index, rank> completed(const array<index, dynamic_rank>& dynamic) {
    array<index, rank> all{{Extents...}};
    for (int axis = 0, next = 0; axis < rank; ++axis) all[axis] = all[axis] == dyn ? dynamic[next++] : all[axis];
    return all;
  }
  TENON_INLINE constexpr void assign(const array<index, rank>& extents) {
    bool fits = true;
    for (int axis = 0; axis < rank; ++axis) {
      fits = fits && extents[axis] >= 0 && (static_extent(axis) == dyn || static_extent(axis) == extents[axis]);
    }
    take(extents);
    if (!fits || !has_countable(extents)) {
      constexpr index expected[] = {Extents..., dyn};
      detail::refuse_extents({extents.begin(), rank}, expected);
    }
  }
  TENON_INLINE static constexpr bool has_countable([[maybe_unused]] const array<index, rank>& extents) {
    if constexpr (dynamic_rank != 0) {
      return is_countable(extents);
    } else {
      constexpr bool fits = is_countable(shape{}.to_array());
      return fits;
    }
  }
  TENON_INLINE constexpr void take([[maybe_unused]] const array<index, rank>& extents) {
    if constexpr (dynamic_rank != 0) {
      for (int axis = 0; axis < rank; ++axis) {
        if (static_extent(axis) == dyn) this->dynamic_[dynamic_position(axis)] = extents[axis];
      }
    }
  }
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

/// The shape of `Rank` axes whose extents are known at run time only: `tensor<float, rank<2>>`.
template <int Rank>
using rank = typename detail::dynamic_shape<std::make_integer_sequence<int, Rank>>::type;

/// An extent within braces, of any type of integers: `zeros<float>({rows, 4})`.
struct listed_extent {
  index value;
  template <std::convertible_to<index> Extent>
  constexpr listed_extent(Extent extent) : value(static_cast<index>(extent)) {
    static_assert(detail::is_whole_number<Extent> || must_hold<Extent>, "tenon: an extent is a whole number");
  }
};

/// The shape that braces list.
template <int Rank>
constexpr rank<Rank> listed_shape(const listed_extent (&extents)[Rank]) {
  array<index, Rank> values{};
  for (int axis = 0; axis < Rank; ++axis) values[axis] = extents[axis].value;
  return rank<Rank>(values);
}

/// Any `shape<...>`.
template <class Shape>
concept shape_type = detail::is_shape<Shape>;

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_destination(extents_view extents, extents_view expected) {
  int axis = 0;
  while (extents[axis] == expected[axis]) ++axis;
  throw shape_error(compose_text("assign: axis ", axis, ": extent ", extents[axis], ", expected ", expected[axis],
                                 " (expression ", extents, ", destination ", expected, ")"));
}

/// The shape of a new destination of these extents, which are those of an expression.
template <shape_type Shape>
constexpr Shape shape_of_destination(const array<index, Shape::rank>& extents) {
  array<index, Shape::rank> expected{};
  bool fits = true;
  for (int axis = 0; axis < Shape::rank; ++axis) {
    expected[axis] = Shape::static_extent(axis) == dyn ? extents[axis] : Shape::static_extent(axis);
    fits = fits && expected[axis] == extents[axis];
  }
  if (!fits) refuse_destination({extents.begin(), Shape::rank}, {expected.begin(), Shape::rank});
  return Shape::of_known(extents);
}

}  // namespace detail

/// The extents of an expression for a tensor of as many axes or fewer, which takes it without axes that have extent 1
/// by type; the first of them go first, as when the expression is assigned to it.
/// throws    shape_error where static extents of the tensor are others
template <shape_type Shape, shape_type Expression>
constexpr Shape extents_without_units(const Expression& expression) {
  if constexpr (Expression::rank < Shape::rank ||
                (Expression::rank == Shape::rank && !shapes_agree<Shape, Expression>())) {
    return Shape();  // the tensor refuses it by a sentence
  } else if constexpr (Expression::rank == Shape::rank) {
    return detail::shape_of_destination<Shape>(expression.to_array());
  } else {
    array<index, Shape::rank> extents{};
    int surplus = Expression::rank - Shape::rank, place = 0;
    for (int axis = 0; axis < Expression::rank; ++axis) {
      const bool goes = surplus > 0 && Expression::static_extent(axis) == 1;
      if (goes) --surplus;
      else if (place < Shape::rank) extents[place++] = expression.extent(axis);
    }
    return detail::shape_of_destination<Shape>(extents);
  }
}

/// The axes of an operation: `sum(x, axis<0, -1>)`. Negative ones count from the back.
template <int... Axes>
struct axis_list {
  static constexpr int count = static_cast<int>(sizeof...(Axes));
};
template <int... Axes>
inline constexpr axis_list<Axes...> axis{};

template <index... Left, index... Right>
TENON_INLINE constexpr bool operator==(const shape<Left...>& left, const shape<Right...>& right) {
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

/// Whether the list names axes of a tensor of `Rank` axes only, each counted from the front or the back.
template <int Rank, int... Axes>
constexpr bool axes_exist(axis_list<Axes...>) {
  return ((Axes >= -Rank && Axes < Rank) && ...);
}

/// `axis` counted from the front, for a tensor of `rank` axes.
constexpr int normalise_axis(int axis, int rank) { return axis < 0 ? axis + rank : axis; }

/// Which of `Rank` axes the list names.
template <int Rank, int... Axes>
constexpr array<bool, Rank> axis_set(axis_list<Axes...>) {
  static_assert(axes_exist<Rank>(axis_list<Axes...>{}) || must_hold<axis_list<Axes...>, constant<Rank>>,
                "tenon: an axis must lie in [-rank, rank)");
  array<bool, Rank> named{};
  ((named[normalise_axis(Axes, Rank)] = true), ...);
  return named;
}

/// The one axis that the list names, counted from the front.
template <int Rank, int Axis>
constexpr int only_axis(axis_list<Axis>) {
  static_assert(axes_exist<Rank>(axis_list<Axis>{}) || must_hold<axis_list<Axis>, constant<Rank>>,
                "tenon: an axis must lie in [-rank, rank)");
  return normalise_axis(Axis, Rank);
}

}  // namespace tenon
