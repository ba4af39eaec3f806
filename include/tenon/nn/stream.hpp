// tenon/nn/stream.hpp: a network in use that takes one sample after another, and is never late.
// The first pass, when it is made, finds what each call of a layer keeps; later passes find it in the same order.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/arena_values.hpp>
#include <tenon/nn/fuse.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/stream_steps.hpp>
#include <tuple>
#include <vector>

namespace tenon {

namespace nn {

/// What the calls of a stream keep, in the order of the first sample.
class stream_walk {
 public:
  void begin() { number_ = 0; }
  /// The next part, which belongs to `owner`; at the first sample `make()` makes it.
  template <class Part, class Make>
  Part& next(const void* owner, const Make& make) {
    if (!is_complete_) {
      parts_.push_back(make());
      parts_.back()->owner = owner;
    }
    if (number_ == parts_.size() || parts_[number_]->owner != owner) {
      throw error("stream: forward calls other layers than at the first sample, expected the same for all samples");
    }
    return static_cast<Part&>(*parts_[number_++]);
  }
  void complete() { is_complete_ = true; }
  void reset() {
    for (auto& part : parts_) part->reset();
  }

 private:
  std::vector<std::unique_ptr<stream_part>> parts_;
  std::size_t number_ = 0;
  bool is_complete_ = false;
};

struct stream_keeper;

/// The owner of a value in a stream.
struct in_stream {
  using keeper = stream_keeper;
  stream_walk* walk;
};
template <class T, class Shape>
using stream_leaf = leaf<T, Shape, host, in_stream>;

namespace detail {

template <class Operand>
concept lies_in_stream = std::is_same_v<tenon::detail::keeper_of<Operand>, stream_keeper>;

/// The walk that an expression belongs to.
template <class Node>
stream_walk* stream_of(const Node& node) {
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node.owner)>, in_stream>) return node.owner.walk;
    else return nullptr;
  } else {
    stream_walk* found = nullptr;
    apply_tuple([&](const auto&... operands) { ((found = found != nullptr ? found : stream_of(operands)), ...); },
                node.operands);
    return found;
  }
}

/// The memory of an expression.
template <dtype T, shape_type Shape>
struct expression_stream : stream_part {
  tensor<T, Shape, host> elements;
  explicit expression_stream(const Shape& extents) : elements(extents) {}
};
template <class Node>
inline constexpr char expression_tag = 0;

/// What a batch norm does to each feature.
template <class Norm>
struct norm_stream : stream_part {
  Norm norm;
  explicit norm_stream(Norm&& made) : norm(std::move(made)) {}
};

/// The part of a layer that has weights: `type`, and the features that it makes. Others have none.
template <class Layer>
struct streamed {
  static constexpr bool exists = false;
};
template <index In, index Out, bool Bias, memory_space Space, dtype T>
struct streamed<linear_layer<In, Out, Bias, Space, T>> {
  static constexpr bool exists = true;
  using type = linear_stream<T, In, Out>;
  using output = shape<Out>;
  static index features(const linear_layer<In, Out, Bias, Space, T>& layer) { return layer.extents.extent(0); }
  static index taken(const linear_layer<In, Out, Bias, Space, T>& layer) { return layer.extents.extent(1); }
  static constexpr index known_input = In;
};
template <index In, index Out, index Kernel, class Settings, memory_space Space, dtype T>
struct streamed<conv_layer<false, In, Out, axis_numbers<Kernel>, Settings, Space, T>> {
  using layer_type = conv_layer<false, In, Out, axis_numbers<Kernel>, Settings, Space, T>;
  static constexpr conv1d_options known = Settings::value;
  static_assert(!layer_type::is_static || (known.padding[0] == 0 && known.stride[0] == 1 && known.groups == 1) ||
                    must_hold<layer_type>,
                "tenon: a conv1d of a stream has no padding, stride 1 and one group; its missing inputs are zeros");
  static constexpr bool exists = true;
  using type = conv_stream<T, In, Out, Kernel>;
  using output = shape<Out>;
  static index features(const layer_type& layer) { return layer.out_channels; }
  static index taken(const layer_type& layer) { return layer.in_channels; }
  static constexpr index known_input = In;
};
template <class Gates, index Input, index Hidden, memory_space Space, dtype T>
struct streamed<recurrent<Gates, Input, Hidden, Space, T>> {
  static constexpr bool exists = true;
  using type = recurrent_stream<Gates, T, Input, Hidden>;
  using output = shape<Hidden>;
  static index features(recurrent<Gates, Input, Hidden, Space, T>& layer) { return layer.network().extents().hidden; }
  static index taken(recurrent<Gates, Input, Hidden, Space, T>& layer) { return layer.network().extents().input; }
  static constexpr index known_input = Input;
};

/// Layers that treat each sample of a sequence alone: functions of single elements, and norms of features.
template <class Layer>
inline constexpr bool is_instant = false;
template <class Op, int Arguments>
inline constexpr bool is_instant<activation<Op, Arguments>> = true;
template <class Normalised, affine Affine, class Space, class T>
inline constexpr bool is_instant<layer_norm<Normalised, Affine, Space, T>> = Normalised::rank == 1;
template <class Normalised, affine Affine, class Space, class T>
inline constexpr bool is_instant<rms_norm<Normalised, Affine, Space, T>> = Normalised::rank == 1;

/// The element type of samples: that of the network's parameters, or float where it has none.
template <class Network>
struct sample_element {
  using type = float;
};
template <class Network>
  requires requires { typename parameters_of<Network>::element; }
struct sample_element<Network> {
  using type = typename parameters_of<Network>::element;
};

/// Whether a network makes several values.
template <class Result>
concept is_several = requires { std::tuple_size<Result>::value; };

/// Layers of a stream, called with a sample.
struct stream_calls {
  /// The value in memory, by a statement where it is not there yet.
  template <class Node>
  static auto stored(const Node& node) {
    using element = typename Node::element;
    using shape_type = typename Node::shape_type;
    if constexpr (std::is_same_v<Node, stream_leaf<element, shape_type>>) {
      return node;
    } else {
      using part_type = expression_stream<element, shape_type>;
      stream_walk& walk = *stream_of(node);
      auto& part = walk.next<part_type>(&expression_tag<Node>,
                                        [&] { return std::make_unique<part_type>(shape_type(node.shape())); });
      part.elements.noalias() = node;
      return stream_leaf<element, shape_type>{std::as_const(part.elements).view(), {&walk}};
    }
  }
  template <class Layer, class Node>
  static auto call(Layer& layer, const Node& node) {
    if constexpr (does_nothing<Layer>) {
      return node;
    } else if constexpr (is_instant<Layer>) {
      (void)layer.output_shape(node.shape());
      return layer.forward(node);
    } else if constexpr (streamed<Layer>::exists) {
      return stepped(layer, stored(node));
    } else {
      static_assert(must_hold<Layer>,
                    "tenon: this layer does not stream: nn::stream takes linear, recurrent and conv1d layers, "
                    "activations, batch_norm, layer_norm and rms_norm");
    }
  }
  template <index Channels, affine Affine, dtype T, class Node>
  static auto call(batch_norm<Channels, Affine, host, T>& layer, const Node& node) {
    check_input<batch_norm<Channels, Affine, host, T>, 0, Channels>(node.shape(), layer.extents.extent(0));
    using part_type = norm_stream<decltype(norm_of(layer))>;
    const auto& norm =
        stream_of(node)
            ->template next<part_type>(
                &layer,
                [&] {
                  if (!layer.options.track_statistics) {
                    throw error(
                        "stream: batch_norm: no running statistics, expected them; a sample would be its own batch");
                  }
                  return std::make_unique<part_type>(norm_of(layer));
                })
            .norm;
    return node * as_node(norm.scale) + as_node(norm.shift);
  }
  /// One step of a layer with weights.
  template <class Layer, class T, class Shape>
  static auto stepped(Layer& layer, const stream_leaf<T, Shape>& x) {
    using part = streamed<Layer>;
    static_assert(Shape::rank == 1 || must_hold<Layer, constant<Shape::rank>>,
                  "tenon: a layer of a stream takes one sample: [features], without batch or time");
    static_assert((std::is_same_v<typename Layer::space, host> && std::is_same_v<typename Layer::element, T> &&
                   std::is_floating_point_v<T>) ||
                      must_hold<Layer, T>,
                  "tenon: a stream runs on the host, in float or double alone");
    check_input<Layer, 0, part::known_input>(x.shape(), part::taken(layer));
    auto& step = x.owner.walk->template next<typename part::type>(
        &layer, [&] { return std::make_unique<typename part::type>(layer); });
    const typename part::output extents(part::features(layer));
    return stream_leaf<T, typename part::output>{{step.next(x.view().data()), extents}, x.owner};
  }
};

}  // namespace detail

template <>
struct kept_by<stream_keeper> {
  using owner_type = in_stream;
  template <class Node>
  static auto written(const Node& node) {
    return detail::stream_calls::stored(node);
  }
};

/// Stands for the states of a recurrent layer of a stream, `auto [sequence, hidden] = gru(x)`. They stay in the stream,
/// so a use of them does not compile.
template <class Layer>
struct state_in_stream {
  static auto refuse_use() {  // its body is compiled where it is first used, before what follows from it
    static_assert(must_hold<Layer>,
                  "tenon: the states of a recurrent layer stay in its stream; read what it makes of a sample, such as "
                  "lstm(x).sequence");
  }
  template <class Index>
  auto operator[](const Index&) const {
    refuse_use();
  }
};

namespace detail {

template <class Operand>
inline constexpr bool is_state_in_stream = false;
template <class Layer>
inline constexpr bool is_state_in_stream<state_in_stream<Layer>> = true;

}  // namespace detail

template <class Layer, class Operand>
  requires(detail::is_state_in_stream<std::remove_cvref_t<Operand>>)
struct layer_caller<Layer, Operand> {
  static auto call(Layer&, const Operand& state) { return state.refuse_use(); }
};

}  // namespace nn

template <class Layer>
auto as_node(const nn::state_in_stream<Layer>& state) {
  state.refuse_use();
}

namespace nn {

/// Calls layers with values of a stream.
struct stream_keeper {
  template <class Layer, class Operand, class... Operands>
  static auto call(Layer& layer, Operand&& operand, Operands&&...) {
    static_assert(sizeof...(Operands) == 0 || must_hold<Layer>,
                  "tenon: this layer does not stream: it takes several inputs");
    return detail::stream_calls::call(layer, as_node(std::forward<Operand>(operand)));
  }
  template <class Layer, class Operand, class... States>
  static auto call_states(Layer& layer, Operand&& operand, States&&...) {
    static_assert((sizeof...(States) == 0 && detail::streamed<Layer>::exists) || must_hold<Layer>,
                  "tenon: a stream keeps the states of its recurrent layers; cells and states by hand do not stream");
    const auto value = detail::stream_calls::call(layer, as_node(std::forward<Operand>(operand)));
    using value_type = std::remove_const_t<decltype(value)>;
    using state_type = state_in_stream<Layer>;
    using result_type = recurrent_values<value_type, state_type, Layer::state_count>;
    if constexpr (Layer::state_count == 1) return result_type{value, state_type{}};
    else return result_type{value, state_type{}, state_type{}};
  }
  template <class Operand>
  static auto settled(Operand&& operand) {
    return detail::stream_calls::stored(as_node(std::forward<Operand>(operand)));
  }
};

/// Layers of values of a stream, whose shapes have no batch and no time.
template <class Layer, tensor_operand Operand>
  requires makes_one_value<Layer> && detail::lies_in_stream<Operand>
struct layer_caller<Layer, Operand> {
  static auto call(Layer& layer, Operand&& operand) {
    return stream_keeper::call(layer, std::forward<Operand>(operand));
  }
};

/// A network in use that takes one sample after another: `next` gives for each what the whole network gives for the
/// sequence of all samples so far. It is made of a copy of a module or `sequential`, and of the features of a sample.
/// Recurrent layers keep their states, a `conv1d` the samples that its kernel spans; those before the first are zeros.
/// Linear layers, activations, dropout, batch, layer and RMS norms are as they are. Others do not compile.
/// throws    error when a layer cannot stream as its options have it, or has no weights yet; shape_error
/// example   nn::stream use(net, tn::shape<1>{});
///           for (float& sample : block) sample = use.next(sample);
template <class Network, shape_type Sample>
class stream {
  static_assert((Sample::rank == 1 && Sample::dynamic_rank == 0) || must_hold<Sample>,
                "tenon: a stream is given the features of a sample, tn::shape<3>{}, without batch or time");

 public:
  using element = typename detail::sample_element<Network>::type;
  using sample_view = view<const element, Sample, host>;

  explicit stream(Network network, const Sample& = {}) : network_(std::make_unique<Network>(std::move(network))) {
    if constexpr (requires { network_->eval(); }) network_->eval();
    network_->visit_parameters([](const auto&, auto& parameter) { parameter.gradient.reset(); });
    walk_ = std::make_unique<stream_walk>();
    input_ = element(0);
    run(input_.view());
    walk_->complete();
    reset();
  }

  /// What the network makes of the next sample, [features]: a view, or a tuple of views, valid until the next call.
  /// cost      no allocation, lock or system call, on whichever thread
  auto next(const sample_view& sample) noexcept { return run(sample); }
  /// The same of networks that make one number of one number.
  element next(element sample) noexcept
    requires(Sample{}.count() == 1)
  {
    const auto result = next(sample_view(&sample, Sample{}));
    using made = typename decltype(result)::shape_type;
    static_assert(made{}.count() == 1 || must_hold<made>, "tenon: this network makes more than one number");
    return *result.data();
  }
  /// Forgets all samples.
  void reset() noexcept { walk_->reset(); }

 private:
  auto run(const sample_view& sample) {
    walk_->begin();
    return result_of(called(stream_leaf<element, Sample>{side_by_side(sample), {walk_.get()}}));
  }
  /// A sample whose features lie side by side.
  sample_view side_by_side(const sample_view& sample) {
    if (sample.strides()[0] == 1) return sample;
    for (index i = 0; i < sample.size(); ++i) input_.data()[i] = sample.data()[i * sample.strides()[0]];
    return std::as_const(input_).view();
  }
  template <class Leaf>
  auto called(const Leaf& x) {
    if constexpr (detail::is_called_with<Network, const Leaf&>) return (*network_)(x);
    else return detail::call_through(x, *network_);
  }
  template <class Result>
  static auto result_of(const Result& result) {
    if constexpr (tensor_operand<Result>) {
      return detail::stream_calls::stored(as_node(result)).view();
    } else if constexpr (detail::is_state_in_stream<Result>) {
      result.refuse_use();
    } else {
      static_assert(
          detail::is_several<Result> || must_hold<Result>,
          "tenon: a network of a stream returns a value or a tuple of values; of a recurrent layer say which, "
          "such as lstm(x).sequence");
      return std::apply([](const auto&... each) { return std::tuple(result_of(each)...); }, result);
    }
  }

  std::unique_ptr<Network> network_;  // layers and walk stay where they are when this moves
  std::unique_ptr<stream_walk> walk_;
  tensor<element, Sample, host> input_;
};

}  // namespace nn

}  // namespace tenon
