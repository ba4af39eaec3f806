// tenon/nn/call_step.hpp: what a call of a layer remembers, and its way back.
// Layers with parameters stay where they are and gather gradients; layers without are copied as they were.
// Floor 7: may include base, core, device, expr, plan, contraction, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced.hpp>
#include <tenon/nn/joined_layers.hpp>

namespace tenon::nn {

namespace detail {

/// Whether a call changes what a layer is, such as the mask that dropout draws.
template <class Layer>
concept prepares = requires(Layer& layer) { layer.prepare(0); };

/// A layer of a call: by its place where it has parameters, else by value.
template <class Layer>
class held_layer {
 public:
  held_layer() = default;
  explicit held_layer(Layer& layer) : layer_(&layer) {}
  Layer& get() const { return *layer_; }
  void keep() {}

 private:
  Layer* layer_ = nullptr;
};
template <class Layer>
  requires std::is_base_of_v<stateless, Layer>
class held_layer<Layer> {
 public:
  held_layer() = default;
  explicit held_layer(Layer& layer) : layer_(layer), changed_(&layer) {}
  Layer& get() const {
    if constexpr (prepares<Layer>) return changed_ == nullptr ? layer_ : *changed_;
    else return layer_;
  }
  /// From here on the layer is as the call has left it.
  void keep() {
    if constexpr (prepares<Layer>) layer_ = *changed_, changed_ = nullptr;
  }

 private:
  mutable Layer layer_;
  Layer* changed_ = nullptr;  // which a call is about to change
};

/// Whether the call of a layer waits for one that it may join. What a call changes in a layer happens at once.
template <class Layer>
inline constexpr bool can_be_joined = false;
template <class Layer>
  requires(Layer::forgets_output)
inline constexpr bool can_be_joined<Layer> = !prepares<Layer>;

/// What a layer keeps of one call for its way back, so that each call has its own: `Layer::call_memory`, which
/// `exchange_memory` puts in the place of the layer's. Most layers keep nothing.
struct no_call_memory {};
template <class Layer>
struct call_memory_of {
  using type = no_call_memory;
};
template <class Layer>
  requires requires { typename Layer::call_memory; }
struct call_memory_of<Layer> {
  using type = typename Layer::call_memory;
};

/// While one lives, a layer has the memory of a call.
template <class Layer>
class call_memory_in_use {
 public:
  using memory_type = typename call_memory_of<Layer>::type;
  call_memory_in_use(Layer& layer, memory_type& memory) : layer_(layer), memory_(memory) { exchange(); }
  ~call_memory_in_use() { exchange(); }
  call_memory_in_use(const call_memory_in_use&) = delete;
  call_memory_in_use& operator=(const call_memory_in_use&) = delete;

 private:
  void exchange() {
    if constexpr (!std::is_same_v<memory_type, no_call_memory>) layer_.exchange_memory(memory_);
  }
  Layer& layer_;
  memory_type& memory_;
};

/// The gradients that parameters have from before, while a layer leaves new ones in their place.
template <dtype T, memory_space Space>
class earlier_gradients {
 public:
  /// Runs `pull`, which leaves the gradients of these layers, and adds what was there.
  template <class Pull, class... Layers>
  void add_to(const Pull& pull, Layers&... layers) {
    visit(
        [this](auto& parameter, std::size_t number) {
          if (!parameter.has_gradient) return;
          if (number >= kept_.size()) kept_.resize(number + 1);
          kept_[number].resize(flat(parameter.gradient).shape()) = flat(parameter.gradient);
        },
        layers...);
    pull();
    visit(
        [this](auto& parameter, std::size_t number) {
          if (parameter.has_gradient) flat(parameter.gradient) = flat(parameter.gradient) + kept_[number].current();
          parameter.has_gradient = true;
        },
        layers...);
  }

 private:
  template <class Body, class... Layers>
  static void visit(const Body& body, Layers&... layers) {
    std::size_t number = 0;
    (layers.visit_parameters([&](const auto&, auto& parameter) { body(parameter, number++); }), ...);
  }
  template <class Tensor>
  static view<T, rank<1>, Space> flat(Tensor& gradient) {
    return {gradient.data(), rank<1>(gradient.size())};
  }
  std::vector<buffer<T, rank<1>, Space>> kept_;
};

/// The element type of what a layer makes.
template <class Layer, class Input>
using element_behind =
    typename node_of<decltype(std::declval<Layer&>().forward(std::declval<const Input&>()))>::element;

/// One layer, or several that are one statement, called with a leaf.
template <class Input, class First, class... Rest>
struct call_step : tenon::detail::value_step<
                       element_behind<First, decltype(Input::elements)>,
                       typename joined_layers<element_behind<First, decltype(Input::elements)>, typename Input::space,
                                              typename Input::shape_type, First, Rest...>::output_shape,
                       typename Input::space> {
  using element = element_behind<First, decltype(Input::elements)>;
  using space = typename Input::space;
  using pass_type = joined_layers<element, space, typename Input::shape_type, First, Rest...>;
  using shape_type = typename pass_type::output_shape;
  using layers_type = tuple<held_layer<First>, held_layer<Rest>...>;
  static constexpr bool leaves_gradients =
      !std::is_base_of_v<stateless, First> || (!std::is_base_of_v<stateless, Rest> || ...);

  std::optional<Input> input;
  std::optional<layers_type> layers;
  pass_type pass;
  typename call_memory_of<First>::type call_memory;
  earlier_gradients<element, space> earlier;

  /// The leaf of the value.
  static traced_leaf<element, shape_type, space> run(const Input& input, const layers_type& layers) {
    const shape_type extents = apply_tuple(
        [&](const auto&... layer) -> shape_type { return shape_through(input.shape(), layer.get()...); }, layers);
    auto& step = tenon::detail::taken_step<call_step>(extents.count());
    const tenon::detail::step_link<tenon::detail::value_step<element, shape_type, space>> link(&step);
    step.forward(input, layers, extents);
    return {step.memory.current(), {link}};
  }
  void pull_back() override {
    const auto pull = [&](const auto& destination) { backward(destination); };
    if constexpr (tenon::detail::is_traced_leaf<Input> && is_floating<typename Input::element>) {
      auto& from = *input->owner.step;
      if (from.needs_gradient) return from.add_written(input->shape(), pull);
    }
    if constexpr (leaves_gradients) pull(not_wanted{});
  }
  void let_go() override {
    input.reset(), layers.reset();
    tenon::detail::recycle(*this);
  }

 private:
  void forward(const Input& from, const layers_type& called, const shape_type& extents) {
    const auto output = this->memory.resize(extents);
    apply_tuple(
        [&](const held_layer<First>& first, const auto&... rest) {
          const call_memory_in_use<First> in_use(first.get(), call_memory);
          attempt_forward(first.get(), [&] { pass.forward(first.get(), rest.get()..., from.elements, output); });
        },
        called);
    if constexpr (tenon::detail::is_traced_leaf<Input>) this->add_input(from.owner.step.get());
    if (leaves_gradients && tenon::detail::is_tracing) this->needs_gradient = true;
    if (!this->needs_gradient) return;
    input.emplace(from), layers.emplace(called);
    apply_tuple([](auto&... layer) { (layer.keep(), ...); }, *layers);
  }
  template <class Destination>
  void backward(const Destination& destination) {
    apply_tuple(
        [&](const held_layer<First>& first, const auto&... rest) {
          const call_memory_in_use<First> in_use(first.get(), call_memory);
          earlier.add_to(
              [&] {
                pass.backward(first.get(), rest.get()..., input->elements, this->memory.current(),
                              this->gradient.current(), destination);
              },
              first.get(), rest.get()...);
        },
        *layers);
  }
};

}  // namespace detail

}  // namespace tenon::nn
