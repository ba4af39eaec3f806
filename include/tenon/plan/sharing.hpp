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

/// Pointers to the reductions of an expression, in the order of their slots.
template <class E>
auto reductions_of(const E& node) {
  return lower_reductions<0>(node, [](auto, const auto& reduction) { return &reduction; });
}

/// For each reduction of an expression, in the order of their slots, the first one that is equal to it.
template <class E>
auto first_equal_reductions(const E& node) {
  const auto reductions = reductions_of(node);
  constexpr int count = decltype(reductions)::count;
  array<int, count> first{};
  for_each_index<count>([&](auto later) {
    first[later.value] = later.value;
    for_each_index<later.value>([&](auto earlier) {
      const auto* left = get<earlier.value>(reductions);
      const auto* right = get<later.value>(reductions);
      if constexpr (std::is_same_v<decltype(left), decltype(right)>) {
        if (first[later.value] == later.value && equal_nodes(*left, *right)) first[later.value] = earlier.value;
      }
    });
  });
  return first;
}

namespace detail {

template <int Slot, int Earlier, class Values, int Count>
TENON_HOST_DEVICE constexpr bool copy_slot(Values& values, const array<int, Count>& first) {
  if constexpr (std::is_same_v<decltype(get<Slot>(values)), decltype(get<Earlier>(values))>) {
    if (first[Slot] == Earlier) {
      get<Slot>(values) = get<Earlier>(values);
      return true;
    }
  }
  return false;
}

template <int Slot, class Values, int Count, int... Earlier>
TENON_HOST_DEVICE constexpr bool copy_slot_among(Values& values, const array<int, Count>& first,
                                                 std::integer_sequence<int, Earlier...>) {
  return (copy_slot<Slot, Earlier>(values, first) || ...);
}

}  // namespace detail

/// Gives slot `Slot` the value of the earlier slot that equals it; false when it is the first of its kind.
template <int Slot, class Values, int Count>
TENON_HOST_DEVICE constexpr bool copy_equal_slot(Values& values, const array<int, Count>& first) {
  return detail::copy_slot_among<Slot>(values, first, std::make_integer_sequence<int, Slot>{});
}

}  // namespace tenon
