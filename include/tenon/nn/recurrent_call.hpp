// tenon/nn/recurrent_call.hpp: recurrent layers and cells that are called like functions, and gradients of such calls.
// One step makes several values, each with a gradient of its own; the layer's way back takes them all.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/call.hpp>

namespace tenon::nn {

namespace detail {

/// The gradients of what a step made, as its values leave them.
template <dtype T, memory_space Space, int Count>
struct several_values : tenon::detail::trace_step {
  array<typename tenon::detail::value_memory<T, Space>::elements, Count> gradients;
  array<bool, Count> is_given{};
};

/// One of the values of a step.
template <dtype T, class Shape, memory_space Space, int Count>
struct one_of_values : tenon::detail::value_step<T, Shape, Space> {
  using all_type = several_values<T, Space, Count>;
  std::optional<tenon::detail::step_link<all_type>> all;  // whose memory holds the value
  int number = 0;

  void pull_back() override {
    all_type& whole = **all;
    if (!std::exchange(whole.has_gradient, true)) whole.is_given = {};
    std::swap(this->gradient_memory(), whole.gradients[number]);
    whole.is_given[number] = true;
  }
  void forget() override { all.reset(); }
};

/// A recurrent layer called with leaves: its input and, if given, the states before.
template <class Layer, dtype T, class Shape, memory_space Space, int Count, class... Inputs>
struct recurrent_call_step : several_values<T, Space, Count> {
  Layer* layer = nullptr;
  std::optional<tuple<Inputs...>> inputs;
  array<Shape, Count> extents;
  typename call_memory_of<Layer>::type call_memory;
  earlier_gradients<T, Space> earlier;

  /// The values of the layer.
  auto run(Layer& called, const Inputs&... from) {
    layer = &called;
    const call_memory_in_use<Layer> in_use(called, call_memory);
    const auto values = attempt_forward(called, [&] { return called.forward(from.view()...); });
    if (tenon::detail::is_tracing) this->needs_gradient = are_trained(called);
    const auto add = [&](const auto& input) {
      if constexpr (tenon::detail::is_traced_leaf<std::remove_cvref_t<decltype(input)>>) {
        this->add_input(input.owner.step.get());
      }
    };
    (add(from), ...);
    if (this->needs_gradient) inputs.emplace(make_tuple_of(from...));
    int number = 0;
    return values.each([&](const auto& value) { return leaf_of(value, number++); });
  }
  void pull_back() override {
    const call_memory_in_use<Layer> in_use(*layer, call_memory);
    for (int i = 0; i < Count; ++i) {
      if (!this->is_given[i]) this->gradients[i].resize(rank<1>(extents[i].count())) = 0;
    }
    const auto pull = [&](const auto&... none) {
      const auto run = [&] {
        apply_all([&](const auto& first, const auto&... after) { give(layer->backward(first, none..., after...)); });
      };
      add_gradients(earlier, run, *layer);
    };
    if constexpr (Layer::wants_input_always) pull();
    else if (needs_first()) pull();
    else pull(not_wanted{});
  }
  void forget() override { inputs.reset(); }

 private:
  template <class View>
  auto leaf_of(const View& value, int number) {
    using value_type = one_of_values<T, Shape, Space, Count>;
    extents[number] = value.shape();
    this->gradients[number].resize(rank<1>(value.size()));
    auto& step = tenon::detail::taken_step<value_type>(0);
    const tenon::detail::step_link<tenon::detail::value_step<T, Shape, Space>> link(&step);
    step.all.emplace(this), step.number = number;
    step.add_input(this);
    return traced<T, Shape, Space>(traced_leaf<T, Shape, Space>{value, {link}});
  }
  template <class Body>
  void apply_all(const Body& body) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      body(view<T, Shape, Space>(this->gradients[I].current().data(), extents[I])...);
    }(std::make_integer_sequence<int, Count>{});
  }
  bool needs_first() const {
    const auto& first = get<0>(*inputs);
    if constexpr (tenon::detail::is_traced_leaf<std::remove_cvref_t<decltype(first)>>) {
      return first.owner.step->needs_gradient;
    } else {
      return false;
    }
  }
  /// Adds what the way back found to the gradients of the inputs.
  template <class Found>
  void give(const Found& found) {
    const auto parts = found.all();
    for_each_index<static_cast<int>(sizeof...(Inputs))>([&](auto i) {
      const auto& input = get<i.value>(*inputs);
      using input_type = std::remove_cvref_t<decltype(input)>;
      using part_type = std::remove_cvref_t<decltype(get<i.value>(parts))>;
      if constexpr (tenon::detail::is_traced_leaf<input_type> && is_wanted<part_type>) {
        auto& from = *input.owner.step;
        if (from.needs_gradient) from.add_gradient(input.shape(), as_node(get<i.value>(parts)));
      }
    });
  }
};

}  // namespace detail

/// Recurrent layers and cells: the result has traced values where that of `forward` has views.
template <keeps_states Layer, tensor_operand... Operands>
struct layer_caller<Layer, Operands...> {
  static auto call(Layer& layer, Operands&&... operands) {
    if constexpr (detail::is_kept_elsewhere<Operands...>) {
      return tenon::detail::keeper_of<Operands...>::call_states(layer, operands...);
    } else {
      return run(layer, detail::input_of(std::forward<Operands>(operands))...);
    }
  }

 private:
  template <class... Inputs>
  static auto run(Layer& layer, const Inputs&... inputs) {
    using values_type = decltype(layer.forward(inputs.view()...));
    using shape_type = typename decltype(values_type::hidden)::shape_type;
    using step_type = detail::recurrent_call_step<Layer, typename Layer::element, shape_type, typename Layer::space,
                                                  values_type::count, Inputs...>;
    auto& step = tenon::detail::taken_step<step_type>(0);
    const tenon::detail::step_link<step_type> link(&step);
    return step.run(layer, inputs...);
  }
};

/// Overload for what a recurrent layer returns, which is several values.
template <class Layer, class Values>
  requires requires(Values& values) { values.hidden; }
struct layer_caller<Layer, Values> {
  static_assert(must_hold<Layer>,
                "tenon: a recurrent layer makes a sequence and states; say which this layer reads, such as "
                "head(lstm(x).sequence)");
};

}  // namespace tenon::nn
