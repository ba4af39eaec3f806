// tenon/nn/stream.hpp: a network in use step by step: each call is one time step, and layers remember those before.
// A step neither allocates nor locks nor asks the system for anything, so it has its time every time.
// Floor 7: may include base, core, device, expr, plan, algorithms, contraction, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/stream_parts.hpp>
#include <tenon/plan/write.hpp>
#include <vector>

namespace tenon {

namespace nn {

class stream_memory;
/// What keeps the values of a stream.
struct stream_keeper;

/// The owner of a leaf that lies in the memory of a stream.
struct in_stream {
  using keeper = stream_keeper;
  stream_memory* memory;
};
template <class T, class Shape>
using stream_leaf = leaf<T, Shape, host, in_stream>;

/// What the steps of a stream share: blocks for values, and what layers keep, in the order in which a step asks.
class stream_memory {
 public:
  void begin() noexcept { next_block_ = next_part_ = 0; }
  void reset() noexcept {
    for (auto& part : parts_) part->reset();
  }
  /// The next block; the first step allocates it.
  template <class T>
  T* block(index count) {
    const std::size_t number = next_block_++;
    if (number == blocks_.size()) blocks_.emplace_back(count * static_cast<index>(sizeof(T)));
    return reinterpret_cast<T*>(blocks_[number].data());
  }
  /// What the next layer keeps; the first step makes it of `layer`.
  template <class Part, class Layer>
  Part& part(Layer& layer) {
    const std::size_t number = next_part_++;
    if (number == parts_.size()) parts_.push_back(std::make_unique<Part>(layer));
    return static_cast<Part&>(*parts_[number]);
  }

 private:
  std::vector<storage<std::byte, host>> blocks_;
  std::vector<std::unique_ptr<stream_part>> parts_;
  std::size_t next_block_ = 0, next_part_ = 0;
};

namespace detail {

template <class Node>
stream_memory* stream_memory_of(const Node& node) {
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node.owner)>, in_stream>) return node.owner.memory;
    else return nullptr;
  } else {
    stream_memory* memory = nullptr;
    if constexpr (decltype(Node::operands)::count != 0) {
      apply_tuple(
          [&](const auto&... operands) { ((memory = memory != nullptr ? memory : stream_memory_of(operands)), ...); },
          node.operands);
    }
    return memory;
  }
}

/// Whether an expression is pointwise in values of a stream that all have its extents, known to the type.
template <class Node, class Shape>
inline constexpr bool is_flat = tenon::detail::is_scalar_node<Node>;
template <class T, class Shape>
inline constexpr bool is_flat<stream_leaf<T, Shape>, Shape> = Shape::dynamic_rank == 0;
template <class Op, class... Operands, class Shape>
inline constexpr bool is_flat<pointwise<Op, Operands...>, Shape> = (true && ... && is_flat<Operands, Shape>);

/// Such an expression with one axis. Elements of a stream lie side by side.
template <index Count, class Node>
auto flattened(const Node& node) {
  if constexpr (tenon::detail::is_scalar_node<Node>) {
    return node;
  } else if constexpr (is_leaf_node<Node>) {
    using element = typename Node::element;
    return leaf<element, shape<Count>, host>{view<const element, shape<Count>, host>(node.view().data(), {}), {}};
  } else {
    return apply_tuple(
        [&]<class... Operands>(const Operands&... operands) {
          using flat = pointwise<std::remove_cvref_t<decltype(node.op)>, decltype(flattened<Count>(operands))...>;
          return flat(node.op, {}, flattened<Count>(operands)...);
        },
        node.operands);
  }
}

/// Writes an expression to the next blocks: by a statement, or by several where one cannot say it.
template <class Node>
auto write_to_stream(stream_memory& memory, const Node& node) {
  using element = typename Node::element;
  using shape_type = typename Node::shape_type;
  const view<element, shape_type, host> target(memory.template block<element>(node.shape().count()), node.shape());
  if constexpr (stage_of<Node>() == stage::split) {
    split(
        node, [&](const auto& part) { return as_node(write_to_stream(memory, part)); },
        [&](const auto& rest) { target.noalias() = rest; });
  } else {
    target.noalias() = node;
  }
  return target;
}

/// A value in memory, by a statement where it is not there yet.
template <class Node>
auto in_stream_memory(const Node& node) {
  if constexpr (is_leaf_node<Node>) {
    return node;
  } else {
    using element = typename Node::element;
    using shape_type = typename Node::shape_type;
    stream_memory* const memory = stream_memory_of(node);
    if constexpr (is_flat<Node, shape_type>) {  // one loop, without what statements of any extents find out first
      constexpr index count = shape_type{}.count();
      const auto program = flattened<count>(node).template lower<0>(identity_map<1>());
      element* const to = memory->template block<element>(count);
      write_row<reading::row>(to, false, {{0, count}}, program.at(array<index, 1>{}), no_slots{});
      return stream_leaf<element, shape_type>{view<element, shape_type, host>(to, {}), {memory}};
    } else {
      return stream_leaf<element, shape_type>{write_to_stream(*memory, without_owners(node)), {memory}};
    }
  }
}

/// A batch norm as it is used: a factor and a summand for each channel.
template <class Norm>
struct streamed_norm : stream_part {
  Norm norm;
  template <class Layer>
  explicit streamed_norm(Layer& layer) : norm(norm_of(layer)) {}
  void reset() noexcept override {}
};

/// A layer that is called with a value of a stream.
struct stream_calls {
  template <class Layer, class Node>
  static auto call(Layer& layer, const Node& node) {
    if constexpr (does_nothing<Layer>) {
      return traced(in_stream_memory(node));
    } else if constexpr (std::is_base_of_v<reshaping<Layer>, Layer>) {
      const auto here = in_stream_memory(node);
      return traced(here).reshape(layer.output_shape(here.shape()));
    } else {
      static_assert(is_expression_layer<Layer> || must_hold<Layer>,
                    "tenon: a stream takes recurrent layers of one direction, convolutions along time, linear layers, "
                    "and layers that are expressions of one step");
      return traced(in_stream_memory(as_node(layer.forward(node))));
    }
  }
  template <index Channels, affine Affine, memory_space Space, dtype T, class Node>
  static auto call(batch_norm<Channels, Affine, Space, T>& layer, const Node& node) {
    using part = streamed_norm<decltype(norm_of(layer))>;
    return traced(in_stream_memory(as_node(stream_memory_of(node)->template part<part>(layer).norm.forward(node))));
  }
  template <index In, index Out, bool Bias, dtype T, class Node>
  static auto call(linear_layer<In, Out, Bias, host, T>& layer, const Node& node) {
    const auto here = in_stream_memory(node);
    stream_memory& memory = *here.owner.memory;
    const auto extents = layer.output_shape(here.shape());
    const view<T, std::remove_const_t<decltype(extents)>, host> target(memory.template block<T>(extents.count()),
                                                                       extents);
    auto& part = memory.template part<streamed_linear<Out, Bias, T>>(layer);
    part.run(elements_of(here), extents.count() / extents.extent(target.rank - 1), target.data());
    return made(memory, target);
  }
  /// Overload for convolutions along time: a step is [1, channels, 1].
  template <index In, index Out, class Kernel, class Settings, dtype T, class Node>
    requires(Kernel::count == 1)
  static auto call(conv_layer<false, In, Out, Kernel, Settings, host, T>& layer, const Node& node) {
    const auto here = in_stream_memory(node);
    stream_memory& memory = *here.owner.memory;
    check_input<conv_layer<false, In, Out, Kernel, Settings, host, T>, 1, In>(here.shape(), layer.in_channels);
    const auto extents = with_extent<1, Out>(here.shape(), layer.out_channels);
    check_one_step("conv1d", here.shape().extent(0) * here.shape().extent(2));
    const view<T, std::remove_const_t<decltype(extents)>, host> target(memory.template block<T>(extents.count()),
                                                                       extents);
    memory.template part<streamed_convolution<Out, T>>(layer).run(elements_of(here), target.data());
    return made(memory, target);
  }
  /// Overload for recurrent layers: a step is [1, 1, features], or [1, features].
  template <class Gates, index In, index Hidden, dtype T, class Node>
  static auto call_states(recurrent<Gates, In, Hidden, host, T>& layer, const Node& node) {
    constexpr int rank = Node::shape_type::rank;
    const auto here = in_stream_memory(node);
    stream_memory& memory = *here.owner.memory;
    const auto& extents = here.shape();
    check_features<recurrent<Gates, In, Hidden, host, T>, In>(extents, extents.extent(rank - 1));
    check_one_step(Gates::name, extents.count() / extents.extent(rank - 1));
    auto& part = memory.template part<streamed_recurrent<Gates, Hidden, T>>(layer);
    const T* const state = part.run(elements_of(here));
    const auto sequence = with_extent<rank - 1, Hidden>(extents, part.hidden().extent(2));
    const auto of = [&](const auto& values) { return made(memory, values); };
    const view<const T, std::remove_const_t<decltype(sequence)>, host> output(state, sequence);
    using values_type = recurrent_values<decltype(of(output)), decltype(of(part.hidden())), Gates::states>;
    if constexpr (Gates::states == 1) return values_type{of(output), of(part.hidden())};
    else return values_type{of(output), of(part.hidden()), of(part.cell())};
  }
  template <class Layer, class... Nodes>
  static auto call_states(Layer&, const Nodes&...) {
    static_assert(must_hold<Layer>,
                  "tenon: a stream keeps the states of recurrent layers itself; they take their input alone");
  }

 private:
  template <class T, class Shape>
  static auto made(stream_memory& memory, const view<T, Shape, host>& values) {
    return traced(stream_leaf<std::remove_const_t<T>, Shape>{values, {&memory}});
  }
  template <class Leaf>
  static auto elements_of(const Leaf& here) {
    return here.view().data();
  }
  static void check_one_step(const char* layer, index steps) {
    if (steps == 1) return;
    throw shape_error(compose_text("stream: ", layer, ": ", steps, " steps in a call, expected 1, of one sequence"));
  }
};

}  // namespace detail

struct stream_keeper {
  template <class Layer, class... Operands>
  static auto call(Layer& layer, Operands&&... operands) {
    return detail::stream_calls::call(layer, as_node(std::forward<Operands>(operands))...);
  }
  template <class Layer, class... Operands>
  static auto call_states(Layer& layer, Operands&&... operands) {
    return detail::stream_calls::call_states(layer, as_node(std::forward<Operands>(operands))...);
  }
  template <class Operand>
  static auto settled(Operand&& operand) {
    return traced(detail::in_stream_memory(as_node(std::forward<Operand>(operand))));
  }
};

}  // namespace nn

/// A value with a name in a stream: it is written, and assigned to it names another one.
template <dtype T, shape_type Shape, memory_space Space>
class traced<T, Shape, Space, nn::stream_keeper> : public nn::stream_leaf<T, Shape> {
 public:
  using leaf_type = nn::stream_leaf<T, Shape>;

  traced(const leaf_type& node) : leaf_type(node) {}
  traced(const traced&) = default;
  traced& operator=(const traced& other) { return detail::renamed(*this, other); }
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced(Operand&& operand)
      : leaf_type(leaf_of(nn::detail::in_stream_memory(as_node(std::forward<Operand>(operand))))) {}
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced& operator=(Operand&& operand) {
    return detail::renamed(*this, traced(std::forward<Operand>(operand)));
  }

  index extent(int axis) const { return this->shape().extent(axis); }
  index size() const { return this->shape().count(); }
  /// The same elements under another shape.
  /// throws    shape_error where it counts other elements
  template <shape_type New>
  traced<T, New, Space, nn::stream_keeper> reshape(const New& extents) const {
    detail::check_reshape(extents, size(), this->shape().to_array());
    return nn::stream_leaf<T, New>{{this->view().data(), extents}, this->owner};
  }
  template <int Rank>
  traced<T, rank<Rank>, Space, nn::stream_keeper> reshape(const listed_extent (&extents)[Rank]) const {
    return reshape(detail::inferred_shape(extents, size()));
  }
  template <class Position>
  auto operator[](const Position& position) const {
    return detail::subscript(static_cast<const leaf_type&>(*this), position);
  }
  traced detached() const { return *this; }

 private:
  /// A shape may know more of its extents than the value, or less.
  template <class Leaf>
  static leaf_type leaf_of(const Leaf& node) {
    return {{node.view().data(), Shape(node.shape())}, node.owner};
  }
};
template <class T, class Shape, class Space>
const nn::stream_leaf<T, Shape>& as_node(const traced<T, Shape, Space, nn::stream_keeper>& value) {
  return value;
}

namespace nn {

/// A network in use, step by step: a copy of a module, called with one time step at a time. Recurrent layers keep their
/// states from call to call, convolutions along time the steps that they reach back to (zeros stand before the first
/// one); all other layers see one step alone. The results are those of the whole sequence, step by step.
///
/// A step is written as a sequence of one: [1, 1, features] for recurrent layers, [1, channels, 1] for convolutions.
/// extents   of a step, which all have
/// throws    error and shape_error, from the constructor: for layers of two directions, strides and paddings, and where
///           a layer does not take its input
/// cost      a step allocates nothing, takes no lock and calls no system, provided that its statements are small enough
///           for one thread and `forward` goes the same way each time
/// example   nn::stream use(net, tn::shape<1, 1, 1>{}); const auto y = use.next(sample);
template <class Network, class Input>
class stream {
  using shape_type = typename Input::shape_type;
  using input_type = view<const typename Input::element, shape_type, host>;
  /// Whether types know that a step has the extents of the others.
  template <class Given>
  static constexpr bool is_known = shape_type::dynamic_rank == 0 && node_of<Given>::shape_type::dynamic_rank == 0;

 public:
  explicit stream(Network network, const detail::given_extents<shape_type>& step)
      : network_(std::make_unique<Network>(std::move(network))),
        memory_(std::make_unique<stream_memory>()),
        extents_(step.extents),
        copy_(extents_.count()) {
    if constexpr (requires { network_->eval(); }) network_->eval();
    network_->visit_parameters([](const auto&, auto& parameter) { parameter.gradient.reset(); });
    std::fill_n(copy_.data(), extents_.count(), typename Input::element{});
    (void)pass(input_type(copy_.data(), extents_));  // makes all that later steps use
    reset();
  }

  /// The network's output for the next step, valid until the one after it.
  /// throws    shape_error where the step has other extents than were given, which types that know them rule out
  template <tensor_operand Given>
  auto next(const Given& step) noexcept(is_known<Given>) {
    const auto& node = as_node(step);
    static_assert(detail::is_leaf_node<node_of<Given>> || must_hold<Given>,
                  "tenon: a step of a stream is in memory: a tensor or a view");
    static_assert(shapes_agree<shape_type, typename node_of<Given>::shape_type>() || must_hold<Given, Input>,
                  "tenon: a step has the extents that the stream was made for");
    if constexpr (!is_known<Given>) check(node.shape().to_array());
    if (node.view().strides() == row_major_strides(extents_.to_array())) {
      return pass(input_type(node.view().data(), extents_));
    }
    const view<typename Input::element, shape_type, host> copy(copy_.data(), extents_);
    copy.noalias() = step;
    return pass(input_type(copy_.data(), extents_));
  }
  /// Forgets all steps: the next one is the first.
  void reset() noexcept { memory_->reset(); }

 private:
  auto pass(const input_type& input) {
    const no_grad in_use;
    memory_->begin();
    const traced step(stream_leaf<typename Input::element, shape_type>{input, {memory_.get()}});
    return detail::each_value(called(step), [](const auto& value) { return traced(value).view(); });
  }
  void check(const array<index, shape_type::rank>& extents) const {
    for (int axis = 0; axis < shape_type::rank; ++axis) {
      if (extents[axis] == extents_.extent(axis)) continue;
      throw shape_error(compose_text("stream: axis ", axis, ": extent ", extents[axis], ", expected ",
                                     extents_.extent(axis), " (step ", extents, ", of the stream ", extents_.to_array(),
                                     ")"));
    }
  }
  template <class Step>
  auto called(const Step& step) {
    if constexpr (requires { (*network_)(step); }) return (*network_)(step);
    else return detail::call_through(step, *network_);
  }

  std::unique_ptr<Network> network_;
  std::unique_ptr<stream_memory> memory_;
  shape_type extents_;
  storage<typename Input::element, host> copy_;  // of a step whose elements lie apart
};
template <class Network, class Given>
stream(Network, const Given&) -> stream<Network, typename detail::input_view<Network, Given>::type>;

}  // namespace nn

}  // namespace tenon
