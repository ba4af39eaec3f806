// tenon/core/broadcast.hpp: the extents of a broadcast, in types and at run time.
// Axes are aligned at the back; an extent of 1, or a missing axis, takes the other operand's.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <tenon/core/extents.hpp>

namespace tenon {

namespace detail {

constexpr index broadcast_static_extent(index left, index right) {
  if (left == 1) return right;
  if (right == 1) return left;
  return left == dyn ? right : left;  // a run-time extent may still turn out to be 1, then it broadcasts
}

/// A broadcast as far as types know it: its extents, and the first axis where two static extents contradict each other.
template <int Rank>
struct static_broadcast {
  array<index, Rank> extents = filled_array<Rank>(index{1});
  int misfit = -1;
  index left = 1, right = 1;

  constexpr bool fits() const { return misfit < 0; }

  template <index... Extents>
  constexpr void join(std::type_identity<shape<Extents...>>) {
    [[maybe_unused]] int axis = Rank - static_cast<int>(sizeof...(Extents));  // a missing axis broadcasts
    (join(axis++, Extents), ...);
  }
  constexpr void join(int axis, index other) {
    const index extent = extents[axis];
    const bool agrees = extent == other || extent == 1 || other == 1 || extent == dyn || other == dyn;
    if (!agrees && fits()) misfit = axis, left = extent, right = other;
    extents[axis] = broadcast_static_extent(extent, other);
  }
};

constexpr int greatest_rank(std::initializer_list<int> ranks) {
  int greatest = 0;
  for (const int rank : ranks) greatest = rank > greatest ? rank : greatest;
  return greatest;
}

template <class... Shapes>
constexpr auto broadcast_statically() {
  static_broadcast<greatest_rank({Shapes::rank...})> result;
  (result.join(std::type_identity<Shapes>{}), ...);
  return result;
}

template <class... Shapes>
struct broadcast_shapes {
  static constexpr auto joined = broadcast_statically<Shapes...>();
  template <int... Axes>
  static auto made(std::integer_sequence<int, Axes...>) -> shape<joined.extents[Axes]...>;
  using type = decltype(made(std::make_integer_sequence<int, joined.extents.size()>{}));
};

}  // namespace detail

/// What types know of the broadcast of shapes.
template <shape_type... Shapes>
inline constexpr auto known_broadcast = detail::broadcast_shapes<Shapes...>::joined;

/// The static shape of a broadcast.
template <shape_type... Shapes>
using broadcast_shape = typename detail::broadcast_shapes<Shapes...>::type;

namespace detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_broadcast(const char* operation, int axis,
                                                                    const array<index, 2>& found, extents_view left,
                                                                    extents_view right) {
  throw shape_error(compose_text(operation, ": axis ", axis, ": extents ", found[0], " and ", found[1],
                                 " differ, expected equal or one of them 1 (operands ", left, " and ", right, ")"));
}

/// The same of two operands of one axis. They come as numbers, so that statements need not keep them in memory.
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_broadcast(const char* operation, index left, index right) {
  refuse_broadcast(operation, 0, {{left, right}}, {&left, 1}, {&right, 1});
}

/// The extents of a broadcast, of as many axes as the longer operand has. Out of line: statements whose operands have
/// equal extents do not come here.
[[gnu::noinline]] inline void broadcast_differing(const char* operation, extents_view left, extents_view right,
                                                  index* result) {
  const int rank = left.rank > right.rank ? left.rank : right.rank;
  bool is_left = true, is_right = true;  // whether the result has as many elements as an operand
  for (int axis = 0; axis < rank; ++axis) {
    const int left_axis = axis - (rank - left.rank), right_axis = axis - (rank - right.rank);
    const index a = left_axis < 0 ? 1 : left[left_axis], b = right_axis < 0 ? 1 : right[right_axis];
    if (a != b && a != 1 && b != 1) refuse_broadcast(operation, axis, {{a, b}}, left, right);
    result[axis] = a == 1 ? b : a;
    is_left = is_left && result[axis] == a, is_right = is_right && result[axis] == b;
  }
  if (!is_left && !is_right && !is_countable(extents_view{result, rank})) refuse_uncountable({result, rank});
}
/// Whether the axes before the last `own` ones broadcast, those of each operand; says the extents of all where not.
[[gnu::noinline, gnu::cold]] constexpr void check_batches(const char* operation, extents_view left, extents_view right,
                                                          const array<int, 2>& own) {
  const int left_rank = left.rank - own[0], right_rank = right.rank - own[1];
  for (int back = 1; back <= left_rank && back <= right_rank; ++back) {
    const index a = left[left_rank - back], b = right[right_rank - back];
    const int axis = (left_rank > right_rank ? left_rank : right_rank) - back;
    if (a != b && a != 1 && b != 1) refuse_broadcast(operation, axis, {{a, b}}, left, right);
  }
}
}  // namespace detail

/// Broadcasts two shapes: axes are aligned at the back, an extent of 1 (or a missing axis) takes the other's.
/// throws    shape_error naming the operation, the axis and both extents
template <class Operation, shape_type Left, shape_type Right>
TENON_INLINE constexpr auto broadcast_extents(const Left& left, const Right& right) {
  constexpr auto known = known_broadcast<Left, Right>;
  static_assert(
      known.fits() || must_hold<Operation, at_axis<known.misfit>, left_extent<known.left>, right_extent<known.right>>,
      "tenon: these extents must be equal, or one of them 1");
  using result_type = broadcast_shape<Left, Right>;
  if constexpr (std::is_same_v<Left, Right> && Left::rank > 1) {
    if (left == right) [[likely]]
      return left;
  }
  if constexpr (Right::rank == 0) {
    return result_type(left);
  } else if constexpr (Left::rank == 0) {
    return result_type(right);
  } else if constexpr (Left::dynamic_rank == 0 && Right::dynamic_rank == 0) {
    return result_type{};
  } else if constexpr (Left::rank == 1 && Right::rank == 1) {  // in place: a call would take registers from the loop
    const index a = left.extent(0), b = right.extent(0);
    if (a == b) [[likely]]
      return result_type::of_known({{a}});
    if (a != 1 && b != 1) detail::refuse_broadcast(Operation::name, a, b);
    return result_type::of_known({{a == 1 ? b : a}});
  } else {
    array<index, result_type::rank> extents{};
    const auto all_left = left.to_array();
    const auto all_right = right.to_array();
    detail::broadcast_differing(Operation::name, {all_left.begin(), Left::rank}, {all_right.begin(), Right::rank},
                                extents.begin());
    return result_type::of_known(extents);
  }
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
