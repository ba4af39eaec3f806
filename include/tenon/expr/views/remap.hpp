// tenon/expr/views/remap.hpp: an operand read at positions that are computed: rolled, padded, tiled, gathered.
// A map is a small struct that turns a position of the result into one of the operand; nothing is stored in between.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/node.hpp>

namespace tenon {

/// The positions of a node of `Rank` axes as functions of an iteration's: axis a lies at
/// start[a] + sum(position[j] * step[a][j]).
template <int Rank, int Outer>
struct affine_positions {
  array<index, Rank> start;
  array<array<index, Outer>, Rank> step;

  affine_positions() = default;
  explicit affine_positions(const axis_map<Rank, Outer>& map) : start(map.start), step{} {
    for (int j = 0; j < Outer; ++j) {
      if (map.target[j] >= 0) step[map.target[j]][j] = map.step[j];
    }
  }
  TENON_HOST_DEVICE TENON_INLINE array<index, Rank> at(const array<index, Outer>& position) const {
    array<index, Rank> result = start;
    for (int axis = 0; axis < Rank; ++axis) {
      for (int j = 0; j < Outer; ++j) result[axis] += position[j] * step[axis][j];
    }
    return result;
  }
  /// How far one step along the last iteration axis moves.
  TENON_HOST_DEVICE TENON_INLINE array<index, Rank> last_step() const {
    array<index, Rank> result{};
    for (int axis = 0; Outer > 0 && axis < Rank; ++axis) result[axis] = step[axis][Outer == 0 ? 0 : Outer - 1];
    return result;
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    for (int axis = 0; axis < Rank; ++axis) visitor(step[axis], start[axis]);
  }
};

/// A run of positions along the last iteration axis.
template <int Rank>
struct position_run {
  array<index, Rank> first, step;

  TENON_HOST_DEVICE TENON_INLINE array<index, Rank> at(index i) const {
    array<index, Rank> result = first;
    for (int axis = 0; axis < Rank; ++axis) result[axis] += i * step[axis];
    return result;
  }
  /// Whether neighbours of the run are neighbours along the last axis.
  TENON_INLINE constexpr bool is_along_last_axis() const {
    bool result = Rank > 0;
    for (int axis = 0; axis < Rank; ++axis) result = result && step[axis] == (axis == Rank - 1 ? 1 : 0);
    return result;
  }
  template <class Visitor>
  void visit(Visitor& visitor) {
    for (int axis = 0; axis < Rank; ++axis) visitor(first[axis], step[axis]);
  }
};

/// A map with elements of its own outside the operand: `contains(position)` and `outside`.
template <class Map>
concept filling_map = requires(const Map& map) { map.outside; };

/// Maps that say so: along the last axis of the result places move by one at most, or jump. Then a run whose ends lie
/// as far apart as it is long lies side by side in the operand.
template <class Map, int Rank>
inline constexpr bool moves_in_runs = [] {
  if constexpr (requires { Map::moves_in_runs(Rank); }) return Map::moves_in_runs(Rank);
  else return false;
}();
/// Such a map, whose parameters are the same along the last axis of the result.
template <class Map>
struct map_of_runs : Map {};
template <class Map>
inline constexpr bool is_map_of_runs = false;
template <class Map>
inline constexpr bool is_map_of_runs<map_of_runs<Map>> = true;

/// Such a map that says by `run_length(position, axis)` how many positions along an axis of the result, from one on,
/// have places one apart along the operand's axis that is as far from the last. Those of a map that fills are all
/// inside or all outside.
template <class Map>
concept map_with_run_length = is_map_of_runs<Map> && requires(const Map& map) { map.run_length(index{}, 0); };

/// A run of a row that lies side by side in the operand: `line` reads it, from position `begin` of the row on.
template <class Line>
struct remapped_run {
  static constexpr int widest = Line::widest;
  static constexpr bool takes_partial = tenon::takes_partial<Line>;
  Line line;
  index begin;

  bool is_adjacent() const { return true; }
  template <class Slots>
  TENON_INLINE auto value(index i, const Slots& slots) const {
    return line.value(i - begin, slots);
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE auto pack(index i, Access access, const Slots& slots) const {
    return line.template pack<Width>(i - begin, side_by_side(access), slots);
  }
};

/// Whether two places are `distance` apart along the last axis, and along no other.
template <int Rank>
TENON_INLINE constexpr bool are_apart(const array<index, Rank>& from, const array<index, Rank>& to, index distance) {
  bool result = Rank > 0;
  for (int axis = 0; axis < Rank; ++axis) {
    result = result && to[axis] - from[axis] == (axis == Rank - 1 ? distance : 0);
  }
  return result;
}

/// Whether a map found a place along every axis: where it finds none, it says a negative one.
template <int Rank>
TENON_HOST_DEVICE constexpr bool is_place(const array<index, Rank>& place) {
  bool exists = true;
  for (const index each : place) exists = exists && each >= 0;
  return exists;
}

/// `Operand` at `map(position, parameters...)`, the parameters being values at the position of the result.
template <class Map, int Rank, int Outer, class Operand, class... Parameters>
struct remapped_source {
  using value_type = typename Operand::value_type;
  static constexpr int source_count = (Rank + ... + tenon::source_count<Parameters>);
  [[no_unique_address]] Map map;
  affine_positions<Rank, Outer> positions;
  Operand operand;
  tuple<Parameters...> parameters;

  template <class... Cursors>
  struct cursor_of {
    using value_type = typename Operand::value_type;
    using line = decltype(std::declval<const Operand&>().at(
        std::declval<const Map&>()(array<index, Rank>{}, static_cast<index>(sizeof(Cursors))...)));
    static constexpr int widest = greatest_size({simd::lane_bytes<value_type>, line::widest});
    static constexpr bool takes_partial = is_map_of_runs<Map> && tenon::takes_partial<line>;
    static constexpr bool has_runs = map_with_run_length<Map> && !filling_map<Map>;
    [[no_unique_address]] Map map;
    position_run<Rank> run;
    Operand operand;
    tuple<Cursors...> parameters;

    bool is_adjacent() const { return true; }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE value_type value(index i, const Slots& slots) const {
      const auto position = run.at(i);
      if constexpr (filling_map<Map>) {
        if (!contains(position)) return static_cast<value_type>(map.outside);
      }
      return operand.at(place(i, position, slots, parameter_numbers{})).value(0, slots);
    }
    template <int Width, class Access, class Slots>
    TENON_INLINE auto pack(index i, [[maybe_unused]] Access access, const Slots& slots) const {
      if constexpr (is_map_of_runs<Map>) {
        const index count = wanted_count<Width>(access);
        const auto first = run.at(i), last = run.at(i + count - 1);
        if (count > 0 && run.is_along_last_axis() && contains(first) && contains(last)) {
          const auto from = place(i, first, slots, parameter_numbers{}),
                     to = place(i, last, slots, parameter_numbers{});
          if (are_apart(from, to, count - 1)) {
            return operand.at(from).template pack<Width>(0, in_strides(access), slots);
          }
        }
        return gather_values<Width>(*this, i, access, slots);
      } else {
        return simd::generate<value_type, Width>([&](index lane) { return value(i + lane, slots); });
      }
    }
    bool lies_in_runs() const {
      if (!run.is_along_last_axis()) return false;
      const line from = operand_from(0);
      return from.is_adjacent() && tenon::lies_in_runs(from);
    }
    index run_end(index i, index end) const {
      const index length = run_length(i, Rank - 1), rest = end - i;
      return i + tenon::run_end(operand_from(i), 0, length < rest ? length : rest);
    }
    auto run_from(index i) const {
      const auto from = tenon::run_from(operand_from(i), 0);
      return remapped_run<std::remove_const_t<decltype(from)>>{from, i};
    }
    /// How many positions from i on have places in a row, where the run goes along this axis of the result.
    TENON_INLINE index run_length(index i, int axis) const
      requires map_with_run_length<Map>
    {
      return map.run_length(run.first[axis] + i, axis);
    }
    /// Whether a value is the operand's, not that of a map that fills.
    TENON_INLINE bool is_inside(index i) const { return contains(run.at(i)); }
    TENON_INLINE auto operand_from(index i) const {
      return operand.at(place(i, run.at(i), no_slots{}, parameter_numbers{}));
    }
    template <class Visitor>
    void visit(Visitor& visitor) {
      run.visit(visitor);
      apply_tuple([&](auto&... parameter) { (tenon::visit_elements(parameter, visitor), ...); }, parameters);
    }

   private:
    using parameter_numbers = std::make_integer_sequence<int, static_cast<int>(sizeof...(Cursors))>;

    TENON_HOST_DEVICE TENON_INLINE bool contains([[maybe_unused]] const array<index, Rank>& position) const {
      if constexpr (filling_map<Map>) return map.contains(position);
      else return true;
    }
    /// Where the operand has a position of the result, the parameters being those of element i.
    template <class Slots, int... I>
    TENON_HOST_DEVICE TENON_INLINE auto place([[maybe_unused]] index i, const array<index, Rank>& position,
                                              [[maybe_unused]] const Slots& slots,
                                              std::integer_sequence<int, I...>) const {
      return map(position, static_cast<index>(get<I>(parameters).value(i, slots))...);
    }
  };

  TENON_HOST_DEVICE TENON_INLINE auto at(const array<index, Outer>& position) const {
    return cursor_at(position, std::make_integer_sequence<int, static_cast<int>(sizeof...(Parameters))>{});
  }
  /// Whether one step along an iteration axis is one along the axis of the result that is as far from the last.
  bool steps_along(int axis) const {
    bool result = axis >= Outer - Rank;
    for (int each = 0; each < Rank; ++each) {
      result = result && positions.step[each][axis] == (each == axis + Rank - Outer ? 1 : 0);
    }
    return result;
  }
  template <class Visitor>
  constexpr void visit(Visitor&& visitor) {
    positions.visit(visitor);
    apply_tuple([&](auto&... parameter) { (parameter.visit(visitor), ...); }, parameters);
  }

 private:
  template <int... I>
  TENON_HOST_DEVICE TENON_INLINE auto cursor_at(const array<index, Outer>& position,
                                                std::integer_sequence<int, I...>) const {
    return cursor_of<decltype(get<I>(parameters).at(position))...>{map,
                                                                   {positions.at(position), positions.last_step()},
                                                                   operand,
                                                                   {make_tuple_of(get<I>(parameters).at(position)...)}};
  }
};

/// The node: `Shape` positions of an operand, chosen by `Map` and the values of the parameters, which broadcast to
/// `Shape`.
template <class Map, shape_type Shape, class Operand, class... Parameters>
struct remap {
  using kind = index_map_kind;
  using element = typename Operand::element;
  using space = typename common_space<typename Operand::space, typename Parameters::space...>::type;
  using shape_type = Shape;

  [[no_unique_address]] Map map;
  tuple<Operand, Parameters...> operands;
  shape_type extents;

  constexpr const shape_type& shape() const { return extents; }
  /// This node on other operands of the same extents.
  template <class... Others>
  constexpr auto with_operands(const tuple<Others...>& others) const {
    return remap<Map, Shape, Others...>{map, others, extents};
  }

  /// What the operands take from the executor was evaluated before: a map between them and it has no rows in common.
  template <int, int Outer>
  constexpr auto lower(const axis_map<Shape::rank, Outer>& outer) const {
    return apply_tuple(
        [&](const Operand& operand, const Parameters&... parameters) {
          return lowered(outer, operand.template lower<0>(identity_map<Operand::shape_type::rank>()),
                         parameters.template lower<0>(broadcast_map(outer, parameters.shape().to_array()))...);
        },
        operands);
  }

 private:
  /// Whether an operand has one element along the last axis, and its type says so.
  template <class Parameter>
  static constexpr bool is_one_along_last_axis = [] {
    constexpr int last = Parameter::shape_type::rank - 1;
    if constexpr (last >= 0) return Parameter::shape_type::static_extent(last) == 1;
    else return true;
  }();

  template <int Outer, class Program, class... Programs>
  constexpr auto lowered(const axis_map<Shape::rank, Outer>& outer, const Program& program,
                         const Programs&... programs) const {
    using chosen = std::conditional_t<moves_in_runs<Map, Shape::rank> && (is_one_along_last_axis<Parameters> && ...),
                                      map_of_runs<Map>, Map>;
    return remapped_source<chosen, Shape::rank, Outer, Program, Programs...>{
        {map}, affine_positions<Shape::rank, Outer>(outer), program, make_tuple_of(programs...)};
  }
};

/// Composes the node from an operand and parameters that are nodes already.
template <class Map, shape_type Shape, class Operand, class... Parameters>
constexpr auto make_remap(const Map& map, const Shape& shape, const Operand& operand, const Parameters&... parameters) {
  return remap<Map, Shape, Operand, Parameters...>{map, {{{operand}, {parameters}...}}, shape};
}

}  // namespace tenon
