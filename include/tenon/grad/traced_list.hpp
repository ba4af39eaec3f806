// tenon/grad/traced_list.hpp: stack and concatenate of a list of traced values, such as a decoder's steps.
// One step of the program, whatever the length of the list; each element gets its part of the gradient.
// Floor 6: may include base, core, expr, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tenon/expr/joined_list.hpp>
#include <tenon/grad/traced.hpp>

namespace tenon {

namespace detail {

/// A list of traced values that have gradients.
template <class List>
concept list_of_traced = list_of_operands<List> && is_traced_leaf<node_of<const element_of_list<List>&>> &&
                         is_kept_by_steps<const element_of_list<List>&>;

/// Values that became one.
template <class Join, int Axis, class T, class Shape, class Space, class Leaf>
struct joined_step : value_step<T, Shape, Space> {
  std::vector<Leaf> parts;
  std::optional<Shape> extents;

  void pull_back() override {
    const auto gradient = this->gradient_under(*extents);
    Join::for_each_part(parts, [&](const Leaf& part, index begin, const auto&) {
      if (!part.owner.step->needs_gradient) return;
      constexpr int rank = Leaf::shape_type::rank;
      array<index, rank> strides{};
      for (int axis = 0; axis < rank; ++axis) {
        strides[axis] = gradient.strides()[Join::is_new && axis >= Axis ? axis + 1 : axis];
      }
      const view<const T, typename Leaf::shape_type, Space> own(gradient.data() + begin * gradient.strides()[Axis],
                                                                part.shape(), strides);
      part.owner.step->add_gradient(part.shape(), as_node(own));
    });
  }
  void forget() override { parts.clear(); }
};

/// A list of traced values as one.
template <class Operation, int Axis, class List>
auto joined_traced(const List& list) {
  using join = list_join<Operation, Axis>;
  using leaf_type = node_of<const element_of_list<List>&>;
  using element = typename leaf_type::element;
  using space = typename leaf_type::space;
  const auto extents = join::shape_of(list);
  using shape_type = std::remove_cvref_t<decltype(extents)>;
  auto& step = taken_step<joined_step<join, Axis, element, shape_type, space, leaf_type>>(extents.count());
  step_link<value_step<element, shape_type, space>> link(&step);
  step.extents.emplace(extents);
  const auto value = step.value(extents);
  join::write(value, list);
  for (std::size_t i = 0; i < list.size(); ++i) step.add_input(list[i].owner.step.get());
  if (step.needs_gradient) {
    for (std::size_t i = 0; i < list.size(); ++i) step.parts.push_back(as_node(list[i]));
  }
  return traced(traced_leaf<element, shape_type, space>{value, {link.handed_over()}});
}

}  // namespace detail

/// The traced values of a list behind each other along an axis that they have, as one traced value.
/// extents   the sum along that axis, equal along the others
/// throws    shape_error for an empty list, and naming the axis and both extents where they differ
/// gradient  each value's part
/// example   std::vector<decltype(h)> steps;  // filled by a loop
///           traced all = concatenate(axis<0>, steps);
template <int Axis, detail::list_of_traced List>
auto concatenate(axis_list<Axis>, const List& list) {
  constexpr int position = only_axis<detail::element_of_list<List>::shape_type::rank>(axis_list<Axis>{});
  return detail::joined_traced<concatenate_operation, position>(list);
}
/// The traced values of a list above each other along a new axis, as PyTorch's `torch.stack(list, dim)`; otherwise as
/// concatenate.
/// example   traced all = stack(axis<1>, steps);  // [batch, steps, ...]
template <int Axis, detail::list_of_traced List>
auto stack(axis_list<Axis>, const List& list) {
  constexpr int position = only_axis<detail::element_of_list<List>::shape_type::rank + 1>(axis_list<Axis>{});
  return detail::joined_traced<stack_operation, position>(list);
}

}  // namespace tenon
