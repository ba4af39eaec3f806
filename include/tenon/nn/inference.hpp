// tenon/nn/inference.hpp: a network in use: as few statements as its layers allow, in memory planned before.
// Layers join the statement before them while that stays one; what lies between statements shares one arena.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/concatenate.hpp>
#include <tenon/nn/arena_values.hpp>
#include <tenon/nn/fuse.hpp>
#include <tenon/nn/inference_inputs.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/recurrent_call.hpp>
#include <tenon/nn/several_inputs.hpp>
#include <tenon/nn/state.hpp>
#include <tuple>

namespace tenon::nn {

template <index Embed, index Heads, class Settings, memory_space Space, dtype T>
struct multihead_attention_layer;

namespace detail {

/// Whether a layer is an expression of its input and nothing else happens in a call.
template <class Layer>
inline constexpr bool is_expression_layer =
    std::is_base_of_v<stateless, Layer> || std::is_base_of_v<expression_layer<Layer>, Layer>;
template <class Layer>
  requires(Layer::is_expression)
inline constexpr bool is_expression_layer<Layer> = true;

/// The linear layer of floats or doubles of the host that a layer is.
template <index In, index Out, bool Bias, std::floating_point T>
const auto& linear_of_host(const linear_layer<In, Out, Bias, host, T>& layer) {
  return layer;
}
template <class Layer>
  requires requires(const Layer& layer) { linear_of_host(layer); }
const auto& linear_of_host(const fused_product<Layer>& layer) {
  return linear_of_host(layer.layer);
}

/// A layer that is called with a value of a network in use.
template <class Products>
struct arena_calls {
  using arena = arena_walk<Products>;

  template <class Layer, class Node>
  static auto call(Layer& layer, const Node& node) {
    arena& walk = walk_of<Products>(node);
    if constexpr (requires { layer.output_shape(node.shape()); }) (void)layer.output_shape(node.shape());  // it fits
    const auto forward = [&](const auto& x) { return layer.forward(x); };
    if constexpr (does_nothing<Layer>) {
      return value(walk, node);
    } else if constexpr (std::is_base_of_v<reshaping<Layer>, Layer>) {
      const auto here = stored(walk, node);
      return traced(here).reshape(layer.output_shape(here.shape()));
    } else if constexpr (requires { walk.products().call(arena_calls{}, walk, layer, node); }) {
      return walk.products().call(arena_calls{}, walk, layer, node);
    } else if constexpr (requires { linear_of_host(layer); }) {
      const auto here = stored(walk, node);
      const auto weight = walk.weight_for(linear_of_host(layer).weight.value, here.shape().count());
      return extended(walk, here, [&](const auto& x) { return layer.forward_by(weight, x); });
    } else if constexpr (is_fused_product<Layer> || is_product<Layer>) {
      return extended(walk, stored(walk, node), forward);  // products read their operands more than once
    } else if constexpr (pools_squares<Layer> && can_pool_in_epilogue<plain_node<Node>>) {
      return value(walk, make_pooled_convolution(node, layer.output_shape(node.shape())));
    } else if constexpr (is_expression_layer<Layer>) {
      return extended(walk, node, forward);
    } else {
      return filled(walk, layer, stored(walk, node));
    }
  }
  /// Overload for norms: what they do to a channel is computed once.
  template <index Channels, affine Affine, memory_space Space, dtype T, class Node>
  static auto call(batch_norm<Channels, Affine, Space, T>& layer, const Node& node) {
    arena& walk = walk_of<Products>(node);
    (void)layer.output_shape(node.shape());
    const auto& norm = walk.kept_of(&layer, [&] {
      if (!layer.options.track_statistics) {
        throw error("inference: batch_norm: no running statistics, expected them; each batch would have its own");
      }
      return norm_of(layer);
    });
    return extended(walk, node, [&](const auto& x) { return norm.forward(x); });
  }
  /// Overloads for attention of an input to itself, with a mask or without.
  template <index Embed, index Heads, class Settings, memory_space Space, dtype T, class Node>
  static auto call(multihead_attention_layer<Embed, Heads, Settings, Space, T>& layer, const Node& node) {
    return attended(layer, node, as_node(0.0f));
  }
  template <index Embed, index Heads, class Settings, memory_space Space, dtype T, class Node, class Mask>
  static auto call(multihead_attention_layer<Embed, Heads, Settings, Space, T>& layer, const Node& node,
                   const Mask& mask) {
    return attended(layer, node, stored(walk_of<Products>(node), mask));
  }
  /// Overload for layers that only observe their input.
  template <class Layer, class Node>
    requires(Layer::observes)
  static auto call(Layer& layer, const Node& node) {
    arena& walk = walk_of<Products>(node);
    const auto here = stored(walk, node);
    if (walk.runs()) layer.see(without_owners(here));
    return value(walk, here);
  }
  template <class... Layers, class Node>
  static auto call(fused_network<Layers...>& network, const Node& node) {
    return call_all(value(walk_of<Products>(node), node), network.layers);
  }
  template <class Network, class Node>
  static auto call(fused_residual<Network>& block, const Node& node) {
    arena& walk = walk_of<Products>(node);
    const auto x = stored(walk, node);
    const auto changed = as_node(call(block.inner, x));
    check_kept(x.shape().to_array(), changed.shape().to_array());
    return extended(walk, changed, [&](const auto& own) { return x + own; });
  }
  template <class... Networks, class Node>
  static auto call(fused_branches<Networks...>& layer, const Node& node) {
    arena& walk = walk_of<Products>(node);
    const auto x = stored(walk, node);
    return apply_tuple(
        [&](Networks&... network) {
          const tuple<decltype(stored(walk, as_node(call(network, x))))...> parts{
              {{stored(walk, as_node(call(network, x)))}...}};  // in braces: one after another
          return apply_tuple([&](const auto&... part) { return value(walk, concatenate(axis<1>, part...)); }, parts);
        },
        layer.branches);
  }
  /// Overload for layers of several inputs.
  template <class Layer, class First, class Second, class... Rest>
  static auto call(Layer& layer, const First& first, const Second& second, const Rest&... rest) {
    return filled(walk_of<Products>(first, second, rest...), layer, first, second, rest...);
  }
  template <class Layer, class... Nodes>
  static auto call_states(Layer& layer, const Nodes&... nodes) {
    arena& walk = walk_of<Products>(nodes...);
    return states_of(walk, layer, stored(walk, nodes)...);
  }

  template <class Node>
  static auto value(arena& walk, const Node& node) {
    return arena_value<Products, Node>(walk, node);
  }
  /// The value in memory, by a statement where it is not there yet.
  template <class Node>
  static auto stored(arena& walk, const Node& node) {
    if constexpr (is_leaf_node<Node>) return node;
    else return walk.write(node);
  }
  /// `make(node)` where that takes no more statements than the node alone, else of the node in memory.
  template <class Node, class Make>
  static auto extended(arena& walk, const Node& node, const Make& make) {
    using plain = plain_node<Node>;
    if constexpr (is_leaf_node<Node> ||
                  kernel_count<plain_node<decltype(as_node(make(node)))>> <= kernel_count<plain>) {
      return value(walk, as_node(make(node)));
    } else {
      return extended(walk, walk.write(node), make);
    }
  }

 private:
  /// Attention in three statements: a product, attention, and a product that goes on with its reader.
  template <index Embed, index Heads, class Settings, memory_space Space, dtype T, class Node, class Mask>
  static auto attended(multihead_attention_layer<Embed, Heads, Settings, Space, T>& layer, const Node& node,
                       const Mask& mask) {
    arena& walk = walk_of<Products>(node);
    (void)layer.output_shape(node.shape());
    const auto x = stored(walk, node);
    const index count = x.shape().count();
    const auto rows = walk.write(as_node(layer.projection(x, walk.weight_for(layer.in_proj_weight.value, count))));
    const view<T, rank<3>, Space> whole(const_cast<T*>(rows.elements.data()), rows.shape());
    const auto heads = [&](int part) {
      return arena_leaf<T, rank<4>, Space, Products>{layer.heads_of(whole, part), rows.owner};
    };
    const auto last = layer.expression(heads(0), heads(1), heads(2), mask);
    const auto seen = walk.template filled<T, Space>(
        shape<dyn, dyn, Embed>(x.shape().to_array()),
        [&](const auto& to) {
          const view<T, rank<3>, Space> all(to.data(), rank<3>(to.shape().to_array()));
          layer.heads_of(all, 0).noalias() = without_owners(last);
        },
        last);
    const auto weight = walk.weight_for(layer.out_proj.weight.value, count);
    return extended(walk, seen, [&](const auto& y) { return layer.out_proj.forward_by(weight, y); });
  }
  /// What layers make that do more than evaluate an expression; they have memory of their own for that.
  template <class Layer, class... Nodes>
  static auto filled(arena& walk, Layer& layer, const Nodes&... nodes) {
    return filled_from(walk, layer, stored(walk, nodes)...);
  }
  template <class Layer, class First, class... Rest>
  static auto filled_from(arena& walk, Layer& layer, const First& first, const Rest&... rest) {
    using made = node_of<decltype(layer.forward(first.view(), rest.view()...))>;
    const auto extents = [&] {
      if constexpr (requires { layer.output_shape(first.shape(), rest.shape()...); }) {
        return layer.output_shape(first.shape(), rest.shape()...);
      } else {
        return layer.output_shape(first.shape());
      }
    }();
    const auto leaf = walk.template filled<typename made::element, typename made::space>(
        typename made::shape_type(extents),
        [&](const auto& target) { target = layer.forward(first.view(), rest.view()...); }, first, rest...);
    return value(walk, leaf);
  }
  template <class Layer, class First, class... Rest>
  static auto states_of(arena& walk, Layer& layer, const First& first, const Rest&... rest) {
    const auto values = walk.runs() ? layer.forward(first.view(), rest.view()...) : layer.values_for(first.shape());
    return values.each([&](const auto& each) {
      using view_type = std::remove_cvref_t<decltype(each)>;
      const auto leaf =
          walk.template filled<std::remove_const_t<typename view_type::element>, typename view_type::space>(
              each.shape(), [&](const auto& target) { target = each; }, first, rest...);
      return traced(leaf);
    });
  }
  static void check_kept(const auto& before, const auto& after) {
    if (after == before) return;
    throw shape_error(compose_text("residual: the layers make ", after, " of ", before, ", expected the same extents"));
  }
};

}  // namespace detail

/// What layers of a module make while a network is planned: their values lie in the arena of `nn::inference`.
template <class Products>
struct arena_keeper {
  /// What a layer makes.
  template <class Layer, class... Operands>
  static auto call(Layer& layer, Operands&&... operands) {
    return detail::arena_calls<Products>::call(layer, as_node(std::forward<Operands>(operands))...);
  }
  template <class Layer, class... Operands>
  static auto call_states(Layer& layer, Operands&&... operands) {
    return detail::arena_calls<Products>::call_states(layer, as_node(std::forward<Operands>(operands))...);
  }
  /// An expression as one value, which is computed once however often it is read.
  template <class Operand>
  static auto settled(Operand&& operand) {
    using type = std::remove_cvref_t<Operand>;
    if constexpr (requires(const type& value) { value.written(); }) return type(std::forward<Operand>(operand));
    else return detail::arena_calls<Products>::value(detail::walk_of<Products>(as_node(operand)), as_node(operand));
  }
};

/// A network in use: a copy of a module, a `sequential` or a fused network, for inputs up to `largest` in every extent.
/// Each input is said by its extents, or by a tensor like those to come. All that lies between statements has its place
/// in one piece of memory that is allocated here, so `run` allocates nothing, and a graph can capture it.
///
/// A convolution or linear layer is one statement with what is pointwise behind it: batch norms, activations, the sum
/// of a residual, and behind images of floats a max pool of 2 x 2 side by side. Layers that only change the shape are
/// none. Attention of an input to itself is three. What has a name in `forward` is written, once. Layers that are more
/// than an expression, such as recurrent ones, have memory of their own.
/// throws    shape_error when a layer does not take its input; error for a batch norm without running statistics, and
///           for parameters that nobody wrote
/// example   nn::inference use(net, shape<dyn, 1, 28, 28>(64, 1, 28, 28)); const auto y = use.run(images);
template <class Network, class... Inputs>
class inference {
 public:
  explicit inference(Network network, const detail::given_extents<typename Inputs::shape_type>&... largest)
      : network_(std::make_unique<Network>(std::move(network))),
        largest_(make_tuple_of(largest.extents...)),
        planned_(largest_) {
    if constexpr (requires { network_->eval(); }) network_->eval();
    network_->visit_parameters([](const auto& name, auto& parameter) {
      detail::must_be_written("network", name, parameter.value);
      parameter.gradient.reset();
    });
    plan();
    if constexpr (requires(products& own) { own.check_all_met(); }) detail::products_of(*network_).check_all_met();
    arena_bytes_ = plan_.bytes();
    memory_ = storage<std::byte, space>(arena_bytes_);
  }

  /// Of all that lies between statements, the output among it; parameters are beside it.
  index arena_bytes() const { return arena_bytes_; }
  /// How many values a run writes: its statements, but for those that layers with memory of their own add.
  int value_count() const { return plan_.count(); }
  /// The network's output for its inputs, tensors or views; valid until the next run.
  /// throws    shape_error when an input is larger than was planned, or has other extents than its type says; error
  ///           for an inference that was moved away
  /// cost      no allocation, but for what threads and streams keep from their first products on; other extents than
  ///           those of the run before are planned first
  template <tensor_operand... Given>
  auto run(const Given&... inputs) {
    static_assert(sizeof...(Given) == sizeof...(Inputs) || must_hold<constant<sizeof...(Inputs)>>,
                  "tenon: this network takes another number of inputs");
    static_assert((lies_as<Inputs, node_of<const Given&>> && ...) || must_hold<Given...>,
                  "tenon: an input has the element type and memory space that nn::inference was made for; "
                  "run a tensor of cast<float>(x), or x.to<Space>()");
    return run_views(seen_as<Inputs>(inputs)...);
  }

 private:
  using space = typename std::tuple_element_t<0, std::tuple<Inputs...>>::space;
  using products = std::remove_cvref_t<decltype(detail::products_of(std::declval<Network&>()))>;
  using walk_type = arena_walk<products>;

  template <class View, class Node>
  static constexpr bool lies_as = std::is_same_v<typename View::element, typename Node::element> &&
                                  std::is_same_v<typename View::space, typename Node::space>;

  template <class View, class Given>
  static View seen_as(const Given& given) {
    const auto& node = as_node(given);
    static_assert(detail::is_leaf_node<node_of<Given>> || must_hold<Given>,
                  "tenon: the inputs of a network in use are in memory: tensors or views");
    return View(node.view().data(), typename View::shape_type(node.shape()), node.view().strides());
  }
  auto run_views(const Inputs&... inputs) {
    if (network_ == nullptr) throw error("inference: its network was moved away; run what it was moved to");
    check_extents(std::make_integer_sequence<int, static_cast<int>(sizeof...(Inputs))>{}, inputs.shape()...);
    const tuple<typename Inputs::shape_type...> extents = make_tuple_of(inputs.shape()...);
    if (!is_planned(extents)) {
      planned_ = extents;
      plan();
      if (plan_.bytes() > arena_bytes_) arena_bytes_ = plan_.bytes(), memory_ = storage<std::byte, space>(arena_bytes_);
    }
    walk_type walk(plan_, parts_, detail::products_of(*network_), memory_.data());
    return pass(walk, inputs...);
  }

  void plan() {
    plan_.clear();
    walk_type walk(plan_, parts_, detail::products_of(*network_));
    apply_tuple([&](const auto&... extents) { pass(walk, Inputs(nullptr, extents)...); }, planned_);
    plan_.place();
  }
  auto pass(walk_type& walk, const Inputs&... inputs) {
    const no_grad in_use;
    const auto made = detail::called_with(
        detail::network_within(*network_),
        arena_leaf<typename Inputs::element, typename Inputs::shape_type, space, products>{inputs, {&walk, -1}}...);
    const auto written = detail::each_value(made, [](const auto& value) { return traced(value); });
    return detail::each_value(written, [&](const auto& value) {
      walk.keep_to_end(value.owner.block);
      return value.view();
    });
  }
  bool is_planned(const tuple<typename Inputs::shape_type...>& extents) const {
    bool is_same = true;
    for_each_index<static_cast<int>(sizeof...(Inputs))>(
        [&](auto i) { is_same = is_same && get<i.value>(extents) == get<i.value>(planned_); });
    return is_same;
  }
  template <int... I, class... Shapes>
  void check_extents(std::integer_sequence<int, I...>, const Shapes&... extents) const {
    (check_input_extents<I>(extents), ...);
  }
  template <int I, class Shape>
  void check_input_extents(const Shape& extents) const {
    const Shape& largest = get<I>(largest_);
    for (int axis = 0; axis < Shape::rank; ++axis) {
      if (extents.extent(axis) <= largest.extent(axis)) continue;
      const std::string which = sizeof...(Inputs) == 1 ? "" : compose_text("input ", I, ": ");
      throw shape_error(compose_text("inference: ", which, "axis ", axis, ": extent ", extents.extent(axis),
                                     ", expected at most ", largest.extent(axis), " as planned (input ",
                                     extents.to_array(), ", planned ", largest.to_array(), ")"));
    }
  }

  std::unique_ptr<Network> network_;  // layers stay where they are when this moves
  tuple<typename Inputs::shape_type...> largest_, planned_;
  arena_plan plan_;
  detail::kept_parts parts_;
  index arena_bytes_ = 0;
  storage<std::byte, space> memory_;
};
template <class Network, class... Given>
inference(Network, const Given&...) -> inference<Network, typename detail::input_view<Network, Given>::type...>;

}  // namespace tenon::nn
