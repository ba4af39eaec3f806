// tenon/plan/record.hpp: values of a row that are computed once and read again.
// In softmax, exp(x - max) is summed and then divided by its sum: the sum's pass records what the last pass reads.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/sharing.hpp>

namespace tenon {

/// The recorded values of a row.
template <class T>
struct recorded_cursor {
  static constexpr int widest = simd::lane_bytes<T>;
  static constexpr bool takes_partial = true;
  const T* record;

  bool is_adjacent() const { return true; }
  template <class Slots>
  TENON_HOST_DEVICE TENON_INLINE T value(index i, const Slots&) const {
    return record[i];
  }
  template <int Width, class Access, class Slots>
  TENON_INLINE auto pack(index i, Access access, const Slots&) const {
    return load_wanted<T, Width>(record + i, access);
  }
};

/// The values of a row that the executor has on record.
template <class T>
struct recorded_source {
  using value_type = T;

  struct cursor {
    static constexpr int widest = simd::lane_bytes<T>;

    bool is_adjacent() const { return true; }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE recorded_cursor<T> with_slots(const Slots& slots) const {
      return {slots.record};
    }
    template <class Slots>
    TENON_HOST_DEVICE TENON_INLINE T value(index i, const Slots& slots) const {
      return slots.record[i];
    }
  };

  template <int Rank>
  TENON_HOST_DEVICE TENON_INLINE cursor at(const array<index, Rank>&) const {
    return {};
  }
  template <class Visitor>
  constexpr void visit(Visitor&&) {}
};

/// Stands where `Original` stood, whose values over a row are on record.
template <class Original>
struct recorded {
  using kind = recorded_kind;
  using element = typename Original::element;
  using space = typename Original::space;
  using shape_type = typename Original::shape_type;
  static constexpr int replaced_slots = slot_count<Original>;

  shape_type extents;
  static constexpr tuple<> operands{};

  const shape_type& shape() const { return extents; }
  template <int, int Outer>
  recorded_source<compute_type<element>> lower(const axis_map<shape_type::rank, Outer>&) const {
    return {};
  }
};

namespace detail {

template <class E>
struct is_costly {
  static constexpr bool test() {
    if constexpr (std::is_same_v<typename E::kind, pointwise_kind>) {
      return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
        return requires { typename decltype(E::op)::costly; } || (is_costly<Operands>::value || ...);
      }(std::type_identity<operands_of<E>>{});
    } else {
      return false;
    }
  }
  static constexpr bool value = test();
};

/// Whether `Part` stands in the pointwise part of E, outside of its reductions.
template <class Part, class E>
constexpr bool occurs() {
  if constexpr (std::is_same_v<Part, E>) {
    return true;
  } else if constexpr (std::is_same_v<typename E::kind, pointwise_kind>) {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return (occurs<Part, Operands>() || ...);
    }(std::type_identity<operands_of<E>>{});
  } else {
    return false;
  }
}

/// E with each occurrence of `Part` replaced by its record.
template <class Part, class E>
auto replace_recorded(const E& node) {
  if constexpr (std::is_same_v<Part, E>) {
    return recorded<Part>{node.shape()};
  } else if constexpr (occurs<Part, E>()) {
    return node.with_operands(apply_tuple(
        [](const auto&... operand) { return make_tuple_of(replace_recorded<Part>(operand)...); }, node.operands));
  } else {
    return node;
  }
}

template <class Part, class E>
bool occurrences_equal(const Part& part, const E& node) {
  if constexpr (std::is_same_v<Part, E>) {
    return equal_nodes(part, node);
  } else if constexpr (occurs<Part, E>()) {
    return apply_tuple([&](const auto&... operand) { return (occurrences_equal(part, operand) && ...); },
                       node.operands);
  } else {
    return true;
  }
}

/// Whether a reduction that follows earlier ones folds values of `Part`, which it may then read from its record.
template <class Part, class Reduction>
inline constexpr bool folds_recorded =
    slot_count<Reduction> > 1 && occurs<Part, std::remove_cvref_t<decltype(std::declval<Reduction>().operand())>>();

template <class E, class Reductions>
inline constexpr int slot_to_record = -1;
template <class E, class... Reductions>
inline constexpr int slot_to_record<E, tuple<const Reductions*...>> = [] {
  int slot = 0, found = -1;
  ((found = is_costly<std::remove_cvref_t<decltype(std::declval<const Reductions&>().operand())>>::value &&
                    occurs<std::remove_cvref_t<decltype(std::declval<const Reductions&>().operand())>, E>()
                ? first_place<Reductions, Reductions...>
                : found,
    ++slot),
   ...);
  return found;
}();

}  // namespace detail

/// The first of the last kind of reductions of E that fold costly values which E also reads itself: equal ones that
/// follow are not folded. -1 when there is none.
template <class E>
inline constexpr int recorded_slot = detail::slot_to_record<E, reduction_pointers<E>>;

}  // namespace tenon
