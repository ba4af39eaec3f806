// tenon/algorithms/order.hpp: which of two elements comes first.
// NaN is greater than every number and equal to itself, so that the order is total and NaN comes last, as in NumPy.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/monoids.hpp>

namespace tenon {

/// Whether one element comes before another; of equal ones with positions, the lower position does.
template <bool Descending>
struct element_order {
  template <class T>
  constexpr bool operator()(T left, T right) const {
    if constexpr (Descending) {
      return element_order<false>{}(right, left);
    } else if constexpr (is_floating<T>) {
      return left < right || (right != right && left == left);
    } else {
      return left < right;
    }
  }
  template <class T>
  constexpr bool operator()(const located<T>& left, const located<T>& right) const {
    if ((*this)(left.value, right.value)) return true;
    return !(*this)(right.value, left.value) && left.position < right.position;
  }
};
using ascending_order = element_order<false>;
using descending_order = element_order<true>;

}  // namespace tenon
