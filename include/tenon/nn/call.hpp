// tenon/nn/call.hpp: layers that are called like functions, and the gradients of such calls.
// A call that stands within another one joins it where both are one statement; a call with a name runs by itself.
// Floor 7: may include base, core, device, expr, plan, contraction, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced.hpp>
#include <tenon/nn/call_step.hpp>

namespace tenon {

template <dtype T, shape_type Shape, memory_space Space>
traced_leaf<T, Shape, Space> as_node(nn::parameter<T, Shape, Space>& weight) {
  nn::detail::must_be_written("parameter", "value", weight.value);
  const auto named = tenon::variable(weight.value, weight.gradient, weight.has_gradient);
  auto& step = static_cast<tenon::detail::variable_step<T, Shape, Space>&>(*named.owner.step);
  step.needs_gradient = !weight.is_frozen, step.meets_frozen = weight.is_frozen;
  step.changes = &weight.version.changes(), step.changes_before = weight.version.changes();
  if (tenon::detail::is_tracing) step.life = weight.version.life();
  return named;
}
template <dtype T, shape_type Shape, memory_space Space>
traced_leaf<T, Shape, Space> as_node(const nn::parameter<T, Shape, Space>&) {
  static_assert(must_hold<nn::parameter<T, Shape, Space>>,
                "tenon: gradients are left in a parameter, so it is not const here; make forward a member that is not");
}

namespace nn {

template <class Op, int Arguments>
struct activation;
template <class Derived>
struct module;

/// A call of layers, one within the other, that has not run yet: an operand of expressions, whose value is computed
/// when it is first used. Layers with parameters must outlive it.
template <class Input, class... Layers>
class layer_call {
  using step_type = detail::call_step<Input, Layers...>;
  using value_type = traced<typename step_type::element, typename step_type::shape_type, typename step_type::space>;

 public:
  using kind = leaf_kind;
  using element = typename step_type::element;
  using shape_type = typename step_type::shape_type;
  using space = typename step_type::space;
  static constexpr tuple<> operands{};

  layer_call(const Input& input, const tuple<detail::held_layer<Layers>...>& layers) : input_(input), layers_(layers) {}

  /// What the call makes.
  const value_type& value() const {
    if (!value_) value_.emplace(step_type::run(input_, layers_));
    return *value_;
  }
  shape_type shape() const { return value().shape(); }
  index extent(int axis) const { return shape().extent(axis); }
  /// What the call makes, under another shape, as `traced::reshape`: `query(x).reshape({batch, length, heads, -1})`.
  template <tenon::shape_type New>
  auto reshape(const New& extents) const {
    return value().reshape(extents);
  }
  template <int Rank>
  auto reshape(const listed_extent (&extents)[Rank]) const {
    return value().reshape(extents);
  }
  /// Parts of what the call makes, as those of `traced`: `scores(x)(all_of, 0)`.
  template <class Position>
  auto operator[](const Position& position) const {
    return value()[position];
  }
  template <class First, class... Rest>
  auto operator()(const First& first, const Rest&... rest) const {
    return value()(first, rest...);
  }

  /// Whether this call and one of `Next` around it are one statement.
  template <class Next>
  static constexpr bool joins =
      detail::joined_layers<element, space, typename Input::shape_type, Layers..., Next>::count ==
      1 + static_cast<int>(sizeof...(Layers));
  /// Both calls as one.
  template <class Next>
  layer_call<Input, Layers..., Next> joined_with(const detail::held_layer<Next>& next) && {
    return {input_, apply_tuple([&](const auto&... layer) { return make_tuple_of(layer..., next); }, layers_)};
  }
  /// The same of a function that is written around a call.
  template <class Op>
    requires(joins<activation<Op, 0>>)
  auto with_activation(Op) && {
    return std::move(*this).template joined_with<activation<Op, 0>>({});
  }

 private:
  Input input_;
  tuple<detail::held_layer<Layers>...> layers_;
  mutable std::optional<value_type> value_;
};

}  // namespace nn

template <class Input, class... Layers>
const auto& as_node(const nn::layer_call<Input, Layers...>& call) {
  return as_node(call.value());
}

namespace nn {

namespace detail {

template <class Operand>
inline constexpr bool is_layer_call = false;
template <class Input, class... Layers>
inline constexpr bool is_layer_call<layer_call<Input, Layers...>> = true;

/// Whether a layer is called within a call that it joins.
template <class Layer, class Operand>
inline constexpr bool joins_call = false;
template <class Layer, class Input, class... Layers>
inline constexpr bool joins_call<Layer, layer_call<Input, Layers...>> =
    layer_call<Input, Layers...>::template joins<Layer>;

/// The leaf that a layer reads: an expression is a statement by itself.
template <class Operand>
auto input_of(Operand&& operand) {
  const auto& node = as_node(std::forward<Operand>(operand));
  using node_type = std::remove_cvref_t<decltype(node)>;
  if constexpr (std::is_same_v<typename node_type::kind, leaf_kind>) {
    return node;
  } else {
    const traced value(node);
    using leaf_type = typename decltype(value)::leaf_type;
    return leaf_type(value);
  }
}

template <class Input>
inline constexpr bool lies_in_arena = false;
template <tensor_operand Input>
inline constexpr bool lies_in_arena<Input> = !tenon::detail::is_kept_by_steps<Input>;
/// Whether one of these inputs is a value of a network in use. Not all of them need be tensors.
template <class... Inputs>
inline constexpr bool is_kept_elsewhere = (false || ... || lies_in_arena<Inputs>);

/// A value as it leaves a module: what a call or an expression makes of it.
template <class Result>
auto settled(Result&& result) {
  using type = std::remove_cvref_t<Result>;
  if constexpr (is_kept_elsewhere<Result>)
    return tenon::detail::keeper_of<Result>::settled(std::forward<Result>(result));
  else if constexpr (expression<type>) return traced(std::forward<Result>(result));
  else return type(std::forward<Result>(result));
}
/// What `forward` sees of an argument: an expression that several layers read is computed once, and a tensor that was
/// moved here lives as long as its gradients need it.
template <class Input>
decltype(auto) settled_input(Input&& input) {
  using type = std::remove_cvref_t<Input>;
  constexpr bool is_moved = tenon::detail::is_tensor<type> && std::is_same_v<Input, type>;
  if constexpr (is_kept_elsewhere<Input>) return tenon::detail::keeper_of<Input>::settled(std::forward<Input>(input));
  else if constexpr (is_moved || (expression<type> && !is_layer_call<type>)) return traced(std::forward<Input>(input));
  else return std::forward<Input>(input);
}

/// Whether a call gives a traced value another shape, which takes no statement.
template <class Layer, class Input>
inline constexpr bool only_reshapes = false;
template <class Layer, class Input>
  requires(Layer::keeps_elements)
inline constexpr bool only_reshapes<Layer, Input> = tenon::detail::is_traced_leaf<Input>;

}  // namespace detail

/// Whether a layer has a backward pass of its own. The gradients of other layers follow from their expressions.
template <class Layer, class View>
concept has_backward = requires(Layer& layer, const View& x) { layer.backward(x, x, x, not_wanted{}); };

/// Calls a layer. The result is a `traced` value, or a call that still may join the next layer or a function.
template <class Layer, tensor_operand Operand>
auto call_layer(Layer& layer, Operand&& operand) {
  using call = std::remove_cvref_t<Operand>;
  if constexpr (detail::is_kept_elsewhere<Operand>) {
    return tenon::detail::keeper_of<Operand>::call(layer, std::forward<Operand>(operand));
  } else if constexpr (!std::is_lvalue_reference_v<Operand> && detail::joins_call<Layer, call>) {
    return std::move(operand).template joined_with<Layer>(detail::held_layer<Layer>(layer));
  } else {
    const auto input = detail::input_of(std::forward<Operand>(operand));
    if constexpr (detail::only_reshapes<Layer, std::remove_const_t<decltype(input)>>) {
      return traced(input).reshape(layer.output_shape(input.shape()));
    } else if constexpr (!has_backward<Layer, decltype(input.view())>) {
      return attempt_forward(layer, [&] {
        if constexpr (detail::prepares<Layer>) layer.prepare(input);
        return traced(layer.forward(input));
      });
    } else {
      layer_call<std::remove_const_t<decltype(input)>, Layer> made(input, {detail::held_layer<Layer>(layer)});
      if constexpr (detail::can_be_joined<Layer>) return made;
      else return made.value();
    }
  }
}

/// Whether a layer returns several values, a sequence and states (`keeps_states`), or one (`makes_one_value`).
template <class Layer>
concept keeps_states = requires { Layer::state_count; };
template <class Layer>
concept makes_one_value = !keeps_states<Layer>;

/// Layers of one operand.
template <class Layer, tensor_operand Operand>
  requires makes_one_value<Layer>
struct layer_caller<Layer, Operand> {
  /// Named first, so that compilers say within few lines that a layer does not fit.
  using output_shape = detail::shape_behind<Layer, typename std::remove_cvref_t<Operand>::shape_type>;

  static auto call(Layer& layer, Operand&& operand) { return call_layer(layer, std::forward<Operand>(operand)); }
};

namespace detail {

/// Whether a network is called as a function. A module is not asked: an error in its `forward` would read as a call
/// that is not there, and sentences about other calls would follow.
template <class Network, class... Operands>
concept is_called_with =
    std::is_base_of_v<module<Network>, Network> ||
    requires(Network& network, Operands&&... operands) { network(std::forward<Operands>(operands)...); };

/// What layers make one after another.
template <class Operand>
auto call_through(Operand&& operand) {
  return std::forward<Operand>(operand);
}
template <class Operand, class First, class... Rest>
auto call_through(Operand&& operand, First& first, Rest&... rest) {
  if constexpr (is_called_with<First, Operand>) {
    return call_through(first(std::forward<Operand>(operand)), rest...);
  } else {
    return call_through(call_layer(first, std::forward<Operand>(operand)), rest...);
  }
}
/// What the layers in a tuple make one after another.
template <class Operand, class... Layers>
auto call_all(Operand&& operand, tuple<Layers...>& layers) {
  return apply_tuple([&](Layers&... each) { return call_through(std::forward<Operand>(operand), each...); }, layers);
}

}  // namespace detail

}  // namespace nn

}  // namespace tenon
