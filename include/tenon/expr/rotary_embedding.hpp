// tenon/expr/rotary_embedding.hpp: positions told to attention by turning features.
// Pairs of features are points that are turned by angles that grow with the position.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/views/concatenate.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/split.hpp>

namespace tenon {

/// Which features are a pair: feature i and that half a vector behind it, or neighbours.
enum class rotary_pairs { halves, neighbours };

namespace detail {

/// [..., features] as [..., features / 2, 2].
template <class Operand>
auto split_pairs(const Operand& operand) {
  constexpr int rank = Operand::shape_type::rank;
  array<index, rank + 1> extents{};
  for (int axis = 0; axis < rank; ++axis) extents[axis] = operand.shape().extent(axis);
  extents[rank - 1] /= 2, extents[rank] = 2;
  return reshape(operand, tenon::rank<rank + 1>(extents));
}

/// Points turned by angles: their first coordinates and their second ones, handed to `use`.
template <class First, class Second, class Cosine, class Sine, class Use>
auto turn(const First& first, const Second& second, const Cosine& cosine, const Sine& sine, const Use& use) {
  return use(first * cosine - second * sine, first * sine + second * cosine);
}

}  // namespace detail

/// Pairs (a, b) of features of x [..., positions, features] turned by angles: (a cos - b sin, a sin + b cos). Cosines
/// and sines, [positions, features / 2], repeat over x.
/// throws    shape_error for an odd count of features, and when the angles do not fit
/// source    Su and others 2021: RoFormer, enhanced transformer with rotary position embedding
/// example   q = rotary_embedding(q, cosines, sines);
template <rotary_pairs Pairs = rotary_pairs::halves, tensor_operand Operand, tensor_operand Cosine, tensor_operand Sine>
auto rotary_embedding(Operand&& operand, Cosine&& cosine, Sine&& sine) {
  const auto& x = as_node(std::forward<Operand>(operand));
  constexpr int rank = std::remove_cvref_t<decltype(x)>::shape_type::rank;
  const index features = x.shape().extent(rank - 1), pairs = features / 2;
  if (features % 2 != 0) {
    throw shape_error(
        compose_text("rotary_embedding: axis ", rank - 1, ": extent ", features, ", expected an even one"));
  }
  const auto& c = as_node(std::forward<Cosine>(cosine));
  const auto& s = as_node(std::forward<Sine>(sine));
  if constexpr (Pairs == rotary_pairs::halves) {
    return detail::turn(narrow(x, axis<-1>, 0, pairs), narrow(x, axis<-1>, pairs, pairs), c, s,
                        [](const auto& a, const auto& b) { return concatenate(axis<-1>, a, b); });
  } else {
    const auto points = detail::split_pairs(x);
    return detail::turn(squeeze(narrow(points, axis<-1>, 0, 1), axis<-1>),
                        squeeze(narrow(points, axis<-1>, 1, 1), axis<-1>), c, s,
                        [&](const auto& a, const auto& b) { return reshape(stack(axis<-1>, a, b), x.shape()); });
  }
}

}  // namespace tenon
