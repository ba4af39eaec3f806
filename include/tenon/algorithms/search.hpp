// tenon/algorithms/search.hpp: where elements belong in a sorted line.
// Halving, in the order in which sort leaves elements, NaN last.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/order.hpp>

namespace tenon {

/// `searchsorted(line, x, {.right = true})`
struct search_options {
  bool right = false;  ///< behind elements that are equal, not before them
};

namespace detail {

/// How many elements of an ascending line come before `value`, or do not come after it.
template <class View, class T>
index count_before(const View& line, T value, bool or_equal) {
  constexpr ascending_order order;
  index first = 0, last = line.extent(0);
  while (first < last) {
    const index middle = first + (last - first) / 2;
    const auto element = static_cast<T>(line.data()[middle * line.strides()[0]]);
    if (or_equal ? !order(value, element) : order(element, value)) first = middle + 1;
    else last = middle;
  }
  return first;
}

}  // namespace detail

/// For each element of `operand`, the position in `sorted`, an ascending line, before which it would have to be
/// inserted to keep the order; of several such positions the first, or with `right` the last.
/// extents   those of the operand, int64
/// types     both are compared in their promoted type
/// cost      O(log n) for each element, shared among threads
template <tensor_operand Sorted, tensor_operand Operand>
auto searchsorted(Sorted&& sorted, Operand&& operand, search_options options = {}) {
  const auto line = in_memory(std::forward<Sorted>(sorted));
  const auto source = in_memory(std::forward<Operand>(operand));
  using line_type = std::remove_cvref_t<decltype(line)>;
  using source_type = std::remove_cvref_t<decltype(source)>;
  static_assert(line_type::shape_type::rank == 1, "tenon: searchsorted searches a line, a tensor of one axis");
  using value_type = compute_type<promote<typename line_type::element, typename source_type::element>>;
  tensor<index, typename source_type::shape_type, algorithm_space<Operand>> result(source.shape());
  parallel_for(result.size(), index{1} << 10, [&](index first, index last) {
    visit_elements(source.elements, first, last, [&](index number, auto element) {
      result.data()[number] = detail::count_before(line.elements, static_cast<value_type>(element), options.right);
    });
  });
  return result;
}

}  // namespace tenon
