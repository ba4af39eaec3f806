// tenon/nn/sequential.hpp: layers one after another, and a pass through them.
// The type of a pass knows every activation's shape; its buffers are reused, so that steps allocate nothing.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <tenon/grad/traced_functions.hpp>
#include <tenon/nn/call.hpp>
#include <tenon/nn/forward_attempt.hpp>
#include <tenon/nn/state.hpp>

namespace tenon::nn {

namespace detail {

/// The rank of a layer's inputs; 0 where it says none or takes any.
template <class Layer>
constexpr int rank_taken() {
  if constexpr (requires { typename Layer::input_shape; } && !requires { Layer::takes_any_rank; }) {
    return Layer::input_shape::rank;
  } else {
    return 0;
  }
}
/// That of the first layer which has one; 0 where there is none.
template <class... Layers>
constexpr int first_rank_taken() {
  int rank = 0;
  ((rank = rank != 0 ? rank : rank_taken<Layers>()), ...);
  return rank;
}

/// Does not compile where types know that a layer does not take what those before it make. Begins with the most general
/// input of the first layer that says what it takes, and again behind one that does not tell what it makes.
template <class First, class... Rest>
constexpr bool check_chain();
template <shape_type Input>
constexpr bool check_chain_from() {
  return true;
}
template <shape_type Input, class First, class... Rest>
constexpr bool check_chain_from() {
  if constexpr (tells_shape<First>) {
    return check_chain_from<decltype(std::declval<const First&>().output_shape(Input{})), Rest...>();
  } else if constexpr (sizeof...(Rest) != 0) {
    return check_chain<Rest...>();
  } else {
    return true;
  }
}
template <class First, class... Rest>
constexpr bool check_chain() {
  constexpr bool hangs_on_rest = requires { First::takes_any_rank; } && first_rank_taken<Rest...>() > 2;
  if constexpr (requires { typename First::input_shape; } && !hangs_on_rest) {
    return check_chain_from<typename First::input_shape, First, Rest...>();
  } else if constexpr (sizeof...(Rest) != 0) {
    return check_chain<Rest...>();
  } else {
    return true;
  }
}

}  // namespace detail

/// Base of what is made of layers. Parameters are named `0.weight`, `0.bias`, ... by position, as in
/// torch.nn.Sequential; those of layers of layers `0.1.weight`.
template <class... Layers>
struct layer_list {
  static constexpr int count = static_cast<int>(sizeof...(Layers));
  tuple<Layers...> layers;
  bool is_as_made = false;  ///< whether all parameters are still those that were drawn when the list was made

  /// Draws every parameter from PyTorch's default distribution.
  void initialise(std::uint64_t seed) {
    for_each_index<count>([&](auto i) { get<i.value>(layers).initialise(seed_of<i.value>(seed)); });
    is_as_made = false;
  }
  /// Draws the layers that nobody wrote, with the numbers that `initialise` would give them, and all of a list that is
  /// as it was made. Returns whether it drew all. In memory that only a device reads, it cannot tell, and draws all.
  bool initialise_unwritten(std::uint64_t seed) {
    bool all = true;
    for_each_index<count>([&](auto i) {
      auto& layer = get<i.value>(layers);
      if (is_as_made) layer.initialise(seed_of<i.value>(seed));
      else all = detail::draw_unwritten(layer, seed_of<i.value>(seed)) && all;
    });
    is_as_made = false;
    return all;
  }
  /// Calls `visitor(name, parameter)` for every parameter.
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    std::atomic_ref(is_as_made).store(false, std::memory_order_relaxed);  // several threads may visit
    for_each_index<count>(
        [&](auto i) { get<i.value>(layers).visit_parameters(visitor_within(detail::name_of_part(i.value), visitor)); });
  }
  /// Calls `visitor(name, buffer)` for every tensor that is kept beside the parameters, such as running statistics.
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    for_each_index<count>([&](auto i) {
      auto& layer = get<i.value>(layers);
      const auto named = visitor_within(detail::name_of_part(i.value), visitor);
      if constexpr (requires { layer.visit_buffers(named); }) layer.visit_buffers(named);
    });
  }
  /// Calls `visitor(name, number)` for what the random numbers of layers hang on, such as the masks that dropout has
  /// drawn. PyTorch has no such names, so these are apart from buffers.
  template <class Visitor>
  void visit_random_state(Visitor&& visitor) {
    for_each_index<count>([&](auto i) {
      auto& layer = get<i.value>(layers);
      const auto named = visitor_within(detail::name_of_part(i.value), visitor);
      if constexpr (requires { layer.visit_random_state(named); }) layer.visit_random_state(named);
    });
  }
  /// Training or use: what dropout and batch norm do hangs on it. Networks begin in training.
  void train(bool is_training = true) {
    for_each_index<count>([&](auto i) {
      auto& layer = get<i.value>(layers);
      if constexpr (requires { layer.is_training = is_training; }) layer.is_training = is_training;
      else if constexpr (requires { layer.train(is_training); }) layer.train(is_training);
    });
  }
  void eval() { train(false); }
  /// Of each layer, where it has one.
  auto forward_count() const { return detail::forward_counts(layers); }
  template <class Counts>
  void undo_forward(const Counts& counts) {
    detail::undo_forwards(layers, counts);
  }

 protected:
  /// The same layers, moved.
  template <space_or_element To, template <class...> class Network>
  auto all_moved() const {
    return apply_tuple(
        [](const auto&... layer) {
          return Network<decltype(layer_moved<To>(layer))...>{{make_tuple_of(layer_moved<To>(layer)...)}};
        },
        layers);
  }

 private:
  template <int I>
  static std::uint64_t seed_of(std::uint64_t seed) {
    return seed * count + static_cast<std::uint64_t>(I);
  }
};

template <template <class...> class Network, class... Layers>
  requires std::is_base_of_v<layer_list<Layers...>, Network<Layers...>>
struct parameters_of<Network<Layers...>> : first_parameters_of<Layers...> {};

namespace detail {

template <template <class...> class Network, class... Layers>
  requires std::is_base_of_v<layer_list<Layers...>, Network<Layers...>>
inline constexpr bool tells_shape<Network<Layers...>> = (tells_shape<Layers> && ...);

}  // namespace detail

/// A network of layers that are called one after another; it is a layer itself. `sequential` makes it.
template <class... Layers>
struct sequential_network : layer_list<Layers...> {
  static constexpr const char* name = "sequential";

  /// The network with its parameters and buffers copied to another memory space, or as another type of elements.
  /// example   net.to<cuda>(), net.to<bfloat16>()
  template <space_or_element To>
  auto to() const {
    return this->template all_moved<To, tenon::nn::sequential_network>();
  }
  template <shape_type Input>
    requires(detail::tells_shape<Layers> && ...)
  constexpr auto output_shape(const Input& input) const {
    return apply_tuple([&](const auto&... layer) { return detail::shape_through(input, layer...); }, this->layers);
  }
  /// Calls the layers one after another.
  template <tensor_operand Operand>
  auto operator()(Operand&& operand) {
    return attempt_forward(
        *this, [&] { return detail::settled(detail::call_all(std::forward<Operand>(operand), this->layers)); });
  }
  template <tensor_operand Operand>
  auto operator()(const Operand&) const {
    static_assert(must_hold<sequential_network, Operand>, "tenon: a network is called by a name that is not const");
  }
};

/// Makes a network of layers, called one after another. Layers that have parameters keep them, others are drawn from
/// seed 0. A layer that does not fit the one before it does not compile.
/// example   auto net = nn::sequential(nn::linear<784, 128>{}, nn::relu{}, nn::linear<128, 10>{});
template <class... Layers>
sequential_network<Layers...> sequential(Layers... layers) {
  static_assert(detail::check_chain<Layers...>());
  sequential_network<Layers...> result{{make_tuple_of(std::move(layers)...)}};
  result.is_as_made = result.initialise_unwritten(0);
  return result;
}

namespace detail {

/// The default callback for layers whose gradients are complete: no operation.
struct ignored_layers {
  void operator()(int) const {}
};

/// Whether the first of some layers joins a call.
template <class Call, class... Layers>
inline constexpr bool first_joins = false;
template <class Call, class First, class... Rest>
inline constexpr bool first_joins<Call, First, Rest...> = joins_call<First, Call>;

/// What layers make one after another, the first being the `I`th of the network. What `done(number)` makes is called on
/// the way back when the gradients of the layers from there on are complete.
template <int I, class Done, class Operand>
auto call_watched(const Done&, Operand&& operand) {
  return traced(std::forward<Operand>(operand));
}
template <int I, class Done, class Operand, class First, class... Rest>
auto call_watched(const Done& done, Operand&& operand, First& first, Rest&... rest) {
  auto made = call_through(std::forward<Operand>(operand), first);
  if constexpr (first_joins<decltype(made), Rest...>) {
    return call_watched<I + 1>(done, std::move(made), rest...);
  } else {
    return call_watched<I + 1>(done, on_gradient(traced(made), done(I + 1)), rest...);
  }
}

}  // namespace detail

/// Forward and backward passes of a network for inputs of shape `Input`; owns the activations between them.
/// `Input` is checked against the layers at compile time; the batch may be dynamic and may vary.
template <class Network, shape_type Input, memory_space Space = host, dtype T = float>
class pass;

template <class... Layers, shape_type Input, memory_space Space, dtype T>
class pass<sequential_network<Layers...>, Input, Space, T> {
 public:
  using network_type = sequential_network<Layers...>;
  using input_type = tensor<T, Input, Space>;

  explicit pass(network_type& net) : network_(&net) {}
  pass(const pass&) = delete;  // values of a forward pass refer to this one
  pass& operator=(const pass&) = delete;

  network_type& network() const { return *network_; }

  /// The network's output; valid until the next pass.
  /// cost      one kernel for each layer; a relu is part of that of the layer before it, and behind a convolution of
  ///           images so is a max pool of 2 x 2
  /// throws    what a layer does; masks and running statistics are then as they were
  auto forward(const view<const T, Input, Space>& input) {
    output_.reset();
    attempt_forward(*network_, [&] {
      apply_tuple([&](Layers&... layer) { output_.emplace(detail::call_watched<0>(notifier{this}, input, layer...)); },
                  network_->layers);
    });
    return output_->elements;
  }
  /// Leaves the gradient of every parameter, given the input of the last forward pass and the gradient of its output: a
  /// tensor or an expression, which is evaluated once. `done(number)` is called for each layer, the last one first,
  /// when the gradients of its parameters are there, while those of earlier layers are still to come.
  /// throws    error where no forward pass came before, or the last one failed
  template <class Gradient, class Done = detail::ignored_layers>
  void backward(const view<const T, Input, Space>&, const Gradient& gradient, const Done& done = {}) {
    if (!output_) throw error("pass: backward: no values of a forward pass, expected one before each");
    clear_gradients(*network_, false);
    done_ = done, waiting_ = static_cast<int>(sizeof...(Layers));
    output_->backward(gradient);
    be_done(0);
  }

 private:
  /// Say that the gradients of all layers from a number on are there.
  struct notice {
    pass* whole;
    int layer;
    void operator()() const { whole->be_done(layer); }
  };
  struct notifier {
    pass* whole;
    notice operator()(int layer) const { return {whole, layer}; }
  };
  using output_type = decltype(detail::call_watched<0>(
      std::declval<const notifier&>(), std::declval<const view<const T, Input, Space>&>(), std::declval<Layers&>()...));

  /// The gradients of all layers from `layer` on are there.
  void be_done(int layer) {
    while (waiting_ > layer) done_(--waiting_);
  }

  network_type* network_;
  std::optional<output_type> output_;
  std::function<void(int)> done_;
  int waiting_ = 0;  // layers whose gradients are to come
};

}  // namespace tenon::nn
