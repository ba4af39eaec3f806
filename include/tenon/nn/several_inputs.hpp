// tenon/nn/several_inputs.hpp: layers of several inputs that are called like functions, and gradients of such calls.
// Attention of queries to keys and values, bilinear layers, bags of embeddings, and what a max pool took apart.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/nn/call.hpp>

namespace tenon::nn {

namespace detail {

/// What a layer makes of several inputs.
template <class Layer, class... Inputs>
using node_of_inputs = node_of<decltype(std::declval<Layer&>().forward(std::declval<const Inputs&>().view()...))>;

/// A layer called with several leaves.
template <class Layer, class... Inputs>
struct several_inputs_step : tenon::detail::value_step<typename node_of_inputs<Layer, Inputs...>::element,
                                                       typename node_of_inputs<Layer, Inputs...>::shape_type,
                                                       typename node_of_inputs<Layer, Inputs...>::space> {
  using node = node_of_inputs<Layer, Inputs...>;
  using element = typename node::element;
  using shape_type = typename node::shape_type;
  using space = typename node::space;

  std::optional<held_layer<Layer>> layer;
  shape_type extents{};
  std::optional<tuple<Inputs...>> inputs;
  tuple<buffer<typename Inputs::element, typename Inputs::shape_type, space>...> gradients;  // of the inputs
  typename call_memory_of<Layer>::type call_memory;
  earlier_gradients<element, space> earlier;
  found_parameters noted;

  void run(Layer& called, const Inputs&... from) {
    layer.emplace(called);
    noted = parameters_of_call(called);
    [[maybe_unused]] const auto lent = lend_memory(called, call_memory);
    attempt_forward(called, [&] {
      const auto made = called.forward(from.view()...);
      extents = made.shape();
      this->value(extents) = made;
    });
    const auto add = [&](const auto& input) {
      if constexpr (is_pulled<std::remove_cvref_t<decltype(input)>>) this->add_input(input.owner.step.get());
    };
    (add(from), ...);
    noted.tell(*this);
    if (this->needs_gradient) inputs.emplace(make_tuple_of(from...)), (this->keep_elements(from), ...);
  }
  void pull_back() override {
    [[maybe_unused]] const auto lent = lend_memory(layer->get(), call_memory);
    [&]<int... I>(std::integer_sequence<int, I...>) {
      const auto to = make_tuple_of(destination(get<I>(*inputs), get<I>(gradients))...);
      const auto pull = [&] {
        layer->get().pull(get<I>(*inputs).view()..., this->value(extents), this->gradient_under(extents),
                          get<I>(to)...);
      };
      add_gradients(earlier, pull, layer->get());
      (give(get<I>(*inputs), get<I>(to)), ...);
    }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Inputs))>{});
  }
  void must_be_current() const override { noted.must_be_current(layer->get()); }
  void forget() override { inputs.reset(), layer.reset(); }

 private:
  /// Whether gradients flow to an input.
  template <class Input>
  static constexpr bool is_pulled = [] {
    if constexpr (tenon::detail::is_traced_leaf<Input>) return is_floating<typename Input::element>;
    else return false;
  }();
  /// Where the gradient of an input is written.
  template <class Input, class Buffer>
  static auto destination(const Input& input, Buffer& memory) {
    if constexpr (is_pulled<Input>) return memory.resize(input.shape());
    else return not_wanted{};
  }
  template <class Input, class Gradient>
  static void give(const Input& input, const Gradient& gradient) {
    if constexpr (is_pulled<Input>) {
      auto& from = *input.owner.step;
      if (from.needs_gradient) from.add_gradient(input.shape(), as_node(gradient));
    }
  }
};

}  // namespace detail

/// Layers of several inputs: `Layer::pull(inputs..., output, gradient, destinations...)` is their way back.
template <class Layer, tensor_operand First, tensor_operand Second, tensor_operand... Rest>
  requires(!keeps_states<Layer>)
struct layer_caller<Layer, First, Second, Rest...> {
  static auto call(Layer& layer, First&& first, Second&& second, Rest&&... rest) {
    if constexpr (detail::is_kept_elsewhere<First, Second, Rest...>) {
      return tenon::detail::keeper_of<First, Second, Rest...>::call(layer, first, second, rest...);
    } else {
      return run(layer, detail::input_of(std::forward<First>(first)), detail::input_of(std::forward<Second>(second)),
                 detail::input_of(std::forward<Rest>(rest))...);
    }
  }

 private:
  template <class... Inputs>
  static auto run(Layer& layer, const Inputs&... inputs) {
    using step_type = detail::several_inputs_step<Layer, Inputs...>;
    using leaf_type =
        traced_leaf<typename step_type::element, typename step_type::shape_type, typename step_type::space>;
    auto& step = tenon::detail::taken_step<step_type>(0);
    const decltype(leaf_type::owner.step) link(&step);
    step.run(layer, inputs...);
    return traced(leaf_type{step.value(step.extents), {link}});
  }
};

}  // namespace tenon::nn
