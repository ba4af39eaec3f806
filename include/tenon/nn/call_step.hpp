// tenon/nn/call_step.hpp: what a call of a layer remembers, and its way back.
// Layers with parameters stay where they are and gather gradients; layers without are copied as they were.
// Floor 7: may include base, core, device, expr, plan, contraction, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/grad/traced.hpp>
#include <tenon/nn/call_memory.hpp>
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

/// The gradients that parameters have from before, while a layer leaves new ones in their place.
template <dtype T, memory_space Space>
class earlier_gradients {
 public:
  void begin() { count_ = 0; }
  /// Keeps the gradient of one more parameter, where it has one.
  template <class Parameter>
  void keep(Parameter& parameter) {
    keep_elements(flat(parameter), parameter.has_gradient);
  }
  /// Adds what was kept of the parameter that is `number`th.
  template <class Parameter>
  void add(Parameter& parameter, std::size_t number) {
    add_elements(flat(parameter), number, parameter.is_frozen);
    parameter.has_gradient = !parameter.is_frozen;
  }

 private:
  struct kept {
    buffer<T, rank<1>, Space> elements;
    bool is_there = false;
  };
  // Out of line, as parameters of all extents share them.
  [[gnu::noinline]] void keep_elements(const view<const T, rank<1>, Space>& gradient, bool is_there) {
    if (count_ == kept_.size()) kept_.emplace_back();
    kept& next = kept_[count_++];
    next.is_there = is_there;
    if (is_there) next.elements.resize(gradient.shape()) = gradient;
  }
  [[gnu::noinline]] void add_elements(const view<T, rank<1>, Space>& gradient, std::size_t number, bool is_frozen) {
    const kept& own = kept_[number];
    if (own.is_there) gradient = gradient + own.elements.current();
    if (is_frozen) gradient = 0;
  }
  template <class Parameter>
  static view<T, rank<1>, Space> flat(Parameter& parameter) {
    static_assert(
        std::is_same_v<typename decltype(Parameter::gradient)::element, T> || must_hold<Parameter, T>,
        "tenon: a network computes in the type of its parameters: of half, net(cast<half>(x)), or net.to<float>()");
    return {parameter.gradient.data(), rank<1>(parameter.gradient.size())};
  }
  std::vector<kept> kept_;
  std::size_t count_ = 0;
};

template <class Layer>
constexpr const char* name_of() {
  if constexpr (requires { Layer::name; }) return Layer::name;
  else return "layer";
}

/// What a call finds of the parameters of its layers.
struct found_parameters {
  bool are_trained = false, are_frozen = false;  ///< any of them
  std::uint64_t changes = 0;                     ///< of all of them
  std::weak_ptr<const char> life;                ///< of the first one, or of the layer where that says it

  /// Says to a step what it was made of.
  void tell(tenon::detail::trace_step& step) const {
    if (!tenon::detail::is_tracing) return;
    step.needs_gradient = step.needs_gradient || are_trained;
    step.meets_frozen = step.meets_frozen || are_frozen;
  }
  /// throws    error where their layer is gone, or they were changed since
  template <class First, class... Rest>
  void must_be_current(First& first, Rest&... rest) const {
    if ((are_trained || are_frozen) && life.expired()) tenon::detail::refuse_gone(name_of<First>());
    std::uint64_t now = 0;
    const auto add = [&](auto& layer) {
      layer.visit_parameters([&](const auto&, const auto& parameter) { now += parameter.version.changes(); });
    };
    add(first), (add(rest), ...);
    if (now != changes) tenon::detail::refuse_changed(name_of<First>());
  }
};
/// What expires with a layer, or with its first parameter where the layer does not say it.
template <class Layer, class Parameter>
std::weak_ptr<const char> life_in_call(Layer& layer, Parameter& parameter) {
  if constexpr (requires { layer.life(); }) return layer.life();
  else return parameter.version.life();
}
/// throws    error where a parameter was never written
template <class... Layers>
found_parameters parameters_of_call(Layers&... layers) {
  found_parameters found;
  const auto look = [&]<class Layer>(Layer& layer) {
    layer.visit_parameters([&](const auto& name, auto& parameter) {
      must_be_written(name_of<Layer>(), name, parameter.value);
      const bool is_first = !found.are_frozen && !found.are_trained;
      if (is_first && tenon::detail::is_tracing) found.life = life_in_call(layer, parameter);
      (parameter.is_frozen ? found.are_frozen : found.are_trained) = true;
      found.changes += parameter.version.changes();
    });
  };
  (look(layers), ...);
  return found;
}

/// Runs `pull`, which leaves the gradients of some layers, and adds what was there.
template <class Earlier, class Pull, class... Layers>
void add_gradients(Earlier& earlier, const Pull& pull, Layers&... layers) {
  earlier.begin();
  (layers.visit_parameters([&](const auto&, auto& parameter) { earlier.keep(parameter); }), ...);
  pull();
  std::size_t number = 0;
  (layers.visit_parameters([&](const auto&, auto& parameter) { earlier.add(parameter, number++); }), ...);
}

/// The element type of a layer's output.
template <class Layer, class Input>
using element_behind =
    typename node_of<decltype(std::declval<Layer&>().forward(std::declval<const Input&>()))>::element;

/// The view of a leaf's elements.
template <class Leaf>
using viewed = std::remove_cvref_t<decltype(std::declval<const Leaf&>().view())>;

/// One layer, or several that are one statement, called with a leaf.
template <class Input, class First, class... Rest>
struct call_step
    : tenon::detail::value_step<element_behind<First, viewed<Input>>,
                                typename joined_layers<element_behind<First, viewed<Input>>, typename Input::space,
                                                       typename Input::shape_type, First, Rest...>::output_shape,
                                typename Input::space> {
  using element = element_behind<First, viewed<Input>>;
  using space = typename Input::space;
  using pass_type = joined_layers<element, space, typename Input::shape_type, First, Rest...>;
  using shape_type = typename pass_type::output_shape;
  using layers_type = tuple<held_layer<First>, held_layer<Rest>...>;
  static constexpr bool leaves_gradients =
      !std::is_base_of_v<stateless, First> || (!std::is_base_of_v<stateless, Rest> || ...);

  shape_type extents{};
  std::optional<Input> input;
  std::optional<layers_type> layers;
  pass_type pass;
  typename call_memory_of<First>::type call_memory;
  earlier_gradients<element, space> earlier;
  [[no_unique_address]] std::conditional_t<leaves_gradients, found_parameters, no_call_memory> noted;

  /// The leaf of the value.
  static traced_leaf<element, shape_type, space> run(const Input& input, const layers_type& layers) {
    const shape_type extents = apply_tuple(
        [&](const auto&... layer) -> shape_type { return shape_through(input.shape(), layer.get()...); }, layers);
    auto& step = tenon::detail::taken_step<call_step>(extents.count());
    tenon::detail::step_link<tenon::detail::value_step<element, shape_type, space>> link(&step);
    step.extents = extents;
    step.forward(input, layers);
    return {step.value(extents), {link.handed_over()}};
  }
  void pull_back() override {
    if constexpr (tenon::detail::is_traced_leaf<Input> && is_floating<typename Input::element>) {
      auto& from = *input->owner.step;
      if (from.needs_gradient) {
        const auto& extents_of_input = input->shape();
        backward(view<typename Input::element, typename Input::shape_type, space>(
            from.next_gradient(extents_of_input.count()), extents_of_input));
        return from.add_next_gradient();
      }
    }
    if constexpr (leaves_gradients) backward(not_wanted{});
  }
  void must_be_current() const override {
    if constexpr (leaves_gradients) {
      apply_tuple([&](const auto&... layer) { noted.must_be_current(layer.get()...); }, *layers);
    }
  }
  void forget() override { input.reset(), layers.reset(); }

 private:
  void forward(const Input& from, const layers_type& called) {
    if constexpr (leaves_gradients) {
      noted = apply_tuple([](const auto&... each) { return parameters_of_call(each.get()...); }, called);
    }
    const auto output = this->value(extents);
    apply_tuple(
        [&](const held_layer<First>& first, const auto&... rest) {
          [[maybe_unused]] const auto lent = lend_memory(first.get(), call_memory);
          attempt_forward(first.get(), [&] {
            pass.forward(first.get(), rest.get()..., elements_for<First>(from.view()), elements_for<First>(output));
          });
        },
        called);
    if constexpr (tenon::detail::is_traced_leaf<Input>) this->add_input(from.owner.step.get());
    if constexpr (leaves_gradients) noted.tell(*this);
    if (!this->needs_gradient) return;
    input.emplace(from), layers.emplace(called), this->keep_elements(from);
    apply_tuple([](auto&... layer) { (layer.keep(), ...); }, *layers);
  }
  template <class Destination>
  void backward(const Destination& destination) {
    apply_tuple(
        [&](const held_layer<First>& first, const auto&... rest) {
          [[maybe_unused]] const auto lent = lend_memory(first.get(), call_memory);
          const auto pull = [&] {
            pass.backward(first.get(), rest.get()..., elements_for<First>(input->view()),
                          elements_for<First>(this->value(extents)), elements_for<First>(this->gradient_under(extents)),
                          elements_for<First>(destination));
          };
          add_gradients(earlier, pull, first.get(), rest.get()...);
        },
        *layers);
  }
};

}  // namespace detail

}  // namespace tenon::nn
