// tenon/algorithms/unique.hpp: the different elements, or slices, each once.
// Items are ordered by position where equal, so the first of each group is the first occurrence.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/expr/generate.hpp>

namespace tenon {

/// The different items in ascending order; int64 are: where each occurs first, which of them each item of the operand
/// is, how often each occurs. `auto [values, indices, inverse, counts] = unique(x);`
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

/// The groups of items, `order` being their positions in order; `differ(left, right)` compares neighbours in it.
template <class Space, class Shape, class Differ>
item_groups<Space, Shape> group_items(const Shape& extents, const index* order, const Differ& differ) {
  const index count = extents.count();
  storage<bool, host> is_new(count);
  for (index i = 0; i < count; ++i) is_new.data()[i] = i == 0 || differ(order[i - 1], order[i]);
  const auto begins = true_places(is_new.data(), count);
  const index groups = begins.count();
  const rank<1> found(groups);
  item_groups<Space, Shape> result{tensor<index, rank<1>, Space>(found), tensor<index, rank<1>, Space>(found),
                                   tensor<index, Shape, Space>(extents)};
  for (index group = 0; group < groups; ++group) {
    const index begin = begins.data()[group], end = group + 1 < groups ? begins.data()[group + 1] : count;
    result.first.data()[group] = order[begin];
    result.counts.data()[group] = end - begin;
    for (index i = begin; i < end; ++i) result.of_item.data()[order[i]] = group;
  }
  return result;
}

template <class Values, class Space, class Shape>
auto describe_items(Values values, item_groups<Space, Shape> groups) {
  return unique_items<Values, tensor<index, rank<1>, Space>, tensor<index, Shape, Space>>{
      std::move(values), std::move(groups.first), std::move(groups.of_item), std::move(groups.counts)};
}

/// Compares slices by their first elements that differ: negative where the left one comes first, 0 where they are
/// equal.
template <class View>
struct slice_comparison {
  const View& elements;
  const storage<index, host>& offsets;
  index step;

  int operator()(index left, index right) const {
    if (offsets.count() == 0) return 0;
    const auto *one = elements.data() + left * step, *other = elements.data() + right * step;
    for (index i = 0; i < offsets.count(); ++i) {
      const index offset = offsets.data()[i];
      if (ascending_order{}(one[offset], other[offset])) return -1;
      if (ascending_order{}(other[offset], one[offset])) return 1;
    }
    return 0;
  }
};

}  // namespace detail

/// The different elements, ascending; NaN occurs once, as the last, as in NumPy.
/// extents   values, indices, counts: [number of different elements]; inverse: the operand's
/// cost      that of argsort
template <tensor_operand Operand>
auto unique(Operand&& operand) {
  using node = node_of<Operand>;
  using space = algorithm_space<Operand>;
  algorithms_must_run<space>();
  using element = typename node::element;
  const tensor<element, typename node::shape_type, space> items(as_node(std::forward<Operand>(operand)));
  const view<const element, rank<1>, space> line(items.data(), rank<1>(items.size()));
  const auto order = argsort(line, axis<0>);
  auto groups = detail::group_items<space>(items.shape(), order.data(), [&](index left, index right) {
    return ascending_order{}(items.data()[left], items.data()[right]);
  });
  auto values = detail::elements_at<space>(line, groups.first.data(), groups.first.size());
  return detail::describe_items(std::move(values), std::move(groups));
}

/// The different slices along the axis, in ascending order of their elements from the first that differs.
/// extents   values: the number of different slices along the axis, the operand's elsewhere; indices, counts: [number
/// of
///           different slices]; inverse: [extent of the axis]
/// cost      O(n log n) comparisons of slices, on one thread
template <tensor_operand Operand, int Axis>
auto unique(Operand&& operand, axis_list<Axis> axes) {
  const auto source = in_memory(std::forward<Operand>(operand));
  using space = algorithm_space<Operand>;
  constexpr int along = axis_of<std::remove_cvref_t<decltype(source)>::shape_type::rank>(axes);
  const auto& elements = source.elements;
  auto slice = elements.shape().to_array();
  slice[along] = 1;
  const auto offsets = offsets_within(elements, slice);
  const detail::slice_comparison<std::remove_cvref_t<decltype(elements)>> compare{elements, offsets,
                                                                                  elements.strides()[along]};
  const rank<1> count(elements.extent(along));
  tensor<index, rank<1>, space> order(iota<index>(count));
  std::sort(order.data(), order.data() + order.size(), [&](index left, index right) {
    const int comparison = compare(left, right);
    return comparison < 0 || (comparison == 0 && left < right);
  });
  auto groups = detail::group_items<space>(count, order.data(), compare);
  auto values = detail::slices_at<along, space>(elements, groups.first.data(), groups.first.size());
  return detail::describe_items(std::move(values), std::move(groups));
}

}  // namespace tenon
