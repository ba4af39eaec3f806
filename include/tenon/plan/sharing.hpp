// tenon/plan/sharing.hpp: parts of a statement that are written twice and computed once.
// Types say what may be equal, pointers and numbers what is; what cannot be compared counts as different.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/iterate.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

template <class T>
constexpr bool equal_parameters(const T& left, const T& right) {
  if constexpr (std::is_empty_v<T>) {
    return true;
  } else if constexpr (requires { bool(left == right); }) {
    return left == right;
  } else {
    return false;
  }
}

template <class E>
bool equal_own_parts(const E& left, const E& right) {
  using kind = typename E::kind;
  if constexpr (std::is_same_v<kind, leaf_kind>) {
    return left.elements.data() == right.elements.data() && left.shape() == right.shape() &&
           left.elements.strides() == right.elements.strides();
  } else if constexpr (is_scalar_node<E>) {
    return left.value == right.value &&
           __builtin_memcmp(&left.value, &right.value, sizeof(left.value)) == 0;  // 0 and -0
  } else if constexpr (std::is_same_v<kind, pointwise_kind>) {
    return equal_parameters(left.op, right.op);
  } else if constexpr (requires { left.geometry; }) {
    return equal_parameters(left.geometry, right.geometry);
  } else if constexpr (requires { left.options; }) {
    return equal_parameters(left.options, right.options);
  } else if constexpr (std::is_same_v<kind, reduction_kind> || std::is_same_v<kind, contraction_kind>) {
    return true;  // the type says all but the operands
  } else if constexpr (requires { left.generator; }) {
    return left.base == right.base && left.stride == right.stride && equal_parameters(left.generator, right.generator);
  } else if constexpr (requires { left.map; }) {
    return equal_parameters(left.map, right.map);
  } else {
    return false;
  }
}

}  // namespace detail

/// Whether two nodes of one type have the same value at every position.
template <class E>
bool equal_nodes(const E& left, const E& right) {
  if (&left == &right) return true;
  if (!(left.shape() == right.shape()) || !detail::equal_own_parts(left, right)) return false;
  bool all_equal = true;
  for_each_index<decltype(E::operands)::count>(
      [&](auto i) { all_equal = all_equal && equal_nodes(get<i.value>(left.operands), get<i.value>(right.operands)); });
  return all_equal;
}

namespace detail {

template <class E>
bool equal_listed(const void* left, const void* right) {
  return equal_nodes(*static_cast<const E*>(left), *static_cast<const E*>(right));
}

/// Nodes in a list. `first_of_type` is the number of the first node of the same type.
template <int Count>
struct listed_nodes {
  const void* node[Count];
  int first_of_type[Count];
  bool (*are_equal[Count])(const void*, const void*);  // null for the only one of its type

  array<int, Count> first_equal() const {
    array<int, Count> first{};
    for (int later = 0; later < Count; ++later) {
      int earlier = first_of_type[later];
      while (earlier < later &&
             (first_of_type[earlier] != first_of_type[later] || !are_equal[later](node[earlier], node[later]))) {
        ++earlier;
      }
      first[later] = earlier;
    }
    return first;
  }
};

/// The number of the first of `Es` that is E, and how many are.
template <class E, class... Es>
inline constexpr int first_place = [] {
  int place = 0;
  (void)((std::is_same_v<E, Es> || (++place, false)) || ...);
  return place;
}();
template <class E, class... Es>
inline constexpr int places = (0 + ... + (std::is_same_v<E, Es> ? 1 : 0));

template <class E, int Places>
constexpr auto comparison_of() {
  bool (*result)(const void*, const void*) = nullptr;
  if constexpr (Places > 1) result = equal_listed<E>;
  return result;
}

template <int... I, class... Reductions>
array<int, sizeof...(I)> first_equal_of(
    const tuple_base<std::integer_sequence<int, I...>, const Reductions*...>& reductions) {
  return listed_nodes<sizeof...(I)>{{get<I>(reductions)...},
                                    {first_place<Reductions, Reductions...>...},
                                    {comparison_of<Reductions, places<Reductions, Reductions...>>()...}}
      .first_equal();
}

}  // namespace detail

/// For each reduction of an expression, in the order of their slots, the first one that is equal to it.
template <class E>
array<int, reduction_pointers<E>::count> first_equal_reductions([[maybe_unused]] const E& node) {
  if constexpr (reduction_pointers<E>::count < 2) return {};
  else return detail::first_equal_of(reductions_of(node));
}

namespace detail {

/// Values of two types are never of equal slots.
template <class To, class From>
TENON_HOST_DEVICE constexpr bool copy_same(To& to, const From& from) {
  if constexpr (std::is_same_v<To, From>) {
    to = from;
    return true;
  } else {
    return false;
  }
}

template <int Slot, class Values, int Count, int... Earlier>
TENON_HOST_DEVICE constexpr bool copy_slot_among(Values& values, const array<int, Count>& first,
                                                 std::integer_sequence<int, Earlier...>) {
  return ((first[Slot] == Earlier && copy_same(get<Slot>(values), get<Earlier>(values))) || ...);
}

}  // namespace detail

/// Gives slot `Slot` the value of the earlier slot that equals it; false when it is the first of its kind.
template <int Slot, class Values, int Count>
TENON_HOST_DEVICE constexpr bool copy_equal_slot([[maybe_unused]] Values& values,
                                                 [[maybe_unused]] const array<int, Count>& first) {
  if constexpr (Slot == 0) return false;
  else return detail::copy_slot_among<Slot>(values, first, std::make_integer_sequence<int, Slot>{});
}

}  // namespace tenon
