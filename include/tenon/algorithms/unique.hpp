// tenon/algorithms/unique.hpp: the different elements, or slices, each once.
// Items are ordered by position where equal, so the first of each group is the first occurrence.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/algorithms/scan.hpp>
#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/expr/generate.hpp>

namespace tenon {

/// The different items in ascending order and, as int64, where each occurs first, which of them each item of the
/// operand is, and how often each occurs: `auto [values, indices, inverse, counts] = unique(x);`
template <class Values, class Indices, class Inverse>
struct unique_items {
  Values values;
  Indices indices;
  Inverse inverse;
  Indices counts;
};

namespace detail {

/// Groups of equal items: their first positions, how many items each has, and the group of each item.
template <class Space, class Shape>
struct item_groups {
  tensor<index, rank<1>, Space> first, counts;
  tensor<index, Shape, Space> of_item;
};

/// Whether a group begins at each place of the order.
template <class Differ>
struct group_begins {
  const index* order;
  Differ differ;
  bool* is_new;
  TENON_HOST_DEVICE void operator()(index place) const {
    is_new[place] = place == 0 || differ(order[place - 1], order[place]);
  }
};
/// Describes a group by the place at which it begins.
struct group_output {
  const index *order, *begins;
  index groups, items;
  index *first, *counts;
  TENON_HOST_DEVICE void operator()(index group) const {
    first[group] = order[begins[group]];
    counts[group] = (group + 1 < groups ? begins[group + 1] : items) - begins[group];
  }
};
/// Sets the group of each item; `begun` groups have begun up to a place.
struct group_of_item {
  const index *order, *begun;
  index* of_item;
  TENON_HOST_DEVICE void operator()(index place) const { of_item[order[place]] = begun[place] - 1; }
};

/// The groups of items, `order` being their positions in order; `differ(left, right)` compares neighbours in it.
template <class Space, class Shape, class Differ>
item_groups<Space, Shape> group_items(const Shape& extents, const index* order, const Differ& differ) {
  const index count = extents.count();
  tensor<bool, rank<1>, Space> is_new(rank<1>{count});
  for_each_number<Space>(count, line_grain, group_begins<Differ>{order, differ, is_new.data()});
  const auto begins = indices_where<Space>(is_new);
  const auto begun = cumsum(is_new, axis<0>);
  const rank<1> found(begins.count());
  item_groups<Space, Shape> result{tensor<index, rank<1>, Space>(found), tensor<index, rank<1>, Space>(found),
                                   tensor<index, Shape, Space>(extents)};
  for_each_number<Space>(
      begins.count(), line_grain,
      group_output{order, begins.data(), begins.count(), count, result.first.data(), result.counts.data()});
  for_each_number<Space>(count, line_grain, group_of_item{order, begun.data(), result.of_item.data()});
  return result;
}

/// Whether two elements, one of which does not come after the other, differ.
template <class T>
struct elements_differ {
  const T* items;
  TENON_HOST_DEVICE bool operator()(index left, index right) const {
    return ascending_order{}(items[left], items[right]);
  }
};

/// How far an integer lies above another that is not greater.
template <class T>
std::uint64_t distance_above(T least, T item) {
  return static_cast<std::uint64_t>(item) - static_cast<std::uint64_t>(least);
}

/// The groups of integers from `least` to less than `range` above it: found in a table of `range` places, without an
/// order. The last position written to a place, from the end on, is the first that has its number.
template <class Space, class Shape, class T>
item_groups<Space, Shape> group_near(const Shape& extents, const T* items, T least, index range) {
  const index count = extents.count();
  storage<index, host> first(range), counts(range);
  std::fill_n(counts.data(), range, index{0});
  for (index i = count; i-- > 0;) {
    const auto place = static_cast<index>(distance_above(least, items[i]));
    first.data()[place] = i;
    ++counts.data()[place];
  }
  const rank<1> found(range - std::count(counts.data(), counts.data() + range, index{0}));
  item_groups<Space, Shape> result{tensor<index, rank<1>, Space>(found), tensor<index, rank<1>, Space>(found),
                                   tensor<index, Shape, Space>(extents)};
  index group = 0;
  for (index place = 0; place < range; ++place) {
    if (counts.data()[place] == 0) continue;
    result.first.data()[group] = first.data()[place];
    result.counts.data()[group] = counts.data()[place];
    first.data()[place] = group++;
  }
  for (index i = 0; i < count; ++i) {
    result.of_item.data()[i] = first.data()[distance_above(least, items[i])];
  }
  return result;
}

/// The groups of equal elements: integers of the host that lie close together by a table, all others by their order.
template <class Space, class Shape, class T>
item_groups<Space, Shape> group_elements(const Shape& extents, const view<const T, rank<1>, Space>& items) {
  if constexpr (Space::host_accessible && is_integer<T>) {
    constexpr index places_of_item = 2;
    if (items.size() != 0) {
      const T least = min(items), greatest = max(items);
      const std::uint64_t distance = distance_above(least, greatest);
      if (distance < static_cast<std::uint64_t>(places_of_item * items.size())) {
        return group_near<Space>(extents, items.data(), least, static_cast<index>(distance) + 1);
      }
    }
  }
  const auto order = argsort(items, axis<0>);
  return group_items<Space>(extents, order.data(), elements_differ<T>{items.data()});
}

template <class Values, class Space, class Shape>
auto describe_items(Values values, item_groups<Space, Shape> groups) {
  return unique_items<Values, tensor<index, rank<1>, Space>, tensor<index, Shape, Space>>{
      std::move(values), std::move(groups.first), std::move(groups.of_item), std::move(groups.counts)};
}

/// Compares slices by their first elements that differ: negative where the left one comes first, 0 where they are
/// equal.
template <class T>
struct slice_comparison {
  const T* data;
  const index* offsets;
  index count, step;

  TENON_HOST_DEVICE int operator()(index left, index right) const {
    for (index i = 0; i < count; ++i) {
      const T one = data[left * step + offsets[i]], other = data[right * step + offsets[i]];
      if (ascending_order{}(one, other)) return -1;
      if (ascending_order{}(other, one)) return 1;
    }
    return 0;
  }
};
template <class Comparison>
struct slices_differ {
  Comparison compare;
  TENON_HOST_DEVICE bool operator()(index left, index right) const { return compare(left, right) != 0; }
};
/// Of equal slices the one at the lower position comes first.
template <class Comparison>
struct slice_order {
  Comparison compare;
  TENON_HOST_DEVICE bool operator()(index left, index right) const {
    const int comparison = compare(left, right);
    return comparison < 0 || (comparison == 0 && left < right);
  }
};

/// Orders positions where they lie.
template <class Space, class Order>
void sort_items(index* items, index count, const Order& order) {
  if constexpr (Space::host_accessible) std::sort(items, items + count, order);
  else if (count != 0) device_passes<Space>::sort_items(items, count, order);
}

}  // namespace detail

/// The different elements, ascending; NaN occurs once, as the last, as in NumPy.
/// extents   values, indices, counts: [number of different elements]; inverse: the operand's
/// cost      that of argsort; on the host, integers whose range is at most twice their number take two passes, on one
///           thread
/// example   const auto found = unique(labels);  // found.values, found.counts
template <tensor_operand Operand>
auto unique(Operand&& operand) {
  using node = node_of<Operand>;
  using space = algorithm_space<Operand>;
  must_be_constant<node>();
  algorithms_must_run<space>();
  using element = typename node::element;
  check_operand("unique", as_node(operand));
  const tensor<element, typename node::shape_type, space> items(as_node(std::forward<Operand>(operand)));
  const view<const element, rank<1>, space> line(items.data(), rank<1>(items.size()));
  auto groups = detail::group_elements<space>(items.shape(), line);
  auto values = detail::elements_at(line, groups.first.data(), groups.first.size());
  return detail::describe_items(std::move(values), std::move(groups));
}

/// The different slices along the axis, in ascending order of their elements from the first that differs.
/// extents   values: the number of different slices along the axis, the operand's elsewhere; indices and counts: one
///           for each different slice; inverse: [extent of the axis]
/// cost      O(n log n) comparisons of slices, on one thread; on a device, CUB's merge sort
template <tensor_operand Operand, int Axis>
auto unique(Operand&& operand, axis_list<Axis> axes) {
  must_be_constant<node_of<Operand>>();
  const auto source = in_memory("unique", std::forward<Operand>(operand));
  using space = algorithm_space<Operand>;
  constexpr int along = only_axis<std::remove_cvref_t<decltype(source)>::shape_type::rank>(axes);
  const auto& elements = source.view();
  auto slice = elements.shape().to_array();
  slice[along] = 1;
  const auto offsets = table_in<space>(offsets_within(elements, slice));
  using comparison = detail::slice_comparison<typename std::remove_cvref_t<decltype(elements)>::element>;
  const comparison compare{elements.data(), offsets.data(), offsets.count(), elements.strides()[along]};
  const rank<1> count(elements.extent(along));
  tensor<index, rank<1>, space> order(iota<index>(count));
  detail::sort_items<space>(order.data(), order.size(), detail::slice_order<comparison>{compare});
  auto groups = detail::group_items<space>(count, order.data(), detail::slices_differ<comparison>{compare});
  auto values = detail::slices_at<along>(elements, groups.first.data(), groups.first.size());
  return detail::describe_items(std::move(values), std::move(groups));
}

}  // namespace tenon
