// tenon/nn/recurrent_call.hpp: recurrent layers and cells that are called like functions, and gradients of such calls.
// One step makes several values, each with a gradient of its own; the layer's way back takes them all.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/call.hpp>
#include <tenon/nn/packed_sequence.hpp>

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

/// The leaf of an input of a call, which may be packed rows.
template <class Leaf>
const Leaf& leaf_in(const Leaf& input) {
  return input;
}
template <class Leaf>
const Leaf& leaf_in(const packed_sequence<Leaf>& input) {
  return input.rows;
}
/// What a layer takes, or leaves, under another leaf or view.
template <class Given, class Leaf>
const Leaf& in_place_of(const Given&, const Leaf& other) {
  return other;
}
template <class Given, class Leaf>
packed_sequence<Leaf> in_place_of(const packed_sequence<Given>& given, const Leaf& other) {
  return {other, given.layout};
}
/// An input as the passes of a layer take it.
template <class Input>
auto elements_in(const Input& input) {
  return in_place_of(input, leaf_in(input).view());
}

/// A recurrent layer called with leaves: its input and, if given, the states before.
template <class Layer, class Values, class... Inputs>
struct recurrent_call_step : several_values<typename Layer::element, typename Layer::space, Values::count> {
  using element = typename Layer::element;
  using space = typename Layer::space;

  Layer* layer = nullptr;
  std::optional<tuple<Inputs...>> inputs;
  std::optional<Values> values;
  typename call_memory_of<Layer>::type call_memory;
  earlier_gradients<element, space> earlier;
  found_parameters noted;

  /// The values of the layer.
  auto run(Layer& called, const Inputs&... from) {
    layer = &called;
    noted = parameters_of_call(called);
    [[maybe_unused]] const auto lent = lend_memory(called, call_memory);
    values.emplace(attempt_forward(called, [&] { return called.forward(elements_in(from)...); }));
    noted.tell(*this);
    const auto add = [&](const auto& input) {
      if constexpr (tenon::detail::is_traced_leaf<std::remove_cvref_t<decltype(input)>>) {
        this->add_input(input.owner.step.get());
      }
    };
    (add(leaf_in(from)), ...);
    if (this->needs_gradient) inputs.emplace(make_tuple_of(from...)), (this->keep_elements(leaf_in(from)), ...);
    int number = 0;
    return values->each([&](const auto& value) { return in_place_of(value, leaf_of(leaf_in(value), number++)); });
  }
  void pull_back() override {
    [[maybe_unused]] const auto lent = lend_memory(*layer, call_memory);
    int number = 0;
    const auto seeds = values->each([&](const auto& value) {
      const auto& elements = leaf_in(value);
      return in_place_of(value, gradient_under(elements.shape(), number++));
    });
    const auto pull = [&](const auto&... none) {
      const auto run = [&] {
        apply_tuple([&](const auto& first, const auto&... after) { give(layer->backward(first, none..., after...)); },
                    seeds.all());
      };
      add_gradients(earlier, run, *layer);
    };
    if constexpr (Layer::wants_input_always) pull();
    else if (needs_first()) pull();
    else pull(not_wanted{});
  }
  void must_be_current() const override { noted.must_be_current(*layer); }
  void forget() override { inputs.reset(), values.reset(); }

 private:
  template <class Shape>
  view<element, Shape, space> gradient_under(const Shape& shape, int number) {
    auto& memory = this->gradients[number];
    if (!this->is_given[number]) memory.resize(rank<1>(shape.count())) = 0;
    return {memory.current().data(), shape};
  }
  template <class View>
  auto leaf_of(const View& value, int number) {
    using shape_type = typename View::shape_type;
    using value_type = one_of_values<element, shape_type, space, Values::count>;
    this->gradients[number].resize(rank<1>(value.size()));
    auto& step = tenon::detail::taken_step<value_type>(0);
    tenon::detail::step_link<tenon::detail::value_step<element, shape_type, space>> link(&step);
    step.all.emplace(this), step.number = number;
    step.add_input(this);
    return traced<element, shape_type, space>(traced_leaf<element, shape_type, space>{value, {link.handed_over()}});
  }
  bool needs_first() const {
    const auto& first = leaf_in(get<0>(*inputs));
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
      const auto& input = leaf_in(get<i.value>(*inputs));
      const auto& part = leaf_in(get<i.value>(parts));
      if constexpr (tenon::detail::is_traced_leaf<std::remove_cvref_t<decltype(input)>> &&
                    is_wanted<std::remove_cvref_t<decltype(part)>>) {
        auto& from = *input.owner.step;
        if (from.needs_gradient) from.add_gradient(input.shape(), as_node(part));
      }
    });
  }
};

/// Calls a recurrent layer with leaves, the first of which may be packed rows.
template <class Layer, class... Inputs>
auto call_recurrent(Layer& layer, const Inputs&... inputs) {
  using values_type = decltype(layer.forward(elements_in(inputs)...));
  using step_type = recurrent_call_step<Layer, values_type, Inputs...>;
  auto& step = tenon::detail::taken_step<step_type>(0);
  const tenon::detail::step_link<step_type> link(&step);
  return step.run(layer, inputs...);
}

template <class Operand>
inline constexpr bool is_packed = false;
template <class Rows>
inline constexpr bool is_packed<packed_sequence<Rows>> = true;

}  // namespace detail

/// Recurrent layers and cells: the result has traced values where that of `forward` has views.
template <keeps_states Layer, tensor_operand... Operands>
struct layer_caller<Layer, Operands...> {
  static auto call(Layer& layer, Operands&&... operands) {
    if constexpr (detail::is_kept_elsewhere<Operands...>) {
      return tenon::detail::keeper_of<Operands...>::call_states(layer, operands...);
    } else {
      return detail::call_recurrent(layer, detail::input_of(std::forward<Operands>(operands))...);
    }
  }
};

/// Recurrent layers of packed sequences: `sequence` of the result is packed, too.
template <keeps_states Layer, class Packed, tensor_operand... States>
  requires(detail::is_packed<std::remove_cvref_t<Packed>> && Layer::takes_packed_sequences)
struct layer_caller<Layer, Packed, States...> {
  static auto call(Layer& layer, const Packed& packed, States&&... states) {
    return detail::call_recurrent(layer, detail::in_place_of(packed, detail::input_of(packed.rows)),
                                  detail::input_of(std::forward<States>(states))...);
  }
};

}  // namespace tenon::nn
