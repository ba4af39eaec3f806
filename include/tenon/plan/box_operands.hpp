// tenon/plan/box_operands.hpp: the values of many boxes: of elements in memory, of numbers, and of operations on them.
// Packs hold the same element of neighbouring boxes.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_convert.hpp>
#include <tenon/device/simd_interleave.hpp>
#include <tenon/expr/pointwise.hpp>
#include <tenon/plan/box.hpp>

namespace tenon {

template <class Generator, shape_type Shape>
struct generated;

namespace detail {

template <class T, class Shape, class Owner, int Outer>
struct boxes_of<leaf<T, Shape, host, Owner>, Outer> : boxes_base<leaf<T, Shape, host, Owner>, Outer> {
  using base = boxes_base<leaf<T, Shape, host, Owner>, Outer>;
  using typename base::shape;
  using typename base::value_type;
  static constexpr bool fits = base::is_small;

  static constexpr bool repeats(int axis) { return axis < 0 || Shape::static_extent(axis) == 1; }

  explicit boxes_of(const leaf<T, Shape, host, Owner>& node)
      : first_(node.view().data()), layout_(node.view().strides()) {
    const auto strides = node.view().strides();
    for (int axis = 0; axis < Outer; ++axis) strides_[axis] = node.shape().extent(axis) == 1 ? 0 : strides[axis];
  }
  auto leaves() { return make_tuple_of(this); }
  bool lie_side_by_side() const {
    if constexpr (!lie_in_packs<T, value_type>) return true;
    else if constexpr (repeats(Outer - 1)) return layout_.is_whole;
    else return layout_.is_whole && strides_[Outer - 1] == base::count;
  }
  /// Whether others are the same boxes of memory, if both `lie_side_by_side`.
  bool are_same(const boxes_of& other) const {
    const bool begin_alike = first_ == other.first_ && strides_ == other.strides_;
    if constexpr (lie_in_packs<T, value_type>) return begin_alike;
    else return begin_alike && layout_.offsets == other.layout_.offsets;
  }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    if constexpr (SideBySide && lie_in_packs<T, value_type>) return read_side_by_side<Lanes>(first_of(places));
    else return read<Lanes>(first_of(places), step_of(places), places.count);
  }
  template <int Lanes, int Axis>
  TENON_INLINE auto along(const box_places<Outer>& places) const {
    if constexpr (repeats_places<Axis + 1>()) {
      return [this, first = first_of(places)](index further)
                 __attribute__((always_inline)) { return repeated<Lanes>(first + further * strides_[Axis]); };
    } else {
      return [this, first = first_of(places), step = step_of(places), count = places.count](index further)
                 __attribute__((always_inline)) { return read<Lanes>(first + further * strides_[Axis], step, count); };
    }
  }

 private:
  /// Whether the boxes of places along an axis are one. It may be missing at the end.
  template <int Axis>
  static constexpr bool repeats_places() {
    if constexpr (Axis < Outer) return repeats(Axis);
    else return true;
  }
  TENON_INLINE const T* first_of(const box_places<Outer>& places) const {
    const T* from = first_;
    for (int axis = 0; axis < Outer; ++axis) from += places.first[axis] * strides_[axis];
    return from;
  }
  TENON_INLINE index step_of(const box_places<Outer>& places) const {
    index step = 0;
    for (int axis = 0; axis < Outer; ++axis) step += places.step[axis] * strides_[axis];
    return step;
  }
  /// One box again and again, whose elements lie at offsets.
  template <int Lanes, class Offset>
  TENON_INLINE static auto repeated_at(const T* from, const Offset& offset) {
    return make_box_values<simd::pack<value_type, Lanes>, base::count>([&](auto place) __attribute__((always_inline)) {
      return simd::broadcast<value_type, Lanes>(static_cast<value_type>(from[offset(place.value)]));
    });
  }
  template <int Lanes>
  TENON_INLINE auto repeated(const T* from) const {
    if (Lanes == 1 && layout_.is_whole) return repeated_at<Lanes>(from, [](int place) { return place; });
    return repeated_at<Lanes>(from, [&](int place) { return layout_.offsets[place]; });
  }
  /// Whole boxes side by side, or one of them again and again.
  template <int Lanes>
  TENON_INLINE static auto read_side_by_side(const T* from) {
    if constexpr (Lanes == 1 || repeats(Outer - 1)) {
      return repeated_at<Lanes>(from, [](int place) { return place; });
    } else {
      box_values<simd::pack<value_type, Lanes>, base::count> result;
      simd::load_interleaved<Lanes>(result.at, from);
      return result;
    }
  }
  /// Boxes `step` apart.
  template <int Lanes>
  TENON_INLINE auto read(const T* from, index step, index boxes) const {
    if constexpr (Outer == 0 || Lanes == 1) {
      return repeated<Lanes>(from);
    } else {
      if (step == 0) return repeated<Lanes>(from);
      box_values<simd::pack<value_type, Lanes>, base::count> result;
      if constexpr (lie_in_packs<T, value_type>) {
        if (layout_.is_whole && step == base::count && boxes == Lanes) [[likely]]
          return read_side_by_side<Lanes>(from);
      }
      gather<Lanes>(result.at, from, step, boxes);
      return result;
    }
  }
  /// The values of boxes that do not lie side by side, or of fewer than lanes: those beyond are the last one's.
  template <int Lanes>
  [[gnu::noinline]] void gather(simd::pack<value_type, Lanes>* to, const T* from, index step, index boxes) const {
    for (int place = 0; place < base::count; ++place) {
      const T* const first = from + layout_.offsets[place];
      if (boxes == Lanes) {
        to[place] =
            simd::generate<value_type, Lanes>([&](index lane) { return static_cast<value_type>(first[lane * step]); });
      } else {
        to[place] = simd::generate<value_type, Lanes>(
            [&](index lane) { return static_cast<value_type>(first[(lane < boxes ? lane : boxes - 1) * step]); });
      }
    }
  }

  const T* first_;
  array<index, Outer> strides_{};
  box_layout<shape> layout_;
};

template <class T>
struct boxes_of<scalar<T>, 0> : boxes_base<scalar<T>, 0> {
  using typename boxes_base<scalar<T>, 0>::value_type;
  static constexpr bool fits = true;
  T number;

  explicit boxes_of(const scalar<T>& node) : number(node.value) {}
  template <int Lanes, bool = false>
  TENON_INLINE auto values(const box_places<0>&) const {
    return box_values<simd::pack<value_type, Lanes>, 1>{
        {simd::broadcast<value_type, Lanes>(static_cast<value_type>(number))}};
  }
};

template <class Generator, class Shape, int Outer>
struct boxes_of<generated<Generator, Shape>, Outer> : boxes_base<generated<Generator, Shape>, Outer> {
  using base = boxes_base<generated<Generator, Shape>, Outer>;
  using typename base::shape;
  using typename base::value_type;
  static constexpr bool fits = base::is_small && requires(const Generator& draw) { draw(index{}); };  // not in blocks
  generated<Generator, Shape> node;

  explicit boxes_of(const generated<Generator, Shape>& from) : node(from) {}
  template <int Lanes, bool = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    return make_box_values<simd::pack<value_type, Lanes>, base::count>([&](auto place) {
      return simd::generate<value_type, Lanes>([&](index lane) {
        const auto before = places.of(lane);
        const auto within = shape::position(place.value);
        index offset = node.base;
        for (int axis = 0; axis < Outer; ++axis) {
          offset += node.extents.extent(axis) == 1 ? 0 : node.stride[axis] * before[axis];
        }
        for (int axis = 0; axis < shape::rank; ++axis) offset += node.stride[axis + Outer] * within[axis];
        return static_cast<value_type>(node.generator(offset));
      });
    });
  }
};

/// How many axes before its box an operand has that is aligned at the back of a node of `Rank` with `Outer` of them.
template <class Operand, int Rank, int Outer>
inline constexpr int outer_axes =
    Outer > Rank - Operand::shape_type::rank ? Outer - Rank + Operand::shape_type::rank : 0;

/// The operands of a node, each of type `boxes_of`, made of the operands of an expression.
template <class... Boxes, class... Operands>
constexpr tuple<Boxes...> boxes_of_all(std::type_identity<tuple<Boxes...>>, const tuple<Operands...>& operands) {
  return apply_tuple([](const Operands&... each) { return tuple<Boxes...>{{{Boxes(each)}...}}; }, operands);
}

/// The values of several tuples in one.
inline auto join_tuples() { return tuple<>{}; }
template <class... Ts>
auto join_tuples(const tuple<Ts...>& only) {
  return only;
}
template <class... First, class... Second, class... Rest>
auto join_tuples(const tuple<First...>& first, const tuple<Second...>& second, const Rest&... rest) {
  const auto both = apply_tuple(
      [&](const auto&... each) {
        return apply_tuple([&](const auto&... more) { return make_tuple_of(each..., more...); }, second);
      },
      first);
  return join_tuples(both, rest...);
}
/// The leaves of all operands.
template <class... Boxes>
auto leaves_of_all(tuple<Boxes...>& operands) {
  return apply_tuple([](auto&... each) { return join_tuples(each.leaves()...); }, operands);
}

template <class Op, class... Operands, int Outer>
struct boxes_of<pointwise<Op, Operands...>, Outer> : boxes_base<pointwise<Op, Operands...>, Outer> {
  using node = pointwise<Op, Operands...>;
  using base = boxes_base<node, Outer>;
  using typename base::shape;
  using typename base::value_type;
  static constexpr int rank = node::shape_type::rank;
  using operand_boxes = tuple<boxes_of<Operands, outer_axes<Operands, rank, Outer>>...>;
  static constexpr bool fits = base::is_small && (boxes_of<Operands, outer_axes<Operands, rank, Outer>>::fits && ...);

  static constexpr bool repeats(int axis) {
    return (boxes_of<Operands, outer_axes<Operands, rank, Outer>>::repeats(own_axis<Operands>(axis)) && ...);
  }
  static constexpr bool shares_operands(int axis) {
    return (is_shared<boxes_of<Operands, outer_axes<Operands, rank, Outer>>, outer_axes<Operands, rank, Outer>>(
                own_axis<Operands>(axis)) ||
            ...);
  }

  [[no_unique_address]] Op op;
  operand_boxes operands;

  explicit boxes_of(const node& from)
      : op(from.op), operands(boxes_of_all(std::type_identity<operand_boxes>{}, from.operands)) {}
  auto leaves() { return leaves_of_all(operands); }
  template <int Lanes, bool SideBySide = false>
  TENON_INLINE auto values(const box_places<Outer>& places) const {
    return [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return combined<Lanes>(get<I>(operands).template values<Lanes, SideBySide>(
          places.template last<outer_axes<Operands, rank, Outer>>())...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{});
  }
  template <int Lanes, int Axis>
  TENON_INLINE auto along(const box_places<Outer>& places) const {
    const auto all = [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
      return make_tuple_of(boxes_along<Lanes, own_axis<Operands>(Axis)>(
          get<I>(operands), places.template last<outer_axes<Operands, rank, Outer>>())...);
    };
    return [this, all = all(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{})](
               index further) __attribute__((always_inline)) {
      return apply_tuple(
          [&](const auto&... each) __attribute__((always_inline)) { return combined<Lanes>(each(further)...); }, all);
    };
  }

 private:
  /// Where an axis of the node lies in an operand.
  template <class Operand>
  static constexpr int own_axis(int axis) {
    return axis - Outer + outer_axes<Operand, rank, Outer>;
  }
  /// Whether an operand of memory repeats along an axis, or shares some of its own.
  template <class Boxes, int Before>
  static constexpr bool is_shared(int axis) {
    return Before > 0 && (Boxes::repeats(axis) || Boxes::shares_operands(axis));
  }
  template <int Lanes, class... Values>
  TENON_INLINE auto combined(const Values&... values) const {
    return make_box_values<simd::pack<value_type, Lanes>, base::count>([&](auto place) __attribute__((always_inline)) {
      return operate(std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>{},
                     values.at[operand_place<Operands>(place.value)]...);
    });
  }
  template <int... I, class... Packs>
  TENON_INLINE auto operate(std::integer_sequence<int, I...>, const Packs&... packs) const {
    using computes = type_list<compute_type<typename Op::template operand<I, Operands...>>...>;
    return simd::as_lanes<value_type>(
        op.value(simd::convert<compute_type<typename Operands::element>, typename computes::template at<I>>(packs)...));
  }
  template <class Operand>
  static constexpr int operand_place(int place) {
    return box<typename Operand::shape_type, outer_axes<Operand, rank, Outer>>::place(shape::position(place));
  }
};

}  // namespace detail
}  // namespace tenon
