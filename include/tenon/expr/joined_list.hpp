// tenon/expr/joined_list.hpp: stack and concatenate of a list whose length only the running program knows.
// The result is a tensor, not an expression: each element is copied to its place. Traced ones: grad/traced_list.hpp.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/tensor.hpp>
#include <tenon/expr/views/concatenate.hpp>

namespace tenon {

namespace detail {

/// The type of what a list holds.
template <class List>
using element_of_list = std::remove_cvref_t<decltype(std::declval<const std::remove_reference_t<List>&>()[0])>;
/// std::vector, std::span, std::array or another list of operands of one type.
template <class List>
concept list_of_operands = !tensor_operand<List> && requires(const std::remove_cvref_t<List>& list) {
  { list.size() } -> std::convertible_to<std::size_t>;
  list[0].shape();
} && tensor_operand<element_of_list<List>>;
/// One of tensors or views.
template <class List>
concept list_of_tensors =
    list_of_operands<List> && (is_tensor<element_of_list<List>> || is_view<element_of_list<List>>);

/// How elements of a list are joined: behind each other along `Axis`, or, where that is new, above each other.
template <class Operation, int Axis>
struct list_join {
  static constexpr bool is_new = std::is_same_v<Operation, stack_operation>;

  /// An element of the list as a part of the result.
  template <class Element>
  static constexpr auto part(const Element& element) {
    if constexpr (is_new) return new_axis<Axis>(as_node(element));
    else return as_node(element);
  }
  /// The extents of all together.
  /// throws    shape_error for an empty list, and naming the axis and both extents where they differ
  template <class List>
  static auto shape_of(const List& list) {
    if (list.size() == 0) {
      throw shape_error(compose_text(Operation::name, ": the list is empty, expected at least one operand"));
    }
    const auto first = part(list[0]).shape();
    checked_extent length(0);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto each = part(list[i]).shape();
      check_extents(first.to_array(), each.to_array(), i);
      length = length + each.extent(Axis);
    }
    return with_extent<Axis>(first, length.value());
  }
  /// Calls `visit(element, begin, extents)` for each, where its part begins along the axis, and the part's extents.
  template <class List, class Visit>
  static void for_each_part(const List& list, const Visit& visit) {
    index begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto extents = part(list[i]).shape();
      visit(list[i], begin, extents);
      begin += extents.extent(Axis);
    }
  }
  /// Writes all to their places. What is stacked is written without its new axis: mostly it lies there as here.
  template <class Target, class List>
  static void write(const Target& target, const List& list) {
    using element = typename Target::element;
    for_each_part(list, [&](const auto& each, index begin, const auto& extents) {
      element* const first = target.data() + begin * target.strides()[Axis];
      if constexpr (is_tensor<element_of_list<List>> && Target::space::host_accessible && TENON_CHECKED == 0) {
        if (each.size() <= most_elements_in_place) {  // they are copied while a statement begins
          return copy_blocks(each.data(), first, extents, target.extent(Axis) * target.strides()[Axis]);
        }
      }
      if constexpr (is_new) {
        using part_shape = typename element_of_list<List>::shape_type;
        array<index, part_shape::rank> strides{};
        for (int axis = 0; axis < part_shape::rank; ++axis) {
          strides[axis] = target.strides()[axis < Axis ? axis : axis + 1];
        }
        view<element, part_shape, typename Target::space>(first, each.shape(), strides) = each;
      } else {
        using part_shape = std::remove_cvref_t<decltype(extents)>;
        view<element, part_shape, typename Target::space>(first, extents, target.strides()) = each;
      }
    });
  }

 private:
  /// Copies what lies side by side: everything from `Axis` on, once for each position before it, `step` elements apart.
  template <class T, class Extents>
  static void copy_blocks(const T* source, T* target, const Extents& extents, index step) {
    index block = 1, count = 1;
    for (int axis = 0; axis < Extents::rank; ++axis) (axis < Axis ? count : block) *= extents.extent(axis);
    for (index i = 0; i < count; ++i) {
      for (index k = 0; k < block; ++k) target[i * step + k] = source[i * block + k];
    }
  }
  template <int Rank>
  static void check_extents(const array<index, Rank>& first, const array<index, Rank>& each, std::size_t number) {
    for (int axis = 0; axis < Rank; ++axis) {
      if (axis == Axis || each[axis] == first[axis]) continue;
      throw shape_error(compose_text(Operation::name, ": axis ", axis, ": extents ", first[axis], " and ", each[axis],
                                     " differ, expected equal (element 0 of the list ", first, ", element ", number,
                                     " ", each, ")"));
    }
  }
};

/// A list of tensors as one.
template <class Join, class List>
auto joined_tensor(const List& list) {
  using node = node_of<const element_of_list<List>&>;
  const auto extents = Join::shape_of(list);
  tensor<typename node::element, std::remove_cvref_t<decltype(extents)>, typename node::space> result(extents);
  Join::write(result.write_view(), list);
  return result;
}

}  // namespace detail

/// The tensors of a list behind each other along an axis that they have: a std::vector, std::span or std::array.
/// extents   the sum along that axis, equal along the others
/// throws    shape_error for an empty list, and naming the axis and both extents where they differ
/// cost      a copy of all elements: the result is a tensor
/// example   concatenate(axis<0>, std::vector{a, b})
template <int Axis, detail::list_of_tensors List>
auto concatenate(axis_list<Axis>, const List& list) {
  constexpr int position = only_axis<detail::element_of_list<List>::shape_type::rank>(axis_list<Axis>{});
  return detail::joined_tensor<detail::list_join<concatenate_operation, position>>(list);
}
/// The tensors of a list above each other along a new axis; otherwise as concatenate.
template <int Axis, detail::list_of_tensors List>
auto stack(axis_list<Axis>, const List& list) {
  constexpr int position = only_axis<detail::element_of_list<List>::shape_type::rank + 1>(axis_list<Axis>{});
  return detail::joined_tensor<detail::list_join<stack_operation, position>>(list);
}

}  // namespace tenon
