// tenon/algorithms/search.hpp: where elements belong in a sorted line.
// Halving, in the order in which sort leaves elements, NaN last.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/algorithms/order.hpp>

namespace tenon {

/// Options of searchsorted: `searchsorted(line, x, {.right = true})`
struct search_options {
  bool right = false;  ///< the position behind equal elements, not before them
};

namespace detail {

/// Finds how many elements of an ascending line come before an element, or do not come after it.
template <class T, class Line, class Source>
struct place_search {
  Line line;
  index length;
  bool or_equal;
  Source source;
  index* target;

  TENON_HOST_DEVICE void operator()(index number) const {
    constexpr ascending_order order;
    const auto value = static_cast<T>(source[number]);
    index first = 0, last = length;
    while (first < last) {
      const index middle = first + (last - first) / 2;
      const auto element = static_cast<T>(line[middle]);
      if (or_equal ? !order(value, element) : order(element, value)) first = middle + 1;
      else last = middle;
    }
    target[number] = first;
  }
};

}  // namespace detail

/// For each element of `operand`, the position in `sorted`, an ascending line, before which it would have to be
/// inserted to keep the order; of several such positions the first, or with `right` the last.
/// extents   those of the operand, int64
/// types     both are compared in their promoted type
/// cost      O(log n) for each element, shared among threads
/// example   const auto places = searchsorted(edges, x, {.right = true});
template <tensor_operand Sorted, tensor_operand Operand>
auto searchsorted(Sorted&& sorted, Operand&& operand, search_options options = {}) {
  const auto line = in_memory("searchsorted", std::forward<Sorted>(sorted));
  const auto source = in_memory("searchsorted", std::forward<Operand>(operand));
  using line_type = std::remove_cvref_t<decltype(line)>;
  using source_type = std::remove_cvref_t<decltype(source)>;
  static_assert(line_type::shape_type::rank == 1, "tenon: searchsorted searches a line, a tensor of one axis");
  using value_type = compute_type<promote<typename line_type::element, typename source_type::element>>;
  using space = algorithm_space<Operand>;
  spaces_must_agree<space, algorithm_space<Sorted>>();
  tensor<index, typename source_type::shape_type, space> result(source.shape());
  const auto places = in_order(line.view());
  const auto elements = in_order(source.view());
  using places_type = std::remove_const_t<decltype(places)>;
  using elements_type = std::remove_const_t<decltype(elements)>;
  for_each_number<space>(result.size(), index{1} << 10,
                         detail::place_search<value_type, places_type, elements_type>{
                             places, line.shape().extent(0), options.right, elements, result.data()});
  return result;
}

}  // namespace tenon
