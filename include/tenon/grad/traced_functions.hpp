// tenon/grad/traced_functions.hpp: what a program may do on the way back through traced values.
// Look at gradients, give those that it knows, and compute again what it did not keep.
// Floor 6: may include base, core, expr, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tenon/grad/pass_numbers.hpp>
#include <tenon/grad/traced.hpp>

namespace tenon {

namespace detail {

/// A value as it is, and a function that is called on the way back.
template <class T, class Shape, class Space, class Function>
struct watched_step : value_step<T, Shape, Space> {
  std::optional<traced_leaf<T, Shape, Space>> watched;
  std::optional<Function> function;

  void pull_back() override {
    if constexpr (std::is_invocable_v<Function&>) (*function)();
    else (*function)(this->gradient_under(watched->shape()));
    watched->owner.step->take_over(this->gradient_memory());
  }
  void forget() override { watched.reset(), function.reset(); }
};

/// A value whose gradient the caller knows.
template <class T, class Shape, class Space, class Input, class Function>
struct known_gradient_step : value_step<T, Shape, Space> {
  Shape extents{};
  std::optional<Input> input;
  std::optional<Function> function;

  void pull_back() override {
    const auto gradient = this->gradient_under(extents);
    input->owner.step->add_gradient(input->shape(), (*function)(as_node(gradient)));
  }
  void forget() override { input.reset(), function.reset(); }
};

}  // namespace detail

/// The value of an expression of `input` with a gradient of its own: `gradient_of(seed)`, where `seed` is the gradient
/// of the value. For functions without a derivative, or with a better one than their expression's.
/// example   traced h = with_gradient(clamp(x, 0, 1), x, [](const auto& seed) { return seed; });  // straight through
template <tensor_operand Operand, class T, class Shape, class Space, class Function>
auto with_gradient(const Operand& value, const traced<T, Shape, Space>& input, const Function& gradient_of) {
  using node = node_of<const Operand&>;
  using shape_type = typename node::shape_type;
  using leaf_type = traced_leaf<typename node::element, shape_type, Space>;
  using step_type =
      detail::known_gradient_step<typename node::element, shape_type, Space, traced_leaf<T, Shape, Space>, Function>;
  const auto& made = as_node(value);
  auto& step = detail::taken_step<step_type>(made.shape().count());
  detail::step_link<detail::value_step<typename node::element, shape_type, Space>> link(&step);
  step.extents = made.shape();
  step.value(step.extents) = made;
  step.add_input(input.owner.step.get());
  if (step.needs_gradient) step.input.emplace(input), step.function.emplace(gradient_of);
  return traced(leaf_type{step.value(step.extents), {link.handed_over()}});
}

/// Of values of a network in use, which have no gradients, the value alone.
template <tensor_operand Operand, class Input, class Function>
  requires(!detail::is_kept_by_steps<const Input&>)
auto with_gradient(const Operand& value, const Input&, const Function&) {
  return traced(value);
}

/// The same value; a backward pass calls `function(gradient)`, or `function()`, when it has the gradient, a view
/// whose elements may be changed, and goes on behind it.
/// example   h = on_gradient(h, [](const auto& gradient) { std::printf("%g\n", double(max(abs(gradient)))); });
template <class T, class Shape, class Space, class Function>
traced<T, Shape, Space> on_gradient(const traced<T, Shape, Space>& value, const Function& function) {
  auto& step = detail::taken_step<detail::watched_step<T, Shape, Space, Function>>(0);
  detail::step_link<detail::value_step<T, Shape, Space>> link(&step);
  step.add_input(value.owner.step.get());
  step.watched.emplace(value);
  if (step.needs_gradient) step.function.emplace(function);
  return traced_leaf<T, Shape, Space>{value.view(), {link.handed_over()}};
}

template <class Input, class Function>
  requires(!detail::is_kept_by_steps<const Input&>)
auto on_gradient(const Input& value, const Function&) {
  return traced(value);
}

template <tensor_operand Operand, class Function>
  requires(detail::is_kept_by_steps<const Operand&> && !detail::is_traced_leaf<node_of<const Operand&>>)
auto on_gradient(const Operand& value, const Function&) {
  static_assert(must_hold<Operand>, "tenon: on_gradient takes a traced value; traced(x) makes one of an expression");
  return traced(value);
}

namespace detail {

/// A function that runs again for its gradient.
template <class Result, class Shape, class Function, class... Leaves>
struct checkpoint_step : Result {
  std::optional<Function> function;
  std::optional<tuple<Leaves...>> inputs;
  std::vector<std::uint64_t> passes;  // of layers that draw random numbers
  Shape extents{};

  void pull_back() override {
    const auto variables =
        apply_tuple([](const auto&... each) { return make_tuple_of(variable(each.view())...); }, *inputs);
    const auto again = apply_tuple(
        [&](const auto&... each) {
          repeated_passes repeated(passes);
          traced made = function.value()(each...);
          repeated.must_be_complete();
          return made;
        },
        variables);
    must_be_same(again);
    pull_from(again, this->gradient_under(extents), get<0>(variables).owner.step->number());
    for_each_index<static_cast<int>(sizeof...(Leaves))>([&](auto i) {
      const auto& input = get<i.value>(*inputs);
      if (input.owner.step->needs_gradient) {
        input.owner.step->add_gradient(input.shape(), as_node(get<i.value>(variables).gradient()));
      }
    });
  }
  void forget() override { function.reset(), inputs.reset(); }

 private:
  /// On the host; elsewhere it would wait.
  template <class Value>
  void must_be_same(const Value& again) {
    if constexpr (std::is_same_v<typename Value::space, host>) {
      const auto before = this->value(extents);
      const bool is_same = all(again == before || (again != again && before != before));  // NaN is NaN
      if (is_same) return;
      throw error("checkpoint: the function makes another value than before, expected the same whenever it runs");
    }
  }
};

}  // namespace detail

/// The result of `function(inputs...)` as one step. Only the result is kept: `backward` calls the function again. The
/// inputs, at least one, are all traced values that the function reads. Called again with the same inputs, the function
/// must do the same. Layers in it draw the random numbers of the first time, such as masks of dropout, and move their
/// running statistics the first time only.
/// throws    error in `backward`, where it reads another one, where it calls other layers that draw random numbers, and
///           on the host where it makes another value
/// example   h = checkpoint([&](const auto& x) { return block(x); }, h);
template <class Function, class... Inputs>
  requires(detail::is_kept_by_steps<const Inputs&...>)
auto checkpoint(const Function& function, const Inputs&... inputs) {
  static_assert((detail::is_traced_leaf<node_of<const Inputs&>> && ...) || must_hold<Inputs...>,
                "tenon: checkpoint takes traced values; traced(x) makes one of an expression");
  const detail::noted_passes noted;
  const auto made = [&] {
    const no_grad apart;
    return traced(function(inputs...));
  }();
  using leaf_type = typename decltype(made)::leaf_type;
  using result =
      detail::value_step<typename leaf_type::element, typename leaf_type::shape_type, typename leaf_type::space>;
  using step_type =
      detail::checkpoint_step<result, typename leaf_type::shape_type, Function, node_of<const Inputs&>...>;
  auto& step = detail::taken_step<step_type>(made.size());
  detail::step_link<result> link(&step);
  step.extents = made.shape();
  step.value(step.extents) = made;
  (step.add_input(inputs.owner.step.get()), ...);
  step.needs_gradient = detail::is_tracing;
  if (step.needs_gradient) {
    step.function.emplace(function), step.inputs.emplace(make_tuple_of(as_node(inputs)...));
    noted.copy_to(step.passes);
  }
  return traced(leaf_type{step.value(step.extents), {link.handed_over()}});
}

template <class Function, class... Inputs>
  requires(!detail::is_kept_by_steps<const Inputs&...>)
auto checkpoint(const Function& function, const Inputs&... inputs) {
  return traced(function(inputs...));
}

}  // namespace tenon
