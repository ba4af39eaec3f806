// tenon/expr/views/concatenate.hpp: several operands as one, behind each other or above each other.
// One node of all operands; a position belongs to the first operand that reaches so far.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/expr/operations/rules.hpp>
#include <tenon/expr/views/remap.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

/// The operands behind each other along `Axis`; operand k ends before position `ends[k]`.
template <class T, int Axis, int Rank, int Outer, class... Programs>
struct concatenated_source {
  using value_type = T;
  static constexpr int source_count = Rank;
  static constexpr int count = static_cast<int>(sizeof...(Programs));
  affine_positions<Rank, Outer> positions;
  array<index, count> ends;
  tuple<Programs...> programs;

  struct cursor {
    using value_type = T;
    static constexpr int widest = greatest_size(
        {simd::lane_bytes<T>, decltype(std::declval<const Programs&>().at(array<index, Rank>{}))::widest...});
    static constexpr bool takes_partial =
        (tenon::takes_partial<decltype(std::declval<const Programs&>().at(array<index, Rank>{}))> && ...);
    position_run<Rank> run;
    array<index, count> ends;
    tuple<Programs...> programs;

    bool is_adjacent() const { return true; }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE constexpr T value(index i, const Slots& slots) const {
      return value_from<0>(run.at(i), index{0}, slots);
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE constexpr auto pack(index i, Access access, const Slots& slots) const {
      if (wanted_count<Width>(access) > 0 && run.is_along_last_axis())
        return pack_from<0, Width>(i, index{0}, access, slots);
      return gather_values<Width>(*this, i, access, slots);
    }
    template <class Visitor>
    void visit(Visitor& visitor) {
      run.visit(visitor);
    }

   private:
    template <int I, class Slots>
    TENON_HOST_DEVICE TENON_INLINE constexpr T value_from(array<index, Rank> position, index begin,
                                                          const Slots& slots) const {
      if constexpr (I + 1 < count) {
        if (position[Axis] >= ends[I]) return value_from<I + 1>(position, ends[I], slots);
      }
      position[Axis] -= begin;
      return static_cast<T>(get<I>(programs).at(position).value(0, slots));
    }
    /// A pack of one operand where it holds all of it.
    template <int I, int Width, class Access, class Slots>
    TENON_INLINE constexpr auto pack_from(index i, index begin, Access access, const Slots& slots) const {
      auto position = run.at(i);
      if constexpr (I + 1 < count) {
        if (position[Axis] >= ends[I]) return pack_from<I + 1, Width>(i, ends[I], access, slots);
        if (run.at(i + wanted_count<Width>(access) - 1)[Axis] >= ends[I]) {
          return gather_values<Width>(*this, i, access, slots);
        }
      }
      position[Axis] -= begin;
      using program = std::remove_cvref_t<decltype(get<I>(programs))>;
      return simd::as_lanes<T>(simd::convert<typename program::value_type, T>(
          get<I>(programs).at(position).template pack<Width>(0, in_strides(access), slots)));
    }
  };

  TENON_HOST_DEVICE TENON_INLINE constexpr cursor at(const array<index, Outer>& position) const {
    return {{positions.at(position), positions.last_step()}, ends, programs};
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    positions.visit(visitor);
  }
};

/// The node of operands behind each other along `Axis`.
template <int Axis, shape_type Shape, class... Operands>
struct concatenation {
  using kind = index_map_kind;
  using element = promoted_element<Operands...>;
  using space = typename common_space<typename Operands::space...>::type;
  using shape_type = Shape;

  tuple<Operands...> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  /// This node on other operands of the same extents.
  template <class... Others>
  constexpr auto with_operands(const tuple<Others...>& others) const {
    return concatenation<Axis, Shape, Others...>{others, extents};
  }

  template <int, int Outer>
  constexpr auto lower(const axis_map<Shape::rank, Outer>& outer) const {
    return apply_tuple(
        [&](const Operands&... operand) {
          return lowered(outer, operand.template lower<0>(identity_map<Shape::rank>())...);
        },
        operands);
  }

 private:
  template <int Outer, class... Programs>
  constexpr auto lowered(const axis_map<Shape::rank, Outer>& outer, const Programs&... programs) const {
    return concatenated_source<compute_type<element>, Axis, Shape::rank, Outer, Programs...>{
        affine_positions<Shape::rank, Outer>(outer), ends(), make_tuple_of(programs...)};
  }
  array<index, sizeof...(Operands)> ends() const {
    return apply_tuple(
        [](const Operands&... operand) {
          index end = 0;
          return array<index, sizeof...(Operands)>{{(end += operand.shape().extent(Axis))...}};
        },
        operands);
  }
};

/// Names the operations in messages.
struct concatenate_operation {
  static constexpr const char* name = "concatenate";
};
struct stack_operation {
  static constexpr const char* name = "stack";
};

namespace detail {

constexpr index joined_static_extent(index left, index right) { return left == dyn ? right : left; }

/// The shape of two operands behind each other; all extents but those of `Axis` must be equal.
template <class Operation, int Axis, class Left, class Right>
constexpr auto joined_shape(const Left& left, const Right& right) {
  static_assert(Left::rank == Right::rank, "tenon: operands behind each other must have equal ranks");
  constexpr int rank = Left::rank;
  for_each_index<rank>([&](auto each) {
    constexpr int axis = each.value;
    constexpr index known = Left::static_extent(axis), other = Right::static_extent(axis);
    constexpr bool fits = axis == Axis || known == dyn || other == dyn || known == other;
    static_assert(fits || must_hold<Operation, at_axis<axis>, left_extent<known>, right_extent<other>>,
                  "tenon: operands behind each other must have equal extents along the other axes");
    if (axis != Axis && left.extent(axis) != right.extent(axis)) {
      throw shape_error(compose_text(Operation::name, ": axis ", axis, ": extents ", left.extent(axis), " and ",
                                     right.extent(axis), " differ, expected equal (operands ", left.to_array(), " and ",
                                     right.to_array(), ")"));
    }
  });
  const checked_extent length = checked_extent(left.extent(Axis)) + right.extent(Axis);
  if (!length.fits()) {
    throw shape_error(compose_text(Operation::name, ": axis ", Axis, ": extents ", left.extent(Axis), " and ",
                                   right.extent(Axis), ", expected a sum within 64 bits"));
  }
  constexpr index first = Left::static_extent(Axis), second = Right::static_extent(Axis);
  constexpr index joined = first == dyn || second == dyn ? dyn : first + second;
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<(I == Axis ? joined : joined_static_extent(Left::static_extent(I), Right::static_extent(I)))...>(
        array<index, rank>{{(I == Axis ? length.value() : left.extent(I))...}});
  }(std::make_integer_sequence<int, rank>{});
}
template <class Operation, int Axis, class Shape>
constexpr auto join_shapes(const Shape& extents) {
  return extents;
}
template <class Operation, int Axis, class First, class Second, class... Rest>
constexpr auto join_shapes(const First& first, const Second& second, const Rest&... rest) {
  return join_shapes<Operation, Axis>(joined_shape<Operation, Axis>(first, second), rest...);
}

template <class Operation, int Axis, class... Nodes>
constexpr auto make_concatenation(const Nodes&... nodes) {
  const auto extents = join_shapes<Operation, Axis>(nodes.shape()...);
  return concatenation<Axis, std::remove_const_t<decltype(extents)>, Nodes...>{{{{nodes}...}}, extents};
}

}  // namespace detail

/// The operands behind each other along an axis that they have.
/// extents   the sum along that axis, equal along the others
/// types     promoted
/// throws    shape_error naming the axis and both extents, where others differ or these add up to more than 64 bits
/// example   concatenate(axis<0>, weights, biases)
template <int Axis, tensor_operand First, tensor_operand... Rest>
constexpr auto concatenate(axis_list<Axis>, First&& first, Rest&&... rest) {
  constexpr int position = only_axis<std::remove_cvref_t<First>::shape_type::rank>(axis_list<Axis>{});
  return detail::make_concatenation<concatenate_operation, position>(as_node(std::forward<First>(first)),
                                                                     as_node(std::forward<Rest>(rest))...);
}

/// The operands above each other along a new axis.
/// extents   the operands', with their number at position `Axis` of the result
/// types     promoted
/// throws    shape_error naming the axis (of the result) and both extents
/// example   z = stack(axis<0>, u, v);
template <int Axis, tensor_operand First, tensor_operand... Rest>
constexpr auto stack(axis_list<Axis>, First&& first, Rest&&... rest) {
  constexpr int position = only_axis<std::remove_cvref_t<First>::shape_type::rank + 1>(axis_list<Axis>{});
  return detail::make_concatenation<stack_operation, position>(
      new_axis<position>(as_node(std::forward<First>(first))),
      new_axis<position>(as_node(std::forward<Rest>(rest)))...);
}

}  // namespace tenon
