// tenon/grad/fit.hpp: the gradient of an operand that was repeated.
// What was broadcast on the way in is summed on the way back; a gradient that is itself still repeated is multiplied.
// Floor 6: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/broadcast.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

namespace detail {

/// The static extent of an axis of `Rank` axes among those of `Shape`, aligned at the back; 1 where it has none.
template <class Shape, int Rank>
constexpr index aligned_extent(int axis) {
  const int own = axis - (Rank - Shape::rank);
  return own < 0 ? 1 : Shape::static_extent(own);
}

/// How a gradient, which repeats over the `Result` of an operation, comes to an operand that repeated over it too.
template <class Operand, class Result, class Gradient>
struct repetition {
  static_assert(Gradient::rank <= Result::rank && Operand::rank <= Result::rank);
  static constexpr int rank = Result::rank;

  /// Whether the operand repeats along an axis of the result, as far as types know.
  static constexpr bool repeats(int axis) {
    return aligned_extent<Operand, rank>(axis) == 1 && aligned_extent<Result, rank>(axis) != 1;
  }
  static constexpr bool is_summed(int axis) { return repeats(axis) && aligned_extent<Gradient, rank>(axis) != 1; }
  static constexpr bool is_counted(int axis) { return repeats(axis) && aligned_extent<Gradient, rank>(axis) == 1; }
  static constexpr int summed_count = [] {
    int count = 0;
    for (int axis = 0; axis < rank; ++axis) count += is_summed(axis) ? 1 : 0;
    return count;
  }();
  /// The summed axes, as the gradient numbers them.
  static constexpr auto summed_axes = [] {
    array<int, summed_count> axes{};
    for (int axis = 0, place = 0; axis < rank; ++axis) {
      if (is_summed(axis)) axes[place++] = axis - (rank - Gradient::rank);
    }
    return axes;
  }();
  /// How many axes the gradient has before those of the operand.
  static constexpr int leading = Gradient::rank > Operand::rank ? Gradient::rank - Operand::rank : 0;
};

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_repetition(int axis, index repeated, extents_view operand) {
  std::string type = "shape<";
  for (int k = 0; k < operand.rank; ++k) type.append(k == 0 ? "" : ", ").append(k == axis ? "1" : "dyn");
  throw shape_error(compose_text("gradient: axis ", axis, ": extent ", operand[axis], " was repeated to ", repeated,
                                 "; make it static, as in ", type, ">, that its gradient can be summed (operand ",
                                 operand, ")"));
}

/// throws    shape_error where an extent was repeated that types know nothing of
template <class Operand, class Result>
void check_repetition(const Operand& operand, const Result& result) {
  constexpr int missing = Result::rank - Operand::rank;
  for (int axis = 0; axis < Operand::rank; ++axis) {
    const index repeated = result.extent(axis + missing);
    if (operand.extent(axis) == repeated || Operand::static_extent(axis) == 1) continue;
    const auto extents = operand.to_array();
    refuse_repetition(axis, repeated, {extents.begin(), Operand::rank});
  }
}

template <class Repetition, class Gradient, int... I>
auto sum_repeated(const Gradient& gradient, std::integer_sequence<int, I...>) {
  constexpr auto axes = Repetition::summed_axes;
  constexpr int leading = Repetition::leading;
  if constexpr (sizeof...(I) == 0 && leading == 0) {
    return gradient;
  } else if constexpr (sizeof...(I) == Gradient::shape_type::rank) {
    return sum(gradient);
  } else if constexpr (leading == 0) {
    return sum(gradient, axis<axes[I]...>);
  } else if constexpr (sizeof...(I) == leading && axes[index(sizeof...(I)) - 1] == leading - 1) {
    return sum(gradient, drop<axes[I]...>);
  } else {
    const auto summed = sum(gradient, axis<axes[I]...>);
    return [&]<int... J>(std::integer_sequence<int, J...>) {
      return squeeze(summed, axis<J...>);
    }(std::make_integer_sequence<int, leading>{});
  }
}

/// The node itself, or converted where its elements have another type.
template <class Element, class Node>
auto with_element(const Node& node) {
  if constexpr (std::is_same_v<typename Node::element, Element>) return node;
  else return cast<Element>(node);
}

}  // namespace detail

/// The gradient of an operand that repeated over the extents of a result: of the operand's element type, and of extents
/// that repeat over the operand's.
/// throws    shape_error where the operand has an extent of 1 that only the run knows of and that was repeated
template <class Operand, class Result, class Gradient>
auto fit_gradient(const Operand& operand, const Result& result, const Gradient& gradient) {
  using repetition = detail::repetition<typename Operand::shape_type, Result, typename Gradient::shape_type>;
  using element = typename Operand::element;
  detail::check_repetition(operand.shape(), result);
  double count = 1;
  constexpr bool is_counted = [] {
    bool found = false;
    for (int axis = 0; axis < Result::rank; ++axis) found = found || repetition::is_counted(axis);
    return found;
  }();
  for (int axis = 0; axis < Result::rank; ++axis) {
    if (repetition::is_counted(axis)) count *= static_cast<double>(result.extent(axis));
  }
  const auto summed =
      detail::sum_repeated<repetition>(gradient, std::make_integer_sequence<int, repetition::summed_count>{});
  if constexpr (is_counted) return detail::with_element<element>(summed * count);
  else return detail::with_element<element>(summed);
}

/// A gradient that repeats over `extents`, repeated.
template <class Gradient, class Shape>
auto repeat_gradient(const Gradient& gradient, const Shape& extents) {
  constexpr bool is_whole = [] {
    bool whole = Gradient::shape_type::rank == Shape::rank;
    for (int axis = 0; whole && axis < Shape::rank; ++axis) {
      whole = Shape::static_extent(axis) == 1 || Gradient::shape_type::static_extent(axis) != 1;
    }
    return whole;
  }();
  if constexpr (is_whole) return gradient;
  else return broadcast_to(gradient, extents);
}

}  // namespace tenon
